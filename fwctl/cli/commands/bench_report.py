"""`fwctl bench report`: runs as a page with charts, a table, or histograms in the terminal."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import FwctlError, UsageError
from fwctl.report.model import Report

if TYPE_CHECKING:
    from collections.abc import Mapping


@command(
    "fwctl bench report runs/today",
    "fwctl bench report runs/base runs/candidate --format html > bench.html",
    "fwctl bench report runs/sweep --charts charts --png",
    formats=("text", "json", "markdown", "html"),
)
def bench_report(
    call: Call,
    *,
    folders: Annotated[list[str], typer.Argument(metavar="DIR", help="Folders of bench runs.")],
    charts: Annotated[
        Path | None, typer.Option("--charts", metavar="DIR", help="Write every chart as an SVG file too.")
    ] = None,
    png: Annotated[bool, typer.Option("--png", help="Of --charts: as PNG files too.")] = False,
    percentiles: Annotated[
        str, typer.Option("--percentiles", metavar="LIST", help="Percentiles to show [50,95].")
    ] = "50,95",
) -> Report:
    """Show runs: distributions, latency against load, their course, errors, and cost beside latency.

    `--format html` is one file that needs no network. Text has histograms.
    """
    from fwctl.cli.commands.bench_compare import fractions
    from fwctl.measure.digest import digest_of

    if png and charts is None:
        raise UsageError("--png belongs to --charts DIR")
    body: dict[str, Any] = digest_of(call.env.cwd, folders, fractions(percentiles))
    if charts is not None:
        body["charts"] = _write(call, Path(charts), body, with_png=png)
    return Report("bench report", body)


def _write(call: Call, folder: Path, body: Mapping[str, Any], *, with_png: bool) -> list[str]:
    """Names of the files as the user would write them."""
    from fwctl.cli.writing import write_file
    from fwctl.report.bench_charts import of_report
    from fwctl.report.png import png
    from fwctl.report.svg import standalone

    try:
        (call.env.cwd / folder).mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FwctlError(f"cannot write to {folder}: {error.strerror or error}") from None
    names = []
    for chart in of_report(body):
        files: dict[str, str | bytes] = {"svg": standalone(chart.svg)}
        if with_png:
            files["png"] = png(chart.svg)
        for ending, content in files.items():
            name = folder / f"{chart.name}.{ending}"
            write_file(call.env, name, content)
            names.append(str(name))
    return names
