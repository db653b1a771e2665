"""What a plain scalar means to YAML readers, and where they disagree.

Spec files are read without any conversion: a field says which kinds it takes. The patterns are those of
YAML 1.1 (yaml.org/type, as PyYAML 6 applies them) plus the forms that YAML 1.2 reads as numbers.
"""

from __future__ import annotations

import re
from enum import StrEnum


class Form(StrEnum):
    """How YAML readers see a plain scalar."""

    TEXT = "text"
    NULL = "null"
    BOOL = "boolean"
    YES_NO = "yes/no"
    INT = "integer"
    FLOAT = "decimal"
    EXPONENT = "exponent"
    LEADING_ZERO = "leading zero"
    OCTAL = "octal"
    HEX = "hexadecimal"
    BINARY = "binary"
    UNDERSCORE = "underscore"
    SEXAGESIMAL = "base 60"
    DATE = "date"
    EQUALS = "equals sign"
    INFINITE = "not finite"


_WORDS = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), Form.NULL),
    **dict.fromkeys(("true", "True", "TRUE", "false", "False", "FALSE"), Form.BOOL),
    **dict.fromkeys(
        ("yes", "Yes", "YES", "no", "No", "NO", "on", "On", "ON", "off", "Off", "OFF"), Form.YES_NO
    ),
    "=": Form.EQUALS,
}
_NUMBER_STARTS = frozenset("0123456789+-.")
_DATE = r"\d{4}-\d\d?-\d\d?(?:(?:[Tt]|[ \t]+)\d\d?:\d\d:\d\d(?:\.\d*)?(?:[ \t]*(?:Z|[-+]\d\d?(?::\d\d)?))?)?"
_FORMS = tuple(
    (form, re.compile(pattern, re.ASCII))
    for form, pattern in (
        (Form.INT, r"[-+]?(?:0|[1-9]\d*)"),
        (Form.FLOAT, r"[-+]?(?:(?:0|[1-9]\d*)\.\d*|\.\d+)(?:[eE][-+]?\d+)?"),
        (Form.EXPONENT, r"[-+]?(?:0|[1-9]\d*)[eE][-+]?\d+"),
        (Form.LEADING_ZERO, r"[-+]?0[\d_]+(?:\.[\d_]*)?(?:[eE][-+]?\d+)?"),
        (Form.OCTAL, r"[-+]?0o[0-7_]+"),
        (Form.HEX, r"[-+]?0x[0-9a-fA-F_]+"),
        (Form.BINARY, r"[-+]?0b[01_]+"),
        (Form.UNDERSCORE, r"[-+]?(?:[\d_]*\d[\d_]*\.?[\d_]*|\.[\d_]*\d[\d_]*)(?:[eE][-+]?\d+)?"),
        (Form.SEXAGESIMAL, r"[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.[\d_]*)?"),
        (Form.INFINITE, r"[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN)"),
        (Form.DATE, _DATE),
    )
)
_LONGEST_NUMBER = 400  # characters; a longer run of digits is no number anybody means


def form_of(text: str) -> Form:
    """The form of a plain scalar (without quotes)."""
    word = _WORDS.get(text)
    if word is not None:
        return word
    if text[0] not in _NUMBER_STARTS or len(text) > _LONGEST_NUMBER:
        return Form.TEXT
    for form, pattern in _FORMS:
        if pattern.fullmatch(text):
            return form
    return Form.TEXT


# What each trap does, and what to write instead ({text} is the scalar as written).
TRAPS: dict[Form, str] = {
    Form.BOOL: "YAML reads {text} as a boolean",
    Form.YES_NO: "YAML 1.1 reads {text} as a boolean",
    Form.FLOAT: "YAML reads {text} as a number and may drop its last digits",
    Form.EXPONENT: "some YAML readers take {text} as a number with an exponent",
    Form.LEADING_ZERO: "YAML 1.1 reads the leading zero of {text} as octal, other readers as decimal or text",
    Form.OCTAL: "some YAML readers take {text} as an octal number, others as text",
    Form.HEX: "YAML reads {text} as a hexadecimal number",
    Form.BINARY: "YAML 1.1 reads {text} as a binary number",
    Form.UNDERSCORE: "YAML 1.1 drops the underscores of {text} and reads a number, other readers take text",
    Form.SEXAGESIMAL: "YAML 1.1 reads {text} as a number in base 60 (1:30 is 90)",
    Form.DATE: "YAML reads {text} as a date",
    Form.EQUALS: "YAML 1.1 gives a lone = a meaning of its own",
    Form.INFINITE: "YAML reads {text} as a number that is not finite",
}
