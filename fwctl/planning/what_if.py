"""`--set NAME.field=value`: one value of one deployment, for a look at what it would do."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from fwctl.catalog.field import Field, Kind
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import InvalidSpecError, UsageError
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.document import from_document, to_document
from fwctl.spec.model import Spec

_ONCE = ("id", "lifecycle.hold_until")
_STRUCTURED = (Kind.TARGETS, Kind.TAGS, Kind.MODELS, Kind.SCHEDULES, Kind.NAMES, Kind.OBJECT)


def parse_sets(spec: Spec, texts: Sequence[str], environ: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Canonical values by deployment and path, for `PlanOptions.sets`.

    A value is read like the spec's own (bounds, enums, durations); collections are JSON. Raises
    UsageError for text that names no field, InvalidSpecError for a value the field cannot have.
    """
    found: dict[str, dict[str, Any]] = {}
    for text in texts:
        name, row, value = _parse(spec, text)
        found.setdefault(name, {})[row.path] = value
    return {name: _checked(spec, name, values, environ) for name, values in found.items()}


def _parse(spec: Spec, text: str) -> tuple[str, Field, Any]:
    place, equals, value = text.partition("=")
    name, dot, path = place.strip().partition(".")
    if not equals or not dot:
        raise UsageError(f"--set {text[:80]!r} is not NAME.field=value, for example chat.replicas.max=6")
    if name not in spec.deployments:
        raise UsageError(
            f"--set names {name!r}, which is not in the spec", next_steps=[advice(name, spec.deployments)]
        )
    row = BY_PATH.get(path)
    if row is None or path in _ONCE or row.sensitive:
        near = "edit the spec instead" if row else did_you_mean(path, BY_PATH)
        raise UsageError(
            f"--set cannot change {path!r}", next_steps=[near or "`fwctl explain` lists the fields"]
        )
    return name, row, _value(row, value.strip(), text)


def advice(name: str, known: Iterable[str]) -> str:
    """What to type in place of a name that no deployment has."""
    words = sorted(known)
    return did_you_mean(name, words) or listed(words, "`fwctl status` has all")


def _value(row: Field, value: str, text: str) -> Any:
    if row.kind is Kind.INT and re.fullmatch(r"-?[0-9]{1,18}", value):
        return int(value)
    if row.kind is Kind.NUMBER and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,15})?", value):
        return float(value)
    if row.kind is Kind.BOOL and value in ("true", "false"):
        return value == "true"
    if row.kind in _STRUCTURED:
        try:
            return json.loads(value)
        except (ValueError, RecursionError):
            raise UsageError(f"--set {text[:80]!r}: {row.path} is a {row.kind}, written as JSON") from None
    return value


def _checked(spec: Spec, name: str, values: Mapping[str, Any], environ: Mapping[str, str]) -> dict[str, Any]:
    entry = spec.deployments[name]
    document = to_document(replace(spec, deployments={name: entry}))
    stored = document["deployments"][name]
    for path, value in values.items():
        stored["fields" if BY_PATH[path].managed else "own"][path] = value
    read = from_document(document, environ).deployments[name]
    merged = {**read.fields, **read.own}
    if 0 < merged.get("replicas.max", 0) < merged.get("replicas.min", 0):
        raise InvalidSpecError(
            f"--set makes replicas.min of {name} larger than replicas.max", deployment=name
        )
    return {path: merged[path] for path in values if path in merged}
