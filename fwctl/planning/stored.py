"""Options and evidence as plain JSON, for plan files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import datetime
from typing import Any

from fwctl.errors import InvalidSpecError
from fwctl.planning.options import PlanOptions
from fwctl.spec.model import Evidence

# What-if values and intents never reach a plan file: the first cannot be saved, the second are applied
# at once.
_NAMES = ("targets", "excludes", "adopt", "allow_delete", "allow_traffic_loss", "allow_scale_down")
_SWITCHES = ("prune", "upgrade_shapes", "no_lock", "require_fit")


def options_to_json(options: PlanOptions) -> dict[str, Any]:
    return {
        **{key: sorted(getattr(options, key)) for key in _NAMES},
        **{key: getattr(options, key) for key in _SWITCHES},
        "max_deletes": options.max_deletes,
    }


def options_from_json(document: Any) -> PlanOptions:
    """Raises InvalidSpecError for anything that `options_to_json` cannot have written."""
    rows = mapping(document, "options")
    unknown = sorted(set(rows) - {*_NAMES, *_SWITCHES, "max_deletes"})
    if unknown:
        raise damaged(f"the option {unknown[0]!r} is not known")
    most = rows.get("max_deletes")
    if most is not None and (isinstance(most, bool) or not isinstance(most, int)):
        raise damaged("max_deletes is not a number")
    names: dict[str, Any] = {key: tuple(texts(rows.get(key, []), key)) for key in _NAMES}
    switches: dict[str, Any] = {key: switch(rows.get(key, False), key) for key in _SWITCHES}
    return PlanOptions(**names, **switches, max_deletes=most)


def evidence_to_json(evidence: Evidence) -> dict[str, Any]:
    rows = asdict(evidence)
    del rows["gates_follow"]  # it is about reading specs, which is over
    return rows


_EVIDENCE_TYPES: Mapping[str, tuple[type, ...]] = {
    "tested_replicas": (int,),
    "evaluated": (bool,),
    "model_precision": (str,),
    "conversations": (int, float),
    "tested_by": (str,),
    "evaluated_by": (str,),
    "not_tested": (str,),
    "not_evaluated": (str,),
}


def evidence_from_json(document: Any) -> Evidence:
    rows = dict(mapping(document, "evidence"))
    read = switch(rows.pop("read", True), "read")
    known = {item.name for item in fields(Evidence)}
    unknown = sorted(set(rows) - known)
    if unknown:
        raise damaged(f"the evidence {unknown[0]!r} is not known")
    for key, row in rows.items():
        types = _EVIDENCE_TYPES[key]
        for name, value in mapping(row, key).items():
            if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
                raise damaged(f"{key} of {name!r} is not a {types[0].__name__}")
    return Evidence(**rows, read=read)


def damaged(why: str) -> InvalidSpecError:
    return InvalidSpecError(
        f"the plan file is damaged: {why}", next_steps=("make it again with `fwctl plan --out FILE`",)
    )


def mapping(value: Any, what: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise damaged(f"{what} is not an object")
    return value


def text(value: Any, what: str) -> str:
    if not isinstance(value, str):
        raise damaged(f"{what} is not a text")
    return value


def texts(value: Any, what: str) -> list[str]:
    if not isinstance(value, list):
        raise damaged(f"{what} is not a list")
    return [text(item, what) for item in value]


def switch(value: Any, what: str) -> bool:
    if not isinstance(value, bool):
        raise damaged(f"{what} is neither true nor false")
    return value


def moment(value: Any, what: str) -> datetime:
    try:
        found = datetime.fromisoformat(text(value, what))
    except ValueError:
        raise damaged(f"{what} is not a time") from None
    if found.tzinfo is None:
        raise damaged(f"{what} has no time zone")
    return found
