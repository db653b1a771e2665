"""`fwctl bench init|run|selftest`: measure deployments, and know the error of the measurement."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

FIREWORKS_KEY = "FIREWORKS_API_KEY"
MAX_CONCURRENCY = 10_000


@command("fwctl bench init > prompts.jsonl")
def bench_init(call: Call) -> Report:  # noqa: ARG001 - every command takes the call
    """Print a small example prompt set."""
    from fwctl.measure.suite import EXAMPLE

    return Report("bench init", {"suite": EXAMPLE.splitlines()}, text=EXAMPLE)


@command("fwctl bench selftest", "fwctl bench selftest --format json")
def bench_selftest(call: Call) -> Report:
    """Measure the error of the harness itself against a server that knows the truth; takes 10 s."""
    from fwctl.measure.selftest import selftest

    found = selftest(call.env.environ, call.env.clock)
    return Report("bench selftest", {"selftest": found}, text=_lines(found))


@command(
    "fwctl bench run --suite prompts.jsonl --target-url http://127.0.0.1:8080/v1 --model m --concurrency 8",
    "fwctl bench run --suite prompts.jsonl --target-url URL --model M --rate 5 --out runs/today",
)
def bench_run(
    call: Call,
    *,
    suite: Annotated[
        Path, typer.Option("--suite", metavar="FILE", help="Prompt set, one JSON request a line.")
    ],
    target_url: Annotated[
        str, typer.Option("--target-url", metavar="URL", help="OpenAI-compatible server, up to /v1.")
    ],
    model: Annotated[str, typer.Option("--model", metavar="M", help="Model string that is sent.")],
    api_key_env: Annotated[
        str | None,
        typer.Option("--api-key-env", metavar="VAR", help="Environment variable that holds the key."),
    ] = None,
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", help="Requests at a time [1].")
    ] = 1,
    rate: Annotated[
        float | None, typer.Option("--rate", metavar="N", help="Requests per second instead, Poisson.")
    ] = None,
    repeat: Annotated[
        int, typer.Option("--repeat", metavar="N", help="Times to go through the set [1].")
    ] = 1,
    warmup: Annotated[int, typer.Option("--warmup", metavar="N", help="Requests before measuring [5].")] = 5,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of order and arrivals [1].")] = 1,
    keep_text: Annotated[bool, typer.Option("--keep-text", help="Keep answers in the records.")] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for records and summary [a new one].")
    ] = None,
) -> Report:
    """Send a prompt set and write DIR/records.jsonl and DIR/summary.json.

    Nothing is retried; errors are results. Exit 1 when no request went well, or
    when the run is invalid because this machine was the bottleneck.
    """
    from fwctl.measure.plan import Shape
    from fwctl.measure.run import Plan, run
    from fwctl.measure.suite import load
    from fwctl.measure.target import Target

    _check(concurrency=concurrency, rate=rate, repeat=repeat, warmup=warmup)
    env = call.env
    folder = env.cwd / (out or Path("runs") / env.clock.now().strftime("%Y%m%dT%H%M%SZ"))
    target = Target(model, target_url, model, _key(call, target_url, api_key_env))
    plan = Plan(
        load(env.cwd / suite),
        [target],
        Shape(concurrency, rate, seed=seed),
        folder,
        repeats=repeat,
        warmup=warmup,
        keep_text=keep_text,
    )
    summary = run(plan, env.clock)
    answered = all(item["n_ok"] for item in summary["targets"].values())
    code = Exit.OK if summary["valid"] and answered else Exit.FAILED
    code = Exit.INTERRUPTED if summary["interrupted"] else code
    text = f"{folder}\n{_summary_text(summary)}"
    return Report("bench run", {"out": str(folder), "summary": summary}, code, text=text)


def _check(*, concurrency: int, rate: float | None, repeat: int, warmup: int) -> None:
    if not 1 <= concurrency <= MAX_CONCURRENCY:
        raise UsageError(f"--concurrency is a number from 1 to {MAX_CONCURRENCY}")
    if rate is not None and not 0 < rate <= MAX_CONCURRENCY:
        raise UsageError(f"--rate is a number above 0, up to {MAX_CONCURRENCY} per second")
    if repeat < 1 or warmup < 0:
        raise UsageError("--repeat is a number from 1, --warmup from 0")


def _key(call: Call, url: str, variable: str | None) -> str | None:
    """The key for this server. The Fireworks key goes to Fireworks only, unless it is named."""
    from urllib.parse import urlsplit

    if variable is None:
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            raise UsageError("--target-url is not a valid URL") from None
        fireworks = parts.scheme == "https" and (host == "fireworks.ai" or host.endswith(".fireworks.ai"))
        return call.env.environ.get(FIREWORKS_KEY) if fireworks else None
    key = call.env.environ.get(variable)
    if not key:
        raise UsageError(f"the environment variable {variable} is not set")
    call.env.redactor.register(key)
    return key


def _summary_text(summary: dict[str, Any]) -> str:
    lines = []
    for name, item in summary["targets"].items():
        errors = ", ".join(f"{count} {word}" for word, count in item["errors"].items())
        lines.append(f"{name}: {item['n_ok']} of {item['n']} went well{'; ' + errors if errors else ''}")
        for metric in ("ttft_s", "ttft_from_schedule_s", "ttfv_s", "total_s", "tpot_s"):
            if metric in item:
                values = "  ".join(f"{q} {_interval(found)}" for q, found in item[metric].items())
                lines.append(f"  {metric:20} {values}")
    lines += [f"INVALID: {reason}" for reason in summary["invalid_reasons"]]
    return "\n".join(lines) + "\n"


def _interval(found: dict[str, Any]) -> str:
    if found["value"] is None:
        return f"n/a (n={found['n']}, needs {found['n_needed']})"
    return f"{found['value']:.4f} [{found['low']:.4f}, {found['high']:.4f}]"


def _lines(found: dict[str, Any]) -> str:
    return "".join(f"{key}: {value}\n" for key, value in found.items())
