"""What a run does, as data: it goes to worker processes as JSON and stands in the folder of the run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from fwctl.measure.suite import Suite
from fwctl.measure.target import Target


class Cache(StrEnum):
    """What the prompt cache of the server may do for a run.

    cold: every request gets an isolation key of its own. warm: every prompt is sent once before it is
    measured. natural: nothing is done about it.
    """

    COLD = "cold"
    WARM = "warm"
    NATURAL = "natural"


@dataclass(frozen=True, slots=True)
class Shape:
    """The load on each target. `rate_per_s` makes an open loop with Poisson or constant arrivals; else
    `concurrency` requests at a time, of which a slower target holds more than a faster one, because they
    take turns prompt by prompt."""

    concurrency: int = 1
    rate_per_s: float | None = None
    poisson: bool = True
    seed: int = 1

    @property
    def label(self) -> str:
        """`8` for a number at a time, `5/s` for a rate."""
        return str(self.concurrency) if self.rate_per_s is None else f"{self.rate_per_s:g}/s"


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run and where its files go.

    repeats: times through the set, None for as long as `duration_s` (seconds of measuring, per level)
    lasts. sweep: several loads one after the other instead of `shape`. workers: processes that make the
    load, 0 for this one. resume: go on in a folder that holds an interrupted run of the same plan. give_up_s:
    seconds that a target may serve nothing before its rest is not sent, see `GivingUp`; None for ever.
    """

    suite: Suite
    targets: list[Target]
    shape: Shape
    out: Path
    repeats: int | None = 1
    warmup: int = 0
    keep_text: bool = False
    sweep: tuple[Shape, ...] = ()
    duration_s: float | None = None
    cache: Cache = Cache.NATURAL
    workers: int = 0
    resume: bool = False
    give_up_s: float | None = None

    @property
    def shapes(self) -> tuple[Shape, ...]:
        """The levels in the order in which they run."""
        return self.sweep or (self.shape,)

    @property
    def records(self) -> Path:
        return self.out / "records.jsonl"

    def name_of(self, target: Target, shape: Shape) -> str:
        """The name in the records: `fast`, or `fast@8` for a level of a sweep."""
        return f"{target.name}@{shape.label}" if self.sweep else target.name

    def to_json(self) -> dict[str, Any]:
        """Without keys and values of headers; `from_json` reads it."""
        return {
            "suite": {"path": str(self.suite.path), "digest": self.suite.digest, "count": self.suite.count},
            "targets": [_public(target) for target in self.targets],
            "shape": asdict(self.shape),
            "out": str(self.out),
            "repeats": self.repeats,
            "warmup": self.warmup,
            "keep_text": self.keep_text,
            "sweep": [asdict(shape) for shape in self.sweep],
            "duration_s": self.duration_s,
            "cache": self.cache.value,
            "give_up_s": self.give_up_s,
        }


def _public(target: Target) -> dict[str, Any]:
    """A header may carry a credential, so only its name is told."""
    return {**target.to_json(), "headers": sorted(target.headers)}


def from_json(row: Mapping[str, Any], targets: list[Target]) -> Plan:
    """The plan that `to_json` wrote; the caller makes the targets, because they need keys and headers."""
    suite = row["suite"]
    return Plan(
        Suite(Path(suite["path"]), suite["digest"], suite["count"]),
        targets,
        Shape(**row["shape"]),
        Path(row["out"]),
        repeats=row["repeats"],
        warmup=row["warmup"],
        keep_text=row["keep_text"],
        sweep=tuple(Shape(**shape) for shape in row["sweep"]),
        duration_s=row["duration_s"],
        cache=Cache(row["cache"]),
        give_up_s=row["give_up_s"],
    )
