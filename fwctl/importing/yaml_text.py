"""A draft as commented YAML. Pure; every text is quoted unless nothing could misread it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from fwctl.catalog.enums import OPEN_LISTS, VALUES
from fwctl.catalog.field import Kind
from fwctl.catalog.fields import BY_PATH, FIELDS
from fwctl.importing.model import Draft, Entry

_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9_./-]*")
_MISREAD = frozenset({"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf"})
_DURATION = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:h|m|s|ms))+")
_ESCAPES = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\t": "\\t", "\r": "\\r"}
_ORDER = {row.path: number for number, row in enumerate(FIELDS)} | {"id": -1}


def write(draft: Draft) -> str:
    """The whole document."""
    lines = [*_comments(draft.comments, ""), "apiVersion: fwctl/v1", f"account: {scalar(draft.account)}"]
    lines.append(f"stack: {scalar(draft.stack)}")
    unknown = sorted({name for entry in draft.entries for name in unknown_names(entry)})
    if unknown:
        lines += [
            "settings:",
            f"  accept_unknown: {flow(unknown)}  # newer than this fwctl knows",
        ]
    lines.append("deployments:" if draft.entries else "deployments: {}")
    for entry in draft.entries:
        lines += _comments(entry.comments, "  ")
        lines.append(f"  {scalar(entry.name)}:")
        lines += _block(nested(entry.values), "    ")
    return "\n".join(lines) + "\n"


def unknown_names(entry: Entry) -> Iterator[str]:
    """Values that the catalogue does not have, in lists that the platform extends without notice."""
    for path, value in entry.values.items():
        name = BY_PATH[path].enum
        if name in OPEN_LISTS and not isinstance(value, bool):
            words = value if isinstance(value, Mapping) else [value]
            if BY_PATH[path].kind is Kind.REGION:
                words = str(value).split(",")
            yield from (
                str(word) for word in words if str(word) not in VALUES[name] and "${env:" not in str(word)
            )


def nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted paths as a tree, in the order of the field table."""
    tree: dict[str, Any] = {}
    for path in sorted(values, key=lambda item: _ORDER[item]):
        *parents, leaf = path.split(".")
        place = tree
        for parent in parents:
            place = place.setdefault(parent, {})
        place[leaf] = values[path]
    return tree


def _block(tree: Mapping[str, Any], indent: str) -> Iterator[str]:
    for key, value in tree.items():
        if isinstance(value, Mapping) and value and all(not isinstance(v, Mapping) for v in value.values()):
            yield f"{indent}{key}: {flow(value)}"
        elif isinstance(value, Mapping) and value:
            yield f"{indent}{key}:"
            yield from _block(value, indent + "  ")
        else:
            yield f"{indent}{key}: {flow(value)}"


def flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{scalar(key)}: {flow(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(flow(item) for item in value) + "]"
    return scalar(value)


def scalar(value: Any) -> str:
    """A scalar that reads back as the same value and type."""
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() else f"{Decimal(repr(value)):f}"
    if isinstance(value, int):
        return str(value)
    text = str(value)
    if _DURATION.fullmatch(text) or (_PLAIN.fullmatch(text) and text.lower() not in _MISREAD):
        return text
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable():
        return character
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


def _comments(lines: list[str], indent: str) -> Iterator[str]:
    for line in lines:
        clean = "".join(c if c.isprintable() else " " for c in line)
        yield f"{indent}# {clean}".rstrip()
