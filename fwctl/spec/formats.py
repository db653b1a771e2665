"""Text fields with a form of their own: durations, percentages, times, versions."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime

from fwctl.catalog.canonical import duration as canonical_duration
from fwctl.spec import names

_LONGEST_DURATION_TEXT = 64
_NO_DURATION = "is not a duration; write a number with a unit, for example 30s, 5m or 1h30m"
_PERCENT = re.compile(r"(\d{1,3}(?:\.\d{1,9})?)%", re.ASCII)
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:[Zz]|[-+]\d\d:\d\d)",
    re.ASCII,
)
_VERSION = re.compile(r"(?:>=|<=|==|!=|>|<|=)?\s*\d{1,6}(?:\.\d{1,6}){0,2}", re.ASCII)


def duration(text: str) -> str:
    """Canonical duration (`5m0s`). Raises ValueError with what to write instead."""
    if len(text) > _LONGEST_DURATION_TEXT:
        raise ValueError(_NO_DURATION)
    try:
        return canonical_duration(text)
    except ValueError as error:
        raise ValueError("is too long" if "too long" in str(error) else _NO_DURATION) from None


def percentage(text: str) -> str | None:
    """What is wrong with a percentage between 0% and 100%."""
    found = _PERCENT.fullmatch(text)
    if found is None or float(found.group(1)) > 100:
        return "is not a percentage between 0% and 100%, for example 0.5%"
    return None


def moment(text: str) -> str | None:
    """What is wrong with an RFC 3339 time (seconds may be left out)."""
    problem = "is not a time with a zone, for example 2026-12-01T08:00Z"
    if not _TIME.fullmatch(text):
        return problem
    try:
        datetime.fromisoformat(text.upper())
    except ValueError:
        return problem
    return None


def version_range(text: str) -> str | None:
    """What is wrong with a version condition such as `>=1.8.2` or `>=1.8, <2`."""
    if len(text) <= 200 and all(_VERSION.fullmatch(part.strip()) for part in text.split(",")):
        return None
    return "is not a version condition, for example >=1.8.2"


def not_empty(text: str) -> str | None:
    return None if text.strip() else "is empty"


def account(text: str) -> str | None:
    return (
        None if names.ID.fullmatch(text) else "is not an account ID: lower-case letters, digits and hyphens"
    )


def stack(text: str) -> str | None:
    return None if names.STACK.fullmatch(text) else "is not 1 to 20 of lower-case letters, digits and hyphens"


# Path of a text field -> code, and the check that gives what is wrong or None.
CHECKS: dict[str, tuple[str, Callable[[str], str | None]]] = {
    "account": ("FW310", account),
    "stack": ("FW310", stack),
    "slo.error_rate": ("FW208", percentage),
    "slo.at.suite": ("FW208", not_empty),
    "lifecycle.hold_until": ("FW208", moment),
    "settings.require_firectl": ("FW208", version_range),
    "settings.prices": ("FW208", not_empty),
    "settings.outputs": ("FW208", not_empty),
    "fit.config": ("FW208", not_empty),
}
