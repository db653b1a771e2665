"""The prompts on which two evaluations differ, with both answers, for whoever wants to know why."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.suite import load
from fwctl.quality.answers import read_answers
from fwctl.quality.arms import Arm
from fwctl.quality.grading import Row, attempt_of, key_of
from fwctl.quality.model import BROKEN, Outcome

Key = tuple[str, int]

# What can be shown: outcomes of base and candidate -> whether they belong to it.
KINDS: dict[str, Callable[[str, str], bool]] = {
    "lost": lambda base, candidate: base == Outcome.RIGHT and candidate == Outcome.WRONG,
    "gained": lambda base, candidate: base == Outcome.WRONG and candidate == Outcome.RIGHT,
    "broken": lambda base, candidate: base not in BROKEN and candidate in BROKEN,
    "wrong": lambda base, candidate: base == candidate == Outcome.WRONG,
}


def differing(base: Arm, candidate: Arm, kind: str, limit: int) -> dict[str, Any]:
    """`count` of all, and up to `limit` `answers` with texts. Raises UsageError for an unknown kind."""
    if kind not in KINDS:
        raise UsageError(f"--what is one of {', '.join(KINDS)}")
    chosen = [
        key
        for key in sorted(base.grades.keys() & candidate.grades.keys())
        if KINDS[kind](base.grades[key]["outcome"], candidate.grades[key]["outcome"])
    ]
    keys = chosen[:limit]
    left, right, asked = _texts(base, keys), _texts(candidate, keys), _asked(base, keys)
    answers = [
        {
            "prompt_id": key[0],
            "repeat": key[1],
            "type": base.grades[key]["type"],
            **asked.get(key[0], {"question": None, "expected": None}),
            "base": _side(base.grades[key], left.get(key)),
            "candidate": _side(candidate.grades[key], right.get(key)),
        }
        for key in keys
    ]
    return {
        "base": base.text,
        "candidate": candidate.text,
        "what": kind,
        "count": len(chosen),
        "answers": answers,
    }


def _side(grade: Row, text: str | None) -> dict[str, Any]:
    return {"outcome": grade["outcome"], "note": grade.get("note"), "text": text}


def _texts(arm: Arm, keys: list[Key]) -> dict[Key, str]:
    """Texts of the last attempts."""
    wanted, found, attempts = set(keys), dict[Key, str](), dict[Key, int]()
    for row in read_answers(arm.folder / "records.jsonl") if keys else ():
        target, prompt_id, repeat = key_of(row)
        key = prompt_id, repeat
        if target == arm.target and key in wanted and attempt_of(row) >= attempts.get(key, 1):
            found[key], attempts[key] = str(row.get("text") or ""), attempt_of(row)
    return found


def _asked(arm: Arm, keys: list[Key]) -> dict[str, Mapping[str, Any]]:
    """Last message and expected answer, where the prompt set is still the one of the run."""

    path, wanted = (arm.plan.get("suite") or {}).get("path"), {key[0] for key in keys}
    try:
        suite = load(Path(str(path)))
    except UsageError:
        return {}
    if suite.digest != arm.summary.get("suite_digest"):
        return {}
    return {
        prompt.id: {"question": _question(prompt.body), "expected": prompt.expected}
        for prompt in suite.prompts()
        if prompt.id in wanted
    }


def _question(body: Mapping[str, Any]) -> str:
    content = body["messages"][-1].get("content")
    return content if isinstance(content, str) else str(content)
