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
        drafts = ("tokens/pass",) if body["speculation"] else ()
        page.table(("type", "pairs", *TYPE_COLUMNS, *drafts), _types(body), right="pairs")
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


def _types(body: Mapping[str, Any]) -> Iterator[tuple[Part, ...]]:
    for name, rows in body["types"].items():
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
        if body["speculation"]:
            cells.append(_tokens_per_pass(body["speculation"]["types"][name]))
        yield tuple(cells)


def _tokens_per_pass(found: Mapping[str, Any]) -> str:
    sides = [found[side] and found[side]["tokens_per_pass"]["value"] for side in ("base", "candidate")]
    return " -> ".join("none" if value is None else f"{value:.2f}" for value in sides)
