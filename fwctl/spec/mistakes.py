"""What to say when something else stands where a field expects its type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwctl.catalog.enums import VALUES
from fwctl.catalog.field import Field, Kind
from fwctl.spec import formats
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.nodes import Mapping, Scalar, Sequence, Written
from fwctl.spec.report import flow, shown
from fwctl.spec.scalars import TRAPS, Form, form_of

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader

# Forms that are a plain type error where a number or a boolean is expected, not a trap.
_HONEST = frozenset({Form.TEXT, Form.NULL, Form.BOOL, Form.INT, Form.FLOAT, Form.EXPONENT, Form.INFINITE})
_EXPECTED = {
    Kind.INT: "a whole number",
    Kind.NUMBER: "a number",
    Kind.BOOL: "true or false",
    Kind.DURATION: "a duration with a unit, such as 30s or 5m",
    Kind.TARGETS: "a mapping of names to numbers",
    Kind.TAGS: "a mapping of names to text",
    Kind.OBJECT: "a mapping",
}


def described(node: Written) -> str:
    """What stands there, for a message."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    form = form_of(node.text) if node.plain else Form.TEXT
    if form is Form.NULL:
        return "nothing"
    kind = {Form.TEXT: "the text ", Form.BOOL: "the boolean "}.get(form, "the number ")
    return kind + shown(node.text)


def expected(row: Field) -> str:
    """What the field takes, in words."""
    if row.kind in _EXPECTED:
        return _EXPECTED[row.kind]
    return f"a {row.kind.value}" if row.kind.value.startswith("list") else "text"


def wrong_type(reader: Reader, row: Field, node: Written, path: str) -> None:
    """FW202, or FW105 when YAML would have made something unexpected of the scalar."""
    span = reader.checked.places[path]
    form = form_of(node.text) if isinstance(node, Scalar) and node.plain else Form.TEXT
    is_trap = form not in _HONEST if _takes_no_text(row) else form in TRAPS
    if is_trap and isinstance(node, Scalar):
        message = f"{TRAPS[form].format(text=shown(node.text))}; {path} takes {expected(row)}"
        reader.problem("FW105", span, message, _way_out(row, node), path=path)
        return
    if form is Form.NULL:
        message = f"{path} has no value; it takes {expected(row)}"
        suggestion: str | None = "give it a value"
        if not row.required and row.managed:
            suggestion = "give it a value, or remove the key to leave the field unmanaged"
    else:
        message, suggestion = f"{path} takes {expected(row)}, not {described(node)}", _way_out(row, node)
    reader.problem("FW202", span, message, suggestion, path=path)


def _takes_no_text(row: Field) -> bool:
    return row.kind in (Kind.INT, Kind.NUMBER, Kind.BOOL, Kind.DURATION)


def _way_out(row: Field, node: Written) -> str | None:
    if row.kind is Kind.DURATION:
        return f"add a unit, for example {row.example or '30s'}"
    if row.kind is Kind.BOOL:
        return "write true or false"
    if _takes_no_text(row):
        return "write a plain decimal number without quotes" if isinstance(node, Scalar) else None
    if isinstance(node, Scalar) and row.enum is not None and node.text not in VALUES[row.enum]:
        return did_you_mean(node.text, VALUES[row.enum]) or listed(VALUES[row.enum], "see `fwctl explain`")
    if row.path in formats.CHECKS and row.example is not None:
        return f"for example {flow(row.example)}"
    if isinstance(node, Scalar) and row.kind not in _EXPECTED and not row.kind.value.startswith("list"):
        return f'put quotes around it: "{node.text}"' if len(node.text) <= 60 else "put quotes around it"
    return f"for example {flow(row.example)}" if row.example is not None else None
