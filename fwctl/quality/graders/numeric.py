"""The last number of an answer, compared exactly or within a tolerance.

Numbers are decimal fractions, never floats, so that 0.1 + 0.2 and identifiers of 20 digits come out right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal, InvalidOperation

from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec, plain

LONGEST_DIGITS = 400
_MARKS = {".": ",'_\u00a0\u202f\u2019", ",": ".'_\u00a0\u202f\u2019"}


def _pattern(decimal: str) -> re.Pattern[str]:
    """Digits with or without separators of thousands, a fraction, an exponent. Every part is bounded or
    followed by another kind of character, so that matching is linear."""
    mark, point = f"[{re.escape(_MARKS[decimal])}]", re.escape(decimal)
    # Groups of two, as in 12,34,567, stand before the last group of three.
    groups = rf"\d{{1,3}}(?:{mark}\d{{2,3}})*{mark}\d{{3}}(?!\d)|\d+"
    return re.compile(
        rf"(?<![\w{point}])(?P<sign>[-+\u2212]?)[$€£¥]?(?P<whole>{groups}|(?={point}\d))"
        rf"(?:{point}(?P<part>\d+))?(?:[eE](?P<exponent>[-+]?\d{{1,3}})(?!\d))?"
    )


_PATTERNS = {decimal: _pattern(decimal) for decimal in _MARKS}


def check(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001 - all graders share it
    if spec.options.get("decimal", ".") not in _PATTERNS:
        return "`decimal` is the character before a fraction: . or ,"
    if any(not 0 <= spec.options.get(name, 0) < float("inf") for name in ("abs", "rel")):
        return "`abs` and `rel` are tolerances from 0"
    return None if _expected(spec) is not None else "`expected` is a number"


def grade(items: Sequence[Item], means: Means) -> Iterator[Mark]:  # noqa: ARG001
    return (_one(item) for item in items)


def last_number(text: str, decimal: str = ".") -> Decimal | None:
    """The last number in a text; None when there is none, or one of more than 400 digits."""
    found = None
    for match in _PATTERNS[decimal].finditer(text):
        found = match
    if found is None or found.end() - found.start() > LONGEST_DIGITS:
        return None
    whole = re.sub(r"\D", "", found["whole"]) or "0"
    sign = "-" if found["sign"] in ("-", "\u2212") else ""
    return Decimal(f"{sign}{whole}.{found['part'] or '0'}e{found['exponent'] or '0'}")


def _one(item: Item) -> Mark:
    answer = last_number(item.text, item.spec.options.get("decimal", "."))
    if answer is None:
        return plain(right=False, note="the answer holds no number")
    wanted = _expected(item.spec)
    assert wanted is not None
    slack = max(
        Decimal(str(item.spec.options.get("abs", 0))),
        Decimal(str(item.spec.options.get("rel", 0))) * abs(wanted),
    )
    return plain(abs(answer - wanted) <= slack)


def _expected(spec: Spec) -> Decimal | None:
    value = spec.expected
    if isinstance(value, str):
        return last_number(value, spec.options.get("decimal", "."))
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        found = Decimal(str(value))
    except (InvalidOperation, ValueError):
        return None
    return found if found.is_finite() else None
