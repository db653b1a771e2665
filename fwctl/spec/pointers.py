"""Paths of the field table <-> JSON Pointers into the file, and other names of the same fields."""

from __future__ import annotations

from functools import cache

from fwctl.catalog.field import Kind
from fwctl.catalog.fields import BY_PATH, FIELDS
from fwctl.spec.report import escape

_ONE_SEGMENT = (Kind.TAGS, Kind.TARGETS)


def pointer(path: str) -> str:
    """JSON Pointer below the section: `tags.a/b` -> `/tags/a~1b`, `replicas.min` -> `/replicas/min`."""
    if not path:
        return ""
    for at, character in enumerate(path):
        if character == ".":
            row = BY_PATH.get(path[:at])
            if row is not None and row.kind in _ONE_SEGMENT:
                return pointer(path[:at]) + "/" + escape(path[at + 1 :])
    return "/" + "/".join(escape(part) for part in path.split("."))


@cache
def _other_names() -> dict[str, str]:
    names: dict[str, str] = {}
    for row in FIELDS:
        flag = (row.create or row.via or "").strip("-<>").replace("-", "_")
        live = (row.live or "").rpartition(".")[2]
        for name in (live, flag, row.path.rpartition(".")[2] if "." in row.path else ""):
            if name and name != row.path:
                names.setdefault(name, row.path)
    names.update({"min_replicas": "replicas.min", "max_replicas": "replicas.max", "base_model": "model"})
    return names


def known_elsewhere(key: str) -> str | None:
    """Path of the field that has this key elsewhere, or this name in firectl or the API."""
    return _other_names().get(key.replace("-", "_").lower())
