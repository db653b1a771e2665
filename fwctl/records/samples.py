"""What ran, looked at again and again: rounds of samples in JSON lines or in the history file.

A round says for one account which deployments there were at one moment. What stands in no round is not
known: readers must not fill gaps.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import asdict, dataclass, field
from datetime import MAXYEAR, MINYEAR, UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.records.history_file import change, rows
from fwctl.records.opening import lines_of, opened

KEEP_DAYS = 92  # three months: every report looks at the last month and the one before
MAX_LINE_BYTES = 4 * 1024 * 1024
HELP = "see docs/cost.md, samples"
_SQLITE_MAGIC = b"SQLite format 3\x00"
_SCHEMA = """
CREATE TABLE IF NOT EXISTS rounds (
  time TEXT NOT NULL, account TEXT NOT NULL, deployments TEXT NOT NULL, PRIMARY KEY (account, time));
"""


@dataclass(frozen=True, slots=True)
class Sample:
    """One deployment at one moment.

    gpus: of one replica. ready: replicas that serve and are billed. starting: replicas on their way,
    which are not billed. Rates are those of the last minute; None is not known, never 0.
    kv_slots: share of the batch slots in use, 0 to 1. concurrent: requests in work.
    generated_per_s: tokens, estimated from the buckets of the platform's histogram.
    """

    deployment_id: str
    model: str
    accelerator: str | None
    gpus: int | None
    ready: int
    starting: int = 0
    name: str | None = None
    concurrent: float | None = None
    requests_per_s: float | None = None
    kv_slots: float | None = None
    prompt_per_s: float | None = None
    generated_per_s: float | None = None
    tags: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Round:
    """Everything that one look saw; time is aware, in UTC."""

    time: datetime
    account: str
    samples: tuple[Sample, ...]


def _row(item: Sample) -> dict[str, Any]:
    """What is known; a rate of 0 is knowledge too."""
    return {key: value for key, value in asdict(item).items() if value is not None and value != {}}


_TEXTS = ("deployment_id", "model", "accelerator", "name")
_NEEDED = 2  # of these texts
_COUNTS = ("gpus", "ready", "starting")
_RATES = ("concurrent", "requests_per_s", "kv_slots", "prompt_per_s", "generated_per_s")
_NUMBERS = (int, float)
_LARGEST = 1e12


def parse_round(text: str | bytes) -> Round:
    """The round of one line. Raises ValueError that says what is wrong with it."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise ValueError("this is not JSON in UTF-8") from None
    if not isinstance(document, dict):
        raise ValueError("a round is a JSON object")
    found, account = document.get("deployments"), document.get("account")
    if not isinstance(found, list) or not isinstance(account, str):
        raise ValueError("a round has `time`, `account` and the list `deployments`")
    samples = tuple(_sample(row) for row in found)
    if len({item.deployment_id for item in samples}) != len(samples):
        raise ValueError("a deployment appears twice in one round")
    return Round(_instant(document.get("time")), account, samples)


def _instant(value: object) -> datetime:
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        raise ValueError(f"`time` is {str(value)[:60]!r}; write it as 2026-10-01T08:00:00+00:00") from None
    if found.tzinfo is None:
        raise ValueError(f"`time` is {str(value)[:60]!r}, which names no time zone")
    if not MINYEAR < found.year < MAXYEAR:
        raise ValueError(f"`time` is {str(value)[:60]!r}, a year in which nothing ran")
    return found.astimezone(UTC)


def _sample(row: object) -> Sample:
    """Written for speed: a month of twenty deployments is a million of these."""
    if not isinstance(row, dict):
        raise ValueError("each of `deployments` is a JSON object")
    id_, model, accelerator, name = _texts(row)
    gpus, ready, starting = _counts(row)
    concurrent, requests, slots, prompt, generated = _rates(row)
    tags = row.get("tags") or {}
    if type(tags) is not dict or not all(type(item) is str for item in tags.values()):
        raise ValueError("`tags` is an object of texts")
    return Sample(
        *(id_, model, accelerator, gpus, ready, starting, name),
        *(concurrent, requests, slots, prompt, generated, tags),
    )


