"""A comparison of two runs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.report import bench_words as words
from fwctl.report.bench_compare_rows import HEADER, Row, metrics, notes, others
from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report

# What is told by type; the JSON document holds all of them.
TYPE_COLUMNS = ("ttft p50", "ttft p95", "total p95", "tpot p95")


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(f"base       {body['base']}")
    page.line(f"candidate  {body['candidate']}")
    page.blank()
    found = (*metrics(body["comparisons"]), *others(body, plain=False))
    page.table(HEADER, map(_cells, found), right="base, candidate, pairs")
    if body["types"]:
        page.blank()
        page.table(("type", "pairs", *TYPE_COLUMNS), _types(body["types"]), right="pairs")
    page.blank()
    for text in notes(body):
        page.line(text)
    for row in body["gates"]:
        colour = words.OUTCOMES[row["outcome"]][0]
        page.line(Span(row["outcome"].upper(), f"bold {colour}"), f"  {row['condition']}: {words.gate(row)}")
    for text in body["warnings"]:
        page.line(Span("warning: ", "yellow"), text)
    for text in body["invalid_reasons"]:
        page.line(Span("INVALID: ", "bold red"), text)


def _cells(row: Row) -> tuple[Part, ...]:
    colour = words.VERDICTS[row.verdict][1] if row.verdict else ""
    return row.name, row.base, row.candidate, row.ratio, Span(row.told, colour), row.pairs


def _types(types: Mapping[str, Any]) -> Iterator[tuple[Part, ...]]:
    for name, rows in types.items():
        by_name = {f"{words.short(row['metric'])} {row['quantile']}": row for row in rows}
        cells: list[Part] = [name, f"{max(row['n_pairs'] for row in rows):,}"]
        for column in TYPE_COLUMNS:
            row = by_name.get(column)
            if row is None or row["ratio"] is None:
                cells.append("n/a")
            else:
                word, colour, _ = words.VERDICTS[row["verdict"]]
                word = "no difference" if row["verdict"] == "same" else word
                cells.append(Span(f"{row['ratio']:.2f} {word}", colour))
        yield tuple(cells)
