"""The streams of one run: the result on stdout, everything else on stderr, secrets masked in both."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from fwctl.cli.runner_files import append, root_of
from fwctl.env import Env
from fwctl.errors import Diagnostic, FwctlError, Severity, UsageError
from fwctl.report.formats import FORMATS, renderer
from fwctl.report.layout import Page, Part, Span, Style
from fwctl.report.model import Report

# Formats in which a command that failed early is a document on stdout too.
MACHINE_FORMATS = tuple(name for name, row in FORMATS.items() if row.failures)


@dataclass(slots=True)
class Output:
    """Writes results and messages in the chosen format."""

    env: Env
    format: str = "text"
    quiet: bool = False
    verbose: bool = False
    no_color: bool = False
    json_out: Path | None = None

    def check(self) -> None:
        """Refuse a --json-out that cannot be written before any work is done."""
        path = self.json_out and self.env.cwd / self.json_out
        if path and (path.is_dir() or not path.parent.is_dir()):
            name, self.json_out = self.json_out, None
            raise UsageError(f"--json-out: {name} cannot be written: its folder does not exist")

    def result(self, report: Report) -> None:
        """Print the report on stdout, and on stderr what the format does not show there."""
        masked = report_masked(report, self.env)
        self._write_json(masked)
        row = FORMATS[self.format]
        text = renderer(self.format).render(masked, self.style(self.env.stdout))
        write(self.env.stdout, text if row.structured else self.env.redactor.mask(text))
        if row.appends:
            append(self.env, self.format, masked)
        if not row.diagnostics:
            self._diagnostics(masked)
        if report.error is not None and not row.errors:
            self.error(report)
        if not self.quiet and not row.structured:
            for hint in report.hints:
                self.message(Span(hint))

    def _write_json(self, report: Report) -> None:
        if self.json_out is None:
            return
        path, self.json_out = self.json_out, None
        from fwctl.cli.writing import write_file

        write_file(self.env, path, renderer("json").render(report, Style()))

    def error(self, report: Report) -> None:
        """The failure of a command for people: what happened, where, and what to type next."""
        from fwctl.report.diagnostics import write_error

        page = Page(self.style(self.env.stderr))
        write_error(page, report_masked(report, self.env))
        self._say(page.text())

    def _loose(self, report: Report) -> tuple[Diagnostic, ...]:
        """Diagnostics that the result itself does not show: they go to stderr."""
        if report.command == "validate":
            return ()
        if "changes" not in report.body:
            return report.diagnostics
        # There is a plan, so the specs were valid: an error here blocks a change, which shows it.
        return tuple(item for item in report.diagnostics if item.severity is not Severity.ERROR)

    def _diagnostics(self, report: Report) -> None:
        from fwctl.report.diagnostics import write_diagnostics

        found = self._loose(report)
        if self.quiet:
            found = tuple(item for item in found if item.severity is Severity.ERROR)
        page = Page(self.style(self.env.stderr))
        write_diagnostics(page, found)
        self._say(page.text())

    def aside(self, report: Report) -> None:
        """A report as text on stderr: what is about to be done, while stdout waits for the result."""
        if self.quiet or self.format not in ("text", "github"):
            return
        masked = report_masked(report, self.env)
        self._say(renderer("text").render(masked, self.style(self.env.stderr)))

    def message(self, *parts: Part, indent: int = 0) -> None:
        """One line of progress or advice on stderr."""
        if self.quiet:
            return
        page = Page(self.style(self.env.stderr))
        page.line(*parts, indent=indent)
        self._say(page.text())

    def _say(self, text: str) -> None:
        """Text for people on stderr, in which a GitHub runner finds no workflow command.

        Nobody has to listen: a stderr that takes no more must not stop an apply half-way.
        """
        text = self.env.redactor.mask(text)
        with contextlib.suppress(OSError, FwctlError):
            write(self.env.stderr, text.replace("##[", "#\\x23[") if self.format == "github" else text)

    def style(self, stream: TextIO) -> Style:
        """Width, colours and glyphs that this stream can show."""
        terminal = stream.isatty()
        return Style(
            width=_width(self.env.environ, stream) if terminal else None,
            color=wants_color(self.env.environ, terminal=terminal, off=self.no_color),
            unicode=_encodes(stream, "→✓─█"),
            folder=str(self.env.cwd),
            root=root_of(self.env),
            manual=_manual(self.env.environ),
        )


def _manual(environ: Mapping[str, str]) -> str:
    """Where the documentation is published (FWCTL_DOCS_URL), with a slash at its end."""
    base = environ.get("FWCTL_DOCS_URL", "").rstrip("/")
    return f"{base}/" if base.startswith(("https://", "http://")) else ""


def write(stream: TextIO, text: str) -> None:
    """Write text; characters that the stream's encoding lacks become escapes instead of a crash.

    Raises BrokenPipeError when the reader went away, FwctlError for a full disk and the like.
    """
    if not text:
        return
    encoding = stream.encoding or "utf-8"
    try:
        stream.write(text.encode(encoding, "backslashreplace").decode(encoding))
        stream.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        raise FwctlError(f"cannot write the output: {error.strerror or error}") from None


def wants_color(environ: Mapping[str, str], *, terminal: bool, off: bool) -> bool:
    """NO_COLOR and --no-color win, then FORCE_COLOR, then whether it is a terminal that can."""
    if off or environ.get("NO_COLOR"):
        return False
    if environ.get("FORCE_COLOR") not in (None, "", "0"):
        return True
    return terminal and environ.get("TERM") != "dumb"


def report_masked(report: Report, env: Env) -> Report:
    """The same report with every secret in its body masked."""
    from dataclasses import replace

    mask = env.redactor.mask
    return replace(
        report,
        body=mask_tree(report.body, env),
        text=None if report.text is None else mask(report.text),
        error=None if report.error is None else _error_masked(report.error, env),
        diagnostics=tuple(
            replace(
                item,
                message=mask(item.message),
                deployment=item.deployment and mask(item.deployment),
                path=item.path and mask(item.path),
                position=item.position and replace(item.position, file=mask(item.position.file)),
                suggestion=item.suggestion and mask(item.suggestion),
                source_line=item.source_line and mask(item.source_line),
            )
            for item in report.diagnostics
        ),
    )


def _error_masked(error: FwctlError, env: Env) -> FwctlError:
    """The same error with other words; made without its constructor, which every class may choose."""
    masked = type(error).__new__(type(error))
    mask = env.redactor.mask
    masked.__dict__ |= vars(error) | {
        "message": mask(error.message),
        "next_steps": tuple(mask(step) for step in error.next_steps),
    }
    return masked


def mask_tree(value: Any, env: Env) -> Any:
    """Every text in a JSON-like value masked, keys included."""
    if isinstance(value, str):
        return env.redactor.mask(value)
    if isinstance(value, Mapping):
        return {mask_tree(key, env): mask_tree(item, env) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [mask_tree(item, env) for item in value]
    return value


def _width(environ: Mapping[str, str], stream: TextIO) -> int | None:
    if environ.get("COLUMNS", "").isdigit():
        return int(environ["COLUMNS"]) or None
    try:
        return os.get_terminal_size(stream.fileno()).columns or None
    except (OSError, ValueError):
        return shutil.get_terminal_size().columns


def _encodes(stream: TextIO, sample: str) -> bool:
    try:
        sample.encode(stream.encoding or "utf-8")
    except (UnicodeEncodeError, LookupError):
        return False
    return True
