"""Which values a script gives its own variables, and which names stand for firectl in it. Pure.

Nothing is evaluated: a value is known only when it is written out in one place.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fwctl.importing.words import reference

_VALUE = r"""(?:"([^"\n]*)"|'([^'\n]*)'|([^\s;|&#"'`()]*))"""
_SHELL = re.compile(
    r"^\s*(?:(?:export|local|readonly|typeset|declare(?:\s+-\w+)*|set|ENV|ARG|%env|if)\s+)*"
    r"(?P<name>[A-Za-z_]\w*)=" + _VALUE
)
_COLON = re.compile(r"^\s*:\s+\"?\$\{(?P<name>\w+):?=([^}\"]*)()()\}")
_MAKE = re.compile(r"^(?:export\s+)?(?P<name>[A-Za-z_]\w*)\s*[:?]{0,2}=[ \t]*" + _VALUE + r"\s*(?:#.*)?$")
_POWERSHELL = re.compile(r"^\s*\$(?:env:)?(?P<name>[A-Za-z_]\w*)\s*=\s*" + _VALUE + r"\s*$")
_CODE = re.compile(
    r"^\s*(?:(?:const|let|var|val|final|String|static)\s+)*(?P<name>[A-Za-z_]\w*)(?:\s*:\s*\w+)?\s*:?=\s*"
    r"""(?:(?:os\.)?(?:environ\.get|getenv)\(\s*["']\w+["']\s*,\s*)?"""
    r"""(?:"([^"\n]*)"|'([^'\n]*)'|([0-9]+))\s*\)?;?\s*(?:[#/].*)?$"""
)
_YAML = re.compile(r"^\s*-?\s*(?P<name>[A-Z_][A-Z0-9_]*):\s+" + _VALUE + r"\s*(?:#.*)?$")
_FLOW = re.compile(r"^\s*(?:-\s*)?(?:env|environment|variables):\s*\{(.*)\}\s*(?:#.*)?$")
_LOOP = re.compile(r"\bfor\s+(?P<name>[A-Za-z_]\w*)\s+in\s+(?P<values>[^;\n:]+)")
_SELF = re.compile(r"\$\{\w+:?[-=]([^}]*)\}")
_REFERENCE = re.compile(r"\$\{(\w+)\}|\$(\w+)")
_BINARY = re.compile(
    r"^\s*(?:(?:export|local|readonly)\s+)?(?P<name>[A-Za-z_]\w*)\s*[:?]?=\s*(?:"
    r"""\$\((?:command\s+-v|which)\s+firectl\)|(?P<quote>["']?)"""
    r"""(?P<words>(?:[\w.~${}/-]*/)?firectl(?:\.exe)?(?:[ \t][^"'\n]*)?)(?P=quote))\s*$"""
)
_PRIVATE = re.compile(r"(?i)key|token|secret|passw")
_PATTERNS = (_SHELL, _COLON, _MAKE, _POWERSHELL, _CODE, _YAML)


@dataclass(frozen=True, slots=True)
class Known:
    """What a text says about one variable. value: written out; None when it has several or is computed.
    loop: the values that it runs over."""

    line: int
    value: str | None
    loop: str = ""


def assignments(lines: Iterable[tuple[int, str]]) -> dict[str, Known]:
    """Variable as the spec writes it (`${env:NAME}`) -> what these lines say about it."""
    found: dict[str, Known] = {}
    for number, line in _flat(lines):
        loop = _LOOP.search(line)
        if loop is not None:
            found[reference(loop["name"])] = Known(number, None, loop["values"].strip())
        for pattern in _PATTERNS:
            match = pattern.match(line)
            if match is None:
                continue
            name = reference(match["name"])
            groups = [text for text in match.groups()[1:] if text is not None]
            _add(found, name, Known(number, _literal(groups[0] if groups else "", found)))
            break
    return found


def _flat(lines: Iterable[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """The lines, with each pair of `env: {A: 1, B: 2}` on one of its own."""
    for number, line in lines:
        flow = _FLOW.match(line)
        for part in flow[1].split(",") if flow else (line,):
            yield number, part


def _add(found: dict[str, Known], name: str, new: Known) -> None:
    """A second, other value makes the variable unknown."""
    old = found.get(name)
    if old is None:
        found[name] = new
    elif old.value != new.value:
        found[name] = Known(old.line, None, old.loop)


def _literal(text: str, known: Mapping[str, Known]) -> str | None:
    """The value when it is written out, also through other known variables; None when it is computed."""
    text = _SELF.sub(lambda match: match[1], text)
    text = _REFERENCE.sub(lambda match: _of(match[1] or match[2], known) or match.group(), text)
    return None if not text or set(text) & set("$`(") else text


def _of(name: str, known: Mapping[str, Known]) -> str | None:
    found = known.get(reference(name))
    return found.value if found else None


def is_private(name: str) -> bool:
    """True for a variable whose value nobody should repeat."""
    return _PRIVATE.search(name) is not None


def binaries(lines: Iterable[tuple[int, str]]) -> dict[str, str]:
    """Variable -> the words it stands for: `FC=firectl`, `CLI="firectl -a acme"`."""
    found = {}
    for _, line in lines:
        match = _BINARY.match(line)
        if match is not None:
            found[match["name"]] = match["words"] or "firectl"
    return found


def with_binaries(line: str, names: Mapping[str, str]) -> str:
    """The line with those variables replaced by what they stand for."""
    for name, words in names.items():
        pattern = rf'"\$\{{?{name}\}}?"|\$\{{{name}\}}|\$\({name}\)|\${name}\b'
        line = words.join(re.split(pattern, line))
    return line
