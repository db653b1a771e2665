"""`fwctl status`."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.places import STATE_FOLDER, has_specs
from fwctl.cli.prices import price_list
from fwctl.cli.screen import screen
from fwctl.cli.session import Session, load_specs, own_account, require_valid
from fwctl.errors import FwctlError, UsageError
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.catalog.prices import PriceList
    from fwctl.live.model import LiveDeployment, LiveState
    from fwctl.spec.model import Deployment, Spec


@command(
    "fwctl status",
    "fwctl status configs/chat.yaml --format json",
    "fwctl status --account acme",
    "fwctl status --follow --poll-interval 5s",
    formats=("text", "json", "markdown"),
)
def status(
    call: Call,
    *,
    paths: Paths = None,
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Look again every --poll-interval until Ctrl-C.")
    ] = False,
) -> Report:
    """One table: what is wanted, what runs, its replicas, its cost, and its model string.

    Below it is what fired at the last look of `fwctl watch` in this folder. Deployments of the account that
    no spec names are listed too, as not managed. Without specs it lists the whole account.
    """
    spec = None
    if has_specs(call, paths or []):
        spec = require_valid(call, load_specs(call, paths or []))
    prices = price_list(call, spec)
    with Session(call, spec.account if spec else own_account(call)) as session:
        if follow:
            _follow(call, lambda: _report(call, spec, session.live(spec, silent=True), prices))
        return _report(call, spec, session.live(spec), prices)


def _report(call: Call, spec: Spec | None, live: LiveState, prices: PriceList) -> Report:
    rows = list(_rows(spec, live, prices))
    body = {"account": live.account, "deployments": rows, "watch": _watch(call, live.account)}
    return Report("status", body)


def _watch(call: Call, account: str) -> dict[str, Any] | None:
    """What the last look of a watch left in the history file; None when no watch ever looked."""
    from fwctl.operate.watch_state import from_json
    from fwctl.records.history import HISTORY_NAME
    from fwctl.records.samples import RoundStore
    from fwctl.records.watching import WatchStore

    path = call.env.cwd / STATE_FOLDER / HISTORY_NAME
    looked = RoundStore(path).latest(account)
    if looked is None:
        return None
    firing = from_json(WatchStore(path).load(account)).firing()
    return {"looked": looked.isoformat(), "alerts": [alert.to_json() for alert in firing]}


def _follow(call: Call, look: Callable[[], Report]) -> NoReturn:
    """Shows the table until the user ends it. Raises UsageError for formats that have an end."""
    if call.settings.format != "text":
        raise UsageError("--follow has no end, so it shows text only", next_steps=["leave out --format"])
    report = look()
    with screen(call) as show:
        trouble = None
        while True:
            show(report, trouble)
            call.env.clock.sleep(call.settings.poll_interval_s)
            try:
                report, trouble = look(), None
            except FwctlError as error:  # a table that is left open outlives a bad minute
                trouble = error.message


def _rows(spec: Spec | None, live: LiveState, prices: PriceList) -> Iterator[dict[str, Any]]:
    """Entries of the spec in order, then what else runs."""
    from fwctl.live.cost import usd_per_hour
    from fwctl.live.identity import match

    shown: set[str] = set()
    found = match(spec.deployments.values(), live.deployments, spec.stack).by_name if spec else {}
    for name, pair in found.items():
        entry = spec.deployments[name] if spec else None
        for item in (pair.current, pair.next):
            if item is not None:
                shown.add(item.deployment_id)
                yield _row(name, item, usd_per_hour(item, prices, live.shapes), entry)
        if pair.current is None and pair.next is None and entry is not None:
            yield _absent(entry)
    for item in live.deployments.values():
        if item.deployment_id not in shown and item.state != "DELETED":
            marked = item.marker.name if item.marker else None
            yield _row(marked, item, usd_per_hour(item, prices, live.shapes), None)


def _row(
    name: str | None, item: LiveDeployment, cost: float | None, entry: Deployment | None
) -> dict[str, Any]:
    router = entry.fields.get("router") if entry else None
    base = f"accounts/{item.account}/deployments/{item.deployment_id}"
    hold = item.marker.hold_until if item.marker else None
    return {
        "name": name,
        "deployment_id": item.deployment_id,
        "managed": item.marker is not None,
        "stack": item.marker.stack if item.marker else None,
        "state": item.state,
        "replicas": asdict(item.replicas),
        "model_string": f"accounts/{item.account}/routers/{router}" if router else base,
        "usd_per_hour": cost,
        "hold_until": hold.isoformat() if hold else None,
        "status_message": item.status_message or None,
    }


def _absent(entry: Deployment) -> dict[str, Any]:
    """A deployment that the specs want and the platform does not have."""
    wanted = {key: entry.fields.get(f"replicas.{key}", 0) for key in ("min", "max")}
    zero = dict.fromkeys(("desired", "ready", "pending", "downloading", "initializing"), 0)
    return {
        "name": entry.name,
        "deployment_id": entry.deployment_id,
        "managed": True,
        "stack": None,
        "state": "absent",
        "replicas": {**wanted, **zero},
        "model_string": None,
        "usd_per_hour": 0.0,
        "hold_until": None,
        "status_message": None,
    }
