"""Lists of schedules: each item is a small mapping with rows of its own."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from fwctl.catalog.field import Field
from fwctl.catalog.fields import BY_PATH
from fwctl.spec.groups import Group, group_of
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Mapping, Written
from fwctl.spec.report import flow

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader


@cache
def item_group(path: str) -> Group:
    """The keys of one item of the list of mappings at this path."""
    return group_of(BY_PATH[path].children)


def read_schedules(reader: Reader, row: Field, items: list[tuple[str, Written]]) -> list[dict[str, Any]]:
    """The items with their good values; a required key that is missing is reported at the item."""
    result = []
    kept = reader.checked.items[row.path] = []
    for path, node in items:
        if not isinstance(node, Mapping):
            span = reader.checked.places[path]
            message = f"{path} must be a mapping, not {described(node)}"
            reader.problem("FW202", span, message, f"for example {flow(row.example[0])}", path=path)
            continue
        result.append(_item(reader, row, node, path))
        kept.append(path)
    return result


def _example(row: Field, key: str) -> str:
    return f"for example {key}: {flow(row.example[0][key])}"


def _item(reader: Reader, row: Field, node: Mapping, path: str) -> dict[str, Any]:
    group = item_group(row.path)
    reader.read(group, node, f"{path}.")
    found: dict[str, Any] = {}
    for child in row.children:
        below = f"{path}.{child.path}"
        value = reader.checked.values.pop(below, None)
        if value is not None:
            found[child.path] = value
        elif child.required and below not in reader.checked.places:
            span = reader.checked.places[path]
            reader.problem("FW204", span, f"{path} needs {child.path}", _example(row, child.path), path=path)
    return found
