"""`fwctl cost`."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.cost_sources import CostSources, Read, read_sources
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.operate.cost_document import Findings
    from fwctl.operate.cost_waste import Wasted


@command(
    "fwctl cost --billing billing_metrics.csv",
    "fwctl cost --fetch-billing --from 2026-11-01 --to 2026-11-30 --format html > cost.html",
    "fwctl cost --samples samples.jsonl --prices contract.yaml --tag team --format csv",
    formats=("text", "json", "csv", "html"),
)
def cost(
    call: Call,
    *,
    paths: Paths = None,
    sources: CostSources,
    records: Annotated[
        list[Path] | None,
        typer.Option(
            "--records",
            metavar="FILE",
            help="Records of a bench or a router. May be repeated.",
            show_default=False,
        ),
    ] = None,
    tag: Annotated[
        str | None,
        typer.Option("--tag", metavar="KEY", help="Tag that names cost centres.", show_default=False),
    ] = None,
    output_weight: Annotated[
        int,
        typer.Option(
            "--output-weight",
            min=1,
            max=100,
            metavar="N",
            help="Prompt tokens that a generated one counts as [4].",
        ),
    ] = 4,
    trend_days: Annotated[
        int,
        typer.Option(
            "--trend-days", min=1, max=90, metavar="N", help="Days compared with as many before them [7]."
        ),
    ] = 7,
    rising: Annotated[
        int,
        typer.Option(
            "--rising", min=1, max=1000, metavar="PERCENT", help="Growth that counts as rising [20]."
        ),
    ] = 20,
    check: Annotated[
        bool,
        typer.Option(
            "--check", help="Exit 4 when the sources disagree or a cost is rising.", show_default=False
        ),
    ] = False,
) -> Report:
    """Dollars by deployment and day, and what a million tokens cost.

    GPU time comes from samples of ready replicas, tokens from the billing export; each works alone
    too. Where both speak they are compared and never averaged. Days are UTC.
    """
    from fwctl.operate.cost import cost as count
    from fwctl.operate.cost_document import Findings, diagnostics, document
    from fwctl.operate.cost_serverless import compare
    from fwctl.operate.cost_trend import trends

    read = read_sources(call, sources, paths)
    result = count(
        read.span,
        read.prices,
        sampled=read.samples,
        billing=read.billing,
        pools=read.pools,
        now=call.env.clock.now(),
    )
    last = max((line.key.day for line in result.lines), default=read.span.last)
    found = Findings(
        result,
        trends(result.lines, last, window=trend_days, rising=Fraction(rising, 100)),
        compare(result.lines, read.prices[read.span.last].serverless),
        _wasted(call, records or []),
        output_weight,
        tag,
    )
    body = {**_head(read), **document(found)}
    return Report("cost", body, _code(found, check=check), diagnostics(found))


def _wasted(call: Call, records: list[Path]) -> list[Wasted]:
    from fwctl.operate.cost_waste import read_records, wasted

    return wasted(row for path in records for row in read_records(call.env.cwd / path))


def _head(read: Read) -> dict[str, Any]:
    billing = read.billing
    return {
        "account": read.account,
        "sources": {
            "sample_rounds": read.samples.rounds if read.samples else None,
            "billing_rows": billing.lines if billing else None,
            "unknown_columns": list(billing.unknown_columns) if billing else [],
        },
        "price_dates": sorted({item.as_of.isoformat() for item in read.prices.values()}),
    }


def _code(found: Findings, *, check: bool) -> Exit:
    wrong = any(not item.agrees for item in found.cost.residuals) or any(item.rising for item in found.trends)
    return Exit.REFUSED if check and wrong else Exit.OK
