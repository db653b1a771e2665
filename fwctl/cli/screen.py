"""A report shown again and again: redrawn in place on a terminal, elsewhere printed when it changed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from fwctl.cli.command import Call
from fwctl.cli.output import report_masked, write
from fwctl.report import text
from fwctl.report.model import Report

Show = Callable[[Report, str | None], None]


@contextmanager
def screen(call: Call) -> Iterator[Show]:
    """Yields what shows the next state of a report as text, and why that is not the newest, if so."""
    stream, environ = call.env.stdout, call.env.environ
    if stream.isatty() and environ.get("TERM") != "dumb":
        with _redrawn(call) as show:
            yield show
    else:
        yield _printed(call)


def _rendered(call: Call, report: Report) -> str:
    shown = text.render(report_masked(report, call.env), call.output.style(call.env.stdout))
    return call.env.redactor.mask(shown)


def _told(trouble: str | None) -> str:
    return f"this is what was seen last: {trouble}" if trouble is not None else "live state can be read again"


def _printed(call: Call) -> Show:
    last, told = "", None

    def show(report: Report, trouble: str | None) -> None:
        nonlocal last, told
        found = _rendered(call, report)
        if found != last:
            write(call.env.stdout, f"{call.env.clock.now():%Y-%m-%d %H:%M:%S} UTC\n{found}\n")
        if trouble != told:
            call.output.message(_told(trouble))
        last, told = found, trouble

    return show


@contextmanager
def _redrawn(call: Call) -> Iterator[Show]:
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    console = Console(file=call.env.stdout, highlight=False, markup=False, soft_wrap=True)
    with Live(console=console, auto_refresh=False, transient=False, vertical_overflow="visible") as live:

        def show(report: Report, trouble: str | None) -> None:
            every = f"again every {call.settings.poll_interval_s:g} s; Ctrl-C ends"
            when = f"{call.env.clock.now():%H:%M:%S} UTC, {every}"
            if trouble is not None:
                when = call.env.redactor.mask(f"{_told(trouble)}\n{when}")
            live.update(Text.from_ansi(f"{_rendered(call, report)}\n{when}"), refresh=True)

        yield show
