"""A bench report for a pull request."""

from __future__ import annotations

from fwctl.report import bench_report_rows as rows
from fwctl.report.markdown_text import escape, folded, prose, table
from fwctl.report.model import Report


def full(report: Report) -> list[str]:
    lines = numbers(report)
    for arm in rows.arms(report.body):
        inner = table(("figure", "value"), [(name, escape(value)) for name, value in rows.details(arm)])
        lines += folded(escape(arm["label"]), inner)
    return lines


def numbers(report: Report) -> list[str]:
    """What is wrong, and the table."""
    body = report.body
    count = len(rows.arms(body))
    lines = [f"## fwctl bench report: {count} target{'s'[: count > 1]}", ""]
    lines += [f"**{kind}:** {prose(text)}  " for kind, text in rows.problems(body)]
    header = tuple(name.replace("$", "USD") for name in rows.header(body))
    cells = [
        tuple(escape(cell) if at == 0 else cell for at, cell in enumerate(row)) for row in rows.rows(body)
    ]
    return [*lines, "", *table(header, cells, right=header[2:]), ""]
