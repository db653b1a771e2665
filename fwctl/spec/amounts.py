"""Numbers and booleans: plain decimals, finite, within the bounds of the table."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from fwctl.catalog.field import Field, Kind
from fwctl.spec.mistakes import wrong_type
from fwctl.spec.nodes import Scalar, Written
from fwctl.spec.report import shown
from fwctl.spec.scalars import Form, form_of

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader

# firectl's integer flags are int32; without a bound of its own a field ends there.
LARGEST_INT = 2**31 - 1
_NUMBER_FORMS = frozenset({Form.INT, Form.FLOAT, Form.EXPONENT})


def whole_number(reader: Reader, row: Field, node: Written, path: str) -> int | None:
    if not (isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.INT):
        wrong_type(reader, row, node, path)
        return None
    value = int(node.text)
    return value if _in_bounds(reader, row, value, node.text, path) else None


def number(reader: Reader, row: Field, node: Written, path: str) -> float | None:
    form = form_of(node.text) if isinstance(node, Scalar) and node.plain else Form.TEXT
    if not isinstance(node, Scalar) or form not in _NUMBER_FORMS | {Form.INFINITE}:
        wrong_type(reader, row, node, path)
        return None
    value = math.inf if form is Form.INFINITE else float(node.text)
    if not math.isfinite(value):
        message = f"{path}: {shown(node.text)} is not a finite number"
        reader.problem("FW203", reader.checked.places[path], message, path=path)
        return None
    return value if _in_bounds(reader, row, value, node.text, path) else None


def _in_bounds(reader: Reader, row: Field, value: float, text: str, path: str) -> bool:
    lowest = row.minimum if row.minimum is not None else -math.inf
    largest = LARGEST_INT if row.kind is Kind.INT else math.inf
    if lowest <= value <= (row.maximum if row.maximum is not None else largest):
        return True
    if row.maximum is not None:
        words = f"between {lowest:g} and {row.maximum:g}"
    else:
        words = f"at least {lowest:g}" if value < lowest else f"at most {largest:,}"
    message = f"{path} must be {words}, not {shown(text)}"
    reader.problem("FW203", reader.checked.places[path], message, path=path)
    return False


def boolean(reader: Reader, row: Field, node: Written, path: str) -> bool | None:
    if isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.BOOL:
        return node.text[0] in "tT"
    wrong_type(reader, row, node, path)
    return None
