"""`${env:NAME}` inside text."""

from __future__ import annotations

import re
from collections.abc import Mapping

OPENING = "${env:"
_REFERENCE = re.compile(r"\$\{env:([^}]*)\}?")
_WHOLE = re.compile(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def is_reference(text: str) -> bool:
    """True when the whole text is one reference, so that nothing of the value is written out."""
    return variable_of(text) is not None


def variable_of(text: str) -> str | None:
    """The variable that the whole text refers to; None for any other text."""
    found = _WHOLE.fullmatch(text)
    return found.group(1) if found else None


def resolve(text: str, environ: Mapping[str, str]) -> tuple[str, list[str]]:
    """The text with every reference replaced once, and what is wrong with those that were not.

    A value that itself looks like a reference is taken as it is.
    """
    problems: list[str] = []

    def value_of(found: re.Match[str]) -> str:
        name = found.group(1)
        if not found.group().endswith("}"):
            problems.append("a reference is not closed; write ${env:NAME}")
        elif not _NAME.fullmatch(name):
            problems.append(f"{found.group()} names no variable; write ${{env:NAME}}")
        elif name not in environ:
            problems.append(f"environment variable {name} is not set")
        elif not environ[name].isascii() and not is_text(environ[name]):
            problems.append(f"environment variable {name} holds bytes that are not UTF-8")
        else:
            return environ[name]
        return found.group()

    return _REFERENCE.sub(value_of, text), problems


def is_text(value: str) -> bool:
    """False for what the operating system passes on when bytes are not UTF-8 (lone surrogates)."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return False
    return True
