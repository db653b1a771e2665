"""NDJSON for long commands: the events were written as they came; this is the last line, the result."""

from __future__ import annotations

import json

from fwctl.report.json import plain
from fwctl.report.layout import Style
from fwctl.report.model import Report


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The JSON document of the command as one line, marked as the event `document`."""
    return json.dumps({"event": "document", **plain(report.to_json())}, allow_nan=False) + "\n"
