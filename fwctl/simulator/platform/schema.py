"""The shape of the platform's resources, read from data/schema.json when first needed.

A type is a scalar (string, int32, int64, bool, float, timestamp, duration, object), a message, an enum,
`[]type` for a list or `map<string,type>`; a trailing `!` marks a field that only the server writes.
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path
from typing import Any

_FILE = Path(__file__).parent.parent / "data" / "schema.json"
_UPPER = re.compile(r"(?<!^)([A-Z])")
_LOWER_AFTER_LINE = re.compile(r"_([a-z0-9])")


@cache
def _data() -> dict[str, Any]:
    data: dict[str, Any] = json.loads(_FILE.read_text(encoding="utf-8"))
    return data


def fields(message: str) -> dict[str, str]:
    """REST field name -> type."""
    found: dict[str, str] = _data()["messages"][message]
    return found


def is_message(type_name: str) -> bool:
    return type_name in _data()["messages"]


def enum(name: str) -> list[str]:
    """Values of an enum, the unspecified one first."""
    values: list[str] = _data()["enums"][name]
    return values


def is_enum(type_name: str) -> bool:
    return type_name in _data()["enums"]


def snake(camel: str) -> str:
    """`acceleratorType` -> `accelerator_type`."""
    return _UPPER.sub(r"_\1", camel).lower()


def camel(text: str) -> str:
    """`accelerator_type` -> `acceleratorType`."""
    return _LOWER_AFTER_LINE.sub(lambda match: match[1].upper(), text)
