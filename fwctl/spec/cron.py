"""Five-field cron expressions: what is wrong with one."""

from __future__ import annotations

import re

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_DAYS_IN_MONTH = (31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31)
# Field, lowest, highest, names that stand for numbers. crontab(5); 7 is Sunday too.
_FIELDS: tuple[tuple[str, int, int, dict[str, int]], ...] = (
    ("minute", 0, 59, {}),
    ("hour", 0, 23, {}),
    ("day of month", 1, 31, {}),
    ("month", 1, 12, {name: at for at, name in enumerate(_MONTHS, 1)}),
    ("day of week", 0, 7, {name: at for at, name in enumerate(_DAYS)}),
)
_PART = re.compile(r"(\*|[a-z0-9]{1,3}(?:-[a-z0-9]{1,3})?)(?:/(\d{1,3}))?", re.ASCII)
_LONGEST = 200


def problem_of(text: str) -> str | None:
    """What is wrong with the expression, None when it is good and can match some day."""
    if len(text) > _LONGEST:
        return f"it has {len(text)} characters"
    fields = text.split()
    if len(fields) != len(_FIELDS):
        return f"it has {len(fields)} fields, not 5"
    days: list[set[int]] = []
    for field, (name, lowest, highest, names) in zip(fields, _FIELDS, strict=True):
        try:
            days.append(_values(field, lowest, highest, names))
        except ValueError as error:
            return f"{name} {error}"
    if fields[4] == "*" and not any(day <= _DAYS_IN_MONTH[month - 1] for month in days[3] for day in days[2]):
        return "it never matches: no such day in that month"
    return None


def _values(field: str, lowest: int, highest: int, names: dict[str, int]) -> set[int]:
    """The numbers a field stands for. Raises ValueError with what is wrong."""
    found: set[int] = set()
    for part in field.lower().split(","):
        match = _PART.fullmatch(part)
        if match is None:
            raise ValueError(f"cannot be read: {part!r}")
        base, step_text = match.groups()
        step = int(step_text) if step_text is not None else 1
        if not 1 <= step <= highest:
            raise ValueError(f"step {step} is not between 1 and {highest}")
        if base == "*":
            first, last = lowest, highest
        else:
            start, _, end = base.partition("-")
            first = _number(start, lowest, highest, names)
            last = _number(end, lowest, highest, names) if end else (highest if step_text else first)
        if first > last:
            raise ValueError(f"range {base} runs backwards")
        found.update(range(first, last + 1, step))
    return found


def _number(text: str, lowest: int, highest: int, names: dict[str, int]) -> int:
    value = names.get(text)
    if value is None:
        if not text.isdigit():
            raise ValueError(f"does not know {text!r}")
        value = int(text)
    if not lowest <= value <= highest:
        raise ValueError(f"{value} is not between {lowest} and {highest}")
    return value
