"""Folders of evaluations, written without sending anything."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.measure.suite import load
from fwctl.quality.cases import Cases, load_cases
from tests.quality.support import means

Row = dict[str, Any]


def write_suite(folder: Path, rows: Sequence[Row]) -> Cases:
    """A checked prompt set of these lines."""
    path = folder / "suite.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load_cases(load(path), means(folder))


def record(prompt_id: str, text: str | None = "", target: str = "m", repeat: int = 0, **more: Any) -> Row:
    """One line of records.jsonl."""
    base = {
        "run_id": "r",
        "target": target,
        "prompt_id": prompt_id,
        "repeat": repeat,
        "started_at": "2026-11-30T12:00:00+00:00",
        "type": "chat",
        "attempt": 1,
        "measured": True,
        "error_class": None,
        "finish_reason": "stop",
        "text": text,
    }
    return base | more


def write_records(folder: Path, rows: Sequence[Row]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def write_arm(
    folder: Path,
    outcomes: Mapping[tuple[str, int], str],
    *,
    kind: Mapping[str, str] | None = None,
    suite: str = "sha256:a",
    graders: str = "sha256:g",
    problems: Sequence[str] = (),
) -> None:
    """A finished evaluation. outcomes: (prompt, repeat) -> outcome; kind: prompt -> type."""
    folder.mkdir(parents=True)
    with (folder / "grades.jsonl").open("w") as file:
        for (prompt_id, repeat), outcome in outcomes.items():
            row = {"target": "m", "prompt_id": prompt_id, "repeat": repeat, "outcome": outcome}
            row |= {"type": (kind or {}).get(prompt_id, "chat"), "grader": "exact"}
            file.write(json.dumps(row) + "\n")
    quality = {"graders": graders, "targets": {"m": {"problems": list(problems)}}}
    summary = {"run_id": folder.name, "suite_digest": suite, "quality": quality}
    (folder / "summary.json").write_text(json.dumps(summary))
