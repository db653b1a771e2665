"""Documents as answers carry them: zero values added or dropped, names re-cased."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.platform import schema

# Their keys are data, not field names.
MAPS = ("annotations", "loadTargets", "defaultSamplingParams", "labels")
_ZEROS: dict[str, Any] = {"string": "", "bool": False, "int32": 0, "int64": "0", "float": 0}


def _is_zero(value: Any) -> bool:
    if isinstance(value, str):
        return value == "" or value.endswith("_UNSPECIFIED")
    return value is None or value is False or value == 0 or value in ([], {})


def compact(value: Any) -> Any:
    """Without zero values, as Go's protojson writes a message."""
    if isinstance(value, dict):
        return {k: kept for k, v in value.items() if not _is_zero(kept := compact(v))}
    return [compact(item) for item in value] if isinstance(value, list) else value


def _zero(kind: str) -> Any:
    if kind.startswith("[]"):
        return []
    if kind.startswith("map<"):
        return {}
    return schema.enum(kind)[0] if schema.is_enum(kind) else _ZEROS.get(kind)


def full(message: str, doc: dict[str, Any]) -> dict[str, Any]:
    """With the zero value of every absent scalar, enum, list and map, as the REST gateway answers.

    Absent messages, timestamps and durations stay null.
    """
    filled: dict[str, Any] = {}
    for field, kind in schema.fields(message).items():
        kind = kind.rstrip("!")  # noqa: PLW2901
        value = doc.get(field)
        if value is None:
            filled[field] = _zero(kind)
        elif schema.is_message(kind):
            filled[field] = full(kind, value)
        elif kind.startswith("[]") and schema.is_message(kind[2:]):
            filled[field] = [full(kind[2:], item) for item in value]
        else:
            filled[field] = value
    return filled | {key: value for key, value in doc.items() if key not in filled}


def snake_keys(value: Any) -> Any:
    """With field names in snake case; keys of maps stay as they are."""
    if isinstance(value, dict):
        return {schema.snake(key): item if key in MAPS else snake_keys(item) for key, item in value.items()}
    return [snake_keys(item) for item in value] if isinstance(value, list) else value
