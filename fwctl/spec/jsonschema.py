"""JSON Schema of spec files for editors (draft 2020-12), built from the field table.

Editors help while typing; `fwctl validate` decides. So it is a little wider: any string may hold
`${env:...}`, and lists that the platform extends take a value in the platform's spelling.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from fwctl.catalog.adapt_fields import ADAPT_FIELDS
from fwctl.catalog.enums import OPEN_LISTS, SHAPE_PRESETS, VALUES
from fwctl.catalog.experiment_fields import EXPERIMENT_FIELDS
from fwctl.catalog.field import Effect, Field, Kind, Owner
from fwctl.catalog.fields import FIELDS
from fwctl.catalog.run_fields import ENVELOPE, FILE_KINDS
from fwctl.spec.amounts import LARGEST_INT
from fwctl.spec.groups import Group, deployment_group, group_of, run_group

DIALECT = "https://json-schema.org/draft/2020-12/schema"
_REFERENCE = {"type": "string", "pattern": r"\$\{env:"}
_PLATFORM_SPELLING = {"type": "string", "pattern": "^[A-Z][A-Z0-9_]+$"}
_REGION_SPELLING = {"type": "string", "pattern": "^[A-Za-z]+([_-][A-Za-z0-9]+)*$"}
_LOAD_TARGET_SPELLING = "^[a-z][a-z0-9_]*$"
_DURATION = r"^([0-9]+(\.[0-9]+)?(ns|us|µs|ms|s|m|h|d))+$|^0$"
_ID = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"


def schema() -> dict[str, Any]:
    """The schema of every kind of spec file."""
    return {
        "$schema": DIALECT,
        "title": "fwctl spec",
        "description": "Desired state of Fireworks AI deployments; checked by `fwctl validate`.",
        "type": "object",
        "required": ["apiVersion"],
        "properties": {key: _member(run_group().children[key]) for key in ENVELOPE},
        "allOf": [_of_kind(kind.name, kind.body) for kind in FILE_KINDS],
        "$defs": {"deployment": _group(deployment_group())},
    }


def _of_kind(name: str, body: tuple[str, ...] | None) -> dict[str, Any]:
    """What holds for files of one kind; without `kind` a file is of kind Deployments."""
    condition: dict[str, Any] = {"properties": {"kind": {"const": name}}, "required": ["kind"]}
    if name == FILE_KINDS[0].name:
        condition = {"properties": {"kind": {"const": name}}}
    return {"if": condition, "then": _body(name, body)}


def _body(name: str, body: tuple[str, ...] | None) -> dict[str, Any]:
    known: dict[str, Any] = dict.fromkeys(ENVELOPE, True)
    if name == "Experiment":
        return _experiment(known)
    if name == "Adapt":
        return _closed(known | _properties(ADAPT_FIELDS), _required(ADAPT_FIELDS))
    if body is None:
        return {}
    if name != FILE_KINDS[0].name:
        keys: dict[str, Any] = {
            key: {"description": f"Checked by the commands of kind {name}."} for key in body
        }
        return _closed(known | keys, [])
    children = run_group().children
    deployments = {
        "type": "object",
        "description": _description(children["deployments"]),
        "minProperties": 1,
        "propertyNames": {"pattern": _ID},
        "additionalProperties": {"$ref": "#/$defs/deployment"},
    }
    properties = {
        **known,
        **{key: _member(children[key]) for key in ("settings", "budget")},
        "defaults": {"$ref": "#/$defs/deployment", "description": _description(children["defaults"])},
        "deployments": deployments,
    }
    complete = {"anyOf": [{"required": ["defaults"]}, _complete_deployments()]}
    return _closed(properties, ["deployments"]) | complete


def _experiment(known: dict[str, Any]) -> dict[str, Any]:
    """Candidates have the fields of deployments, most of which may stand in `base`."""
    fields = _properties(EXPERIMENT_FIELDS)
    deployment = {"$ref": "#/$defs/deployment"}
    candidates = {
        "type": "object",
        "description": fields["candidates"]["description"],
        "minProperties": 2,
        "maxProperties": 4,
        "additionalProperties": deployment,
    }
    base = {**deployment, "description": fields["base"]["description"]}
    return _closed({**known, **fields, "base": base, "candidates": candidates}, _required(EXPERIMENT_FIELDS))


def _properties(rows: tuple[Field, ...]) -> dict[str, Any]:
    """What rows without the envelope say, key by key."""
    found: dict[str, Any] = {}
    for key, member in group_of(rows).children.items():
        if isinstance(member, Group):
            needed = (row.path.partition(".") for row in rows if row.required)
            found[key] = _group(member, [rest for head, _, rest in needed if head == key])
        elif key not in ENVELOPE:
            found[key] = _member(member)
    return found


def _required(rows: tuple[Field, ...]) -> list[str]:
    """Keys of a file without which it says nothing."""
    return [*dict.fromkeys(row.path.partition(".")[0] for row in rows if row.required)]


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    """A file with these keys, and with keys that only hold anchors."""
    return {
        "properties": properties,
        "required": required,
        "patternProperties": {"^x-": True},
        "additionalProperties": False,
    }


def _complete_deployments() -> dict[str, Any]:
    """Every deployment has what it needs itself; with `defaults` only fwctl can tell."""
    needed = [*dict.fromkeys(row.path.partition(".")[0] for row in FIELDS if row.required), "shape"]
    replicas = {"required": ["min", "max"]}
    one = {"required": needed, "properties": {"replicas": replicas}}
    return {"properties": {"deployments": {"additionalProperties": one}}}


def _group(group: Group, required: Iterable[str] = ()) -> dict[str, Any]:
    result: dict[str, Any] = {
        "type": "object",
        "properties": {key: _member(member) for key, member in group.children.items()},
        "additionalProperties": False,
    }
    if needed := list(required):
        result["required"] = needed
    return result


def _member(member: Group | Field) -> dict[str, Any]:
    if isinstance(member, Group):
        return _group(member)
    result = {"description": _description(member), **_TYPES.get(member.kind, _text)(member)}
    if member.example is not None:
        result["examples"] = [member.example]
    return result


def _description(member: Group | Field) -> str:
    """The row's own words and what a change does."""
    assert isinstance(member, Field)
    words = member.doc
    if member.owner is not Owner.FWCTL and member.effect is not Effect.NONE:
        words += f" A change: {member.effect.value.replace('_', ' ')}."
    return f"{words} {member.note}" if member.note else words


