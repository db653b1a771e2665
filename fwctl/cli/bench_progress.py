"""A run while it goes on: a table that is redrawn on a terminal, else a line every 10 s."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.units import short_duration

if TYPE_CHECKING:
    from fwctl.measure.progress import Arm, Progress

LINE_EVERY_S = 10.0
DRAW_EVERY_S = 0.5

Watch = Callable[["Progress"], None]


@contextmanager
def watching(call: Call) -> Iterator[Watch | None]:
    """Yields what a run calls with its progress; None with --quiet."""
    stream = call.env.stderr
    if call.output.quiet:
        yield None
    elif stream.isatty() and call.env.environ.get("TERM") != "dumb":
        with _table(call) as watch:
            yield watch
    else:
        yield _lines(call)


def headline(progress: Progress) -> str:
    """`120 of 900 done, 4.1/s, load 8, 35s`."""
    of = "" if progress.total is None else f" of {progress.total}"
    warming = f", {progress.warming} to warm up" if progress.warming else ""
    since = short_duration(float(round(max(0.0, progress.now - progress.began))))
    pace = f"{progress.rate_per_s:.1f}/s, load {progress.level.label}, {since}"
    return f"{progress.done}{of} done{warming}, {pace}"


def row(name: str, arm: Arm) -> tuple[str, ...]:
    """Target, done, errors, TTFT and total time as p50 / p95 of the last requests, in seconds."""
    errors = ", ".join(f"{count} {word}" for word, count in sorted(arm.errors.items()))
    times = (arm.spread(values) for values in (arm.ttft_s, arm.total_s))
    return (
        name,
        str(arm.done),
        errors or "0",
        *("n/a" if found is None else f"{found[0]:.3f} / {found[1]:.3f}" for found in times),
    )


def _lines(call: Call) -> Watch:
    last = 0.0

    def watch(progress: Progress) -> None:
        nonlocal last
        last = last or progress.began
        if progress.now - last < LINE_EVERY_S:
            return
        last = progress.now
        call.output.message(headline(progress))
        for name, arm in progress.arms.items():
            _, done, errors, ttft, total = row(name, arm)
            call.output.message(
                f"{name}: {done} done, errors {errors}, ttft {ttft} s, total {total} s", indent=2
            )

    return watch


@contextmanager
def _table(call: Call) -> Iterator[Watch]:
    from rich.console import Console
    from rich.live import Live
    from rich.table import Table
    from rich.text import Text

    console = Console(file=call.env.stderr, highlight=False, markup=False)
    last = 0.0
    with Live(console=console, auto_refresh=False, transient=True) as live:

        def watch(progress: Progress) -> None:
            nonlocal last
            if progress.now - last < DRAW_EVERY_S:
                return
            last = progress.now
            table: Any = Table(
                box=None, title=Text(call.env.redactor.mask(headline(progress))), title_justify="left"
            )
            for title in ("target", "done", "errors", "ttft p50 / p95 s", "total p50 / p95 s"):
                table.add_column(title)
            for name, arm in progress.arms.items():
                table.add_row(*(Text(call.env.redactor.mask(cell)) for cell in row(name, arm)))
            live.update(table, refresh=True)

        yield watch
