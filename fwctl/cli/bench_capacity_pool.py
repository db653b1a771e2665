"""The KV pool of a replica, from the platform's metrics page while a known load runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from fwctl.cli.command import Call

if TYPE_CHECKING:
    from fwctl.measure.capacity import Level
    from fwctl.measure.capacity_run import Setup
    from fwctl.operate.exporter import DeploymentMetrics

# The page shows means over a minute and is refreshed every 30 s (docs.fireworks.ai, exporting metrics), so
# that after this long it shows nothing but this load.
HOLD_S = 100.0


def measure_pool(
    call: Call,
    setup: Setup,
    best: Level,
    *,
    resource: str,
    replicas: int,
    key_variable: str | None,
    fit: Mapping[str, Any] | None,
    hold_s: float = HOLD_S,
) -> dict[str, Any]:
    """Keys of the results of a capacity search; `kv_pool_note` says why there is no figure.

    Every request has a cache key of its own, so that none shares the blocks of another. resource:
    `accounts/A/deployments/ID`. fit: the fit check's result, for bytes of a token.
    """
    from fwctl.cli.metrics_page import metrics_page

    account, _, deployment_id = resource.removeprefix("accounts/").partition("/deployments/")
    page = metrics_page(call, account, metrics_url(setup.targets[0].url, account), key_variable)
    call.output.message(
        f"holding {best.rate_per_s:.3g}/s for {hold_s:.0f} s and reading the metrics page ..."
    )
    prompt, output = _hold(setup, best.rate_per_s, hold_s)
    page.refresh()
    seen = (page.page or {}).get(deployment_id)
    if seen is None:
        return {"kv_pool_note": page.error or f"the metrics page says nothing about {deployment_id}"}
    return pool_of(seen, prompt, output, replicas, fit)


def pool_of(
    seen: DeploymentMetrics, prompt: float, output: float, replicas: int, fit: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The pool from one look at the page and the tokens of a prompt and an answer."""
    from fwctl.measure.capacity_advice import kv_pool_tokens

    if seen.kv_blocks is None or seen.concurrent is None:
        return {"kv_pool_note": f"the metrics page has no KV blocks of {seen.deployment_id}"}
    figures = {
        "kv_blocks_fraction": seen.kv_blocks,
        "kv_in_flight": seen.concurrent,
        "kv_prompt_tokens": prompt,
        "kv_output_tokens": output,
    }
    tokens = kv_pool_tokens(seen.kv_blocks, seen.concurrent, prompt, output, replicas)
    if tokens is None:
        note = f"{seen.kv_blocks:.1%} of the KV blocks were in use, too few to tell the size of the pool"
        return {**figures, "kv_pool_note": note}
    each = (fit or {}).get("kv_bytes_per_token_per_gpu")
    return {
        **figures,
        "kv_pool_tokens": tokens,
        "kv_pool_bytes_per_gpu": tokens * each if each else None,
        "kv_pool_note": None,
    }


def _hold(setup: Setup, rate: float, seconds: float) -> tuple[float, float]:
    """Runs the load; tokens of a prompt and of an answer, over all requests."""
    from fwctl.measure.capacity import Sizes
    from fwctl.measure.capacity_run import loader
    from fwctl.measure.plan import Cache

    held = replace(setup, folder=setup.folder / "kv-pool", level_s=seconds, cache=Cache.COLD)
    rows = loader(held, Sizes(looks=1))(rate, 0).rows
    good = [row for row in rows if row.get("prompt_tokens") and row.get("output_tokens")]
    if not good:
        return 0.0, 0.0
    return (
        sum(row["prompt_tokens"] for row in good) / len(good),
        sum(row["output_tokens"] for row in good) / len(good),
    )


def metrics_url(target_url: str, account: str) -> str | None:
    """The page beside an inference server; None for the platform's own, which has a fixed place."""
    from fwctl.measure.target import is_fireworks

    if is_fireworks(target_url):
        return None
    parts = urlsplit(target_url)
    return f"{parts.scheme}://{parts.netloc}/v1/accounts/{account}/metrics"
