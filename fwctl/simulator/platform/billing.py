"""Usage and its price: from the hourly traffic sums and from the accelerators deployments hold.

Prices per GPU-hour are those published from 2026-09-01 (docs.fireworks.ai pricing, read 2026-10-03).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.simulator.platform import deployments, models, names, traffic
from fwctl.simulator.platform.errors import invalid
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import parse_rfc3339, rfc3339

Doc = dict[str, Any]

DAY_S = 86_400.0
MAX_WINDOW_S = 31 * DAY_S
USD_PER_GPU_HOUR = {
    "NVIDIA_A100_80GB": 2.90,
    "NVIDIA_H100_80GB": 8.0,
    "NVIDIA_H200_141GB": 8.0,
    "NVIDIA_B200_180GB": 13.0,
    "NVIDIA_B300_288GB": 15.0,
    "NVIDIA_GB300": 20.0,
}
COLUMNS = (
    "email",
    "start_time",
    "end_time",
    "usage_type",
    "accelerator_type",
    "accelerator_seconds",
    "base_model_name",
    "model_bucket",
    "parameter_count",
    "prompt_tokens",
    "completion_tokens",
    "cached_prompt_tokens",
    "uncached_prompt_tokens",
)


def window(start: str, end: str, now: float) -> tuple[float, float]:
    """Epoch seconds of a range; the last seven days when nothing is given. Raises InvalidArgument."""
    try:
        end_s = parse_rfc3339(end) if end else now
        start_s = parse_rfc3339(start) if start else end_s - 7 * DAY_S
    except ValueError:
        raise invalid(f'invalid time range "{start}" to "{end}"') from None
    if not 0 < end_s - start_s <= MAX_WINDOW_S:
        raise invalid("the time range must be longer than 0 and at most 31 days")
    return start_s, end_s


def _csv_time(instant_s: float) -> str:
    return rfc3339(instant_s)[:19].replace("T", " ") + " UTC"


def _row(world: World, start_s: float, end_s: float, model: str) -> Doc:
    found = models.find(world, model) or {}
    details = found.get("baseModelDetails", {})
    return dict.fromkeys(COLUMNS, "") | {
        "email": world.caller.email,
        "start_time": _csv_time(start_s),
        "end_time": _csv_time(end_s),
        "base_model_name": model,
        "model_bucket": found.get("displayName", names.id_of(model)),
        "parameter_count": details.get("parameterCount", ""),
    }


def accelerator_seconds(doc: Doc, start_s: float, end_s: float) -> float:
    """GPU-seconds of a deployment's replicas within a range; start-up is free."""
    sim = doc["_sim"]
    startup_s = sum(sim["stages"])
    spans = [*sim.get("ended", []), *([begun, end_s] for begun in sim["replicas"])]
    served = [max(0.0, min(ended, end_s) - max(begun + startup_s, start_s)) for begun, ended in spans]
    return float(sum(served) * int(doc.get("acceleratorCount", 0)))


def _days(start_s: float, end_s: float) -> Iterator[tuple[float, float]]:
    """The range cut at midnights, UTC."""
    while start_s < end_s:
        turn_s = min((start_s // DAY_S + 1) * DAY_S, end_s)
        yield start_s, turn_s
        start_s = turn_s


def rows(world: World, account: str, start_s: float, end_s: float) -> Iterator[Doc]:
    """Lines of the billing export: traffic by hour, then accelerators by deployment and day."""
    for hour in traffic.hours(world, account, start_s, end_s):
        cached, prompt = hour["cached_prompt_tokens"], hour["prompt_tokens"]
        yield _row(world, hour["hourS"], hour["hourS"] + traffic.HOUR_S, hour["baseModel"]) | {
            "usage_type": "TEXT_COMPLETION_INFERENCE_USAGE",
            "prompt_tokens": prompt,
            "completion_tokens": hour["generated_tokens"],
            "cached_prompt_tokens": cached,
            "uncached_prompt_tokens": prompt - cached,
        }
    for doc in deployments.held(world, account):
        for day_s, turn_s in _days(start_s, min(end_s, world.now)):
            seconds = accelerator_seconds(doc, day_s, turn_s)
            if seconds > 0:
                yield _row(world, day_s, turn_s, doc["baseModel"]) | {
                    "usage_type": "DEPLOYMENT_USAGE",
                    "accelerator_type": doc["acceleratorType"],
                    "accelerator_seconds": round(seconds),
                }


def cost_usd(row: Doc) -> float:
    """Price of an export line; tokens on dedicated deployments cost nothing extra."""
    return float(row["accelerator_seconds"] or 0) / 3600 * USD_PER_GPU_HOUR.get(row["accelerator_type"], 0.0)


def money(amount_usd: float) -> Doc:
    """google.type.Money: whole units and nanos."""
    units = int(amount_usd)
    return {"currencyCode": "USD", "units": str(units), "nanos": round((amount_usd - units) * 1e9)}