def _text(row: Field) -> dict[str, Any]:
    result: dict[str, Any] = {"type": "string"}
    if row.max_length is not None and row.path == "stack":
        result["pattern"] = rf"^[a-z0-9-]{{1,{row.max_length}}}$|\$\{{env:"
    elif row.max_length is not None:
        result["anyOf"] = [{"maxLength": row.max_length}, {"pattern": _REFERENCE["pattern"]}]
    return result


def _int(row: Field) -> dict[str, Any]:
    highest = row.maximum if row.maximum is not None else LARGEST_INT
    return {"type": "integer", "minimum": int(row.minimum or 0), "maximum": int(highest)}


def _number(row: Field) -> dict[str, Any]:
    return {"type": "number", "minimum": row.minimum if row.minimum is not None else 0}


def _enum(row: Field) -> dict[str, Any]:
    assert row.enum is not None
    listed: list[dict[str, Any]] = [{"enum": list(VALUES[row.enum])}]
    if row.enum in OPEN_LISTS:
        listed.append(_REGION_SPELLING if row.kind is Kind.REGION else _PLATFORM_SPELLING)
    return {"type": "string", "anyOf": [*listed, _REFERENCE]}


def _shape(_: Field) -> dict[str, Any]:
    name = {"type": "string", "pattern": "^accounts/[^/]+/deploymentShapes/[^/]+(/versions/[^/]+)?$"}
    return {"anyOf": [{"enum": [*SHAPE_PRESETS, "none"]}, name, _REFERENCE]}


def _targets(row: Field) -> dict[str, Any]:
    assert row.enum is not None
    return {
        "type": "object",
        "properties": {key: {"type": "number", "exclusiveMinimum": 0} for key in VALUES[row.enum]},
        "patternProperties": {_LOAD_TARGET_SPELLING: {"type": "number", "exclusiveMinimum": 0}},
        "additionalProperties": False,
    }


def _tags(row: Field) -> dict[str, Any]:
    result: dict[str, Any] = {
        "type": "object",
        "additionalProperties": {"type": "string", "minLength": 1},
    }
    return result if row.max_items is None else {**result, "maxProperties": row.max_items}


def _schedules(row: Field) -> dict[str, Any]:
    required = [child.path for child in row.children if child.required]
    return {"type": "array", "maxItems": row.max_items, "items": _group(group_of(row.children), required)}


_TYPES: dict[Kind, Callable[[Field], dict[str, Any]]] = {
    Kind.INT: _int,
    Kind.NUMBER: _number,
    Kind.BOOL: lambda _: {"type": "boolean"},
    Kind.DURATION: lambda _: {"type": "string", "anyOf": [{"pattern": _DURATION}, _REFERENCE]},
    Kind.ENUM: _enum,
    Kind.REGION: _enum,
    Kind.SHAPE: _shape,
    Kind.ID: lambda _: {"type": "string", "anyOf": [{"pattern": _ID}, _REFERENCE]},
    Kind.MODELS: lambda _: {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    Kind.NAMES: lambda _: {"type": "array", "items": {"type": "string"}, "uniqueItems": True},
    Kind.COUNTS: lambda row: {"type": "array", "items": _int(row), "uniqueItems": True},
    Kind.SECRETS: lambda _: {
        "type": "array",
        "items": {"type": "string", "pattern": r"^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$"},
    },
    Kind.TARGETS: _targets,
    Kind.TAGS: _tags,
    Kind.SCHEDULES: _schedules,
}
