"""Events of a long command: lines for people on stderr, or NDJSON on stdout with `--format events`."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.cli.command import Call
from fwctl.cli.output import mask_tree, write
from fwctl.errors import FwctlError
from fwctl.report.json import plain
from fwctl.report.layout import Part, Span

Event = Mapping[str, Any]

_SILENT = frozenset({"version", "end"})
_VERBOSE = frozenset({"call", "answer"})
_STYLE = {"done": "green", "failed": "bold red", "in_progress": "cyan"}


def listener(call: Call) -> Callable[[Event], None]:
    """What receives the events of an apply or a wait."""
    if call.settings.format == "events":
        return lambda event: event_line(call, event)
    last: dict[str, str] = {}
    return lambda event: _tell(call, event, last)


def event_line(call: Call, event: Event) -> None:
    """One event as one line of JSON on stdout. A reader that went away must not stop an apply half-way;
    the end of the run notices it and fails."""
    text = json.dumps(plain(mask_tree(event, call.env)), allow_nan=False)
    with contextlib.suppress(OSError, FwctlError):
        write(call.env.stdout, text + "\n")


def _tell(call: Call, event: Event, last: dict[str, str]) -> None:
    """One line when something new happened; a heartbeat names who is still under way."""
    kind, name = str(event.get("event")), str(event.get("name", ""))
    if kind in _SILENT or (kind in _VERBOSE and not call.output.verbose):
        return
    parts = _parts(kind, event)
    said = "".join(part if isinstance(part, str) else part.text for part in parts)
    if kind == "progress" and last.get(name) == said:
        return
    last[name] = said
    call.output.message(*parts)


def _parts(kind: str, event: Event) -> list[Part]:
    name = Span(f"{event.get('name', '')}: ", "bold")
    if kind == "note":
        return [Span("note: ", "cyan"), str(event["message"])]
    if kind == "heartbeat":
        return [Span(f"still waiting for {', '.join(event.get('active', ()))}", "dim")]
    if kind == "result":
        outcome = str(event["outcome"])
        error = event.get("error")
        why = f": {error['message']}" if error else ""
        return [name, Span(outcome.replace("_", " "), _STYLE.get(outcome, "")), why]
    if kind == "progress":
        return [
            name,
            f"{event.get('stage', '')} {event.get('state', '')}{_counts(event.get('replicas') or {})}",
        ]
    words = " ".join(str(word) for word in event.get("argv", ()) or ())
    return [name, kind.replace("_", " "), f" {words}" if words else ""]


def _counts(replicas: Mapping[str, int]) -> str:
    stages = ("pending", "downloading", "initializing", "ready")
    told = [f"{replicas[stage]} {stage}" for stage in stages if replicas.get(stage)]
    wanted = replicas.get("desired")
    return f" ({', '.join(told) or '0 ready'}{f' of {wanted}' if wanted else ''})"
