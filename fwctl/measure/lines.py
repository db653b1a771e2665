"""records.jsonl, line by line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError

try:
    from orjson import loads
except ImportError:
    from json import loads  # type: ignore[assignment]


def parse(line: bytes) -> Mapping[str, Any] | None:
    """A record, or None for a line that is none, such as the last one of a run that was killed."""
    row = _value(line)
    return (
        row if isinstance(row, dict) and {"target", "prompt_id", "repeat", "measured"} <= row.keys() else None
    )


def _value(line: bytes) -> Any:
    """The JSON value of a line, None when it is none; half a surrogate pair is known to `json` alone."""
    for read in (loads, json.loads):
        try:
            return read(line)
        except (ValueError, RecursionError):
            pass
    return None


def moment(value: object) -> datetime | None:
    """The time in a record, None when it is none. Without a zone it is UTC."""
    try:
        found = datetime.fromisoformat(str(value))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def read_rows(path: Path) -> Iterator[Mapping[str, Any]]:
    """The records of a file one by one. Raises UsageError when it cannot be read."""
    try:
        with path.open("rb") as file:
            for line in file:
                if (row := parse(line)) is not None:
                    yield row
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
