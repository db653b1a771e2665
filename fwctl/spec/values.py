"""One value of each kind: what is accepted, and the message when something else stands there.

Nothing is converted: text is text, numbers are plain decimals, durations carry a unit.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fwctl.catalog import canonical
from fwctl.catalog.enums import OPEN_LISTS, VALUES
from fwctl.catalog.field import Field, Kind
from fwctl.spec import amounts, formats, lists
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.mistakes import wrong_type
from fwctl.spec.nodes import Mapping, Node, Scalar, Sequence, Written
from fwctl.spec.report import MOST_GUESSES, shown
from fwctl.spec.scalars import Form, form_of
from fwctl.spec.strings import string

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader


def read(reader: Reader, row: Field, node: Written, path: str) -> Any:
    """The value of this field, None when it was reported (or left to a rule)."""
    return _READERS.get(row.kind, _text)(reader, row, node, path)


def raw(node: Node) -> Any:
    """What was written, as plain values: the unresolved form of a field that refers to the environment."""
    if isinstance(node, Sequence):
        return [raw(item) for item in node.items]
    if isinstance(node, Mapping):
        return {text: raw(value) for text, (_, value) in node.entries.items()}
    return _literal(node) if isinstance(node, Scalar) else None


def _literal(node: Scalar) -> Any:
    form = form_of(node.text) if node.plain else Form.TEXT
    if form is Form.INT:
        return int(node.text)
    return node.text[0] in "tT" if form is Form.BOOL else node.text


def _text(reader: Reader, row: Field, node: Written, path: str) -> str | None:
    text = string(reader, row, node, path)
    if text is None or path not in formats.CHECKS:
        return text
    code, check = formats.CHECKS[path]
    problem = check(text)
    if problem is None:
        return text
    assert isinstance(node, Scalar)
    reader.problem(code, reader.checked.places[path], f"{path}: {shown(node.text)} {problem}", path=path)
    return None


def _shape(reader: Reader, row: Field, node: Written, path: str) -> str | None:
    """As text; nothing at all is empty text, which FW301 reports."""
    if isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.NULL:
        return ""
    return string(reader, row, node, path)


def _duration(reader: Reader, row: Field, node: Written, path: str) -> str | None:
    text = string(reader, row, node, path)
    if text is None:
        return None
    try:
        return formats.duration(text)
    except ValueError as error:
        assert isinstance(node, Scalar)
        message = f"{path}: {shown(node.text)} {error}"
        reader.problem("FW208", reader.checked.places[path], message, path=path)
        return None


def _enum(reader: Reader, row: Field, node: Written, path: str) -> str | None:
    text = string(reader, row, node, path)
    if text is None or row.enum is None:
        return text
    value = canonical.region(text) if row.kind is Kind.REGION else text
    if value in VALUES[row.enum] or (row.enum in OPEN_LISTS and _accepted(reader, row, value)):
        return value
    assert isinstance(node, Scalar)
    known = VALUES[row.enum]
    span = reader.checked.places[path]
    suggestion = None if reader.run.report.full("FW205", span, MOST_GUESSES) else did_you_mean(text, known)
    if suggestion is None:
        suggestion = listed(known, f"`fwctl explain {path}` lists all")
        if row.enum in OPEN_LISTS:
            suggestion += "; a value newer than fwctl needs settings.accept_unknown"
    reader.problem("FW205", span, f"{path} does not know {shown(node.text)}", suggestion, path=path)
    return None


def _accepted(reader: Reader, row: Field, value: str) -> bool:
    accepted = reader.run.accept_unknown
    if row.kind is Kind.REGION:
        return value in {canonical.region(name) for name in accepted}
    return value in accepted


def _object(reader: Reader, row: Field, node: Written, path: str) -> Mapping | None:
    if isinstance(node, Mapping):
        return node
    if isinstance(node, Scalar) and row.path == "deployments" and form_of(node.text) is Form.NULL:
        return Mapping(node.start, node.end)  # nothing below it is FW315
    wrong_type(reader, row, node, path)
    return None


_READERS: dict[Kind, Callable[[Reader, Field, Written, str], Any]] = {
    Kind.INT: amounts.whole_number,
    Kind.NUMBER: amounts.number,
    Kind.BOOL: amounts.boolean,
    Kind.DURATION: _duration,
    Kind.ENUM: _enum,
    Kind.REGION: _enum,
    Kind.SHAPE: _shape,
    Kind.MODELS: lists.names,
    Kind.NAMES: lists.names,
    Kind.COUNTS: lists.counts,
    Kind.SECRETS: lists.secrets,
    Kind.TARGETS: lists.mapping,
    Kind.TAGS: lists.mapping,
    Kind.SCHEDULES: lists.schedules,
    Kind.OBJECT: _object,
}
