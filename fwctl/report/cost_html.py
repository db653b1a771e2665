"""What deployments cost, as one HTML page with charts."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from fwctl.report.charts import Axes, Point, Series, lines, scatter
from fwctl.report.cost_text import figures, moment, percent
from fwctl.report.html_text import badge, code, escape, table
from fwctl.report.model import Report
from fwctl.units import format_usd

MOST_LINES = 8  # deployments in one chart, the dearest; the tables hold all
FIGURES = ("GPU-hours", "cost", "tokens", "$ per M tokens", "idle", "batch")


def title(report: Report) -> str:
    """`Cost of acme, 2026-11-01 to 2026-11-30`."""
    body = report.body
    return f"Cost of {body['account'] or 'unknown account'}, {body['from']} to {body['to']}"


def body(report: Report) -> list[str]:
    """Header, totals, charts, and the tables behind them; the caller closes <main>."""
    found = report.body
    return [
        "<header>",
        f"<h1>{escape(title(report))}</h1>",
        f'<p class="soft">Days are UTC. Prices of {escape(", ".join(found["price_dates"]))}.</p>',
        "</header>",
        "<main>",
        '<section class="dense"><h2>Deployments</h2>',
        *_deployments(found),
        "</section>",
        *_charts(found),
        *_centres(found),
        *_trends(found),
        *_serverless(found),
        *_reconciliation(found),
        *_gaps(found),
        *_days(found),
    ]


def _figures(item: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(escape(text) for text in figures(item))


def _deployments(found: Mapping[str, Any]) -> list[str]:
    rows = [
        (escape(item["label"]), escape(item["accelerator"]), str(item["days"]), *_figures(item))
        for item in found["deployments"]
    ]
    rows.append(("total", "", "", *_figures(found["total"])))
    header = ("deployment", "accelerator", "days", *FIGURES)
    return table("Cost of deployments", header, rows, right=header[2:])


def _charts(found: Mapping[str, Any]) -> list[str]:
    """Cost a day as stairs; what is missing on some days as dots, so that no line runs over a gap."""
    first = date.fromisoformat(found["from"])
    axes = {
        "usd": "dollars a day",
        "usd_per_million_tokens": "dollars per million tokens",
        "idle_share": "idle share of GPU time",
        "occupancy": "share of batch slots in use",
    }
    shown = []
    for key, name in axes.items():
        series = _series(found, key, first)
        draw = lines if key == "usd" else scatter
        shown.append(draw(name, series, Axes(f"day, 0 is {found['from']}", name)) if series else "")
    figures = [f'<figure class="card">{chart}</figure>' for chart in shown if chart]
    return ['<section><h2>By day</h2><div class="charts">', *figures, "</div></section>"] if figures else []


def _series(found: Mapping[str, Any], key: str, first: date) -> list[Series]:
    dearest = sorted(found["deployments"], key=lambda item: -(item["usd"] or 0))
    names = list(dict.fromkeys(item["label"] for item in dearest))[:MOST_LINES]
    points: dict[str, dict[int, float]] = {name: {} for name in names}
    for row in found["days"]:
        if row["label"] in points and row[key] is not None:
            day = (date.fromisoformat(row["day"]) - first).days
            points[row["label"]][day] = points[row["label"]].get(day, 0.0) + row[key]
    return [
        Series(name, [Point(day, value) for day, value in sorted(rows.items())])
        for name, rows in points.items()
        if rows
    ]


def _section(heading: str, rows: list[str]) -> list[str]:
    return [f"<section><h2>{escape(heading)}</h2>", *rows, "</section>"] if rows else []


def _centres(found: Mapping[str, Any]) -> list[str]:
    rows = [(escape(item["value"] or "(without)"), *_figures(item)) for item in found["cost_centres"]]
    if not rows:
        return []
    tag = found["cost_centres"][0]["tag"]
    return _section("Cost centres", table(f"By the tag {tag}", (tag, *FIGURES), rows, right=FIGURES))


def _trends(found: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(item["label"]),
            format_usd(item["before_usd_per_million_tokens"]),
            format_usd(item["recent_usd_per_million_tokens"]),
            f"{item['change']:+.1%}",
            badge("rising", "warn") if item["rising"] else badge("steady", "good"),
            escape(item["cause"] or ""),
        )
        for item in found["trends"]
    ]
    header = ("deployment", "before", "now", "change", "", "largest factor")
    return _section(
        "Cost per million tokens over time",
        table("Trends", header, rows, right=header[1:4]) if rows else [],
    )


def _serverless(found: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(item["label"]),
            format_usd(item["dedicated_usd"]),
            format_usd(item["serverless_usd"]),
            escape(item["cheaper"]),
            _count(item["tokens_per_day"]),
            _count(item["break_even_tokens_per_day"]),
        )
        for item in found["serverless"]
    ]
    header = ("deployment", "dedicated", "serverless", "cheaper", "tokens a day", "dedicated wins from")
    return _section(
        "Against serverless",
        table("The same tokens on serverless", header, rows, right=header[1:]) if rows else [],
    )


def _count(value: float | None) -> str:
    return "never" if value is None else f"{value:,.0f}"


def _reconciliation(found: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(item["day"]),
            escape(item["accelerator"]),
            f"{item['billed_gpu_hours']:,.2f}",
            f"{item['sampled_gpu_hours']:,.2f}",
            f"{item['residual_gpu_hours']:+,.2f}",
            percent(item["residual_share"]),
            badge("agrees", "good") if item["agrees"] else badge(f"differs: {item['cause']}", "bad"),
        )
        for item in found["reconciliation"]
    ]
    header = ("day", "accelerator", "billed GPU-hours", "sampled", "residual", "share", "")
    return _section(
        "Billing against samples",
        _folded(table("Never averaged", header, rows, right=header[2:6]), "all days") if rows else [],
    )


def _gaps(found: Mapping[str, Any]) -> list[str]:
    listed = [
        f"<li>{escape(moment(gap['start']))} to {escape(moment(gap['end']))}</li>" for gap in found["gaps"]
    ]
    return _section("Times without samples", ["<ul>", *listed, "</ul>"] if listed else [])


def _days(found: Mapping[str, Any]) -> list[str]:
    rows = [
        (
            escape(f"{item['day']} {item['label']}"),
            code(item["model"]),
            escape(item["source"]),
            *_figures(item),
        )
        for item in found["days"]
    ]
    header = ("day", "model", "source", *FIGURES)
    return _section("Days", _folded(table("Every day", header, rows, right=FIGURES), f"{len(rows)} rows"))


def _folded(rows: list[str], summary: str) -> list[str]:
    return [f"<details><summary>{escape(summary)}</summary>", *rows, "</details>"]
