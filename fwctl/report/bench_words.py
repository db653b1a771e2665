"""How measurements are written in every format."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

METRICS: dict[str, str] = {
    "ttft_s": "time to first token",
    "ttft_from_schedule_s": "time to first token, from when it was due",
    "ttfv_s": "time to first visible token",
    "total_s": "total time",
    "tpot_s": "time per output token",
}
DRAFTED = "tokens a pass"
SHOWN_POSITIONS = 4  # of acceptance, where room is short
# verdict -> (word for people, colour of terminals, kind of badge)
VERDICTS: dict[str, tuple[str, str, str]] = {
    "better": ("better", "green", "good"),
    "worse": ("worse", "red", "bad"),
    "same": ("no difference shown", "", "plain"),
    "inconclusive": ("inconclusive", "yellow", "warn"),
    "invalid": ("invalid", "red", "bad"),
}
OUTCOMES: dict[str, tuple[str, str]] = {
    "passed": ("green", "good"),
    "failed": ("red", "bad"),
    "inconclusive": ("yellow", "warn"),
    "invalid": ("red", "bad"),
}


def short(metric: str) -> str:
    """`ttft` for `ttft_s`, as conditions name it."""
    return metric.removesuffix("_s")


def time(value: float | None) -> str:
    """Three digits: `0.45 ms`, `12.3 ms`, `123 ms`, `1.23 s`."""
    if value is None:
        return "n/a"
    if abs(value) < 0.9995:
        return f"{_three(value * 1000)} ms"
    return f"{_three(value)} s"


def _three(value: float) -> str:
    size = abs(value)
    if size >= 99.95:
        return f"{value:,.0f}"
    return f"{value:.1f}" if size >= 9.995 else f"{value:.2f}"


def number(value: float | None) -> str:
    """Three digits without a unit; large numbers with commas."""
    return "n/a" if value is None else _three(value)


def share(value: float | None) -> str:
    """`0.6 %`."""
    return "n/a" if value is None else f"{value * 100:.1f} %"


def drafts(found: Mapping[str, Any] | None, positions: int | None = None) -> Iterator[tuple[str, str]]:
    """What servers said about drafts and predicted outputs, as name and value. positions: most that are
    written out, None for all."""
    if not found:
        return
    tokens, predicted = found["tokens_per_pass"], found["predictions"]
    if tokens["value"] is not None:
        low_high = "" if tokens["low"] is None else f" ({tokens['low']:.2f} to {tokens['high']:.2f})"
        yield DRAFTED, f"{tokens['value']:.2f}{low_high}"
        shares = found["acceptance_by_position"]
        more = " ..." if positions is not None and len(shares) > positions else ""
        yield "accepted by position", ", ".join(map(share, shares[:positions])) + more
    if predicted:
        said = f"{share(predicted['matched_share'])} of {predicted['requests']:,} predictions"
        yield "matched prediction tokens", f"{predicted['matched_tokens']:,.0f}, {said}"
    if found["unread"]:
        yield "acceptance not understood", f"{found['unread']:,} requests"


def dollars(value: float | None) -> str:
    """`$1.23`; a price that is not known is never zero."""
    return "n/a" if value is None else f"${value:,.2f}"


def plain_dollars(value: float | None) -> str:
    """`1.23`, for a place that says USD already."""
    return "n/a" if value is None else f"{value:,.2f}"


def estimate(item: Mapping[str, Any] | None) -> str:
    """`123 ms [110 ms, 131 ms]`, or `n/a (n=40, needs 72)`."""
    if item is None:
        return "n/a"
    if item["value"] is None:
        return f"n/a (n={item['n']}, needs {item['n_needed']})"
    return f"{time(item['value'])} [{time(item['low'])}, {time(item['high'])}]"


def ratio(row: Mapping[str, Any]) -> str:
    """`1.08 [1.02, 1.15]`."""
    if row["ratio"] is None:
        return "n/a"
    return f"{row['ratio']:.2f} [{row['low']:.2f}, {row['high']:.2f}]"


def verdict(row: Mapping[str, Any]) -> str:
    """`worse`, or `inconclusive, needs 640 pairs`."""
    word = VERDICTS[row["verdict"]][0]
    return f"{word}, needs {row['n_needed']:,} pairs" if row.get("n_needed") else word


def errors(counts: Mapping[str, int]) -> str:
    """`3 rate_limited, 1 truncated`; `none` when there are none."""
    return ", ".join(f"{count} {word}" for word, count in counts.items()) or "none"


def gate(row: Mapping[str, Any]) -> str:
    """What was measured against the limit of a gate: `1.23 [1.12, 1.33]`."""
    show = _of(row)
    if row["value"] is None:
        return row["reason"] or "n/a"
    shown = show(row["value"])
    if row["low"] is not None and row["low"] != row["high"]:
        shown += f" [{show(row['low'])}, {show(row['high'])}]"
    return f"{shown}; {row['reason']}" if row["reason"] else shown


def _of(row: Mapping[str, Any]) -> Any:
    if row["relative"]:
        return lambda value: f"{value:.2f}x"
    if row["name"] in ("error_rate", "goodput"):
        return share
    if row["name"] == "cost":
        return dollars
    return number if row["name"].endswith("per_s") else time
