"""One side of a comparison: the grades of one target of one evaluation folder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from sys import intern
from typing import Any

from fwctl.errors import UsageError
from fwctl.quality.grading import NAME, Row, read_grades

LARGEST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True)
class Arm:
    """text: as the user wrote it. grades: (prompt, repeat) -> outcome, type and note."""

    text: str
    target: str
    folder: Path
    summary: Mapping[str, Any]
    grades: Mapping[tuple[str, int], Row]

    @property
    def quality(self) -> Mapping[str, Any]:
        found: Mapping[str, Any] = self.summary["quality"]
        return found

    @property
    def plan(self) -> Mapping[str, Any]:
        """What the run was started with; empty when its run.json is gone or damaged."""
        path = self.folder / "run.json"
        try:
            if not path.is_file():  # a pipe could be read for ever
                return {}
            with path.open("rb") as file:
                found: dict[str, Any] = json.loads(file.read(LARGEST_BYTES))["plan"]
            sound = isinstance(found.get("suite", {}).get("path", ""), str)
            sound &= all(isinstance(target["model"], str) for target in found["targets"])
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError):
            return {}
        return found if sound else {}

    @property
    def figures(self) -> Mapping[str, Any]:
        """Totals of this target."""
        found: Mapping[str, Any] = self.quality["targets"][self.target]
        return found


def read_arm(cwd: Path, text: str) -> Arm:
    """`DIR` or `DIR:TARGET`. Raises UsageError for what is no evaluation, or holds several targets."""
    folder, wanted = cwd / text, ""
    if not folder.is_dir() and ":" in text:
        name, _, wanted = text.partition(":")
        folder = cwd / name
    if not folder.is_dir():
        raise UsageError(f"{text} is no folder of an evaluation", next_steps=["fwctl eval run --out DIR"])
    summary = _evaluated(folder)
    names = sorted({str(row["target"]) for row in read_grades(folder / NAME)})
    if not wanted and len(names) > 1:
        raise UsageError(f"{text} holds several targets", next_steps=[f"{text}:{name}" for name in names])
    target = _target(wanted, names)
    if not isinstance(summary["quality"]["targets"].get(target), dict):
        raise UsageError(f"{text} has no such target; it has: {', '.join(names) or 'none'}")
    grades = {
        (str(row["prompt_id"]), int(row["repeat"])): _compared(row)
        for row in read_grades(folder / NAME)
        if row["target"] == target
    }
    return Arm(text, target, folder, summary, grades)


def _compared(row: Row) -> Row:
    """What comparisons look at; a large set has few outcomes and types, which are held once."""
    return {"outcome": intern(row["outcome"]), "type": intern(row["type"]), "note": row.get("note")}


def _target(wanted: str, names: list[str]) -> str:
    """A target by its name, or by the last part of one, which is enough where it is the only such."""
    if not wanted:
        return next(iter(names), "")
    ending = [name for name in names if name.endswith(f"/{wanted}")]
    return ending[0] if wanted not in names and len(ending) == 1 else wanted


def read_summary(folder: Path) -> dict[str, Any]:
    """summary.json of a run. Raises UsageError."""
    path = folder / "summary.json"
    if path.exists() and not path.is_file():  # a pipe could be read for ever
        raise UsageError(f"{path} is not a regular file")
    try:
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST_BYTES))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON") from None
    if not isinstance(found, dict) or "run_id" not in found:
        raise UsageError(f"{path} is not the summary of a run")
    return found


def _evaluated(folder: Path) -> dict[str, Any]:
    found = read_summary(folder)
    if found.get("interrupted"):
        raise UsageError(f"{folder} was interrupted", next_steps=[f"fwctl eval run --resume {folder}"])
    quality = found.get("quality")
    if not isinstance(quality, dict) or not isinstance(quality.get("targets"), dict):
        raise UsageError(
            f"{folder} is not the folder of a finished evaluation", next_steps=[f"fwctl eval grade {folder}"]
        )
    return found
