"""records.jsonl as an evaluation reads it: every field that is looked at has the type it was written with."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from types import NoneType
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.lines import read_rows

Row = Mapping[str, Any]

_TEXT, _COUNT, _TIME = (str, NoneType), (int, NoneType), (int, float, NoneType)
_FIELDS: dict[str, tuple[type, ...]] = {
    "target": (str,),
    "prompt_id": (str,),
    "repeat": (int,),
    "attempt": _COUNT,
    "text": _TEXT,
    "error_class": _TEXT,
    "error_note": _TEXT,
    "finish_reason": _TEXT,
    "output_tokens": _COUNT,
    "reasoning_tokens": _COUNT,
    "ttft_s": _TIME,
    "ttfv_s": _TIME,
}


def read_answers(path: Path) -> Iterator[Row]:
    """The records of a run one by one. Raises UsageError for a file that cannot be read or was damaged."""
    for row in read_rows(path):
        for name, kinds in _FIELDS.items():
            value = row.get(name)
            if not isinstance(value, kinds) or isinstance(value, bool):
                raise UsageError(
                    f"{path}: the record of prompt {str(row['prompt_id'])[:80]!r} has no usable `{name}`: "
                    "the file is damaged",
                    next_steps=["restore the file, or delete that line and go on with --resume"],
                )
        yield row
