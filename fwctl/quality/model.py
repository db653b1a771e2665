"""What grading hands on: the mark of one answer, and the grade that is written to grades.jsonl."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    """What became of one answer. Only right and wrong are about quality.

    EMPTY, TRUNCATED, FAILED and DEGENERATE are broken answers, which have a gate of their own. UNGRADED:
    the grader itself failed. UNASKED: the prompt names no grader and no expected answer.
    """

    RIGHT = "right"
    WRONG = "wrong"
    EMPTY = "empty"
    TRUNCATED = "truncated"
    FAILED = "failed"
    DEGENERATE = "degenerate"
    UNGRADED = "ungraded"
    UNASKED = "unasked"


BROKEN = (Outcome.EMPTY, Outcome.TRUNCATED, Outcome.FAILED, Outcome.DEGENERATE)
GRADED = (Outcome.RIGHT, Outcome.WRONG)


@dataclass(frozen=True, slots=True)
class Spec:
    """How one prompt is graded. options: those of the grader's row in the table of graders."""

    kind: str
    expected: Any = None
    options: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Item:
    """One answer to grade. messages: what was asked; response_format: what the request wanted."""

    spec: Spec
    text: str
    messages: Sequence[Mapping[str, Any]] = ()
    response_format: Mapping[str, Any] | None = None
    prompt_id: str = ""


@dataclass(frozen=True, slots=True)
class Mark:
    """`right` is None when the grader could not judge; `note` then says why. score: 0 to 1."""

    right: bool | None
    score: float | None = None
    note: str | None = None


@dataclass(frozen=True, slots=True)
class Grade:
    """One line of grades.jsonl. `note` never holds text of a model."""

    target: str
    prompt_id: str
    repeat: int
    type: str
    grader: str | None
    outcome: str
    score: float | None = None
    note: str | None = None

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def plain(right: bool, note: str | None = None) -> Mark:
    """A mark that is all or nothing."""
    return Mark(right, 1.0 if right else 0.0, None if right else note)
