"""Structured answers that were cut off are asked for again with more tokens, up to a cap.

Each try is a record of its own, with `attempt` from 2 on and not measured: its latency belongs to no
comparison, its tokens are counted as the price of the cut.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO

from fwctl.inference.failures import ErrorClass
from fwctl.inference.structured import next_max_tokens
from fwctl.measure.record import Record
from fwctl.measure.sender import open_session, send
from fwctl.measure.target import Target
from fwctl.quality.answers import read_answers
from fwctl.quality.cases import Cases
from fwctl.quality.grading import Key, attempt_of, is_last, key_of, last_attempts

Row = Mapping[str, Any]
CAP = 16384
# What a request without `max_tokens` gets: the default of the platform's chat completions.
UNSAID = 2048


@dataclass(frozen=True, slots=True)
class _Todo:
    target: Target
    body: Mapping[str, Any]
    row: Row
    attempt: int


def retry_cut_answers(
    records: Path, cases: Cases, targets: Sequence[Target], *, cap: int, concurrency: int
) -> int:
    """Ask again until an answer is complete or the cap is reached; the number of requests made.

    Works on from what an interrupted call did. Raises OSError when the file cannot be written.
    """
    total, by_name = 0, {target.name: target for target in targets}
    while sent := asyncio.run(_send_all(_cut(records, cases, by_name, cap), records, concurrency)):
        total += sent
    return total


def _cut(records: Path, cases: Cases, targets: Mapping[str, Target], cap: int) -> Iterator[_Todo]:
    """Cut-off structured answers that may still grow; what is appended meanwhile is of a later attempt."""
    last, given = last_attempts(records), set[Key]()
    for row in read_answers(records):
        if row.get("error_class") != ErrorClass.LENGTH or not is_last(row, last) or key_of(row) in given:
            continue
        target, case = targets.get(row["target"]), cases.find(row["prompt_id"])
        if target is None or case is None:
            continue
        body, attempt = target.body(case.prompt.body), attempt_of(row)
        larger = next_max_tokens(_tokens(body, attempt, cap), cap)
        if body.get("response_format") and larger is not None:
            given.add(key_of(row))
            yield _Todo(target, {**body, "max_tokens": larger}, row, attempt + 1)


def _tokens(body: Mapping[str, Any], attempt: int, cap: int) -> int:
    """What the last attempt was allowed: every one before it doubled the first."""
    first = body.get("max_tokens")
    tokens = first if isinstance(first, int) else UNSAID
    doublings = min(attempt - 1, cap.bit_length())  # more would be above the cap, whatever a file says
    return min(tokens << doublings, max(cap, tokens))


async def _send_all(todo: Iterator[_Todo], records: Path, concurrency: int) -> int:
    """Send as many at a time; how many there were."""
    sent = 0
    with records.open("a", encoding="utf-8") as file:
        async with open_session(concurrency) as session:

            async def slot() -> None:
                nonlocal sent
                for item in todo:
                    sent += 1
                    await _send(session, item, file)

            await asyncio.gather(*(slot() for _ in range(concurrency)))
    return sent


async def _send(session: Any, item: _Todo, file: TextIO) -> None:
    row = item.row
    record = Record(
        str(row["run_id"]),
        str(row["target"]),
        str(row["prompt_id"]),
        int(row["repeat"]),
        datetime.now(UTC).isoformat(),
        str(row.get("type", "other")),
        attempt=item.attempt,
        measured=False,
    )
    answer = await send(session, item.target, dict(item.body), record, due=time.monotonic())
    record.text = answer.text
    file.write(json.dumps(record.to_json()) + "\n")
    file.flush()
