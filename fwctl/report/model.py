"""What a command hands to a report format: one stable document, its diagnostics, its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fwctl.errors import Diagnostic, FwctlError
from fwctl.exitcodes import Exit

FORMAT_VERSION = "1.0"

# Commands whose result is that of an apply.
APPLIES = ("apply", "adopt", "destroy", "forget", "hold", "park", "release", "undo", "unpark", "wait")


@dataclass(frozen=True, slots=True)
class Report:
    """Outcome of one command.

    body: the keys of docs/json.md that belong to this command. text: for the few commands whose result
    is itself a text (schema, rules, a starter spec), that text, printed as it is. hints: lines for
    people, printed on stderr after the result and never part of a machine format. detail: show people
    the arithmetic and explanations too (`--explain`).
    """

    command: str
    body: Mapping[str, Any] = field(default_factory=dict)
    exit_code: Exit = Exit.OK
    diagnostics: tuple[Diagnostic, ...] = ()
    error: FwctlError | None = None
    text: str | None = None
    hints: tuple[str, ...] = ()
    detail: bool = False

    @property
    def ok(self) -> bool:
        """True when the command did its work; changes found with --detailed-exitcode count as fine."""
        return self.exit_code in (Exit.OK, Exit.CHANGES)

    def hinted(self, hints: tuple[str, ...]) -> Report:
        """The same report with these lines for people."""
        return replace(self, hints=hints)

    def to_json(self) -> dict[str, Any]:
        """The one JSON document of the command (docs/json.md)."""
        document: dict[str, Any] = {
            "format_version": FORMAT_VERSION,
            "command": self.command,
            "ok": self.ok,
            "exit_code": int(self.exit_code),
            "diagnostics": [item.to_json() for item in self.diagnostics],
            **self.body,
        }
        if self.error is not None:
            document["error"] = self.error.to_json()
        return document


def failure(command: str, error: FwctlError, exit_code: Exit | None = None) -> Report:
    """The report of a command that could not go on."""
    return Report(command, {}, exit_code or error.exit_code, error.diagnostics, error)
