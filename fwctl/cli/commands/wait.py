"""`fwctl wait`."""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.applying.run import wait as follow
from fwctl.cli.apply_run import apply_options, result_report
from fwctl.cli.choices import Scope
from fwctl.cli.command import Call, command
from fwctl.cli.progress import listener
from fwctl.cli.session import Session, scope_spec
from fwctl.errors import UsageError
from fwctl.live.identity import match
from fwctl.live.model import LiveState
from fwctl.report.model import Report
from fwctl.spec.model import Spec

Names = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="NAME",
        help="Logical names or IDs; every deployment of the specs unless given.",
        show_default=False,
    ),
]


@command(
    "fwctl wait chat",
    "fwctl wait --wait-timeout 30m --format events",
    formats=("text", "json", "github", "events"),
)
def wait(call: Call, *, names: Names = None, scope: Scope) -> Report:
    """Wait until deployments are ready, for example after exit 7 or `apply --no-wait`.

    It changes nothing. Exit 7 when --wait-timeout ends first; the platform goes on.
    """
    spec = scope_spec(call, scope)
    options = apply_options(call)
    with Session(call, spec.account, interrupt=options.interrupt.kill) as session:
        wanted = _ids(spec, session.live(None), names or [])
        with options.interrupt.installed():
            result = follow(
                wanted,
                spec=spec,
                firectl=session.firectl,
                env=call.env,
                options=options,
                on_event=listener(call),
            )
    return result_report("wait", {"account": spec.account, "stack": spec.stack}, None, result)


def _ids(spec: Spec, live: LiveState, names: list[str]) -> dict[str, str]:
    """Logical name -> deployment ID. Raises UsageError for a name that nothing has."""
    found = match(spec.deployments.values(), live.deployments, spec.stack).by_name
    pairs = ((name, pair.next or pair.current) for name, pair in found.items())
    known = {name: item.deployment_id for name, item in pairs if item is not None}
    everything = {**{key: key for key in live.deployments}, **known}
    for name in names:
        if name not in everything:
            raise UsageError(
                f"there is no deployment {name!r} on account {spec.account!r}", next_steps=["fwctl status"]
            )
    wanted = {name: everything[name] for name in names} if names else known
    if not wanted:
        raise UsageError("none of the specs' deployments is on the platform", next_steps=["fwctl plan"])
    return wanted
