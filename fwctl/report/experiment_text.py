"""What an experiment found, for people."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report
from fwctl.units import format_usd

_GOOD, _BAD = "green", "yellow"
COLUMNS = (
    "candidate",
    "state",
    "ttft p95",
    "total p95",
    "tokens/s",
    "errors",
    "SLO",
    "quality",
    "$/M tokens",
)
_PHASES = {
    "creating": "candidates are being created",
    "measuring": "measuring",
    "closing": "deleting what is not kept",
    "done": "done",
    "capped": "ended before it was done",
    "stopped": "stopped",
}


def write(page: Page, report: Report) -> None:
    shown = report.body["experiment"]
    if shown is not None:
        _header(page, shown)
        _table(page, shown)
        for row in shown["candidates"]:
            for reason in (row["result"] or {}).get("why_not", ()):
                page.line(f"{row['name']}: {reason}", indent=2)
        if shown["reason"]:
            page.blank()
            page.line(Span(shown["reason"], "bold"))
    if report.command == "experiment stop":
        count = report.body["deleted"]
        page.line(f"{count} candidate{'s'[: count != 1]} deleted")
    _recommendation(page, report.body.get("recommendation"))


def _header(page: Page, shown: Mapping[str, Any]) -> None:
    unpriced = ", and what has no known price" if shown["spent_unpriced"] else ""
    page.line(
        f"Experiment {shown['name']} ({_PHASES[shown['phase']]}): {_passes(shown['passes'])}, "
        f"{format_usd(shown['spent_usd'])} of {format_usd(shown['spend_cap_usd'])} spent{unpriced}"
    )
    page.blank()


def _passes(rows: Sequence[object]) -> str:
    return f"{len(rows)} pass{'es'[: 2 * (len(rows) != 1)]}"


def _table(page: Page, shown: Mapping[str, Any]) -> None:
    rows = [_row(row, shown["winner"]) for row in shown["candidates"]]
    page.table(COLUMNS, rows, right="ttft p95, total p95, tokens/s, errors, $/M tokens")


def _row(row: Mapping[str, Any], winner: str | None) -> tuple[str | Span, ...]:
    found = row["result"]
    name = Span(row["name"], "bold green") if row["name"] == winner else row["name"]
    state = "kept" if row["kept"] and row["state"] != "absent" else row["state"].lower()
    if found is None:
        return (name, state, *("",) * 7)
    return (
        name,
        state,
        _ms(found["ttft_s"]["p95"]),
        _ms(found["total_s"]["p95"]),
        "unknown" if found["tokens_per_s"] is None else f"{found['tokens_per_s']:,.0f}",
        f"{found['n'] - found['n_ok']} of {found['n']}",
        Span(found["slo"].replace("_", " "), _GOOD if found["slo"] == "met" else _BAD),
        _quality(found["quality"]),
        _price(found["usd_per_million_output_tokens"]),
    )


def _ms(found: Mapping[str, Any]) -> str:
    """`123 ms`, or how many answers are missing."""
    if found["value"] is None:
        return f"n/a (n={found['n']})"
    return f"{found['value'] * 1000:,.0f} ms"


def _price(amount: float | None) -> str:
    return "unknown" if amount is None else f"${amount:,.3f}"


def _quality(found: Mapping[str, Any]) -> Span:
    word = found["verdict"].replace("_", " ")
    return Span(word, _BAD if found["verdict"] in ("fail", "inconclusive", "invalid") else _GOOD)


def _recommendation(page: Page, found: Mapping[str, Any] | None) -> None:
    if found is None:
        return
    page.blank()
    if not found["changes"]:
        page.line(f"Recommendation: leave {found['deployment'] or 'the spec'} as it is.")
        return
    page.line(f"Recommendation for {found['deployment'] or 'the spec'}:")
    page.blank()
    for line in (found["diff"] or found["yaml"]).splitlines():
        page.raw(line)
