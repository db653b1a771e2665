"""`fwctl import`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.session import Session, own_account
from fwctl.errors import FirectlFailedError, InvalidSpecError, UsageError
from fwctl.exitcodes import Exit
from fwctl.importing.check import AnyVariable, finish
from fwctl.importing.model import Imported
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.live.model import LiveState


@command(
    "fwctl import chat-prod > configs/chat.yaml",
    "fwctl import --all > configs/all.yaml",
    "fwctl import --from-script deploy.sh > configs/deploy.yaml",
)
def import_(
    call: Call,
    *,
    ids: Annotated[
        list[str] | None,
        typer.Argument(metavar="ID", help="Deployment IDs or full names.", show_default=False),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Every deployment of the account.")] = False,
    from_script: Annotated[
        list[str] | None,
        typer.Option(
            "--from-script",
            metavar="FILE",
            help="Read the firectl lines of a script, notebook or page (- is stdin); may be repeated.",
        ),
    ] = None,
    stack: Annotated[
        str | None, typer.Option("--stack", metavar="NAME", help="The stack that the spec is for.")
    ] = None,
) -> Report:
    """Write what is there already as a spec. The platform is never touched.

    Live deployments become entries whose plan shows no changes. With --from-script the `firectl` lines
    of a file become entries, and every line that could not be understood is named with its place. The
    spec goes to stdout, remarks to stderr and into its comments.
    """
    if sum((bool(ids), everything, bool(from_script))) != 1:
        raise UsageError("name deployment IDs, or --all, or --from-script FILE: exactly one of the three")
    done = _scripts(call, from_script, stack) if from_script else _live(call, ids, stack)
    for item in done.remarks:
        call.output.message(f"{item.place}{item.code}: {item.message}")
    report = Report("import", done.to_json(), Exit.OK, text=done.spec)
    if from_script or done.names or everything:
        return report.hinted(_hints(done))
    error = FirectlFailedError("nothing was imported", next_steps=["fwctl status", "fwctl import --all"])
    return replace(report, exit_code=Exit.FAILED, error=error)


def _hints(done: Imported) -> tuple[str, ...]:
    if done.problems:
        return (f"the spec does not validate yet: {done.problems[0]}",)
    return ("next: save it as configs/NAME.yaml, then fwctl plan",) if done.names else ()


def _live(call: Call, ids: list[str] | None, stack: str | None) -> Imported:
    from fwctl.importing.from_live import draft_of

    account = own_account(call)
    with Session(call, account) as session:
        live = _with_shapes(session, session.live(None))
    return finish(draft_of(live, ids or None, stack), AnyVariable(), prune=True)


def _with_shapes(session: Session, live: LiveState) -> LiveState:
    """The state with the versions of every shape that something runs, read once each."""
    from fwctl.errors import FwctlError
    from fwctl.live.normalise import normalise_shape_version, shape_of

    names = {
        shape_of(str(item.fields["shape"])) for item in live.deployments.values() if "shape" in item.fields
    }
    shapes = dict(live.shapes)
    for name in sorted(names):
        try:
            rows = session.firectl.list_shape_versions(name)
        except FwctlError as error:
            if error.error_class not in ("not_found", "permission"):
                raise
            rows = []
        shapes[name] = tuple(normalise_shape_version(row) for row in rows)
    return replace(live, shapes=shapes)


def _scripts(call: Call, files: list[str], stack: str | None) -> Imported:
    from fwctl.importing.from_script import draft_of

    given = [(name, _read(call, name)) for name in files]
    draft = draft_of(given, call.settings.account, stack)
    return finish(draft, AnyVariable(), prune=False)


def _read(call: Call, name: str) -> str:
    from fwctl.importing.sources import LARGEST_BYTES

    if name == "-":
        return call.env.stdin.read(LARGEST_BYTES)
    path = call.env.cwd / Path(name)
    try:
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or str(error)
        raise InvalidSpecError(
            f"{name} cannot be read: {why}", next_steps=["give the path of a file"]
        ) from None
    if len(data) > LARGEST_BYTES:
        raise InvalidSpecError(f"{name} is larger than 16 MiB", next_steps=["give the script itself"])
    if b"\0" in data:
        raise InvalidSpecError(f"{name} is no text", next_steps=["give a script, notebook, workflow or page"])
    return data.decode("utf-8", "replace")
