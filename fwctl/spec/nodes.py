"""The tree of a YAML file, with the place of everything.

A scalar keeps its text; what it means is decided against the field that holds it (`scalars`, `values`).
"""

from __future__ import annotations

from typing import TypeAlias

from fwctl.spec.sources import Span


class Scalar:
    """Text; `plain` when it was written without quotes, so that YAML may read it as something else."""

    __slots__ = ("end", "plain", "start", "text")
    size = 1
    height = 0

    def __init__(self, text: str, plain: bool, start: int, end: int) -> None:
        self.text = text
        self.plain = plain
        self.start = start
        self.end = end


class Sequence:
    __slots__ = ("end", "height", "items", "size", "start")

    def __init__(self, start: int, end: int) -> None:
        self.items: list[Node] = []
        self.start = start
        self.end = end
        self.size = 1
        self.height = 1


class Mapping:
    """`entries`: key text -> (key, value), in the order of the file; merge keys are already applied."""

    __slots__ = ("end", "entries", "height", "size", "start")

    def __init__(self, start: int, end: int) -> None:
        self.entries: dict[str, tuple[Scalar, Node]] = {}
        self.start = start
        self.end = end
        self.size = 1
        self.height = 1


class Broken:
    """Stands where something was reported already, so that it is present and says nothing more."""

    __slots__ = ("end", "start")
    size = 1
    height = 0

    def __init__(self, start: int, end: int) -> None:
        self.start = start
        self.end = end


Written: TypeAlias = Scalar | Sequence | Mapping
Node: TypeAlias = Written | Broken


def place(key: Scalar | None, value: Node) -> Span:
    """Where to point for a value: itself, or its key when it is empty or spans lines of its own.

    An item of a list has no key; a mapping is then pointed at by its own first key.
    """
    if key is None and isinstance(value, Mapping) and value.entries:
        key = next(iter(value.entries.values()))[0]
    if key is not None and (isinstance(value, Mapping | Sequence) or value.start == value.end):
        return key.start, key.end
    return value.start, value.end


def copy_at(node: Node, span: Span) -> Node:
    """The same tree with every place set to `span`: a value is reported where its alias is used."""
    start, end = span
    if isinstance(node, Scalar):
        return Scalar(node.text, node.plain, start, end)
    if isinstance(node, Broken):
        return Broken(start, end)
    if isinstance(node, Sequence):
        copied = Sequence(start, end)
        copied.items = [copy_at(item, span) for item in node.items]
        copied.size, copied.height = node.size, node.height
        return copied
    mapped = Mapping(start, end)
    mapped.entries = {
        text: (Scalar(key.text, key.plain, start, end), copy_at(value, span))
        for text, (key, value) in node.entries.items()
    }
    mapped.size, mapped.height = node.size, node.height
    return mapped
