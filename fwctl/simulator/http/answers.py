"""Right answers by prompt, and how often each precision misses them, for evaluations without a model.

The file holds JSON lines: `prompt` or `messages` (its last user message), and `answer` or `expected`, which
are also the fields of a prompt set. A model that misses answers in free text.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwctl.simulator.http.engine.fields import RequestError
from fwctl.simulator.http.engine.request import Request, text_of
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.knobs import KnobError


def _question(messages: list[dict[str, Any]]) -> str:
    said = [message for message in messages if message.get("role") == "user"]
    return text_of(said[-1].get("content")).strip() if said else ""


def question_of(request: Request) -> str:
    """What the caller asks: the last user message, or the first prompt."""
    if request.chat:
        return _question(request.messages)
    first = request.prompts[0]
    return first.strip() if isinstance(first, str) else ""


def _row(line: str, number: int) -> tuple[str, str] | None:
    try:
        row = json.loads(line)
        question = row["prompt"].strip() if "prompt" in row else _question(row["messages"])
        answer = row.get("answer", row.get("expected"))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, RequestError):
        raise KnobError(
            f"FIRECTL_SIM_ANSWERS: line {number} is no JSON object with prompt or messages"
        ) from None
    if answer is None:
        return None
    return question, answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def read(path: Path) -> dict[str, str]:
    """Answers by question. Raises KnobError on a file that cannot be used."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        raise KnobError(f"FIRECTL_SIM_ANSWERS: {path} cannot be read: {error}") from None
    rows = (_row(line, number) for number, line in enumerate(lines, 1) if line.strip())
    return dict(row for row in rows if row is not None)


def shares(text: str | None) -> dict[str, float]:
    """`0.02` for all precisions, or `FP8=0.05,FP4=0.1`; the key of all is empty. Raises KnobError."""
    found = {}
    for part in filter(None, (text or "").split(",")):
        precision, mark, number = part.rpartition("=")
        try:
            share = float(number)
        except ValueError:
            share = -1.0
        if not 0 <= share <= 1 or (mark and not precision.strip()):
            raise KnobError(f"wrong_share is {text!r}; write for example 0.02 or FP8=0.05,FP4=0.1")
        found[precision.strip().upper()] = share
    return found


def answer_for(
    known: Mapping[str, str], request: Request, precision: str, wrong_share: str | None
) -> str | None:
    """The known answer unless this precision misses it. What a higher share misses includes what a lower
    one does. Raises KnobError.
    """
    question = question_of(request)
    found = known.get(question)
    if found is None:
        return None
    by_precision = shares(wrong_share)
    share = by_precision.get(precision.upper(), by_precision.get("", 0.0))
    return None if rng("miss", question).random() < share else found
