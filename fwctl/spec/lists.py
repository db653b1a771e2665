"""Fields that hold several values: lists of names, secrets, maps, schedules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fwctl.catalog.field import Field, Kind
from fwctl.errors import Severity
from fwctl.redact import Secret
from fwctl.spec import environment
from fwctl.spec.amounts import number, whole_number
from fwctl.spec.mistakes import wrong_type
from fwctl.spec.nodes import Broken, Mapping, Scalar, Sequence, Written, place
from fwctl.spec.report import shown
from fwctl.spec.schedules import read_schedules
from fwctl.spec.strings import string

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader


def items_of(reader: Reader, row: Field, node: Written, path: str) -> list[tuple[str, Written]] | None:
    """(path, node) of each item of a list; their places are kept."""
    if not isinstance(node, Sequence):
        wrong_type(reader, row, node, path)
        return None
    found: list[tuple[str, Written]] = []
    for at, item in enumerate(node.items):
        below = f"{path}.{at}"
        reader.checked.places[below] = place(None, item)
        if not isinstance(item, Broken):
            found.append((below, item))
    return found


def names(reader: Reader, row: Field, node: Written, path: str) -> list[str] | None:
    items = items_of(reader, row, node, path)
    if items is None:
        return None
    texts: list[str] = []
    kept = reader.checked.items[path] = []
    item_row = Field(row.path, Kind.TEXT, row.doc)
    for below, item in items:
        text = string(reader, item_row, item, below)
        if text is not None and text in texts:
            span = reader.checked.places[below]
            reader.problem("FW203", span, f"{path} names {shown(text)} twice", "remove one", path=below)
        elif text is not None:
            texts.append(text)
            kept.append(below)
    return texts


def counts(reader: Reader, row: Field, node: Written, path: str) -> list[int] | None:
    """Whole numbers within the bounds of the row, each once."""
    items = items_of(reader, row, node, path)
    if items is None:
        return None
    each = Field(row.path, Kind.INT, row.doc, minimum=row.minimum, maximum=row.maximum)
    found: list[int] = []
    for below, item in items:
        value = whole_number(reader, each, item, below)
        if value is not None and value in found:
            message = f"{path} names {value} twice"
            reader.problem("FW203", reader.checked.places[below], message, "remove one", path=below)
        elif value is not None:
            found.append(value)
    return found


def secrets(reader: Reader, row: Field, node: Written, path: str) -> list[Secret] | None:
    if not isinstance(node, Sequence):
        _written_out(reader, node, path)
        return None
    items = items_of(reader, row, node, path) or []
    reader.referenced = True
    secrets = [_secret(reader, item, below) for below, item in items]
    return [secret for secret in secrets if secret is not None]


def _secret(reader: Reader, node: Written, path: str) -> Secret | None:
    span = reader.checked.places[path]
    if not isinstance(node, Scalar) or not environment.is_reference(node.text):
        _written_out(reader, node, path)
        return None
    value, problems = environment.resolve(node.text, reader.run.environ)
    if not problems and not value:
        problems = [f"{node.text} is set but empty"]
    for problem in problems:
        severity = Severity.ERROR if reader.run.need_secrets else Severity.NOTE
        advice = "set the variable where fwctl runs; plan and apply need it"
        reader.problem("FW108", span, f"{path}: {problem}", advice, path=path, severity=severity)
    return Secret(node.text, None if problems else value)


def _written_out(reader: Reader, node: Written, path: str) -> None:
    """FW207; what stands there is neither quoted in the message nor shown below it."""
    reader.run.report.sources.hide((node.start, node.end))
    reader.problem(
        "FW207",
        reader.checked.places[path],
        f"{path} holds secrets; it takes a list of references to environment variables and nothing else",
        'write ["${env:NAME}"], and set NAME where fwctl runs',
        path=path,
    )


def mapping(reader: Reader, row: Field, node: Written, path: str) -> dict[str, Any] | None:
    if not isinstance(node, Mapping):
        wrong_type(reader, row, node, path)
        return None
    is_number = row.kind is Kind.TARGETS
    item_row = Field(row.path, Kind.NUMBER if is_number else Kind.TEXT, row.doc)
    read = number if is_number else string
    result: dict[str, Any] = {}
    for text, (key, value) in node.entries.items():
        reader.key_trap(key, path)
        below = f"{path}.{text}"
        reader.checked.places[below] = place(key, value)
        item = None if isinstance(value, Broken) else read(reader, item_row, value, below)
        if item is not None:
            result[text] = item
    return result


def schedules(reader: Reader, row: Field, node: Written, path: str) -> list[dict[str, Any]] | None:
    items = items_of(reader, row, node, path)
    return None if items is None else read_schedules(reader, row, items)
