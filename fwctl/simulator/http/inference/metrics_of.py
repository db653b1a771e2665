"""`perf_metrics` of one request; headers carry the same with the prefix `fireworks-`."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.http.inference.run import Run, tokenizer_s


def _s(seconds: float) -> float:
    return round(max(0.0, seconds), 6)


def early(run: Run) -> dict[str, Any]:
    """What is known when the first token leaves."""
    return {
        "prompt-tokens": run.prompt_tokens,
        "cached-prompt-tokens": run.cached_tokens,
        "server-time-to-first-token": _s(run.times.first_token - run.times.received),
    }


def complete(
    run: Run, *, now: float, deployment: str | None, prediction_tokens: int | None, conditional: bool
) -> dict[str, Any]:
    """All metrics of a finished request. deployment: None on serverless, which lacks most of them."""
    times = run.times
    out = early(run)
    out["server-processing-time"] = _s(now - times.received)
    if prediction_tokens is not None:
        out["speculation-prompt-tokens"] = prediction_tokens
        out["speculation-prompt-matched-tokens"] = sum(passes.matched for passes in run.passes)
    if deployment is None:
        return out
    if any(passes.hits for passes in run.passes):
        out["speculation-generated-tokens"] = sum(passes.drafted for passes in run.passes)
        out["speculation-acceptance"] = run.passes[0].acceptance_text(conditional=conditional)
    out |= {
        "backend-host": run.replica.host,
        "num-concurrent-requests": run.running_at_start,
        "deployment": deployment,
        "tokenizer-queue-duration": 0.0,
        "tokenizer-duration": _s(tokenizer_s(run.prompt_tokens)),
        "prefill-queue-duration": _s(times.prefill_start - times.received),
        "prefill-duration": _s(times.prefill_end - times.prefill_start),
        "generation-queue-duration": 0.0,
        "generation-duration": _s(now - times.prefill_end),
    }
    return out


def headers(metrics: dict[str, Any]) -> dict[str, str]:
    return {f"fireworks-{key}": str(value) for key, value in metrics.items()}
