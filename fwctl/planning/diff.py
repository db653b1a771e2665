"""Field by field: what the spec wants against what the platform has, and whose move the difference is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fwctl.catalog.field import Effect, Field
from fwctl.catalog.fields import BY_PATH
from fwctl.live.marker import value_digest, values_digest
from fwctl.live.model import LiveDeployment
from fwctl.planning.context import Context
from fwctl.planning.desired import Desired
from fwctl.planning.model import FieldChange
from fwctl.planning.values import forms, known, masked, same
from fwctl.redact import Secret

_MODE = "speculation.mode"


@dataclass(frozen=True)
class Diff:
    """changes: fields to move, in table order. drift: fields that left their last-applied value.
    unreadable: why a field could not be compared. dropped: fields that are no longer managed."""

    changes: tuple[FieldChange, ...] = ()
    drift: tuple[Mapping[str, Any], ...] = ()
    unreadable: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.changes)

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(change.path for change in self.changes)

    def with_effect(self, effect: Effect) -> tuple[FieldChange, ...]:
        return tuple(change for change in self.changes if change.effect is effect)


@dataclass
class _Work:
    context: Context
    desired: Desired
    live: LiveDeployment
    changes: list[FieldChange] = field(default_factory=list)
    drift: list[Mapping[str, Any]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def recorded(self) -> Mapping[str, str]:
        return self.live.marker.field_digests if self.live.marker else {}


def compare(context: Context, desired: Desired, live: LiveDeployment) -> Diff:
    """The difference between an entry and the deployment that serves it."""
    work = _Work(context, desired, live)
    for path, wanted in desired.values.items():
        if path == _MODE:
            _compare_mode(work, str(wanted))
        else:
            _compare(work, BY_PATH[path], wanted)
    _shape_brings(work)
    _tell_drift_by_one_digest(work)
    dropped = tuple(p for p in work.recorded if p not in desired.values and p not in desired.ignored)
    return Diff(
        tuple(work.changes), tuple(work.drift), unreadable(context, desired), dropped, tuple(work.notes)
    )


def live_value(context: Context, live: LiveDeployment, path: str) -> Any:
    """A field of the deployment itself, from its shape where it does not say it; None when absent."""
    if path in live.fields:
        return live.fields[path]
    version = context.running_version(live)
    return version.snapshot.get(path) if version else None


def _have(work: _Work, row: Field, wanted: Any) -> Any:
    """A field's live value wherever the platform keeps it; None when absent."""
    if row.path == "addons.load":
        return list(work.context.live.loaded_addons.get(work.live.deployment_id, ())) or None
    if row.path == "router":
        covering = work.context.routers_of.get(work.live.deployment_id, ())
        return wanted if wanted in covering else next(iter(covering), None)
    return live_value(work.context, work.live, row.path)


def _compare(work: _Work, row: Field, wanted: Any) -> None:
    if row.path in _READ_FROM and _READ_FROM[row.path] in work.context.live.unread:
        return
    have = _have(work, row, wanted)
    if row.sensitive and not _comparable(have):
        _compare_by_digest(work, row, wanted, have)
        return
    if same(row, wanted, have):
        return
    _note_drift(work, row, wanted, have)
    if row.path == "router" and have is not None:
        work.notes.append(
            f"it stays behind the router {have} too until `firectl router update {have} --deployments=...` "
            "leaves it out"
        )
    work.changes.append(_change(work, row, known(row, have), wanted, _effect(work, row)))


_READ_FROM = {"addons.load": "deployed_models", "router": "routers"}


def unreadable(context: Context, desired: Desired) -> tuple[str, ...]:
    """Why managed values that stand outside the deployment could not be read: nobody may guess them."""
    return tuple(
        f"{path} cannot be read: {context.live.unread[source]}"
        for path, source in _READ_FROM.items()
        if path in desired.values and source in context.live.unread
    )


def _comparable(have: Any) -> bool:
    """False when the platform returns no secret, or only asterisks in its place."""
    return bool(have) and all(isinstance(key, Secret) and (key.value or "").strip("*") for key in have)


def _compare_by_digest(work: _Work, row: Field, wanted: Any, have: Any) -> None:
    digest = work.recorded.get(row.path)
    if digest is None:
        work.notes.append(
            f"{row.path} cannot be compared: the platform does not return it and there is no digest of the "
            "value applied last"
        )
    elif digest != digest_of(work.context, work.desired.entry.name, wanted):
        reason = "another value than the one applied last"
        work.changes.append(_change(work, row, have or [""], wanted, (row.effect, reason)))


