"""One canonical form for every value, so that spec and live state compare by `==`.

Durations become Go's spelling (`5m0s`), enums and regions the platform's, load targets a dict sorted
by key with float values. The same function serves the spec loader and the live reader.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from fwctl.catalog.field import Field, Kind
from fwctl.units import format_duration, parse_duration


def duration(value: Any) -> str:
    """Canonical duration of `5m`, `300s`, `5m0s` or a number of seconds."""
    seconds = float(value) if isinstance(value, int | float) else parse_duration(str(value))
    return format_duration(seconds)


def region(value: Any) -> str:
    """`us-iowa-1`, `Us_Iowa_1` -> `US_IOWA_1`."""
    return str(value).strip().upper().replace("-", "_")


def _targets(value: Mapping[str, Any]) -> dict[str, float]:
    return {key: float(value[key]) for key in sorted(value)}


def _tags(value: Mapping[str, Any]) -> dict[str, str]:
    return {key: str(value[key]) for key in sorted(value)}


def _schedules(value: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Sorted, with canonical durations; order carries no meaning on the platform."""
    rows = [
        {**row, "duration": duration(row["duration"])} if "duration" in row else dict(row) for row in value
    ]
    return sorted(rows, key=lambda row: sorted((k, str(v)) for k, v in row.items()))


_BY_KIND: dict[Kind, Callable[[Any], Any]] = {
    Kind.DURATION: duration,
    Kind.REGION: region,
    Kind.TARGETS: _targets,
    Kind.TAGS: _tags,
    Kind.SCHEDULES: _schedules,
    Kind.MODELS: sorted,
}


def canonical(row: Field, value: Any) -> Any:
    """The comparable form of a valid value of this field."""
    convert = _BY_KIND.get(row.kind)
    return value if convert is None or value is None else convert(value)
