"""Tables as CSV, one row a line with a header; the same numbers as in the JSON document."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.report.layout import Style, safe
from fwctl.report.model import Report

# Command -> the rows of its document that make the table; every row has the same keys.
TABLES: dict[str, Callable[[Mapping[str, Any]], list[Mapping[str, Any]]]] = {
    "cost": lambda body: list(body["days"]),
}
_FORMULA = ("=", "+", "-", "@")


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The table; empty when there is no result or no row."""
    table = TABLES.get(report.command)
    rows = table(report.body) if table is not None and report.body else []
    if not rows:
        return ""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(rows[0])
    writer.writerows([_cell(value) for value in row.values()] for row in rows)
    return text.getvalue()


def _cell(value: Any) -> Any:
    """None is an empty cell; text that a spreadsheet would take for a formula gets a quote in front."""
    if isinstance(value, str):
        value = safe(value)
        return f"'{value}" if value.startswith(_FORMULA) else value
    return "" if value is None else value
