"""The table of output formats. A new format is one module and one row."""

from __future__ import annotations

from dataclasses import dataclass
from importlib import import_module
from typing import Protocol, cast

from fwctl.report.layout import Style
from fwctl.report.model import Report


class Renderer(Protocol):
    """What the module of every format offers."""

    def render(self, report: Report, style: Style) -> str: ...


class Appender(Protocol):
    """What the module of a format with `appends` offers too."""

    def appended(self, report: Report, room_bytes: int) -> dict[str, str]:
        """Text for each of the files that the row names by variable; `room_bytes` are free in the summary."""


@dataclass(frozen=True, slots=True)
class Format:
    """One row. module: of fwctl.report, with `render(report, style)`.

    structured: a grammar of its own (JSON, XML, workflow commands), so masking happens on the values
    before rendering and never on the text. failures: a command that failed before it had a result has
    a document in this format too. diagnostics, errors: stdout shows them, so stderr need not.
    appends: variables that name files to which the module's `appended` adds.
    """

    module: str
    structured: bool = False
    failures: bool = False
    diagnostics: bool = False
    errors: bool = False
    appends: tuple[str, ...] = ()


FORMATS: dict[str, Format] = {
    "text": Format("text"),
    "json": Format("json", structured=True, failures=True, diagnostics=True, errors=True),
    "markdown": Format("markdown", failures=True, diagnostics=True),
    "github": Format(
        "github",
        structured=True,
        failures=True,
        diagnostics=True,
        errors=True,
        appends=("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT", "FWCTL_COMMENT"),
    ),
    "sarif": Format("sarif", structured=True, failures=True, diagnostics=True),
    "junit": Format("junit", structured=True, failures=True, diagnostics=True),
    "events": Format("events", structured=True, failures=True, diagnostics=True, errors=True),
    "csv": Format("csv", structured=True),
    "html": Format("html", structured=True, diagnostics=True),
}


def renderer(name: str) -> Renderer:
    """The module that renders this format."""
    return cast(Renderer, import_module(f"fwctl.report.{FORMATS[name].module}"))


def appender(name: str) -> Appender:
    """The module of a format with `appends`."""
    return cast(Appender, import_module(f"fwctl.report.{FORMATS[name].module}"))
