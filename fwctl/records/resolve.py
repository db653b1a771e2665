"""From live facts to a lock, and from a lock to what no longer holds. Pure.

The live values are described by what they must offer, not by their class, because they are made in a
room of higher rank.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from fwctl.records.lockfile import LockedModel, LockedShape, LockFile, shape_key


class Version(Protocol):
    """One shape version as the platform tells it."""

    @property
    def name(self) -> str: ...
    @property
    def validated(self) -> bool: ...
    @property
    def latest_validated(self) -> bool: ...
    @property
    def base_model(self) -> str: ...
    @property
    def preset(self) -> str | None: ...
    @property
    def snapshot(self) -> Mapping[str, Any]: ...


class Model(Protocol):
    """A model as the platform tells it."""

    @property
    def hugging_face_url(self) -> str | None: ...
    @property
    def parameter_count(self) -> int | None: ...
    @property
    def context_length(self) -> int | None: ...
    @property
    def default_precision(self) -> str | None: ...


class Facts(Protocol):
    """The part of the live state that a lock is made from."""

    @property
    def shapes(self) -> Mapping[str, Sequence[Version] | None]: ...
    @property
    def matches(self) -> Mapping[str, Sequence[Version]]: ...
    @property
    def models(self) -> Mapping[str, Model | None]: ...


@dataclass(frozen=True, slots=True)
class Wanted:
    """A shape and model that a deployment of the specs names."""

    deployment: str
    shape: str
    model: str


@dataclass(frozen=True, slots=True)
class Problem:
    """Something about one entry that a lock cannot say yes to."""

    deployment: str
    code: str  # missing | gone | not_validated | changed | moved | unresolved
    message: str


def current_version(shape: str, model: str, facts: Facts) -> Version | None:
    """The version that a create without a lock would run: a pinned one, else the latest validated."""
    if "/versions/" in shape:
        return next((v for v in facts.shapes.get(shape) or () if v.name == shape), None)
    if "/" in shape:
        candidates = [v for v in facts.shapes.get(shape) or () if v.validated]
    else:
        candidates = [v for v in facts.matches.get(model, ()) if shape == "default" or _is_preset(v, shape)]
    return next((v for v in candidates if v.latest_validated), candidates[0] if candidates else None)


def _is_preset(version: Version, shape: str) -> bool:
    return (version.preset or "").lower() == shape.lower()


def resolve(
    wanted: Iterable[Wanted], facts: Facts, *, old: LockFile | None, upgrade: bool, prices_date: str | None
) -> tuple[LockFile, tuple[Problem, ...]]:
    """The lock for these specs, and what could not be resolved.

    An entry that still exists and is validated stays unless `upgrade`; entries that no spec names any
    more are dropped.
    """
    shapes: dict[str, LockedShape] = {}
    models: dict[str, LockedModel] = {}
    problems: list[Problem] = []
    for item in wanted:
        if item.shape != "none":
            key = shape_key(item.shape, item.model)
            entry = None if upgrade or old is None else _still_good(old.shapes.get(key), item, facts)
            entry = entry or _fresh(item, facts)
            if entry is None:
                problems.append(_unresolved(item))
            else:
                shapes[key] = entry
        model = facts.models.get(item.model)
        if model is not None:
            models[item.model] = _locked_model(model)
    return LockFile(shapes=shapes, models=models, prices_date=prices_date), tuple(problems)


def _unresolved(item: Wanted) -> Problem:
    return Problem(
        item.deployment,
        "unresolved",
        f"{item.shape} has no validated version for {item.model} on this account",
    )


def _fresh(item: Wanted, facts: Facts) -> LockedShape | None:
    version = current_version(item.shape, item.model, facts)
    return None if version is None else _locked(version)


def _locked(version: Version) -> LockedShape:
    precision = version.snapshot.get("precision")
    return LockedShape(
        version=version.name,
        model=version.base_model,
        precision=str(precision) if precision is not None else "",
        snapshot=dict(version.snapshot),
    )


def _locked_model(model: Model) -> LockedModel:
    return LockedModel(
        hugging_face_url=model.hugging_face_url,
        parameter_count=model.parameter_count,
        context_length=model.context_length,
        default_precision=model.default_precision,
    )


def find_version(name: str, facts: Facts) -> Version | None:
    """A version by its full name, wherever the live state holds it."""
    everything = [*(v for vs in facts.shapes.values() for v in vs or ())]
    everything += [v for vs in facts.matches.values() for v in vs]
    return next((version for version in everything if version.name == name), None)


def _still_good(entry: LockedShape | None, item: Wanted, facts: Facts) -> LockedShape | None:
    if entry is None or _fault(entry, item, facts) is not None:
        return None
    return entry


def _fault(entry: LockedShape, item: Wanted, facts: Facts) -> Problem | None:
    version = find_version(entry.version, facts)
    if version is None:
        return Problem(item.deployment, "gone", f"the locked {entry.version} no longer exists")
    if not version.validated:
        return Problem(item.deployment, "not_validated", f"the locked {entry.version} is no longer validated")
    return None


def check(lock: LockFile | None, wanted: Iterable[Wanted], facts: Facts) -> tuple[Problem, ...]:
    """What `fwctl lock --check` reports: entries that are missing, gone, withdrawn or have moved on, and
    what upstream changed in silence under a name that stayed."""
    problems: list[Problem] = []
    for item in wanted:
        problems += _model_changes(lock, item, facts)
        if item.shape == "none":
            continue
        entry = lock.shape(item.shape, item.model) if lock is not None else None
        if entry is None:
            problems.append(Problem(item.deployment, "missing", f"{item.shape} is not in the lock"))
            continue
        fault = _fault(entry, item, facts) or _changed(entry, item, facts) or _moved(entry, item, facts)
        if fault is not None:
            problems.append(fault)
    return tuple(problems)


def upstream(lock: LockFile, wanted: Iterable[Wanted], facts: Facts) -> tuple[Problem, ...]:
    """The part of `check` that others did: what changed or moved on behind locked names."""
    return tuple(found for found in check(lock, wanted, facts) if found.code in ("changed", "moved"))


def _model_changes(lock: LockFile | None, item: Wanted, facts: Facts) -> list[Problem]:
    entry, model = (lock.models.get(item.model) if lock is not None else None), facts.models.get(item.model)
    if entry is None or model is None:
        return []
    now = _locked_model(model)
    old = {key: getattr(entry, key) for key in LockedModel.__slots__}
    new = {key: getattr(now, key) for key in LockedModel.__slots__}
    different = _differences({k: v for k, v in old.items() if v is not None}, new, only_known=True)
    return (
        [Problem(item.deployment, "changed", f"{item.model} has changed ({different})")] if different else []
    )


def _changed(entry: LockedShape, item: Wanted, facts: Facts) -> Problem | None:
    """A version that is what it was called, and not what it was."""
    version = find_version(entry.version, facts)
    different = _differences(entry.snapshot, version.snapshot) if version is not None else ""
    if not different:
        return None
    return Problem(item.deployment, "changed", f"{entry.version} has changed ({different})")


def _differences(old: Mapping[str, Any], new: Mapping[str, Any], *, only_known: bool = False) -> str:
    """only_known: what the old side did not say is no difference."""
    paths = sorted(set(old) if only_known else set(old) | set(new))
    return "; ".join(
        f"{path}: {old.get(path)} -> {new.get(path)}"
        for path in paths
        if json.dumps(old.get(path), sort_keys=True) != json.dumps(new.get(path), sort_keys=True)
    )


def _moved(entry: LockedShape, item: Wanted, facts: Facts) -> Problem | None:
    now = current_version(item.shape, item.model, facts)
    if now is None or now.name == entry.version:
        return None
    detail = _differences(entry.snapshot, now.snapshot) or "the same snapshot"
    return Problem(item.deployment, "moved", f"{item.shape} has moved on to {now.name} ({detail})")
