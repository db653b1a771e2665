"""YAML events -> tree, with everything reported that is wrong before any field is looked at.

Built from events and not from PyYAML's own composer: that one is recursive, resolves scalars, keeps the
last of two equal keys and expands aliases without a bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import yaml

from fwctl.spec.environment import is_text
from fwctl.spec.nodes import Broken, Mapping, Node, Scalar, Sequence, copy_at
from fwctl.spec.report import Report, shown
from fwctl.spec.scalars import Form, form_of
from fwctl.spec.sources import Source, Span
from fwctl.spec.syntax import DEEPEST, TOO_DEEP, report_syntax_error

MOST_COPIES = 1_000_000  # nodes that aliases may add to one file: about 100 MB and one second

Parser = Callable[[str], Any]


def fast_parser(has_libyaml: bool = yaml.__with_libyaml__) -> Parser:
    """PyYAML's C parser where it was built, else the Python one; both give the same events."""
    if has_libyaml:
        from yaml._yaml import CParser

        return CParser
    return python_parser


def python_parser(text: str) -> Any:
    return yaml.SafeLoader(text)


class _StoppedError(Exception):
    """The rest of the file cannot be read; the reason was reported."""


class _Open:
    """A collection whose end has not come yet."""

    __slots__ = ("anchor", "key", "merges", "node")

    def __init__(self, node: Sequence | Mapping, anchor: str | None) -> None:
        self.node = node
        self.anchor = anchor
        self.key: Scalar | Broken | None = None
        self.merges: list[tuple[Scalar, Node]] = []


def compose(source: Source, report: Report, parser: Parser | None = None) -> Mapping | None:
    """The tree of one file, or None when there is no mapping to look at; problems go to the report."""
    composer = _Composer(source, report)
    try:
        for event in _events(parser or fast_parser(), source.text):
            composer.take(event)
    except _StoppedError:
        return composer.root if isinstance(composer.root, Mapping) and composer.documents > 1 else None
    except yaml.YAMLError as error:
        report_syntax_error(source, error, report)
        return None
    root = composer.root
    if isinstance(root, Mapping):
        return root
    if root is None or (isinstance(root, Scalar) and root.plain and form_of(root.text) is Form.NULL):
        report.add("FW111", (source.base, source.base), "the file is empty", suggestion="see `fwctl init`")
    elif isinstance(root, Scalar):
        composer.no_mapping("a single value", root.start)
    return None


def _events(parser: Parser, text: str) -> Iterator[Any]:
    events = parser(text)
    while (event := events.get_event()) is not None:
        yield event


