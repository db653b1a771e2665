"""Records of earlier measurements, weighed for the deployments of a spec. Pure.

A record counts by what it was measured on (model, precision, shape version, hardware), not by the name of
the deployment that ran it: a candidate that an experiment built speaks for the deployment that takes its
setting over.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fwctl.live.model import LiveDeployment
from fwctl.live.normalise import full_name
from fwctl.planning.context import Context
from fwctl.planning.desired import resolve
from fwctl.planning.model import Change
from fwctl.planning.shapes import NO_SHAPE
from fwctl.records.evidence import EvidenceRecord, Stored
from fwctl.records.freshness import Around, Setting, is_about, stale_because
from fwctl.records.lockfile import LockFile
from fwctl.spec.model import Deployment, Evidence, Spec

EVALUATIONS = ("eval", "experiment")
LOAD_TESTS = ("bench", "capacity", "experiment")
_BY_SHAPE = {
    "precision": "precision",
    "accelerator": "accelerator.type",
    "accelerator_count": "accelerator.count",
}


def offline_settings(spec: Spec, lock: LockFile | None) -> dict[str, Setting]:
    """What each entry will run, as far as the spec and the lock say it."""
    return {name: _offline(entry, spec.account, lock) for name, entry in spec.deployments.items()}


def _offline(entry: Deployment, account: str, lock: LockFile | None) -> Setting:
    model = full_name(str(entry.fields.get("model", "")), account)
    shape = str(entry.fields.get("shape", NO_SHAPE))
    if shape == NO_SHAPE:
        return _setting(model, None, entry.fields.get)
    locked = lock.shape(shape, model) if lock is not None else None
    pinned = shape if "/versions/" in shape and not shape.endswith("/latest") else None
    version = locked.version if locked is not None else pinned
    snapshot = locked.snapshot if locked is not None else {}
    return _setting(model, version, _first(entry.fields, snapshot), shaped=True)


def settings_of(context: Context) -> dict[str, Setting]:
    """What each entry will run once the plan is carried out, with the live state to say so."""
    return {name: _planned(context, entry) for name, entry in context.spec.deployments.items()}


def _planned(context: Context, entry: Deployment) -> Setting:
    desired = resolve(context, entry, context.matches.by_name[entry.name].current)
    model = full_name(str(entry.fields.get("model", "")), context.spec.account)
    if "shape" not in desired.values:
        return _setting(model, None, desired.values.get)
    return _setting(model, desired.shape.name, _first(desired.values, desired.shape.snapshot), shaped=True)


def setting_of_live(live: LiveDeployment) -> Setting:
    """What a deployment runs now."""
    shape = live.fields.get("shape")
    return _setting(
        str(live.fields.get("model", "")),
        str(shape) if shape else None,
        live.fields.get,
        shaped=shape is not None,
    )


def _first(*rows: Mapping[str, Any]) -> Callable[[str], Any]:
    return lambda path: next((row[path] for row in rows if row.get(path) is not None), None)


def _setting(model: str, version: str | None, pick: Callable[[str], Any], *, shaped: bool = False) -> Setting:
    """shaped: a shape decides the rest, so what is not said is not known (and not: absent)."""
    found = {name: pick(path) for name, path in _BY_SHAPE.items()}
    known = {**found, "shape_version": version}
    unknown = frozenset(name for name, value in known.items() if value is None) if shaped else frozenset()
    return Setting(model, shape_version=version, unknown=unknown, **found)


_FOUND = ("tested_replicas", "evaluated", "tested_by", "evaluated_by", "not_tested", "not_evaluated")


def weigh(
    stored: Sequence[Stored],
    settings: Mapping[str, Setting],
    around: Mapping[str, Around],
    *,
    model_precision: Mapping[str, str] | None = None,
    conversations: Mapping[str, float] | None = None,
    read: bool = True,
) -> Evidence:
    """What the records say about each deployment.

    stored: oldest first, as `records.evidence.read` gives them. settings, around: by logical name.
    """
    rows: dict[str, dict[str, Any]] = {key: {} for key in _FOUND}
    for name, setting in settings.items():
        about = [item for item in stored if is_about(item.record, setting, name)]
        _evaluations(name, _Weighed(about, setting, around[name], EVALUATIONS), rows)
        _load_tests(name, _Weighed(about, setting, around[name], LOAD_TESTS), rows)
    return Evidence(
        rows["tested_replicas"],
        rows["evaluated"],
        model_precision or {},
        conversations or {},
        rows["tested_by"],
        rows["evaluated_by"],
        rows["not_tested"],
        rows["not_evaluated"],
        read=read,
    )


class _Weighed:
    """The records of some kinds: those that count, oldest first, and the newest that does not."""

    def __init__(
        self, stored: Sequence[Stored], setting: Setting, around: Around, kinds: Sequence[str]
    ) -> None:
        self.fresh: list[Stored] = []
        self.stale: str | None = None
        for item in stored:
            if item.record.kind not in kinds:
                continue
            reasons = stale_because(item.record, setting, around)
            if reasons:
                self.stale = f"{item} is stale: {'; '.join(reasons)}"
            else:
                self.fresh.append(item)


def _evaluations(name: str, found: _Weighed, rows: Mapping[str, dict[str, Any]]) -> None:
    """The newest verdict on each prompt set counts, and all of them must pass."""
    newest = {item.record.suite_digest: item for item in found.fresh if item.record.passed is not None}
    failed = [item for item in newest.values() if not item.record.passed]
    if failed:
        rows["evaluated"][name] = False
        rows["not_evaluated"][name] = f"{failed[-1]} says that it does not pass"
    elif newest:
        rows["evaluated"][name] = True
        rows["evaluated_by"][name] = str(max(newest.values(), key=_date))
    elif found.stale is not None:
        rows["not_evaluated"][name] = found.stale


def _load_tests(name: str, found: _Weighed, rows: Mapping[str, dict[str, Any]]) -> None:
    """The highest replica count whose newest test did not miss its objectives."""
    newest = {item.record.replicas: item for item in found.fresh if item.record.replicas}
    good = {count: item for count, item in newest.items() if count and item.record.passed is not False}
    if good:
        most = max(good)
        rows["tested_replicas"][name] = most
        rows["tested_by"][name] = str(good[most])
    missed = [item for item in newest.values() if item.record.passed is False]
    if missed:
        rows["not_tested"][name] = (
            f"{missed[-1]} missed its objectives at {missed[-1].record.replicas} replicas"
        )
    elif found.stale is not None:
        rows["not_tested"][name] = found.stale


def _date(item: Stored) -> Any:
    return item.record.date


def measured_pool_bytes(stored: Sequence[Stored], setting: Setting, around: Around) -> float | None:
    """The KV pool per GPU of the newest capacity test of this setting, None when none was measured."""
    for item in reversed(stored):
        pool = _pool(item.record)
        if pool is not None and not stale_because(item.record, setting, around):
            return pool
    return None


def _pool(record: EvidenceRecord) -> float | None:
    value = record.results.get("kv_pool_bytes_per_gpu") if record.kind == "capacity" else None
    usable = isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < 2**60
    return float(value) if usable and value is not None else None


def gate_of(spec: Spec, evidence: Evidence) -> Callable[[Change, LiveDeployment], tuple[str, ...]]:
    """Why a new deployment may not take over in a replacement, asked right before the switch.

    The plan has found the evidence; what is asked here is whether it is about what really runs.
    """

    def gate(change: Change, live: LiveDeployment) -> tuple[str, ...]:
        entry = spec.deployments.get(change.name)
        if entry is None or entry.own.get("gates.eval") != "block":
            return ()
        if not evidence.evaluated.get(change.name):
            why = evidence.not_evaluated.get(change.name)
            return ("no fresh evaluation passes" + (f" ({why})" if why else ""),)
        return tuple(
            f"the evaluation is of {path} {change.desired[path]}, it runs {live.fields[path]}"
            for path in ("model", "precision", "shape", "accelerator.type", "accelerator.count")
            if path in change.desired and live.fields.get(path, change.desired[path]) != change.desired[path]
        )

    return gate
