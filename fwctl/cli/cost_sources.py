"""Where `fwctl cost` takes its figures from: options that name files, days and prices."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, date, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.command import Call
from fwctl.cli.places import STATE_FOLDER, has_specs
from fwctl.cli.prices import own_price_file, price_document
from fwctl.cli.session import Session, load_specs, own_account, require_valid
from fwctl.errors import UsageError
from fwctl.records.history import HISTORY_NAME

if TYPE_CHECKING:
    from fwctl.catalog.prices import PriceList
    from fwctl.operate.cost import Span
    from fwctl.operate.cost_billing import Billing
    from fwctl.operate.cost_prices import PriceFile
    from fwctl.operate.samples import Sampled
    from fwctl.records.samples import Round
    from fwctl.spec.model import Spec

DAYS = 30
LONGEST_DAYS = 366
BILLING_FILE = "billing.csv"


@dataclass(frozen=True)
class CostSources:
    """One field for each option; None means not given."""

    billing: Annotated[
        Path | None,
        typer.Option("--billing", metavar="FILE", help="Billing export, CSV.", show_default=False),
    ] = None
    fetch_billing: Annotated[
        bool,
        typer.Option(
            "--fetch-billing", help="Export it through firectl; 31 days at most.", show_default=False
        ),
    ] = False
    samples: Annotated[
        Path | None,
        typer.Option(
            "--samples", metavar="FILE", help="Samples; .fwctl/history.db unless given.", show_default=False
        ),
    ] = None
    first: Annotated[
        str | None,
        typer.Option("--from", metavar="DATE", help="First day; 29 days before --to.", show_default=False),
    ] = None
    last: Annotated[
        str | None, typer.Option("--to", metavar="DATE", help="Last day; today.", show_default=False)
    ] = None
    prices: Annotated[
        list[Path] | None,
        typer.Option(
            "--prices",
            metavar="FILE",
            help="Price file, in force from its date. May be repeated.",
            show_default=False,
        ),
    ] = None
    reserved: Annotated[
        list[str] | None,
        typer.Option(
            "--reserved",
            metavar="TYPE=N",
            help="Reserved GPUs of an accelerator. May be repeated.",
            show_default=False,
        ),
    ] = None


@dataclass(frozen=True, slots=True)
class Read:
    """What the sources hold. samples, billing: None where there is no such source."""

    account: str | None
    span: Span
    samples: Sampled | None
    billing: Billing | None
    pools: dict[str, int]
    prices: dict[date, PriceList]


def read_sources(call: Call, sources: CostSources, paths: list[str] | None) -> Read:
    """Read everything that the options name. Raises UsageError when there is nothing to count from."""
    from fwctl.operate.cost_prices import prices_by_day

    spec = require_valid(call, load_specs(call, paths or [])) if has_specs(call, paths or []) else None
    account = spec.account if spec else call.settings.account
    span = _span(call, sources.first, sources.last)
    pools = dict(_pool(text) for text in sources.reserved or ())
    prices = prices_by_day(span.days, _price_files(call, sources.prices or [], spec))
    billing, found = _billing(call, sources, span, account)
    pools = pools or found
    account, samples = _samples(call, sources.samples, span, account, pools)
    if samples is None and billing is None:
        raise UsageError(
            "there are no samples and no billing export to count from",
            next_steps=[
                "fwctl cost --billing FILE",
                "fwctl cost --fetch-billing",
                "fwctl watch keeps samples",
            ],
        )
    return Read(account, span, samples, billing, pools, prices)


def _span(call: Call, first: str | None, last: str | None) -> Span:
    from fwctl.operate.cost import Span

    until = _day("--to", last) if last else call.env.clock.now().astimezone(UTC).date()
    since = _day("--from", first) if first else until - timedelta(days=DAYS - 1)
    if not 0 <= (until - since).days < LONGEST_DAYS:
        raise UsageError(f"--from {since} --to {until} is no range of 1 to {LONGEST_DAYS} days")
    return Span(since, until)


def _day(option: str, text: str) -> date:
    try:
        found = date.fromisoformat(text)
    except ValueError:
        raise UsageError(f"{option} is {text[:40]!r}; write it as 2026-10-01") from None
    if not 2000 <= found.year < 9000:
        raise UsageError(f"{option} is {text[:40]!r}, which is no day of this platform")
    return found


def _pool(text: str) -> tuple[str, int]:
    kind, equals, count = text.partition("=")
    if not (kind and equals and count.isascii() and count.isdigit() and len(count) <= 6):
        raise UsageError(f"--reserved {text[:60]!r} is not TYPE=N, for example NVIDIA_H100_80GB=8")
    return kind, int(count)


def _price_files(call: Call, paths: list[Path], spec: Spec | None) -> list[PriceFile]:
    """The files of --prices, else the one that the specs name."""
    from fwctl.operate.cost_prices import PriceFile

    own = own_price_file(call, spec)
    if not paths and own is not None:
        paths = [own]
    return [PriceFile(price_document(call.env.cwd / path), str(path)) for path in paths]


def _billing(
    call: Call, sources: CostSources, span: Span, account: str | None
) -> tuple[Billing | None, dict[str, int]]:
    """The export, and the reserved pools where firectl was asked anyhow."""
    from fwctl.operate.cost_billing import read_billing

    if sources.billing and sources.fetch_billing:
        raise UsageError("--billing and --fetch-billing name two sources of one thing; give one")
    if sources.billing:
        return read_billing(call.env.cwd / sources.billing), {}
    if not sources.fetch_billing:
        return None, {}
    with _folder() as folder, Session(call, account or own_account(call)) as session:
        path = Path(folder) / BILLING_FILE
        call.output.message(f"exporting the billing metrics of account {session.account} ...")
        session.firectl.export_billing(path, start=f"{span.start:%Y-%m-%d}", end=f"{span.end:%Y-%m-%d}")
        return read_billing(path), _reservations(call, session)


def _folder() -> AbstractContextManager[str]:
    return TemporaryDirectory(prefix="fwctl-billing-")


def _reservations(call: Call, session: Session) -> dict[str, int]:
    from fwctl.planning.reservations import pool_of

    return dict(pool_of(session.firectl.list_reservations(), call.env.clock.now()))


def _samples(
    call: Call, path: Path | None, span: Span, account: str | None, pools: dict[str, int]
) -> tuple[str | None, Sampled | None]:
    """What the rounds of one account say; None when there is no file, or nothing in one that nobody named.

    The file is streamed: a month of many deployments is larger than memory should be.
    """
    from fwctl.operate.samples import MAX_GAP_S, integrate
    from fwctl.records.samples import read_rounds

    file = call.env.cwd / (path or Path(STATE_FOLDER) / HISTORY_NAME)
    if path is None and not file.is_file():
        return account, None
    margin = timedelta(seconds=MAX_GAP_S)

    accounts = {account} if account is not None else set()

    def own() -> Iterator[Round]:
        for item in read_rounds(file, since=span.start - margin, until=span.end + margin):
            if account is None:
                accounts.add(item.account)
            if len(accounts) > 1:
                raise UsageError(
                    f"the samples are of several accounts: {', '.join(sorted(accounts))}",
                    next_steps=["choose one with --account ID"],
                )
            if item.account in accounts:
                yield item

    found = integrate(own(), start=span.start, end=span.end, pools=pools)
    return next(iter(accounts), None), found if found.rounds or path is not None else None
