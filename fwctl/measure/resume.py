"""The file that says what a folder of results is about, so that an interrupted run can go on."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from uuid import uuid4

from fwctl.errors import UsageError
from fwctl.measure.alone import alone
from fwctl.measure.lines import read_rows
from fwctl.measure.load import key
from fwctl.measure.plan import Plan
from fwctl.records.atomic import replace_file

NAME = "run.json"
LARGEST_BYTES = 64 * 2**20
# Where a run may go on from another file or folder than it began in.
_MAY_DIFFER = frozenset({"out", "suite", "give_up_s"})
_PRICES = frozenset({"usd_per_hour", "token_prices"})
_WORDS = {
    "targets": "the targets",
    "shape": "the load",
    "sweep": "the sweep",
    "repeats": "--repeat",
    "warmup": "--warmup",
    "duration_s": "--duration",
    "cache": "--cache",
    "keep_text": "--keep-text",
}


@dataclass(slots=True)
class Journal:
    """run.json: the plan and one entry for each time that the run was started."""

    path: Path
    run_id: str
    plan: Mapping[str, Any]
    sessions: list[dict[str, Any]] = field(default_factory=list)

    def save(self) -> None:
        """Replace the file in one step. Raises OSError."""
        document = {"run_id": self.run_id, "plan": self.plan, "sessions": self.sessions}
        replace_file(self.path, (json.dumps(document) + "\n").encode())

    def measured_s(self, label: str) -> float:
        """How long a level of the load has run in earlier sessions."""
        return sum(float(session["levels"].get(label, 0.0)) for session in self.sessions)


def start(plan: Plan) -> Journal:
    """A new folder, or with `plan.resume` the one of an interrupted run.

    Raises UsageError, RefusedError while another process goes on with it, and OSError.
    """
    if plan.resume:
        journal = _read(plan.out / NAME)
        _require_same(plan, journal)
        plan.records.touch()
        with alone(plan.records):
            _cut_torn_line(plan.records)
        return journal
    if plan.records.exists():
        raise UsageError(
            f"{plan.records} exists already; a run never overwrites another",
            next_steps=["give --out DIR", f"--resume {plan.out} goes on with it"],
        )
    plan.out.mkdir(parents=True, exist_ok=True)
    journal = Journal(plan.out / NAME, uuid4().hex[:12], plan.to_json())
    journal.save()
    plan.records.touch(exist_ok=False)
    return journal


def keys_done(records: Path) -> frozenset[int]:
    """Keys of the measured requests of a file; those that failed count too, because errors are results."""
    return frozenset(
        key(row["target"], row["prompt_id"], row["repeat"]) for row in read_rows(records) if row["measured"]
    )


def _read(path: Path) -> Journal:
    try:
        with path.open("rb") as file:
            row = json.loads(file.read(LARGEST_BYTES))
        sessions = [_session(session) for session in row["sessions"]]
        return Journal(path, str(row["run_id"]), dict(row["plan"]), sessions)
    except OSError as error:
        why = error.strerror or str(error)
    except (ValueError, RecursionError, LookupError, TypeError, AttributeError):
        why = "it is not the file of a run"
    raise UsageError(
        f"cannot go on with {path.parent}: {path}: {why}",
        next_steps=["give the folder of an interrupted run"],
    )


def _session(row: Any) -> dict[str, Any]:
    """One session, with the parts that are read again checked."""
    return {
        **row,
        "lags": [(int(step), int(count)) for step, count in row["lags"]],
        "levels": {str(label): float(seconds) for label, seconds in row["levels"].items()},
        "cpu_s": float(row["cpu_s"]),
        "replicas": [
            {"at": str(look["at"]), "ready": {str(name): int(n) for name, n in look["ready"].items()}}
            for look in row["replicas"]
        ],
    }


def _require_same(plan: Plan, journal: Journal) -> None:
    what = difference(json.loads(json.dumps(plan.to_json())), journal.plan)
    if what is not None:
        raise _differs(plan, what)


def difference(now: Mapping[str, Any], before: Mapping[str, Any]) -> str | None:
    """What makes two plans, both as JSON, different runs; None when they are the same one."""
    suite = before.get("suite")
    if not isinstance(suite, Mapping) or suite.get("digest") != now["suite"]["digest"]:
        return "the prompt set"
    for name, value in now.items():
        if name not in _MAY_DIFFER and _unpriced(before.get(name)) != _unpriced(value):
            return _WORDS.get(name, name)
    return None


def _unpriced(value: Any) -> Any:
    """Targets without their prices, which follow the replicas and the price file of the day."""
    if not isinstance(value, list):
        return value
    return [
        {key: part for key, part in item.items() if key not in _PRICES} if isinstance(item, dict) else item
        for item in value
    ]


def _differs(plan: Plan, what: str) -> UsageError:
    return UsageError(
        f"{plan.out} was started with other options: {what} is not the same",
        next_steps=["give the options of the first run", "give --out DIR for a new run"],
    )


def _cut_torn_line(path: Path) -> None:
    """Half a line, left by a process that was killed, would spoil the next one."""
    with path.open("r+b") as file:
        end = file.seek(0, os.SEEK_END)
        at = end
        while at > 0:
            size = min(at, 2**16)
            file.seek(at - size)
            found = file.read(size).rfind(b"\n")
            if found >= 0:
                at += found + 1 - size
                break
            at -= size
        if at < end:
            file.truncate(at)
