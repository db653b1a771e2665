"""A capacity search for people: its levels, the limit, and the piece of spec that follows from it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

_WORDS = {
    None: "met",
    "objective": "missed",
    "queue_grows": "the queue grows",
    "open": "open",
    "harness": "this machine was late",
}


def level_line(level: Mapping[str, Any]) -> str:
    """One rate: what became of it, and its times beside their limits."""
    times = [_time(item) for item in level["objectives"] if item["objective"].endswith("_ms")]
    return f"{level['rate_per_s']:8.3g}/s  {_WORDS[level['limit']]:21}  {'  '.join(times)}  n={level['n']}"


def _time(item: Mapping[str, Any]) -> str:
    value = "n/a" if item["value"] is None else f"{item['value'] * 1000:.0f}"
    return f"{item['objective'].removesuffix('_ms')} {value} of {item['limit'] * 1000:.0f} ms"


def write(page: Page, report: Report) -> None:
    body = report.body
    for level in sorted(body["levels"], key=lambda item: float(item["rate_per_s"])):
        page.line(level_line(level))
    page.line()
    if body["rate_per_s"] is None:
        page.line(Span(f"{body['deployment']} meets its objectives at no rate that was tried", "red"))
        page.line(f"limited by {body['limited_by']}")
        return
    replicas = "1 replica" if body["replicas"] == 1 else f"{body['replicas']} replicas"
    missed = body["missed_per_s"]
    above = f", shown to miss them at {missed:.3g}/s" if missed is not None else ""
    page.line(Span(f"{body['deployment']} meets its objectives up to {body['rate_per_s']:.3g}/s", "bold"))
    page.line(f"on {replicas}{above}; limited by {body['limited_by']}")
    for note in body["notes"]:
        page.line(f"  {note}")
    if body.get("kv_pool_tokens"):
        page.line(f"  the KV pool of a replica holds {body['kv_pool_tokens']:,.0f} tokens")
    elif body.get("kv_pool_note"):
        page.line(f"  KV pool: {body['kv_pool_note']}")
    page.line()
    for line in body["patch"].splitlines():
        page.line(line)
    if body["evidence"]:
        page.line()
        page.line(f"evidence: {body['evidence']}")
