"""Where an experiment stands: `.fwctl/experiments/<name>/state.json`, replaced in one step.

The markers on the platform say which candidates exist; this file says what was measured, what it cost and
what was decided. Without it a run begins to measure anew with the candidates that are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any

from fwctl.errors import FwctlError
from fwctl.records.state_file import load_state, save_state

FOLDER = "experiments"
FILE = "state.json"
_ANEW = "run the experiment again: its markers say which candidates exist"
_DECIDED = {"winner", "reason", "tied", "candidates"}
TRIES = 3  # of a pass in which this machine or a replica count spoilt the measurement


class Phase(StrEnum):
    """What is being done. The last three are ends."""

    CREATING = "creating"
    MEASURING = "measuring"
    CLOSING = "closing"
    DONE = "done"
    CAPPED = "capped"
    STOPPED = "stopped"


@dataclass(frozen=True, slots=True)
class Spending:
    """usd: until `sampled`. usd_per_hour: what ran then. unpriced: something ran whose price is unknown."""

    usd: float = 0.0
    usd_per_hour: float = 0.0
    sampled: str | None = None
    unpriced: bool = False


@dataclass(frozen=True, slots=True)
class Round:
    """One pass of the suite over all candidates. replicas: ready ones of each afterwards."""

    folder: str
    seconds: float
    valid: bool
    reasons: tuple[str, ...] = ()
    replicas: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class State:
    """expires, started: ISO 8601 in UTC. candidates: short name -> deployment ID. usd_per_hour: of one
    replica, by short name, None when unknown. ends_as: the phase that closing leads to. keep: candidate
    that stays. decision: the JSON of the comparison, once made."""

    name: str
    account: str
    stack: str
    run: str
    digest: str
    phase: Phase
    started: str
    expires: str
    cap_usd: float
    spending: Spending = field(default_factory=Spending)
    candidates: Mapping[str, str] = field(default_factory=dict)
    usd_per_hour: Mapping[str, float | None] = field(default_factory=dict)
    rounds: tuple[Round, ...] = ()
    decision: Mapping[str, Any] | None = None
    ends_as: Phase = Phase.DONE
    keep: str | None = None
    reason: str = ""

    @property
    def end(self) -> datetime:
        return datetime.fromisoformat(self.expires)

    @property
    def counted(self) -> tuple[Round, ...]:
        """The last try of every pass that is done, good or tried often enough."""
        found: dict[str, Round] = {}
        for row in self.rounds:
            name, _, trial = row.folder.partition("-try-")
            if row.valid or int(trial or 1) >= TRIES:
                found[name] = row
        return tuple(found.values())

    def at(self, phase: Phase, **changes: Any) -> State:
        return replace(self, phase=phase, **changes)


def folder_of(root: Path, name: str) -> Path:
    """Folder of one experiment; `root` is `.fwctl/`."""
    return root / FOLDER / name


def save(root: Path, state: State) -> None:
    """On disk before this returns. Raises FwctlError."""
    save_state(folder_of(root, state.name) / FILE, asdict(state))


def load(root: Path, name: str) -> State | None:
    """None when there is none. Raises FwctlError for a file that this cannot have written."""
    return load_state(folder_of(root, name) / FILE, _from_json, anew=_ANEW)


def load_all(root: Path) -> Iterator[State]:
    """Every experiment of this folder, by name; damaged ones are left out."""
    place = root / FOLDER
    names = sorted(item.name for item in place.iterdir()) if place.is_dir() else []
    for name in names:
        try:
            found = load(root, name)
        except FwctlError:
            continue
        if found is not None:
            yield found


def _from_json(document: Any) -> State:
    values = {item.name: document[item.name] for item in fields(State)}
    for key in ("name", "account", "stack", "run", "digest", "reason"):
        if not isinstance(values[key], str):
            raise TypeError(key)
    values["phase"], values["ends_as"] = Phase(values["phase"]), Phase(values["ends_as"])
    values["cap_usd"] = float(values["cap_usd"])
    spent = values["spending"]
    values["spending"] = Spending(
        float(spent["usd"]), float(spent["usd_per_hour"]), spent["sampled"], bool(spent["unpriced"])
    )
    values["rounds"] = tuple(
        Round(
            str(row["folder"]),
            float(row["seconds"]),
            bool(row["valid"]),
            tuple(row["reasons"]),
            row["replicas"],
        )
        for row in values["rounds"]
    )
    values["candidates"] = {str(key): str(value) for key, value in values["candidates"].items()}
    values["usd_per_hour"] = {
        str(key): None if value is None else float(value) for key, value in values["usd_per_hour"].items()
    }
    decision = values["decision"]
    if decision is not None and not decision.keys() >= _DECIDED:
        raise KeyError("decision")
    state = State(**values)
    for moment in (state.started, state.expires, state.spending.sampled or state.started):
        if datetime.fromisoformat(moment).tzinfo is None:
            raise ValueError("a time without a zone")
    return state
