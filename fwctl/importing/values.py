"""Values of firectl flags -> values of the spec, with a remark for what cannot be written. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.catalog.enums import OPEN_LISTS, VALUES
from fwctl.catalog.field import Field, Kind
from fwctl.importing.words import Word, is_open, reference
from fwctl.spec.closest import closest
from fwctl.units import parse_duration

Problem = tuple[str, str]
LEFT_OUT = object()  # the value cannot be written; the problem says why


def value_of(
    row: Field, flag: str, item: Word | None, resolved: str | None = None
) -> tuple[Any, list[Problem]]:
    """The value for YAML, or LEFT_OUT, and what is to be said about it. resolved: the word with the values
    that its script gives its variables; used where a field takes no variable."""
    if flag == "--enable-addons":
        return _switch(item, "multi_lora")
    if flag == "--disable-speculative-decoding":
        return _switch(item, "disabled")
    if item is None:
        return (True, []) if row.kind is Kind.BOOL else (LEFT_OUT, [])
    if row.sensitive:
        return _secret(flag, item)
    if item.computed:
        return LEFT_OUT, [("computed", f"{flag} {item.text}: the value exists only when the script runs")]
    return _of_text(row, flag, item, resolved)


def _of_text(row: Field, flag: str, item: Word, resolved: str | None) -> tuple[Any, list[Problem]]:
    said = _said(flag, item)
    if not is_open(item.text):
        value, problems = _READERS.get(row.kind, _text)(row, flag, item.text)
        return value, [*said, *problems]
    if row.kind in _TEXTS:
        return item.text, said
    if resolved is None:
        message = f"{flag} {item.text}: {row.path} takes no variable, write its value"
        return LEFT_OUT, [*said, ("variable", message)]
    value, problems = _READERS.get(row.kind, _text)(row, flag, resolved)
    message = f"{flag} {item.text}: {row.path} takes no variable; {resolved} is what the script sets"
    return value, [*said, ("variable", message), *problems]


def _said(flag: str, item: Word) -> list[Problem]:
    if item.made:
        return [("placeholder", f"{flag} {' '.join(item.made)} is a placeholder: put the real value in")]
    if item.guessed:
        return [("default", f"{flag} {item.guessed}: an argument of the script; its default is written")]
    return []


def _switch(item: Word | None, word: str) -> tuple[Any, list[Problem]]:
    return (LEFT_OUT, []) if item is not None and item.text.lower() in ("false", "f", "0") else (word, [])


_TEXTS = frozenset(
    {Kind.TEXT, Kind.ENUM, Kind.REGION, Kind.MODEL, Kind.SHAPE, Kind.NAME, Kind.URL, Kind.ID, Kind.DURATION}
)


def _secret(flag: str, item: Word) -> tuple[Any, list[Problem]]:
    """Secrets stay variables; a key that is written out is never repeated."""
    if re.fullmatch(r"\$\{env:\w+\}", item.text):
        name = (
            [("placeholder", f"{flag} is a placeholder; set the variable {item.text}")] if item.made else []
        )
        return [item.text], name
    message = f"{flag} holds a key as plain text; it is not copied: set DIRECT_ROUTE_KEY, and change that key"
    return [reference("DIRECT_ROUTE_KEY")], [("secret", message)]


def _text(_row: Field, _flag: str, text: str) -> tuple[Any, list[Problem]]:
    return text, []


def _whole(row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    if re.fullmatch(r"-?[0-9]{1,9}", text):
        return int(text), []
    return LEFT_OUT, [("bad_value", f"{flag} {text}: {row.path} is a whole number")]


def _bool(_row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    words = {"true": True, "t": True, "1": True, "false": False, "f": False, "0": False}
    if text.lower() in words:
        return words[text.lower()], []
    return LEFT_OUT, [("bad_value", f"{flag}={text}: it is true or false")]


def _duration(row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    try:
        parse_duration(text)
    except ValueError:
        return LEFT_OUT, [("bad_value", f"{flag} {text}: {row.path} is a duration such as 30s or 5m")]
    return text, []


def _enum(row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    known = VALUES[row.enum or ""]
    if text in known:
        return text, []
    meant = text.upper() if text.upper() in known else closest(text, known)
    if meant is not None:
        case = meant == text.upper()
        code = "lower_case" if case else "bad_value"
        return meant, [(code, f"{flag} {text}: the platform's name is {meant}; {meant} is written")]
    if row.enum in OPEN_LISTS and re.fullmatch(r"[A-Z0-9_]+", text):
        return text, [("new_value", f"{flag} {text}: newer than this fwctl knows; accept_unknown names it")]
    return LEFT_OUT, [("bad_value", f"{flag} {text}: firectl knows {', '.join(known[:8])} ...")]


def _region(_row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    name = text.upper().replace("-", "_")
    if name in VALUES["regions"]:
        return name, []
    return name, [("new_value", f"{flag} {text}: a region that this fwctl does not know")]


def _targets(_row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    targets: dict[str, float] = {}
    said: list[Problem] = []
    for part in text.split(","):
        key, _, number = part.strip().partition("=")
        if not re.fullmatch(r"[0-9]{1,9}(?:\.[0-9]{1,9})?", number.strip()):
            return LEFT_OUT, [("bad_value", f"{flag} {text}: write key=number,key=number")]
        if key not in VALUES["load_targets"]:
            near = closest(key, VALUES["load_targets"])
            hint = f"; did you mean {near}?" if near else ""
            said.append(("bad_value", f"{flag}: the platform refuses the load target {key}{hint}"))
            continue
        targets[key] = float(number)
    return (targets or LEFT_OUT), said


def _schedules(row: Field, flag: str, text: str) -> tuple[Any, list[Problem]]:
    """JSON in either casing of its keys."""
    names = {spelt: child.path for child in row.children for spelt in _spellings(child.live or child.path)}
    try:
        rows = json.loads(text)
        if not isinstance(rows, list) or not all(isinstance(item, Mapping) for item in rows):
            raise ValueError
    except (ValueError, RecursionError):
        return LEFT_OUT, [("bad_value", f"{flag}: not the JSON list that firectl takes")]
    return [{names.get(key, key): value for key, value in item.items()} for item in rows], []


def _spellings(name: str) -> tuple[str, str]:
    first, *others = name.split("_")
    return name, first + "".join(part.title() for part in others)


_READERS: Mapping[Kind, Callable[[Field, str, str], tuple[Any, list[Problem]]]] = {
    Kind.INT: _whole,
    Kind.BOOL: _bool,
    Kind.DURATION: _duration,
    Kind.ENUM: _enum,
    Kind.REGION: _region,
    Kind.TARGETS: _targets,
    Kind.SCHEDULES: _schedules,
}
