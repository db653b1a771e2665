"""A comparison of two runs, for a pull request."""

from __future__ import annotations

from fwctl.report import bench_words as words
from fwctl.report.bench_compare_rows import HEADER, RIGHT, Row, headline, metrics, notes, of_type, others
from fwctl.report.markdown_text import code, escape, folded, prose, table
from fwctl.report.model import Report

_BOLD = ("better", "worse", "invalid")


def full(report: Report) -> list[str]:
    body = report.body
    found = (*metrics(body["comparisons"]), *others(body, plain=True))
    lines = [
        *numbers(report),
        *table(HEADER, map(_cells, found), right=RIGHT),
        "",
    ]
    for name in body["types"]:
        inner = table(HEADER, map(_cells, of_type(body, name)), right=RIGHT)
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


def _cells(row: Row) -> tuple[str, ...]:
    told = f"**{row.told}**" if row.verdict in _BOLD else row.told
    return row.name, row.base, row.candidate, row.ratio, told, row.pairs