def _texts(row: Mapping[str, Any]) -> list[Any]:
    found = [row.get(key) for key in _TEXTS]
    for at, value in enumerate(found):
        if type(value) is not str and (at < _NEEDED or value is not None):
            raise ValueError(f"`{_TEXTS[at]}` is a text" + (" and is needed" if at < _NEEDED else ""))
    if not found[0]:
        raise ValueError("`deployment_id` is a text and is needed")
    return found


def _counts(row: Mapping[str, Any]) -> list[Any]:
    found = [row.get("gpus"), row.get("ready", 0), row.get("starting", 0)]
    for at, value in enumerate(found):
        if (type(value) is not int or not 0 <= value <= _LARGEST) and (at or value is not None):
            raise ValueError(f"`{_COUNTS[at]}` is a whole number from 0")
    return found


def _rates(row: Mapping[str, Any]) -> list[Any]:
    found = [row.get(key) for key in _RATES]
    for key, value in zip(_RATES, found, strict=True):
        if value is not None and (type(value) not in _NUMBERS or not 0 <= value <= _LARGEST):
            raise ValueError(f"`{key}` is a number from 0")
    return found


def read_rounds(path: Path, *, since: datetime, until: datetime) -> Iterator[Round]:
    """Rounds of a file, JSON lines or a history file, with `since` <= time < `until`, those of an account
    in order of time.

    Raises UsageError with file and line for the first thing that cannot be read.
    """
    with opened(path) as file:
        stored = file.read(len(_SQLITE_MAGIC)) == _SQLITE_MAGIC
    lines = _stored(path, since, until) if stored else lines_of(path, MAX_LINE_BYTES, HELP)
    last: dict[str, datetime] = {}
    for number, line in lines:
        try:
            found = parse_round(line)
        except ValueError as error:
            raise UsageError(f"{path}:{number}: {error}", next_steps=[HELP]) from None
        before = last.get(found.account)
        if before is not None and found.time <= before:
            raise UsageError(
                f"{path}:{number}: {found.time} comes after {before} of the same account, out of order",
                next_steps=["put the rounds in order of time, each moment once"],
            )
        last[found.account] = found.time
        if since <= found.time < until:
            yield found


def _stored(path: Path, since: datetime, until: datetime) -> Iterator[tuple[int, str]]:
    """Rounds of a history file as lines, with the number of their row."""
    try:
        with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            if not connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'rounds'").fetchone():
                return
            stored = connection.execute(
                "SELECT rowid, time, account, deployments FROM rounds WHERE time >= ? AND time < ?"
                " ORDER BY time",
                (_stamp(since), _stamp(until)),
            )
            for number, time, account, deployments in stored:
                head = f'{{"time":{json.dumps(time)},"account":{json.dumps(account)},"deployments":'
                yield number, f"{head}{deployments}}}"
    except sqlite3.Error as error:
        raise UsageError(f"{path} is damaged: {error}", next_steps=["delete it; nothing needs it"]) from None


class RoundStore:
    """Keeps rounds in the history file. What cannot be written is dropped: nothing may stop a watch."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def latest(self, account: str) -> datetime | None:
        """When the account was looked at last; None when that is not known."""
        found = rows(self._path, "SELECT MAX(time) FROM rounds WHERE account = ?", (account,))
        try:
            return _instant(found[0][0]) if found else None
        except ValueError:
            return None

    def record(self, found: Round) -> bool:
        """Add a round, and drop the account's that are older than KEEP_DAYS. False when the file could not
        be written."""
        oldest = found.time - timedelta(days=KEEP_DAYS)
        samples = json.dumps([_row(item) for item in found.samples], separators=(",", ":"))
        return change(
            self._path,
            _SCHEMA,
            ("INSERT OR REPLACE INTO rounds VALUES (?,?,?)", [(_stamp(found.time), found.account, samples)]),
            ("DELETE FROM rounds WHERE account = ? AND time < ?", [(found.account, _stamp(oldest))]),
        )


def _stamp(time: datetime) -> str:
    """As the table holds times, so that their texts are in order too."""
    return time.astimezone(UTC).isoformat()
