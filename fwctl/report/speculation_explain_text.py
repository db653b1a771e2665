"""The arithmetic of a speculation setting, for people: figures, table and bars."""

from __future__ import annotations

from typing import Any

from fwctl.report.layout import Page, Span
from fwctl.report.model import Report

BAR_COLUMNS = 30


def write(page: Page, report: Report) -> None:
    body = report.body
    k, c, v = body["draft_tokens"], body["draft_cost"], body["verify_cost"]
    constant = body["acceptance"]
    if constant is not None:
        page.line(f"Acceptance {100 * constant:g} % at every position, {k} draft tokens")
    else:
        shares = ", ".join(f"{100 * share:.1f} %" for share in body["acceptance_by_position"])
        page.line(f"Accepted up to position 1 to {k}: {shares}")
    if body["conditional"] is not None:
        kind = "given the one before it" if body["conditional"] else "out of all drafts"
        page.line(f"The platform counted each position {kind}.")
    page.line(f"Costs in target passes: {c:g} to draft a token, {v:g} to verify it")
    page.blank()
    expected, gain = body["expected_tokens_per_pass"], body["speedup"]
    page.line(f"tokens per pass        {expected:.4f}", indent=2)
    page.line(f"speed-up               {gain:.2f} x  = {expected:.4f} / (1 + {k} · {c + v:g})", indent=2)
    page.line(_best(body), indent=2)
    page.line(f"break-even acceptance  {_even(body['break_even_acceptance'], k)}", indent=2)
    page.line(f"gain is gone at        {body['break_even_verify_cost']:.3f} to verify a token", indent=2)
    page.blank()
    _chart(page, body)


def _best(body: Any) -> str:
    count, gain = body["best_draft_tokens"], body["best_speedup"]
    if not count:
        return "best draft tokens      none: every number of them is slower than plain decoding"
    return f"best draft tokens      {count}: {gain:.2f} x"


def _even(value: float | None, draft_tokens: int) -> str:
    if value is None:
        return "none: these costs are higher than what full acceptance gives"
    return f"{100 * value:.1f} % at {draft_tokens} draft tokens"


def _chart(page: Page, body: Any) -> None:
    rows = body["by_draft_tokens"]
    full = max(row["speedup"] for row in rows)
    block = page.style.glyph("█")
    page.raw(Span("draft tokens  tokens per pass  speed-up", "bold"))
    for row in rows:
        count, gain = row["draft_tokens"], row["speedup"]
        mark = " <- asked" if count == body["draft_tokens"] else ""
        mark += " <- best" if count == body["best_draft_tokens"] else ""
        bar = block * round(gain / full * BAR_COLUMNS)
        page.raw(
            f"{count:12}  {row['expected_tokens_per_pass']:15.4f}  {gain:8.2f}  ",
            Span(bar, "red" if gain < 1 else "green"),
            mark,
        )
