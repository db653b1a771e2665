"""Records of a run to grades.jsonl: broken answers first, then each grader over the rest, resumable."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.inference.failures import ErrorClass
from fwctl.inference.structured import after_reasoning
from fwctl.measure.giving_up import why
from fwctl.quality.answers import read_answers
from fwctl.quality.cases import Case, Cases
from fwctl.quality.degenerate import degenerate
from fwctl.quality.graders import GRADERS, module_of
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Grade, Item, Outcome
from fwctl.records.atomic import replacing

NAME = "grades.jsonl"
# Answers that are graded at a time: what a Ctrl-C may cost, and one batch of a child or an endpoint.
BATCH = 200

Row = Mapping[str, Any]
Key = tuple[str, str, int]

ONLY_REASONING = "length: the tokens were used up by reasoning"

# What a failed request means for the answer; every other class is a failure of the request.
_OUTCOMES: dict[str, Outcome] = {
    ErrorClass.EMPTY: Outcome.EMPTY,
    ErrorClass.TRUNCATED: Outcome.TRUNCATED,
    ErrorClass.LENGTH: Outcome.TRUNCATED,
}
_BROKEN_FORMAT = (ErrorClass.INVALID_JSON, ErrorClass.SCHEMA_VIOLATION)


def grade_run(out: Path, cases: Cases, means: Means) -> None:
    """Grade every measured answer of a run that has no grade yet, and append to DIR/grades.jsonl.

    Raises UsageError when the files cannot be used.
    """
    done = _keep_good_lines(out / NAME)
    last = last_attempts(out / "records.jsonl")
    try:
        with (out / NAME).open("a", encoding="utf-8") as file:
            for grades in _batches(out / "records.jsonl", last, done, cases, means):
                file.writelines(json.dumps(grade.to_json()) + "\n" for grade in grades)
                file.flush()
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror or error}") from None


def read_grades(path: Path) -> Iterator[Row]:
    """The lines of grades.jsonl; a last line that was cut off is left out. Raises UsageError."""
    try:
        if path.exists() and not path.is_file():  # a pipe could be read for ever
            raise UsageError(f"{path} is not a regular file")
        with path.open("rb") as file:
            for number, line in enumerate(file, 1):
                if not line.endswith(b"\n"):
                    return
                yield _grade_of(line, path, number)
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}", next_steps=[f"fwctl eval grade {path.parent}"]
        ) from None


def key_of(row: Row) -> Key:
    """What names one answer of a run."""
    return row["target"], row["prompt_id"], row["repeat"]


def attempt_of(row: Row) -> int:
    """1, or the number of the try of a structured answer that was cut off before."""
    found = row.get("attempt", 1)
    return found if isinstance(found, int) else 1


def last_attempts(records: Path) -> dict[Key, int]:
    """The highest attempt of every answer that was asked again; of all others it is 1."""
    found: dict[Key, int] = {}
    for row in read_answers(records):
        if (attempt := attempt_of(row)) > 1:
            key = key_of(row)
            found[key] = max(found.get(key, 1), attempt)
    return found


def is_last(row: Row, last: Mapping[Key, int]) -> bool:
    """True for the record that stands for its answer: measured, or the last of several attempts."""
    attempt = attempt_of(row)
    return (row["measured"] or attempt > 1) and attempt == last.get(key_of(row), 1)


def broken(row: Row, case: Case) -> tuple[Outcome, str] | None:
    """What is wrong with an answer before anybody looks at its quality; None when nothing is."""
    error, text = row.get("error_class"), after_reasoning(row.get("text") or "")
    odd = degenerate(text)
    if error is not None and error not in (*_BROKEN_FORMAT, ErrorClass.LENGTH):
        return _OUTCOMES.get(error, Outcome.FAILED), why(row) if row.get("error_note") else str(error)
    if row.get("finish_reason") == "length" and (case.spec is not None or odd is not None):
        if odd is not None:
            return Outcome.DEGENERATE, odd
        silent = not text.strip() and (row.get("reasoning_tokens") or (row.get("text") or "").strip())
        return Outcome.TRUNCATED, ONLY_REASONING if silent else "length"
    if not text.strip() and row.get("finish_reason") != "tool_calls":
        return Outcome.EMPTY, "no visible text"
    if odd is not None:
        return Outcome.DEGENERATE, odd
    if error is not None:
        return Outcome.WRONG, str(error)
    return None


def _batches(
    records: Path, last: Mapping[Key, int], done: set[int], cases: Cases, means: Means
) -> Iterator[list[Grade]]:
    waiting: dict[str, list[tuple[Row, Case]]] = defaultdict(list)
    at_once: list[Grade] = []
    for row in read_answers(records):
        if not is_last(row, last) or hash(key_of(row)) in done:
            continue
        case = cases.find(row["prompt_id"])
        if case is None:
            name = row["prompt_id"][:80]
            raise UsageError(f"{records} holds the prompt {name!r}, which the suite does not have")
        known = _known(row, case)
        if known is not None:
            at_once.append(known)
        else:
            assert case.spec is not None
            waiting[case.spec.kind].append((row, case))
            if len(waiting[case.spec.kind]) >= BATCH:
                yield _graded(case.spec.kind, waiting.pop(case.spec.kind), means)
        if len(at_once) >= BATCH:
            yield at_once
            at_once = []
    yield at_once
    for kind, rows in waiting.items():
        yield _graded(kind, rows, means)


def _known(row: Row, case: Case) -> Grade | None:
    """The grade of an answer that no grader has to look at."""
    if row.get("text") is None and row.get("error_class") is None:
        raise UsageError(
            "the records hold no text of the answers, so nothing can be graded",
            next_steps=["fwctl bench run --keep-text", "fwctl eval run"],
        )
    found = broken(row, case)
    if found is None and case.spec is None:
        found = Outcome.UNASKED, ""
    if found is None:
        return None
    outcome, note = found
    score = 0.0 if outcome is Outcome.WRONG else None
    return _grade(row, case, outcome, score=score, note=note or None)


def _graded(kind: str, rows: Sequence[tuple[Row, Case]], means: Means) -> list[Grade]:
    items = [
        Item(
            case.spec,
            after_reasoning(str(row["text"])),
            case.prompt.body["messages"],
            case.prompt.body.get("response_format"),
            case.prompt.id,
        )
        for row, case in rows
        if case.spec is not None
    ]
    if GRADERS[kind].endpoint is not None:
        means.say(f"{kind}: {len(items)} answers to grade")
    found = []
    for (row, case), mark in zip(rows, module_of(kind).grade(items, means), strict=True):
        outcome = Outcome.UNGRADED if mark.right is None else Outcome.RIGHT if mark.right else Outcome.WRONG
        found.append(_grade(row, case, outcome, score=mark.score, note=mark.note))
    return found


def _grade(row: Row, case: Case, outcome: Outcome, *, score: float | None, note: str | None) -> Grade:
    kind = case.spec.kind if case.spec else None
    target, prompt_id, repeat = key_of(row)
    return Grade(target, prompt_id, repeat, case.prompt.type, kind, outcome.value, score, note)


def _keep_good_lines(path: Path) -> set[int]:
    """Drop a last line that was cut off, and answers whose grader failed; hashes of the keys of the rest."""
    done: set[int] = set()
    if not path.exists():
        return done
    try:
        with replacing(path) as file:
            for row in read_grades(path):
                if row["outcome"] != Outcome.UNGRADED:
                    file.write(json.dumps(row).encode() + b"\n")
                    done.add(hash(key_of(row)))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None
    return done


def _grade_of(line: bytes, path: Path, number: int) -> Row:
    try:
        row = json.loads(line)
        Outcome(row["outcome"])
        texts = isinstance(row["target"], str) and isinstance(row["prompt_id"], str)
        good = texts and isinstance(row["type"], str) and type(row["repeat"]) is int
    except (ValueError, KeyError, TypeError, RecursionError):
        good = False
    if not good:
        raise UsageError(
            f"{path}:{number}: this is not a grade",
            next_steps=[f"rm {path}", f"fwctl eval grade {path.parent} makes it again from the answers"],
        )
    found: Row = row
    return found
