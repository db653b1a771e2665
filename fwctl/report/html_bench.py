"""Bench reports and comparisons as one HTML page with charts inside."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from fwctl.report import bench_charts, bench_report_rows
from fwctl.report import bench_words as words
from fwctl.report.bench_charts import Chart
from fwctl.report.bench_compare_rows import HEADER, RIGHT, Row, headline, metrics, notes, of_type, others
from fwctl.report.html_text import badge, code, escape, table
from fwctl.report.model import Report

LONGEST_TITLE = 60


def report_title(report: Report) -> str:
    """`Bench: fast, fp8`, or how many there are when the names are long."""
    labels = [arm["label"] for arm in bench_report_rows.arms(report.body)]
    names, runs = ", ".join(labels), len(report.body["runs"])
    if len(names) > LONGEST_TITLE:
        names = f"{len(labels)} targets of {runs} run{'s'[: runs > 1]}"
    return f"Bench: {names}"


def report_body(report: Report) -> list[str]:
    """Header, problems, the table, the charts, and everything else behind a click."""
    body = report.body
    lines = [*_start(report_title(report)), *_problems(list(bench_report_rows.problems(body)))]
    header = bench_report_rows.header(body)
    cells = [tuple(map(escape, row)) for row in bench_report_rows.rows(body)]
    lines += ['<section class="dense"><h2>Targets</h2>', *table("Targets", header, cells, right=header[2:])]
    lines.append(
        '<p class="soft">Percentiles are of requests that went well; n/a: too few of them.</p></section>'
    )
    lines += _charts(bench_charts.of_report(body))
    lines.append('<section class="dense"><h2>Details</h2>')
    for arm in bench_report_rows.arms(body):
        inner = [(escape(name), escape(value)) for name, value in bench_report_rows.details(arm)]
        lines.append(f"<details><summary>{escape(arm['label'])}</summary>")
        lines += [
            *table(f"Figures of {arm['label']}", ("figure", "value"), inner),
            *_types(arm),
            "</details>",
        ]
    lines += ["</section>", *_runs(body["runs"])]
    return lines


def _types(arm: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(name),
            f"{item['n']:,}",
            escape(words.errors(item["errors"])),
            *(
                escape(words.estimate(item[metric]["p50"])) if "p50" in item[metric] else ""
                for metric in ("ttft_s", "total_s")
            ),
        )
        for name, item in arm["types"].items()
    ]
    header = ("type", "requests", "errors", "ttft p50", "total p50")
    return table(f"Types of {arm['label']}", header, rows, right=("requests",)) if rows else []


def _runs(runs: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            code(run["dir"]),
            badge("valid", "good") if run["valid"] else badge("invalid", "bad"),
            code(str(run["run_id"] or "")),
            code(run["suite_digest"][:23]),
            escape(str(run["cache"] or "")),
        )
        for run in runs
    ]
    header = ("folder", "run", "id", "prompt set", "cache")
    return ["<section><h2>Runs</h2>", *table("Runs", header, rows), "</section>"]


def compare_title(report: Report) -> str:
    """`Bench comparison: 2 worse, 6 with no difference shown`."""
    return f"Bench comparison: {headline(report.body)}"


def compare_body(report: Report) -> list[str]:
    """Header, gates, the ratios as a chart and as a table, by type behind a click."""
    body = report.body
    lines = _start(compare_title(report))
    lines.append(
        '<dl class="facts">'
        f"<div><dt>base</dt><dd>{code(body['base'])}</dd></div>"
        f"<div><dt>candidate</dt><dd>{code(body['candidate'])}</dd></div></dl>"
    )
    found = [("INVALID", text) for text in body["invalid_reasons"]]
    lines += _problems([*found, *(("warning", text) for text in body["warnings"])])
    lines += _gates(body["gates"])
    lines += _charts(bench_charts.of_comparison(body))
    lines.append('<section class="dense"><h2>Figures</h2>')
    figures = _ratios(metrics(body["comparisons"]))
    lines += table("Figures of both runs", HEADER, figures, right=RIGHT)
    lines += table("Other figures", HEADER, _ratios(others(body, plain=True)), right=RIGHT)
    for name in body["types"]:
        lines.append(f"<details><summary>type {escape(name)}</summary>")
        lines += [
            *table(f"Figures of type {name}", HEADER, _ratios(of_type(body, name)), right=RIGHT),
            "</details>",
        ]
    lines += [f'<p class="soft">{escape(text)}</p>' for text in notes(body)]
    return [*lines, "</section>"]


def _ratios(rows: Iterable[Row]) -> Iterator[tuple[str, ...]]:
    for row in rows:
        verdict = badge(row.told, words.VERDICTS[row.verdict][2]) if row.verdict else ""
        yield escape(row.name), row.base, row.candidate, escape(row.ratio), verdict, row.pairs


def _gates(gates: Sequence[Mapping[str, Any]]) -> list[str]:
    rows = [
        (
            badge(row["outcome"], words.OUTCOMES[row["outcome"]][1]),
            code(row["condition"]),
            escape(words.gate(row)),
            escape(row["source"]),
        )
        for row in gates
    ]
    if not rows:
        return []
    return [
        "<section><h2>Gates</h2>",
        *table("Gates", ("outcome", "condition", "measured", "from"), rows),
        "</section>",
    ]


def _start(title: str) -> list[str]:
    return ["<header>", f"<h1>{escape(title)}</h1>", "</header>", "<main>"]


def _problems(found: Sequence[tuple[str, str]]) -> list[str]:
    lines = []
    for kind, text in found:
        card = "bad" if kind == "INVALID" else "warn"
        lines.append(f'<div class="card {card}">{badge(kind.lower(), card)} {escape(text)}</div>')
    return lines


def _charts(found: Sequence[Chart]) -> list[str]:
    if not found:
        return []
    lines = ['<section><h2>Charts</h2><div class="charts">']
    for chart in found:
        lines.append(f"<figure><h3>{escape(chart.title)}</h3>")
        lines.append(f'{chart.svg}<figcaption class="soft">{escape(chart.told)}</figcaption></figure>')
    return [*lines, "</div></section>"]
