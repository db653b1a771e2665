"""What a replay found, for people: by type of request the sources, and what to switch on."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from fwctl.report import bench_words as words
from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

COLUMNS = ("source", "settings", "tokens/pass", "speed-up", "slower", "gone at v", "by position")


def write(page: Page, report: Report) -> None:
    body = report.body
    costs = body["options"]
    page.line(
        f"Speed-ups against plain decoding, for costs of {costs['draft_cost']:g} to draft and "
        f"{costs['verify_cost']:g} to verify a token, in passes of the target"
    )
    page.line("gone at v: the cost to verify a token at which the gain is gone; batches make it dearer")
    page.line(f"tokens: {body['tokens']}; suffix index: {body['index_tokens']:,} tokens")
    for name, item in body["by_type"].items():
        _type(page, name, item)
    if len(body["by_type"]) > 1:
        _type(page, "all types in one deployment", body["overall"])
    page.blank()
    for reason, count in body["left_out"].items():
        page.line(f"left out: {count:,} lines, {reason}")
    if body["unaligned"]:
        page.line(f"{body['unaligned']:,} answers have draft_tokens that do not lie beside their tokens")


def _type(page: Page, name: str, item: Mapping[str, Any]) -> None:
    page.blank()
    page.line(
        Span(name, "bold"),
        f": {item['n_requests']:,} requests, {item['n_tokens']:,} tokens, judged on {item['n_judged']:,}",
    )
    if item["sources"]:
        rows = [_row(source) for source in item["sources"]]
        page.table(COLUMNS, rows, indent=2, right="tokens/pass,slower,gone at v")
    found = item["recommendation"]
    style = "yellow" if found["source"] == "none" else "green"
    page.line(Span(f"recommended: {found['source']}", style), f"  {found['reason']}", indent=2)
    for label, patch in (("spec", found["spec_patch"]), ("request", found["request_patch"])):
        if patch:
            page.raw(f"    {label}: {json.dumps(patch, ensure_ascii=False)}")
    if trained := item["trained_draft"]:
        page.line(
            f"a draft model trained on this traffic might reach {_interval(trained['speedup'])} "
            f"with k {trained['k']}: fwctl speculate adapt",
            indent=2,
        )


def _row(source: Mapping[str, Any]) -> list[str]:
    shares = source["acceptance_by_position"][: words.SHOWN_POSITIONS]
    more = " ..." if len(source["acceptance_by_position"]) > words.SHOWN_POSITIONS else ""
    return [
        source["source"],
        ", ".join(f"{key} {value}" for key, value in source["settings"].items()),
        f"{source['tokens_per_pass']:.2f}",
        _interval(source["speedup"]),
        f"{100 * source['share_slower']:.0f} %",
        _cost(source["break_even_verify_cost"]),
        " ".join(f"{share:.2f}" for share in shares) + more,
    ]


def _cost(value: float | None) -> str:
    return "-" if value is None else f"{value:.2f}"


def _interval(found: Mapping[str, float | None]) -> str:
    if found["low"] is None:
        return f"{found['value']:.2f} x, too few to say"
    return f"{found['value']:.2f} x [{found['low']:.2f}, {found['high']:.2f}]"