def digest_of(context: Context, name: str, value: Any) -> str:
    return value_digest(value, context.salt(name))


def _note_drift(work: _Work, row: Field, wanted: Any, have: Any) -> None:
    """Drift: the live value is not the one applied last. Without a digest nobody can tell."""
    digest = work.recorded.get(row.path)
    name = work.desired.entry.name
    if digest is None or digest in {digest_of(work.context, name, form) for form in forms(row, have)}:
        return
    changed = digest != digest_of(work.context, name, wanted)
    shown = masked(row, known(row, have)), masked(row, wanted)
    work.drift.append(_drift_row(work, row.path, *shown, changed))


def _drift_row(work: _Work, path: str, live: Any, wanted: Any, spec_changed_too: bool) -> Mapping[str, Any]:
    return {
        "address": f"deployments/{work.desired.entry.name}",
        "deployment_id": work.live.deployment_id,
        "path": path,
        "live": live,
        "wanted": wanted,
        "spec_changed_too": spec_changed_too,
    }


def _effect(work: _Work, row: Field) -> tuple[Effect, str]:
    caps = work.context.caps
    if row.path == "region" and caps.update_region:
        return Effect.ROLLING_RESTART, "this firectl can move a deployment"
    if row.effect is Effect.BLOCKED and caps.update_file:
        return Effect.IN_PLACE, "through `deployment update --file`"
    return row.effect, _WHY[row.effect]


_WHY = {
    Effect.NONE: "",
    Effect.IN_PLACE: "changes the running deployment",
    Effect.ROLLING_RESTART: "replicas restart one after another",
    Effect.REPLACE: "cannot change on a running deployment",
    Effect.BLOCKED: "the installed firectl has no way to change it",
}


def _change(work: _Work, row: Field, have: Any, wanted: Any, how: tuple[Effect, str]) -> FieldChange:
    return FieldChange(
        path=row.path,
        before=masked(row, have),
        after=masked(row, wanted),
        effect=how[0],
        output_changing=row.output,
        sensitive=row.sensitive,
        source=work.desired.entry.position_of(row.path),
        reason=how[1],
    )


def live_mode(context: Context, live: LiveDeployment) -> str | None:
    """How a deployment speculates, as far as its fields tell."""
    if live_value(context, live, "speculation.draft_model"):
        return "draft"
    if live_value(context, live, "speculation.ngram_length"):
        return "ngram"
    return None


def _compare_mode(work: _Work, wanted: str) -> None:
    """Only the step to or from `disabled` is a change of its own; it is made at create alone."""
    row = BY_PATH[_MODE]
    have = live_mode(work.context, work.live)
    was_disabled = work.recorded.get(_MODE) == digest_of(work.context, work.desired.entry.name, "disabled")
    if wanted == "disabled" and have is not None:
        work.changes.append(_change(work, row, have, wanted, (Effect.REPLACE, _WHY[Effect.REPLACE])))
    elif wanted != "disabled" and was_disabled and have is None:
        work.changes.append(_change(work, row, "disabled", wanted, (Effect.REPLACE, _WHY[Effect.REPLACE])))


def _shape_brings(work: _Work) -> None:
    """A new shape on other GPUs is a replacement, because a running deployment keeps its GPU type."""
    for index, change in enumerate(work.changes):
        if change.path == "shape":
            have = live_value(work.context, work.live, "accelerator.type")
            then = work.desired.shape.snapshot.get("accelerator.type")
            if have is not None and then is not None and have != then:
                reason = f"the shape runs on {then}, a running deployment stays on {have}"
                work.changes[index] = replace(change, effect=Effect.REPLACE, reason=reason)


def _tell_drift_by_one_digest(work: _Work) -> None:
    """Without tags there is one digest of all values: it tells whether the spec is the one applied last,
    so that every difference is drift, or else leaves the split unknown."""
    marker = work.live.marker
    if marker is None or marker.field_digests or marker.digest is None or not work.changes:
        return
    name = work.desired.entry.name
    if marker.digest == values_digest(work.desired.values, work.context.salt(name)):
        work.drift += [_drift_row(work, item.path, item.before, item.after, False) for item in work.changes]
    else:
        work.notes.append(
            "the spec has changed since the last apply; whether the platform was changed too is not known, "
            "because this deployment carries no tags"
        )
