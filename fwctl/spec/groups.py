"""The field table as the tree that a spec file is laid out in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TypeAlias

from fwctl.catalog.field import Field
from fwctl.catalog.fields import FIELDS
from fwctl.catalog.run_fields import RUN_FIELDS


class Group:
    """A mapping of the spec: key -> field or another mapping. `path` is dotted, empty at the top."""

    __slots__ = ("children", "path")

    def __init__(self, path: str) -> None:
        self.path = path
        self.children: dict[str, Member] = {}

    def below(self, key: str) -> str:
        return f"{self.path}.{key}" if self.path else key


Member: TypeAlias = Group | Field


def group_of(rows: Iterable[Field]) -> Group:
    """The tree of rows whose dotted paths share their beginnings."""
    root = Group("")
    for row in rows:
        group = root
        *parents, last = row.path.split(".")
        for key in parents:
            child = group.children.setdefault(key, Group(group.below(key)))
            assert isinstance(child, Group)
            group = child
        group.children[last] = row
    return root


@cache
def deployment_group() -> Group:
    """What stands below `deployments.<name>` and below `defaults`."""
    return group_of(FIELDS)


@cache
def run_group() -> Group:
    """What stands at the top of a file of kind Deployments."""
    return group_of(RUN_FIELDS)
