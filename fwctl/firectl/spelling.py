"""How each kind of value is written on a firectl command line or in its JSON file (pure)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.catalog.field import Field, Kind
from fwctl.redact import Secret
from fwctl.units import format_duration, parse_duration

Words = list[str]


def number(value: float) -> str:
    """`0.8`, `1`, `200`: never an exponent, never a trailing `.0`."""
    if float(value).is_integer():
        return str(int(value))
    return f"{float(value):.10f}".rstrip("0")


def seconds(value: Any) -> str:
    """A duration as protobuf's JSON writes it: `300s`."""
    return f"{number(parse_duration(str(value)))}s"


def region(value: Any) -> str:
    """`US_IOWA_1` -> `us-iowa-1`, the form of firectl's own help page."""
    return str(value).lower().replace("_", "-")


def _targets(value: Mapping[str, float]) -> str:
    return ",".join(f"{key}={number(value[key])}" for key in sorted(value))


def schedules(row: Field, value: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Schedules under the platform's names, windows in seconds."""
    names = {child.path: child.live or child.path for child in row.children}
    return [
        {names[key]: seconds(item) if key == "duration" else item for key, item in entry.items()}
        for entry in value
    ]


_TEXT: Mapping[Kind, Callable[[Any], str]] = {
    Kind.INT: lambda value: str(int(value)),
    Kind.NUMBER: number,
    Kind.DURATION: lambda value: format_duration(parse_duration(str(value))),
    Kind.REGION: region,
    Kind.TARGETS: _targets,
}


def flag_words(row: Field, flag: str, value: Any) -> Words:
    """The words that set one flag. Booleans use `--flag` and `--flag=false`."""
    if row.kind is Kind.BOOL:
        return [flag] if value else [f"{flag}=false"]
    if row.kind is Kind.SCHEDULES:
        return [flag, json.dumps(schedules(row, value), separators=(",", ":"))]
    return [flag, _TEXT.get(row.kind, str)(value)]


def file_value(row: Field, value: Any) -> Any:
    """The value in a `--file` document. Secrets are revealed here and nowhere else."""
    if row.kind is Kind.SECRETS:
        return [item.value if isinstance(item, Secret) else str(item) for item in value]
    if row.kind is Kind.SCHEDULES:
        return schedules(row, value)
    return seconds(value) if row.kind is Kind.DURATION else value
