"""A tree of YAML -> values by path of the field table, and what is wrong with each (FW105, FW108, FW2xx).

Everything is looked at, whatever stands beside it: a value that is wrong is missing from `values` but
keeps its place, so that the rules across fields know that it was written.
"""

from __future__ import annotations

from collections.abc import Mapping as AnyMapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.catalog.field import Field, Kind
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Severity
from fwctl.spec import values
from fwctl.spec.closest import closest, listed
from fwctl.spec.groups import Group
from fwctl.spec.mistakes import described
from fwctl.spec.nodes import Broken, Mapping, Node, Scalar, place
from fwctl.spec.pointers import known_elsewhere, pointer
from fwctl.spec.report import MOST_GUESSES, Report, escape, invisible_in, shown
from fwctl.spec.scalars import TRAPS, Form, form_of
from fwctl.spec.sources import Span


@dataclass(frozen=True, slots=True)
class Run:
    """What is the same for every file of a run."""

    report: Report
    environ: AnyMapping[str, str]
    accept_unknown: frozenset[str] = frozenset()
    need_secrets: bool = False


@dataclass(slots=True)
class Checked:
    """One mapping, read against its group.

    values: path -> value, the good ones only. places: path -> where it stands, for everything that was
    written, bad ones, groups and the entries of collections included. references: path -> the text as
    written, where it held `${env:...}`. items: path of a list -> the paths of the entries of its value.
    """

    values: dict[str, Any] = field(default_factory=dict)
    places: dict[str, Span] = field(default_factory=dict)
    references: dict[str, Any] = field(default_factory=dict)
    items: dict[str, list[str]] = field(default_factory=dict)


class Reader:
    """Reads one section: the top of a file (`prefix` empty) or one deployment."""

    __slots__ = ("checked", "deployment", "prefix", "referenced", "run")

    def __init__(self, run: Run, prefix: str = "", deployment: str | None = None) -> None:
        self.run = run
        self.prefix = prefix
        self.deployment = deployment
        self.checked = Checked()
        self.referenced = False

    def problem(
        self,
        code: str,
        span: Span,
        message: str,
        suggestion: str | None = None,
        *,
        path: str = "",
        severity: Severity = Severity.ERROR,
    ) -> None:
        self.run.report.add(
            code,
            span,
            message,
            suggestion=suggestion,
            severity=severity,
            deployment=self.deployment,
            path=self.prefix + pointer(path),
        )

    def read(self, group: Group, node: Mapping, base: str = "") -> Checked:
        """Read every entry of `node`; `base` stands before the paths of the group."""
        for text, (key, value) in node.entries.items():
            member = group.children.get(text)
            if member is None:
                self.unknown(group, key, value, base)
                continue
            path = base + group.below(text)
            self.checked.places[path] = place(key, value)
            if isinstance(member, Group):
                self.nested(member, value, path, base)
            else:
                self.value(member, value, path)
        return self.checked

    def nested(self, group: Group, value: Node, path: str, base: str) -> None:
        if isinstance(value, Mapping):
            self.read(group, value, base)
        elif not isinstance(value, Broken):
            keys = ", ".join(group.children)
            if _holds_secrets(group):
                self.run.report.sources.hide((value.start, value.end))
            for child in group.children:
                self.checked.places.setdefault(f"{path}.{child}", self.checked.places[path])
            self.problem(
                "FW202",
                self.checked.places[path],
                f"{path} must be a mapping" + ("" if _holds_secrets(group) else f", not {described(value)}"),
                f"write {path.rpartition('.')[2]}: {{{keys}}} with the keys you need",
                path=path,
            )

    def value(self, row: Field, value: Node, path: str) -> None:
        if isinstance(value, Broken):
            return
        self.referenced = False
        result = values.read(self, row, value, path)
        if result is not None:
            self.checked.values[path] = result
        if self.referenced:
            self.checked.references[path] = values.raw(value)

    def unknown(self, group: Group, key: Scalar, value: Node, base: str) -> None:
        span = (key.start, key.end)
        is_top = not self.prefix and not base and not group.path
        if (is_top and key.text.startswith("x-")) or self.run.report.overflows("FW201", span):
            return
        parent = (base + group.path).rstrip(".")
        if _holds_secrets(group):
            self.run.report.sources.hide((value.start, value.end))
        if self.key_trap(key, parent):
            return
        where = f" in {parent}" if parent else ""
        self.run.report.add(
            "FW201",
            span,
            f"unknown key {shown(key.text)}{where}",
            suggestion=self.meant(group, key.text, base, span),
            deployment=self.deployment,
            path=f"{self.prefix}{pointer(parent)}/{escape(key.text)}",
        )

    def meant(self, group: Group, key: str, base: str, span: Span) -> str:
        """What an unknown key was probably meant to be: a key here, or a field elsewhere by any name."""
        if (invisible := invisible_in(key)) is not None:
            return f"the key holds {invisible}; type it again"
        if ":" in key:
            return "put a space behind the colon"
        if not self.run.report.full("FW201", span, MOST_GUESSES):
            elsewhere = known_elsewhere(key) if self.prefix and not base else None
            meant = elsewhere or closest(key, group.children)
            if meant is not None:
                return f"did you mean {meant}?"
        return listed(group.children, "`fwctl explain` lists all")

    def key_trap(self, key: Scalar, parent: str) -> bool:
        """Report a key that YAML does not read as text; True when it did."""
        form = form_of(key.text) if key.plain else Form.TEXT
        if form is Form.TEXT:
            return False
        what = TRAPS.get(
            form, "YAML reads the key {text} as " + ("nothing" if form is Form.NULL else "a number")
        )
        self.run.report.add(
            "FW105",
            (key.start, key.end),
            what.format(text=shown(key.text)) + "; a key must be text",
            suggestion=f'put quotes around it: "{key.text}"',
            deployment=self.deployment,
            path=f"{self.prefix}{pointer(parent)}/{escape(key.text)}",
        )
        return True


def _holds_secrets(group: Group) -> bool:
    return any(isinstance(child, Field) and child.sensitive for child in group.children.values())


def layered(layers: list[Checked]) -> Checked:
    """Deep merge, weakest layer first: a later layer wins field by field, maps are joined."""
    if len(layers) == 1:
        return layers[0]
    result = Checked()
    for layer in layers:
        for path in layer.places:
            if path in layer.values:
                _lay(result, layer, path)
            else:
                result.values.pop(path, None)
                result.references.pop(path, None)
        result.places.update(layer.places)
        result.items.update(layer.items)
    return result


def _lay(result: Checked, layer: Checked, path: str) -> None:
    """Put one value of a stronger layer over the weaker ones."""
    row = BY_PATH.get(path)
    value, written = layer.values[path], layer.references.get(path)
    if row is not None and row.kind in (Kind.TAGS, Kind.TARGETS):
        below = result.values.get(path, {})
        if written is not None or path in result.references:
            written = {**result.references.get(path, below), **(written or value)}
        value = {**below, **value}
    result.values[path] = value
    result.references.pop(path, None)
    if written is not None:
        result.references[path] = written
