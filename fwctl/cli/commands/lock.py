"""`fwctl lock`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.places import lock_of, spec_paths
from fwctl.cli.prices import price_list
from fwctl.cli.session import Session, load_specs, require_valid
from fwctl.errors import FwctlError, RefusedError
from fwctl.exitcodes import Exit
from fwctl.planning.locked import wanted_of
from fwctl.records.lockfile import LOCK_NAME, LockFile, write
from fwctl.records.resolve import Problem, check, resolve
from fwctl.report.model import Report


@command("fwctl lock", "fwctl lock --check", "fwctl lock --upgrade", formats=("text", "json", "markdown"))
def lock(
    call: Call,
    *,
    paths: Paths = None,
    check_only: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 4 when fwctl.lock no longer holds.")
    ] = False,
    upgrade: Annotated[
        bool, typer.Option("--upgrade", help="Move every shape to its newest validated version.")
    ] = False,
) -> Report:
    """Record which version each shape of the specs stands for, beside the specs, for git.

    Creates then run exactly that version. Entries that still hold stay as they are unless --upgrade is
    given. `--check` is for CI: it names what is missing, gone, withdrawn, has moved on or was changed
    upstream under the same name, and how the snapshots and models differ.
    """
    loaded = load_specs(call, paths or [])
    spec = require_valid(call, loaded)
    old = lock_of(call, paths or [])
    with Session(call, spec.account) as session:
        live = session.live(spec)
    wanted = wanted_of(spec)
    if check_only:
        return _checked(check(old, wanted, live), old)
    found, problems = resolve(
        wanted, live, old=old, upgrade=upgrade, prices_date=price_list(call, spec).as_of.isoformat()
    )
    if problems:
        raise RefusedError(problems[0].message, deployment=problems[0].deployment)
    path = _place(call, paths or [])
    try:
        written = write(call.env.cwd / path, found)
    except OSError as error:
        raise FwctlError(f"cannot write {path}: {error.strerror}") from None
    return Report("lock", {"file": str(path), "written": written, **_body(found, ())})


def _place(call: Call, paths: Sequence[str]) -> Path:
    """Beside the specs: in the first folder given, or in the folder of the first file."""
    first = spec_paths(call, paths)[0]
    return (first if (call.env.cwd / first).is_dir() else first.parent) / LOCK_NAME


def _checked(problems: tuple[Problem, ...], old: LockFile | None) -> Report:
    body = {"file": LOCK_NAME, "written": False, **_body(old or LockFile(), problems)}
    if not problems:
        return Report("lock", body)
    if old is None:
        error = RefusedError(f"there is no {LOCK_NAME}", next_steps=["fwctl lock, then commit it"])
        return Report("lock", body, Exit.REFUSED, error=error)
    count = len(problems)
    error = RefusedError(
        f"{LOCK_NAME} does not hold any more: {count} {'entry' if count == 1 else 'entries'}",
        next_steps=["fwctl lock --upgrade, review the difference, commit"],
    )
    return Report("lock", body, Exit.REFUSED, error=error)


def _body(found: LockFile, problems: Sequence[Problem]) -> dict[str, Any]:
    return {
        "shapes": {key: item.version for key, item in sorted(found.shapes.items())},
        "prices_date": found.prices_date,
        "problems": [
            {"deployment": item.deployment, "code": item.code, "message": item.message} for item in problems
        ],
    }
