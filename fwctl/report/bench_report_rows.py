"""The table of a bench report, the same in every format: one row a target, its price beside its times."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.report import bench_words as words


def arms(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """Every target of every run, in order."""
    return [arm for run in body["runs"] for arm in run["targets"]]


def load(arm: Mapping[str, Any]) -> str:
    """`8 at a time`, `5/s`, `several loads`."""
    if arm["rate_per_s"] is not None:
        return f"{arm['rate_per_s']:g}/s"
    return "several loads" if arm["concurrency"] is None else f"{arm['concurrency']} at a time"


def header(body: Mapping[str, Any]) -> tuple[str, ...]:
    """Names of the columns; those of the times follow the percentiles that were asked for."""
    first = arms(body)[0]["figures"]["ttft_s"]
    times = [f"{words.short(metric)} {q}" for metric in ("ttft_s", "total_s", "tpot_s") for q in first]
    drafts = ("tokens/pass",) if _has_drafts(body) else ()
    return ("target", "load", "requests", "failed", *times, "tokens/s", *drafts, "$ per M output")


def _has_drafts(body: Mapping[str, Any]) -> bool:
    return any(arm["figures"].get("speculation") for arm in arms(body))


def rows(body: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """Cells of the table as plain text."""
    for arm in arms(body):
        figures = arm["figures"]
        times = [
            "n/a" if item["value"] is None else words.time(item["value"])
            for metric in ("ttft_s", "total_s", "tpot_s")
            for item in figures[metric].values()
        ]
        yield (
            arm["label"],
            load(arm),
            f"{figures['n']:,}",
            words.share(figures["error_rate"]["value"]),
            *times,
            words.number(figures["throughput"]["output_tokens_per_s"]),
            *([_tokens_per_pass(figures.get("speculation"))] if _has_drafts(body) else []),
            words.plain_dollars(figures["usd_per_million_output_tokens"]),
        )


def _tokens_per_pass(found: Mapping[str, Any] | None) -> str:
    value = found["tokens_per_pass"]["value"] if found else None
    return "none" if value is None else f"{value:.2f}"


def details(arm: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """What else is known about one target, as name and value."""
    figures = arm["figures"]
    for metric in ("ttft_s", "ttft_from_schedule_s", "ttfv_s", "total_s", "tpot_s"):
        for q, item in figures.get(metric, {}).items():
            yield f"{words.short(metric)} {q}", words.estimate(item)
    system = figures["throughput"]
    yield "requests a second", words.number(system["requests_per_s"])
    yield "requests at a time", words.number(system["concurrency"])
    yield "output tokens a second", words.number(system["output_tokens_per_s"])
    slow = figures["output_tokens_per_s_per_user"]
    yield (
        "tokens a second of a user",
        f"p05 {words.number(slow['p05']['value'])}, p50 {words.number(slow['p50']['value'])}",
    )
    lengths = figures["output_tokens"]
    middle, high = lengths["p50"]["value"], lengths["p95"]["value"]
    most = words.number(lengths["max"])
    yield "output tokens", f"p50 {words.number(middle)}, p95 {words.number(high)}, most {most}"
    yield "cached share", words.share(figures["cached_share"])
    yield from drafts(arm)
    if figures["goodput"]:
        yield "goodput", _goodput(figures["goodput"])
    yield "errors", words.errors(figures["errors"])
    if figures["rate_limited_by"]:
        yield "429 from", ", ".join(f"{word} {count}" for word, count in figures["rate_limited_by"].items())
    yield "USD an hour", words.plain_dollars(figures["usd_per_hour"])
    yield "USD per million output tokens", words.plain_dollars(figures["usd_per_million_output_tokens"])


def drafts(arm: Mapping[str, Any], positions: int | None = None) -> Iterator[tuple[str, str]]:
    """What servers said about drafts, over all and by type, as name and value; positions as in `words`."""
    yield from words.drafts(arm["figures"].get("speculation"), positions)
    for kind, item in arm.get("types", {}).items():
        found = words.drafts(item.get("speculation"), positions)
        yield from ((f"{kind}: {name}", text) for name, text in found)


def _goodput(item: Mapping[str, Any]) -> str:
    limits = ", ".join(f"{words.short(name)} {words.time(value)}" for name, value in item["slo_s"].items())
    rate = f", {words.number(item['requests_per_s'])} a second" if item["requests_per_s"] is not None else ""
    return f"{words.share(item['share']['value'])} of requests{rate} within {limits}"


def problems(body: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Kind and text of what a reader must know before the figures."""
    for run in body["runs"]:
        yield from (("INVALID", f"{run['dir']}: {text}") for text in run["invalid_reasons"])
        if run["interrupted"]:
            yield "warning", f"{run['dir']}: the run was interrupted; it shows what was done"
        yield from (("warning", f"{run['dir']}: {text}") for text in run["warnings"])
