"""A comparison of two runs, for a pull request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.report import bench_words as words
from fwctl.report.bench_compare_text import notes
from fwctl.report.markdown_text import code, escape, folded, prose, table
from fwctl.report.model import Report

_HEADER = ("", "base", "candidate", "ratio", "verdict", "pairs")
_RIGHT = ("base", "candidate", "pairs")
_BOLD = ("better", "worse", "invalid")


def full(report: Report) -> list[str]:
    body = report.body
    lines = [
        *numbers(report),
        *table(_HEADER, [*metrics(body["comparisons"]), *_others(body)], right=_RIGHT),
        "",
    ]
    for name, rows in body["types"].items():
        inner = table(_HEADER, metrics(rows), right=_RIGHT)
        lines += folded(f"type {escape(name)}", inner)
    return [*lines, *(f"{prose(text)}  " for text in notes(body)), ""]


def numbers(report: Report) -> list[str]:
    """Title, gates and what makes the comparison invalid."""
    body = report.body
    lines = [f"## fwctl bench compare: {headline(body)}", ""]
    lines += [f"Base {code(body['base'])}, candidate {code(body['candidate'])}.", ""]
    if body["gates"]:
        rows = [
            (
                f"**{row['outcome']}**" if row["outcome"] != "passed" else "passed",
                code(row["condition"]),
                words.gate(row).replace("$", "USD "),
            )
            for row in body["gates"]
        ]
        lines += [*table(("gate", "condition", "measured"), rows), ""]
    lines += [f"**Invalid:** {prose(text)}  " for text in body["invalid_reasons"]]
    lines += [f"Warning: {prose(text)}  " for text in body["warnings"]]
    return [*lines, ""]


def headline(body: Mapping[str, Any]) -> str:
    """`2 worse, 6 with no difference shown`."""
    if body["invalid_reasons"]:
        return "invalid"
    found = [row["verdict"] for row in body["comparisons"] if row["n_pairs"]]
    parts = [f"{found.count(word)} {word}" for word in ("worse", "better", "inconclusive") if word in found]
    if "same" in found:
        parts.append(f"{found.count('same')} with no difference shown")
    return ", ".join(parts) or "nothing to compare"


def metrics(rows: Sequence[Mapping[str, Any]]) -> list[tuple[str, ...]]:
    """Cells of the rows that have pairs."""
    return [
        (
            f"{words.short(row['metric'])} {row['quantile']}",
            words.time(row["base"]),
            words.time(row["candidate"]),
            words.ratio(row),
            f"**{words.verdict(row)}**" if row["verdict"] in _BOLD else words.verdict(row),
            f"{row['n_pairs']:,}",
        )
        for row in rows
        if row["n_pairs"]
    ]


def _others(body: Mapping[str, Any]) -> list[tuple[str, ...]]:
    failed, cost, length = body["error_rate"], body["usd_per_million_output_tokens"], body["output_tokens"]
    return [
        (
            "failed",
            words.share(failed["base"]["value"]),
            words.share(failed["candidate"]["value"]),
            f"p = {failed['p']:.2g}",
            words.verdict(failed),
            f"{failed['n_pairs']:,}",
        ),
        _pair("USD per million output tokens", cost, words.plain_dollars),
        _pair("output tokens p50", length, words.number),
        _pair("cached share", body["cached_share"], words.share),
    ]


def _pair(name: str, row: Mapping[str, Any], show: Any) -> tuple[str, ...]:
    ratio = row.get("ratio")
    shown = [show(row[key]) for key in ("base", "candidate")]
    return (name, *shown, "" if ratio is None else f"{ratio:.2f}", "", "")
