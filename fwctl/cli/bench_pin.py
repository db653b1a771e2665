"""`bench run --pin-replicas N`: the replica bounds of the targets' deployments, fixed for one run.

The change is planned and confirmed like an apply and is undone at the end, also after Ctrl-C. A file of
the state folder holds what it was before; one that a killed run left behind is put back first.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.plan_run import plan_inputs, plan_report
from fwctl.cli.session import Session, load_specs, require_valid
from fwctl.errors import FwctlError, RefusedError, UsageError
from fwctl.records.atomic import replace_file

if TYPE_CHECKING:
    from fwctl.live.model import LiveState
    from fwctl.measure.target import Target
    from fwctl.planning.model import Plan
    from fwctl.spec.model import Spec

NAME = "pinned.json"
MOST = 1000
_BOUNDS = ("replicas.min", "replicas.max")

# Bounds by logical name.
Bounds = Mapping[str, Mapping[str, int]]


@contextmanager
def pinned(
    call: Call, count: int | None, targets: Sequence[Target], specs: Sequence[str], *, yes: bool
) -> Iterator[None]:
    """Fix the replicas while the block runs. Nothing happens when `count` is None and nothing is left of
    an earlier run.

    Raises UsageError, RefusedError when the specs differ from what runs in more than replicas, and what
    an apply raises.
    """
    path = call.env.cwd / STATE_FOLDER / NAME
    if count is None:
        if path.exists():
            call.output.message(
                f"{path} says that an earlier run left replicas pinned; --pin-replicas undoes it"
            )
        yield
        return
    if not 1 <= count <= MOST:
        raise UsageError(f"--pin-replicas is a number from 1 to {MOST}")
    spec = require_valid(call, load_specs(call, specs))
    with Session(call, spec.account) as session:
        pins = _Pins(call, session, spec, path, specs)
        pins.put_back()
        live = session.live(spec)
        names = _names(spec, live, targets)
        pins.fix(live, names, count, yes=yes)
        try:
            yield
        finally:
            pins.put_back()


class _Pins:
    def __init__(self, call: Call, session: Session, spec: Spec, path: Path, specs: Sequence[str]) -> None:
        self.call = call
        self.session = session
        self.spec = spec
        self.path = path
        self.specs = specs

    def fix(self, live: LiveState, names: Mapping[str, str], count: int, *, yes: bool) -> None:
        """Set both bounds to `count`; the file is written before the first call."""
        before = {
            name: {path: live.deployments[key].fields[path] for path in _BOUNDS}
            for name, key in names.items()
        }
        wanted = {name: dict.fromkeys(_BOUNDS, count) for name in names}
        plan, spec = self._plan(wanted)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(self.path, (json.dumps({"before": before}) + "\n").encode())
        try:
            self._apply(plan, spec, yes=yes)
        except BaseException:
            self.put_back()
            raise

    def put_back(self) -> None:
        """Undo what the file says, and remove it. A failure is told and leaves the file for the next run."""
        if not self.path.exists():
            return
        try:
            before: Bounds = json.loads(self.path.read_bytes())["before"]
            plan, spec = self._plan({name: before[name] for name in before if name in self.spec.deployments})
            self._apply(plan, spec, yes=True)
        except (OSError, ValueError, KeyError, TypeError):
            raise FwctlError(
                f"{self.path} cannot be read", next_steps=["fwctl plan", f"rm {self.path}"]
            ) from None
        self.path.unlink()

    def _plan(self, bounds: Bounds) -> tuple[Plan, Spec]:
        """The plan of these bounds and of nothing else. Raises RefusedError."""
        deployments = dict(self.spec.deployments)
        for name, values in bounds.items():
            entry = deployments[name]
            deployments[name] = replace(entry, fields={**entry.fields, **values})
        spec = replace(self.spec, deployments=deployments)
        options = _options(tuple(bounds))
        _, plan, _ = plan_inputs(self.call, self.session, spec, self.specs, options)
        for change in plan.changes:
            moved = [item.path for item in change.fields if item.path not in _BOUNDS]
            if moved or not set(change.actions) <= {"update", "no-op"}:
                what = ", ".join(moved) or " and ".join(change.actions)
                raise RefusedError(
                    f"{change.name} differs from its spec in more than replicas: {what}",
                    deployment=change.name,
                    next_steps=["fwctl plan", "fwctl apply"],
                )
        return plan, spec

    def _apply(self, plan: Plan, spec: Spec, *, yes: bool) -> None:
        from fwctl.cli.apply_run import apply_options, carry_out

        shown = plan_report("plan", plan, ())
        options = apply_options(self.call)
        report = carry_out(self.call, self.session, spec, plan, shown=shown, options=options, yes=yes)
        if report.exit_code:
            raise report.error or FwctlError("the replicas could not be changed")


def _options(names: tuple[str, ...]) -> Any:
    from fwctl.planning.options import PlanOptions

    return PlanOptions(targets=names, allow_scale_down=names, no_lock=True)


def _names(spec: Spec, live: LiveState, targets: Sequence[Target]) -> dict[str, str]:
    """Deployment ID by logical name, of the targets. Raises UsageError for a target without one."""
    from fwctl.live.identity import match
    from fwctl.live.normalise import short_id

    pairs = match(spec.deployments.values(), live.deployments, spec.stack).by_name
    names = {pair.current.deployment_id: name for name, pair in pairs.items() if pair.current is not None}
    found: dict[str, str] = {}
    for target in targets:
        key = short_id(target.deployment) if target.deployment else ""
        if key not in names:
            raise UsageError(
                f"--pin-replicas: target {target.name!r} is no deployment of the specs",
                next_steps=["--specs PATH", "leave --pin-replicas out"],
            )
        found[names[key]] = key
    return found
