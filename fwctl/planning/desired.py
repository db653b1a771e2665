"""What one entry of the spec comes to: values in the platform's terms, with the shape resolved."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.catalog.field import Field, Kind, Owner
from fwctl.catalog.fields import BY_PATH, PLATFORM_FIELDS
from fwctl.errors import Diagnostic
from fwctl.live.model import LiveDeployment
from fwctl.live.normalise import full_name
from fwctl.planning.context import Context, problem
from fwctl.planning.shapes import NO_SHAPE, ShapeChoice, choose
from fwctl.planning.values import same
from fwctl.spec.model import Deployment

# The platform refuses these beside a shape, which owns the hardware (docs.fireworks.ai on-demand guide
# and the training SDK of fireworks-ai 1.2.30, read 2026-11-30).
NOT_BESIDE_A_SHAPE = ("accelerator.type", "accelerator.count", "precision")
NEVER_DIFFED = ("id", "accept_shapeless_risk")
_GIVEN_UP: Mapping[str, Any] = {"speculation.draft_model": "", "speculation.ngram_length": 0}
_DRAFTER = {"draft": "speculation.draft_model", "ngram": "speculation.ngram_length"}


@dataclass(frozen=True)
class Desired:
    """values: managed values by path, in table order, the shape as the version that will run. own
    diagnostics: what the platform or the shape says against them."""

    entry: Deployment
    shape: ShapeChoice
    values: Mapping[str, Any] = field(default_factory=dict)
    problems: tuple[Diagnostic, ...] = ()

    def overridden(self, path: str) -> bool:
        """True when the spec says on purpose that a field differs from the shape."""
        names = self.entry.own.get("overrides", ())
        return any(path == name or path.startswith(f"{name}.") for name in names)

    def carried(self, row: Field) -> bool:
        """True when the shape's snapshot decides the field."""
        return row.owner is Owner.SHAPE and row.path in self.shape.snapshot

    @property
    def ignored(self) -> tuple[str, ...]:
        return tuple(self.entry.own.get("lifecycle.ignore", ()))


def resolve(context: Context, entry: Deployment, current: LiveDeployment | None) -> Desired:
    """The effective values of an entry against the deployment that exists, if any."""
    shape = choose(context, entry, current)
    wanted = Desired(entry, shape)
    values = {
        row.path: _effective(context, row, entry.fields[row.path], shape)
        for row in PLATFORM_FIELDS
        if row.path in entry.fields and row.path not in NEVER_DIFFED and not _is_ignored(wanted, row.path)
    }
    if values.get("shape") == NO_SHAPE:
        del values["shape"]
    values |= _exclusive(values, current)
    desired = Desired(entry, shape, values)
    return Desired(entry, shape, values, (*shape.problems, *_assertions(desired)))


def _is_ignored(wanted: Desired, path: str) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in wanted.ignored)


def _effective(context: Context, row: Field, value: Any, shape: ShapeChoice) -> Any:
    if row.kind is Kind.SHAPE:
        return shape.name or value
    if row.kind is Kind.MODEL:
        return full_name(str(value), context.spec.account)
    if row.kind is Kind.MODELS:
        return sorted({full_name(str(name), context.spec.account) for name in value})
    return value


def _exclusive(values: Mapping[str, Any], current: LiveDeployment | None) -> dict[str, Any]:
    """A draft model and an n-gram length exclude each other: taking one gives up the other."""
    live = current.fields if current else {}
    mode = str(values.get("speculation.mode"))
    return {
        path: _GIVEN_UP[path]
        for other, path in _DRAFTER.items()
        if mode in _DRAFTER and other != mode and path in live
    }


def _assertions(desired: Desired) -> tuple[Diagnostic, ...]:
    """FW505: what the spec says about the hardware and the engine against what the shape carries."""
    found = [
        _assertion(desired, BY_PATH[path], value)
        for path, value in desired.values.items()
        if desired.carried(BY_PATH[path]) and not same(BY_PATH[path], value, desired.shape.snapshot[path])
    ]
    found.append(_mode_assertion(desired))
    return tuple(item for item in found if item is not None)


def _assertion(desired: Desired, row: Field, value: Any) -> Diagnostic | None:
    fixed = row.path in NOT_BESIDE_A_SHAPE
    if desired.overridden(row.path) and not fixed:
        return None
    return _differs(desired, row.path, value, desired.shape.snapshot[row.path], fixed)


def _mode_assertion(desired: Desired) -> Diagnostic | None:
    """`disabled` against a shape that drafts, or one kind of drafting against the other."""
    mode = str(desired.values.get("speculation.mode"))
    snapshot = desired.shape.snapshot
    carried = next((kind for kind, path in _DRAFTER.items() if path in snapshot), None)
    if carried in (None, mode) or mode in ("None", "inherit") or desired.overridden("speculation.mode"):
        return None
    return _differs(desired, "speculation.mode", mode, carried, fixed=False)


def _differs(desired: Desired, path: str, wanted: Any, carried: Any, fixed: bool) -> Diagnostic:
    way_out = "another shape" if fixed else f"another shape, or `overrides: [{path}]`"
    return problem(
        "FW505",
        f"{path} is {wanted} in the spec, but {desired.shape.name} carries {carried}",
        desired.entry,
        path,
        suggestion=f"write {carried}, or choose {way_out}",
    )
