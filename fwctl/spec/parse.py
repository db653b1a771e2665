"""Bytes of each file -> tree, and which of the files are specs."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Sequence
from dataclasses import dataclass

from fwctl.spec.compose import Parser, compose
from fwctl.spec.decode import decode
from fwctl.spec.files import Given
from fwctl.spec.nodes import Mapping, Node, Scalar, place
from fwctl.spec.report import Report
from fwctl.spec.sources import Source, Span

DEFAULT_KIND = "Deployments"


@dataclass(frozen=True, slots=True)
class ParsedFile:
    """One file; `root` is None when there is no mapping to look at (which was reported)."""

    source: Source
    root: Mapping | None
    sha256: str
    is_defaults: bool = False

    @property
    def start(self) -> Span:
        """Where to point for a file that was read as a whole: its first key."""
        assert self.root is not None
        return place(None, self.root)

    @property
    def kind(self) -> str:
        """`kind` as written; a file that says something unusable is looked at as Deployments."""
        written = text_at(self.root, "kind") if self.root is not None else None
        return DEFAULT_KIND if written is None else written


def text_at(node: Node | None, *keys: str) -> str | None:
    """Text of a scalar below these keys, None when there is none."""
    found = node_at(node, *keys)
    return found.text if isinstance(found, Scalar) else None


def node_at(node: Node | None, *keys: str) -> Node | None:
    for key in keys:
        if not isinstance(node, Mapping) or key not in node.entries:
            return None
        node = node.entries[key][1]
    return node


def parse_all(
    given: Sequence[Given], defaults: Given | None, report: Report, parser: Parser | None = None
) -> list[ParsedFile]:
    """Every file in order; the defaults file, when there is one, comes last."""
    skipped = {_plain(defaults.file)} if defaults is not None else set()
    files = [_parse(one, report, parser) for one in given if _plain(one.file) not in skipped]
    prices = {_prices_of(file) for file in files} - {None}
    files = [file for file in files if _plain(file.source.file) not in prices]
    return files if defaults is None else [*files, _parse(defaults, report, parser, is_defaults=True)]


def _parse(given: Given, report: Report, parser: Parser | None, *, is_defaults: bool = False) -> ParsedFile:
    text, fault = decode(given.data)
    source = report.sources.add(given.file, text)
    start = (source.base, source.base)
    digest = hashlib.sha256(given.data).hexdigest()
    root: Mapping | None = None
    if given.problem is not None:
        report.add("FW112", start, f"{given.file}: {given.problem}", suggestion=given.suggestion)
    elif fault is not None:
        at = source.base + fault.offset
        report.add(fault.code, (at, at + 1), fault.message, suggestion=fault.suggestion)
    else:
        root = compose(source, report, parser)
    return ParsedFile(source, root, digest, is_defaults)


def _plain(path: str) -> str:
    return posixpath.normpath(path.replace("\\", "/"))


def _prices_of(file: ParsedFile) -> str | None:
    """The price list a spec names, which may lie beside it and is no spec."""
    name = text_at(file.root, "settings", "prices")
    if not name:
        return None
    return _plain(posixpath.join(posixpath.dirname(file.source.file.replace("\\", "/")), name))
