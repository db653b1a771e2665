"""When a wanted value and a live one are the same, under the server's habits."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fwctl.catalog.enums import SHAPE_PRESETS, area_of, is_multi_region
from fwctl.catalog.field import Field, Kind
from fwctl.live.normalise import shape_of
from fwctl.redact import MASK, Secret

# Precisions that the platform shows in place of a family name (OpenAPI Gateway REST API 5.10.0 and the
# shape samples of July 2026; read 2026-11-30). A full name stands for itself only.
PRECISION_FAMILIES = ("FP8", "FP4")

_ZERO: dict[Kind, Any] = {
    Kind.INT: 0,
    Kind.NUMBER: 0,
    Kind.BOOL: False,
    Kind.TEXT: "",
    Kind.DURATION: "0s",
    Kind.REGION: "GLOBAL",  # OpenAPI 5.10.0, Placement: GLOBAL when absent
    Kind.TARGETS: {},
    Kind.TAGS: {},
    Kind.MODELS: [],
    Kind.SCHEDULES: [],
    Kind.SECRETS: [],
}


def zero(row: Field) -> Any:
    """What an absent value means: proto JSON drops zeros, so absent and zero cannot be told apart."""
    return _ZERO.get(row.kind)


def known(row: Field, value: Any) -> Any:
    """The value with absent replaced by its zero."""
    return zero(row) if value is None else value


def same(row: Field, wanted: Any, live: Any) -> bool:
    """True when the platform already has what is wanted."""
    wanted, live = known(row, wanted), known(row, live)
    if row.path == "addons.mode" and wanted == "live_merge":
        return bool(live != "multi_lora")
    if row.kind is Kind.SECRETS:
        return _keys(wanted) == _keys(live)
    return bool(wanted == live) or wanted in tuple(_forms(row, live))


def forms(row: Field, live: Any) -> list[Any]:
    """Every canonical value that a spec may hold and that `live` satisfies, the live one first."""
    return [known(row, live), *_forms(row, known(row, live))]


def _forms(row: Field, live: Any) -> Iterable[Any]:
    if not isinstance(live, str):
        return ()
    if row.kind is Kind.REGION:
        return _wider_regions(live)
    if row.kind is Kind.SHAPE:
        shape = shape_of(live)
        return (shape, f"{shape}/versions/latest")
    if row.path == "precision":
        return tuple(name for name in PRECISION_FAMILIES if live.startswith(f"{name}_"))
    return ()


def _wider_regions(live: str) -> tuple[str, ...]:
    if is_multi_region(live):
        return ()
    areas = {area_of(region) for region in live.split(",")}
    area = areas.pop() if len(areas) == 1 else None
    return (area, "GLOBAL") if area else ("GLOBAL",)


def is_preset(shape: Any) -> bool:
    return shape in SHAPE_PRESETS


def _keys(keys: Any) -> list[str | None]:
    """Keys in an order of their own: the platform does not keep one."""
    values = [key.value if isinstance(key, Secret) else str(key) for key in keys]
    return sorted(values, key=str)


def masked(row: Field, value: Any) -> Any:
    """The value as it may be shown; secrets keep neither length nor number."""
    if row.sensitive:
        return MASK if value else None
    return value