class _Composer:
    def __init__(self, source: Source, report: Report) -> None:
        self.base = source.base
        self.report = report
        self.root: Node | None = None
        self.documents = 0
        self.copies = 0
        self.open: list[_Open] = []
        self.anchors: dict[str, Node] = {}

    def take(self, event: Any) -> None:
        handle = _HANDLERS.get(type(event))
        if handle is not None:
            handle(self, event)

    def span(self, event: Any) -> Span:
        return self.base + event.start_mark.index, self.base + event.end_mark.index

    def begin_document(self, event: Any) -> None:
        self.documents += 1
        if self.documents > 1:
            self.report.add(
                "FW106",
                self.span(event),
                "a second YAML document begins here; a spec file holds one",
                suggestion="put it into a file of its own, or remove the line ---",
            )
            raise _StoppedError

    def scalar(self, event: Any) -> None:
        base = self.base
        start, end = base + event.start_mark.index, base + event.end_mark.index
        node: Node = Scalar(event.value, not event.style, start, end)
        if event.tag is not None:
            self.tagged(event, (start, end))
            node = Broken(start, end)
        elif not event.value.isascii() and not is_text(event.value):
            self.report.add("FW102", (start, end), "half of a surrogate pair in an escape")
            node = Broken(start, end)
        if event.anchor is not None:
            self.anchors[event.anchor] = node
        self.attach(node)

    def tagged(self, event: Any, span: Span) -> None:
        self.report.add(
            "FW107",
            span,
            f"tag {shown(event.tag)}: tags are not used in specs",
            suggestion="remove the tag; put quotes around a value that is text",
        )

    def begin(self, event: Any) -> None:
        start, end = self.span(event)
        if len(self.open) >= DEEPEST:
            self.report.add("FW110", (start, end), TOO_DEEP)
            raise _StoppedError
        node = (Mapping if type(event) is yaml.MappingStartEvent else Sequence)(start, end)
        if not self.open and isinstance(node, Sequence):
            self.no_mapping("a list", start)
            raise _StoppedError
        if event.tag is not None:
            self.tagged(event, (start, end))
        if event.anchor is not None:
            self.anchors.pop(event.anchor, None)
        self.open.append(_Open(node, event.anchor))

    def finish(self, event: Any) -> None:
        opened = self.open.pop()
        node = opened.node
        node.end = self.base + event.end_mark.index
        if opened.merges and isinstance(node, Mapping):
            self.merge(node, opened.merges)
        if opened.anchor is not None:
            self.anchors[opened.anchor] = node
        self.attach(node)

    def no_mapping(self, found: str, start: int) -> None:
        message = f"the file holds {found}; a spec is a mapping"
        self.report.add("FW206", (start, start + 1), message, suggestion="begin with `apiVersion: fwctl/v1`")

    def attach(self, node: Node) -> None:
        if not self.open:
            self.root = node
            return
        top = self.open[-1]
        holder = top.node
        holder.size += node.size
        if node.height >= holder.height:
            holder.height = node.height + 1
        if isinstance(holder, Sequence):
            holder.items.append(node)
        elif top.key is None:
            top.key = self.key(node)
        else:
            key, top.key = top.key, None
            self.entry(top, holder, key, node)

    def key(self, node: Node) -> Scalar | Broken:
        if isinstance(node, Scalar | Broken):
            return node
        self.report.add(
            "FW114",
            (node.start, node.end),
            "a key must be text, not a list or a mapping",
            suggestion="quote it",
        )
        return Broken(node.start, node.end)

    def entry(self, top: _Open, holder: Mapping, key: Scalar | Broken, value: Node) -> None:
        if isinstance(key, Broken):
            return
        if key.text == "<<" and key.plain:
            if top.merges:
                self.duplicate(key, top.merges[0][0], "write one merge key with a list: <<: [*a, *b]")
            top.merges.append((key, value))
            return
        first = holder.entries.get(key.text)
        if first is not None:
            self.duplicate(key, first[0], "remove one of the two")
            return
        holder.entries[key.text] = (key, value)

    def duplicate(self, key: Scalar, first: Scalar, suggestion: str) -> None:
        if self.report.overflows("FW104", (key.start, key.end)):
            return
        place = self.report.sources.position((first.start, first.end))
        message = f"key {shown(key.text)} was already given at line {place.line}, column {place.column}"
        self.report.add("FW104", (key.start, key.end), message, suggestion=suggestion)

    def merge(self, node: Mapping, merges: list[tuple[Scalar, Node]]) -> None:
        """YAML's merge key: own keys win wherever they stand, then the earlier mapping of a list."""
        for key, value in merges:
            for merged in value.items if isinstance(value, Sequence) else [value]:
                if isinstance(merged, Mapping):
                    for text, entry in merged.entries.items():
                        node.entries.setdefault(text, entry)
                elif not isinstance(merged, Broken):
                    self.report.add(
                        "FW113",
                        (key.start, key.end) if merged.start == merged.end else (merged.start, merged.end),
                        "a merge key (<<) takes a mapping or a list of mappings",
                        suggestion="write <<: *name, where &name marks a mapping",
                    )

    def alias(self, event: Any) -> None:
        span = self.span(event)
        target = self.anchors.get(event.anchor)
        if target is None:
            self.attach(self.unusable(event.anchor, span))
            return
        if len(self.open) + target.height > DEEPEST:
            self.report.add("FW110", span, f"aliases nest more than {DEEPEST} levels deep")
            raise _StoppedError
        self.copies += target.size
        if self.copies > MOST_COPIES:
            self.report.add(
                "FW109",
                span,
                f"aliases expand to more than {MOST_COPIES:,} values",
                suggestion="use `defaults:` or fewer aliases of aliases",
            )
            raise _StoppedError
        self.attach(copy_at(target, span))

    def unusable(self, anchor: str, span: Span) -> Broken:
        if any(opened.anchor == anchor for opened in self.open):
            message, suggestion = f"alias *{anchor} stands inside the value it names", "remove the alias"
        else:
            message = f"alias *{anchor} names no anchor above it"
            suggestion = f"mark the value with &{anchor} before it is used, or quote text that begins with *"
        self.report.add("FW109", span, message, suggestion=suggestion)
        return Broken(*span)


_HANDLERS: dict[type, Callable[[_Composer, Any], None]] = {
    yaml.ScalarEvent: _Composer.scalar,
    yaml.MappingStartEvent: _Composer.begin,
    yaml.SequenceStartEvent: _Composer.begin,
    yaml.MappingEndEvent: _Composer.finish,
    yaml.SequenceEndEvent: _Composer.finish,
    yaml.AliasEvent: _Composer.alias,
    yaml.DocumentStartEvent: _Composer.begin_document,
}
