"""Structured answers that were cut off are asked for again with more tokens, up to a cap.

Each try is a record of its own, with `attempt` from 2 on and not measured: its latency belongs to no
comparison, its tokens are counted as the price of the cut.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping, Sequence
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
from fwctl.quality.grading import Key, attempt_of, key_of, last_attempts

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
    sent = 0
    while todo := _cut(records, cases, {target.name: target for target in targets}, cap):
        asyncio.run(_send_all(todo, records, concurrency))
        sent += len(todo)
    return sent


def _cut(records: Path, cases: Cases, targets: Mapping[str, Target], cap: int) -> list[_Todo]:
    """Cut-off structured answers that may still grow."""
    last, found = last_attempts(records), dict[Key, _Todo]()
    for row in read_answers(records):
        key, attempt = key_of(row), attempt_of(row)
        target, case = targets.get(key[0]), cases.by_id.get(key[1])
        if last.get(key) != attempt or row.get("error_class") != ErrorClass.LENGTH:
            continue
        if target is None or case is None:
            continue
        body = target.body(case.prompt.body)
        tokens = _tokens(body, attempt, cap)
        larger = next_max_tokens(tokens, cap)
        if body.get("response_format") and larger is not None:
            found[key] = _Todo(target, {**body, "max_tokens": larger}, row, attempt + 1)
    return list(found.values())


def _tokens(body: Mapping[str, Any], attempt: int, cap: int) -> int:
    """What the last attempt was allowed: every one before it doubled the first."""
    first = body.get("max_tokens")
    tokens = first if isinstance(first, int) else UNSAID
    return int(min(tokens * 2 ** (attempt - 1), max(cap, tokens)))


async def _send_all(todo: Sequence[_Todo], records: Path, concurrency: int) -> None:
    slots = asyncio.Semaphore(concurrency)
    with records.open("a", encoding="utf-8") as file:
        async with open_session(concurrency) as session:

            async def one(item: _Todo) -> None:
                async with slots:
                    await _send(session, item, file)

            await asyncio.gather(*(one(item) for item in todo))


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
