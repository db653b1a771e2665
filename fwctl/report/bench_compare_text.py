"""A comparison of two runs, for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.report import bench_words as words
from fwctl.report.layout import Page, Part, Span
from fwctl.report.model import Report

# What is told by type; the JSON document holds all of them.
TYPE_COLUMNS = ("ttft p50", "ttft p95", "total p95", "tpot p95")
HEADER = ("", "base", "candidate", "ratio", "verdict", "pairs")


def write(page: Page, report: Report) -> None:
    body = report.body
    page.line(f"base       {body['base']}")
    page.line(f"candidate  {body['candidate']}")
    page.blank()
    page.table(HEADER, [*_rows(body), *_others(body)], right="base, candidate, pairs")
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


def notes(body: Mapping[str, Any]) -> list[str]:
    """What stands under the table."""
    found = [f"A difference up to {words.share(body['tolerance'])} counts as none; intervals are 95 % ones."]
    source = body["floor"]["source"]
    if source:
        found.append(f"Noise floor from {source}.")
    if body["unpaired"]:
        found.append(f"{body['unpaired']} requests have no partner in the other run and are left out.")
    return found


def _rows(body: Mapping[str, Any]) -> Iterator[tuple[Part, ...]]:
    yield from _metrics(body["comparisons"])


def _metrics(rows: Any) -> Iterator[tuple[Part, ...]]:
    for row in rows:
        if not row["n_pairs"]:
            continue
        yield (
            f"{words.short(row['metric'])} {row['quantile']}",
            words.time(row["base"]),
            words.time(row["candidate"]),
            words.ratio(row),
            Span(words.verdict(row), words.VERDICTS[row["verdict"]][1]),
            f"{row['n_pairs']:,}",
        )


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


def _others(body: Mapping[str, Any]) -> Iterator[tuple[Part, ...]]:
    failed = body["error_rate"]
    yield (
        "failed",
        words.share(failed["base"]["value"]),
        words.share(failed["candidate"]["value"]),
        f"p = {failed['p']:.2g}",
        Span(words.verdict(failed), words.VERDICTS[failed["verdict"]][1]),
        f"{failed['n_pairs']:,}",
    )
    for name, key, show in (
        ("$ per M output", "usd_per_million_output_tokens", words.dollars),
        ("output tokens p50", "output_tokens", words.number),
        ("cached share", "cached_share", words.share),
    ):
        row = body[key]
        ratio = row.get("ratio")
        yield name, show(row["base"]), show(row["candidate"]), "" if ratio is None else f"{ratio:.2f}", "", ""
