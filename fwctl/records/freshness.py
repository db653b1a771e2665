"""Does a record still speak about what a spec means? Pure; every answer comes with its reason."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fwctl.records.evidence import EvidenceRecord


@dataclass(frozen=True, slots=True)
class Setting:
    """The configuration that a deployment will run, in the words of a record.

    unknown: attributes that nobody could tell here (offline, without a lock); they are not compared.
    """

    model: str
    precision: str | None = None
    shape_version: str | None = None
    accelerator: str | None = None
    accelerator_count: int | None = None
    unknown: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Around:
    """What else decides: the time, the longest age (None: any), digests of prompt sets by file as they
    are now, and the digest that the spec's own objectives ask for."""

    now: datetime
    max_age: timedelta | None = None
    suites: Mapping[str, str] = field(default_factory=dict)
    suite_digest: str | None = None


_COMPARED = {
    "model": "the model",
    "precision": "the precision",
    "shape_version": "the shape version",
    "accelerator": "the accelerator",
    "accelerator_count": "the number of GPUs",
}


def stale_because(record: EvidenceRecord, setting: Setting, around: Around) -> tuple[str, ...]:
    """Every reason why a record does not count for this setting; none when it is fresh."""
    decided = _decided_by_shape(record, setting)
    reasons = [
        f"{words} was {_shown(getattr(record, name))}, it is {_shown(getattr(setting, name))} now"
        for name, words in _COMPARED.items()
        if name not in setting.unknown | decided and getattr(record, name) != getattr(setting, name)
    ]
    reasons += _suite(record, around)
    if around.max_age is not None and around.now - record.date > around.max_age:
        reasons.append(f"it is {(around.now - record.date).days} days old, more than {around.max_age.days}")
    return tuple(reasons)


def _decided_by_shape(record: EvidenceRecord, setting: Setting) -> frozenset[str]:
    """What a record need not repeat: the version of a shape never changes its hardware or precision."""
    if record.shape_version is None or record.shape_version != setting.shape_version:
        return frozenset()
    return frozenset(
        name for name in ("precision", "accelerator", "accelerator_count") if getattr(record, name) is None
    )


def is_about(record: EvidenceRecord, setting: Setting, name: str) -> bool:
    """True when a reader would expect the record to count, fresh or not: it names the deployment or runs
    its model."""
    return record.deployment == name or record.model == setting.model


def _suite(record: EvidenceRecord, around: Around) -> list[str]:
    if record.suite_digest is None:
        return []
    if (
        around.suite_digest is not None
        and record.kind != "eval"
        and record.suite_digest != around.suite_digest
    ):
        return ["the prompt set is not the one of slo.at.suite as it is now"]
    there = around.suites.get(record.suite_file or "")
    if there is not None and there != record.suite_digest:
        return [f"the prompt set {record.suite_file} has changed"]
    return []


def _shown(value: object) -> str:
    return "none" if value is None else str(value)
