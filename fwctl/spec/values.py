"""One value of each kind: what is accepted, and the message when something else stands there.

Nothing is converted: text is text, numbers are plain decimals, durations carry a unit.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fwctl.catalog import canonical
from fwctl.catalog.enums import OPEN_LISTS, VALUES
from fwctl.catalog.fields import Field, Kind
from fwctl.errors import Severity
from fwctl.redact import Secret
from fwctl.spec import environment, formats
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.nodes import Broken, Mapping, Node, Scalar, Sequence, Written, place
from fwctl.spec.report import MOST_GUESSES, flow, shown
from fwctl.spec.scalars import TRAPS, Form, form_of

if TYPE_CHECKING:
    from fwctl.spec.reader import Reader

# firectl's integer flags are int32; without a bound of its own a field ends there.
LARGEST_INT = 2**31 - 1
# Bounds of these are rules with codes of their own (FW303, FW307, FW308).
_NUMBER_FORMS = frozenset({Form.INT, Form.FLOAT, Form.EXPONENT})
# Forms that are a plain type error where a number or a boolean is expected, not a trap.
_HONEST = frozenset({Form.TEXT, Form.NULL, Form.BOOL, Form.INT, Form.FLOAT, Form.EXPONENT})
_EXPECTED = {
    Kind.INT: "a whole number",
    Kind.NUMBER: "a number",
    Kind.BOOL: "true or false",
    Kind.DURATION: "a duration with a unit, such as 30s or 5m",
    Kind.TARGETS: "a mapping of names to numbers",
    Kind.TAGS: "a mapping of names to text",
    Kind.OBJECT: "a mapping",
}


def read(reader: Reader, row: Field, node: Node, path: str) -> Any:
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
    if form in _NUMBER_FORMS:
        return float(node.text)
    if form is Form.BOOL:
        return node.text[0] in "tT"
    return None if form is Form.NULL else node.text


def described(node: Node) -> str:
    """What stands there, for a message."""
    if isinstance(node, Mapping):
        return "a mapping"
    if isinstance(node, Sequence):
        return "a list"
    if not isinstance(node, Scalar):
        return "an unusable value"
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


def wrong_type(reader: Reader, row: Field, node: Node, path: str) -> None:
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


def _way_out(row: Field, node: Node) -> str | None:
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


def _string(reader: Reader, row: Field, node: Node, path: str) -> str | None:
    """The text of a scalar with its references resolved."""
    if not isinstance(node, Scalar) or (node.plain and form_of(node.text) is not Form.TEXT):
        wrong_type(reader, row, node, path)
        return None
    if environment.OPENING not in node.text:
        return node.text
    reader.referenced = True
    text, problems = environment.resolve(node.text, reader.run.environ)
    for problem in problems:
        reader.problem(
            "FW108",
            reader.checked.places[path],
            f"{path}: {problem}",
            "set the variable where fwctl runs, or write the value",
            path=path,
        )
    return None if problems else text


def _text(reader: Reader, row: Field, node: Node, path: str) -> str | None:
    text = _string(reader, row, node, path)
    if text is None or path not in formats.CHECKS:
        return text
    code, check = formats.CHECKS[path]
    problem = check(text)
    if problem is None:
        return text
    assert isinstance(node, Scalar)
    reader.problem(code, reader.checked.places[path], f"{path}: {shown(node.text)} {problem}", path=path)
    return None


def _shape(reader: Reader, row: Field, node: Node, path: str) -> str | None:
    """As text; nothing at all is empty text, which FW301 reports."""
    if isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.NULL:
        return ""
    return _string(reader, row, node, path)


def _int(reader: Reader, row: Field, node: Node, path: str) -> int | None:
    if not (isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.INT):
        wrong_type(reader, row, node, path)
        return None
    value = int(node.text)
    return value if _in_bounds(reader, row, value, node.text, path) else None


def _number(reader: Reader, row: Field, node: Node, path: str) -> float | None:
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
    lowest = row.minimum
    highest = row.maximum if row.maximum is not None or row.kind is not Kind.INT else LARGEST_INT
    if (lowest is None or value >= lowest) and (highest is None or value <= highest):
        return True
    if lowest is None:
        span_words = f"at most {highest:,.0f}"
    elif row.maximum is None:
        span_words = f"at least {lowest:g}" if value < lowest else f"at most {highest:,.0f}"
    else:
        span_words = f"between {lowest:g} and {row.maximum:g}"
    reader.problem(
        "FW203", reader.checked.places[path], f"{path} must be {span_words}, not {shown(text)}", path=path
    )
    return False


def _bool(reader: Reader, row: Field, node: Node, path: str) -> bool | None:
    if isinstance(node, Scalar) and node.plain and form_of(node.text) is Form.BOOL:
        return node.text[0] in "tT"
    wrong_type(reader, row, node, path)
    return None


def _duration(reader: Reader, row: Field, node: Node, path: str) -> str | None:
    text = _string(reader, row, node, path)
    if text is None:
        return None
    try:
        return formats.duration(text)
    except ValueError as error:
        assert isinstance(node, Scalar)
        message = f"{path}: {shown(node.text)} {error}"
        reader.problem("FW208", reader.checked.places[path], message, path=path)
        return None


def _enum(reader: Reader, row: Field, node: Node, path: str) -> str | None:
    text = _string(reader, row, node, path)
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


def _items(reader: Reader, row: Field, node: Node, path: str) -> list[tuple[str, Written]] | None:
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


def _names(reader: Reader, row: Field, node: Node, path: str) -> list[str] | None:
    items = _items(reader, row, node, path)
    if items is None:
        return None
    texts: list[str] = []
    kept = reader.checked.items[path] = []
    item_row = Field(row.path, Kind.TEXT, row.doc)
    for below, item in items:
        text = _string(reader, item_row, item, below)
        if text is not None and text in texts:
            span = reader.checked.places[below]
            reader.problem("FW203", span, f"{path} names {shown(text)} twice", "remove one", path=below)
        elif text is not None:
            texts.append(text)
            kept.append(below)
    return texts


def _secrets(reader: Reader, row: Field, node: Node, path: str) -> list[Secret] | None:
    if not isinstance(node, Sequence):
        _written_out(reader, node, path)
        return None
    items = _items(reader, row, node, path) or []
    reader.referenced = True
    secrets = [_secret(reader, item, below) for below, item in items]
    return [secret for secret in secrets if secret is not None]


def _secret(reader: Reader, node: Node, path: str) -> Secret | None:
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


def _written_out(reader: Reader, node: Node, path: str) -> None:
    """FW207; what stands there is neither quoted in the message nor shown below it."""
    reader.run.report.sources.hide((node.start, node.end))
    reader.problem(
        "FW207",
        reader.checked.places[path],
        f"{path} holds secrets; it takes a list of references to environment variables and nothing else",
        'write ["${env:NAME}"], and set NAME where fwctl runs',
        path=path,
    )


def _map(reader: Reader, row: Field, node: Node, path: str) -> dict[str, Any] | None:
    if not isinstance(node, Mapping):
        wrong_type(reader, row, node, path)
        return None
    kind = Kind.NUMBER if row.kind is Kind.TARGETS else Kind.TEXT
    item_row = Field(row.path, kind, row.doc)
    result: dict[str, Any] = {}
    for text, (key, value) in node.entries.items():
        reader.key_trap(key, path)
        below = f"{path}.{text}"
        reader.checked.places[below] = place(key, value)
        item = None if isinstance(value, Broken) else read(reader, item_row, value, below)
        if item is not None:
            result[text] = item
    return result


def _schedules(reader: Reader, row: Field, node: Node, path: str) -> list[dict[str, Any]] | None:
    from fwctl.spec.schedules import read_schedules

    items = _items(reader, row, node, path)
    return None if items is None else read_schedules(reader, row, items)


def _object(reader: Reader, row: Field, node: Node, path: str) -> Mapping | None:
    if isinstance(node, Mapping):
        return node
    if isinstance(node, Scalar) and row.path == "deployments" and form_of(node.text) is Form.NULL:
        return Mapping(node.start, node.end)  # nothing below it is FW315
    wrong_type(reader, row, node, path)
    return None


_READERS: dict[Kind, Callable[[Reader, Field, Node, str], Any]] = {
    Kind.INT: _int,
    Kind.NUMBER: _number,
    Kind.BOOL: _bool,
    Kind.DURATION: _duration,
    Kind.ENUM: _enum,
    Kind.REGION: _enum,
    Kind.SHAPE: _shape,
    Kind.MODELS: _names,
    Kind.NAMES: _names,
    Kind.SECRETS: _secrets,
    Kind.TARGETS: _map,
    Kind.TAGS: _map,
    Kind.SCHEDULES: _schedules,
    Kind.OBJECT: _object,
}
