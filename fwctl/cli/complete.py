"""Shell completion: what may follow the words typed so far.

The shell scripts call `fwctl __complete SHELL WORD...`; the last word is the one being typed. Names of
commands and options come from tables and names of deployments from a line scan of the specs, so that no
command is imported, no spec is parsed and nothing is asked of the platform.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwctl.cli import registry, words
from fwctl.cli.options import COMMON

_KEY = re.compile(r"^(\s+)([a-z0-9][a-z0-9-]*):")
_LARGEST_BYTES = 2**24

Candidates = list[tuple[str, str]]  # value, explanation


@dataclass(frozen=True, slots=True)
class _Option:
    name: str
    flags: tuple[str, ...]
    help: str
    metavar: str | None  # None: a switch


def complete(typed: Sequence[str], folder: Path) -> Candidates:
    """Candidates for the last word; empty means: let the shell offer file names."""
    *before, word = typed or [""]
    entry, rest = _command(before)
    if entry is None:
        group = before[0] if before and before[0] in registry.GROUPS else ""
        if word.startswith("-") and not group:
            return _starting(word, [(flag, option.help) for option in COMMON for flag in option.flags])
        return _starting(word, _names_in(group))
    options = [*_common(), *_own(entry)]
    if rest and rest[-1].startswith("-"):
        option = next((item for item in options if rest[-1] in item.flags), None)
        if option is not None and option.metavar is not None:
            return _starting(word, _values(option.name, option.metavar, entry, rest, folder))
    if word.startswith("--") and "=" in word:
        flag, _, start = word.partition("=")
        option = next((item for item in options if flag in item.flags), None)
        values = _values(option.name, option.metavar or "", entry, rest, folder) if option else []
        return [(f"{flag}={value}", text) for value, text in _starting(start, values)]
    if word.startswith("-"):
        return _starting(word, [(flag, item.help) for item in options for flag in item.flags])
    found: Candidates = []
    for name, metavar in _words(entry).get("arguments", ()):
        found += _starting(word, _values(name, metavar, entry, rest, folder))
    return found


def deployment_names(paths: Iterable[Path]) -> list[str]:
    """Logical names declared in these files and folders, found without parsing them."""
    names: dict[str, None] = {}
    for path in paths:
        files = (
            sorted(item for ending in ("*.yaml", "*.yml") for item in path.rglob(ending))
            if path.is_dir()
            else [path]
        )
        for file in files:
            names.update(dict.fromkeys(_scan(file)))
    return list(names)


def _scan(file: Path) -> Iterable[str]:
    try:
        if file.stat().st_size > _LARGEST_BYTES:
            return
        lines = file.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return
    inside, indent = False, ""
    for line in lines:
        if line and not line[0].isspace() and not line.startswith("#"):
            inside, indent = line.startswith("deployments:"), ""
        elif inside and (match := _KEY.match(line)):
            indent = indent or match[1]
            if match[1] == indent:
                yield match[2]


def _command(typed: Sequence[str]) -> tuple[registry.Entry | None, list[str]]:
    """The command among the words, with the words after it."""
    takes_value = {flag for option in COMMON if option.metavar for flag in option.flags}
    name, skip = "", False
    for at, word in enumerate(typed):
        if skip or word.startswith("-"):
            skip = not skip and word in takes_value
            continue
        name = f"{name} {word}".strip()
        if name in registry.BY_NAME:
            return registry.BY_NAME[name], list(typed[at + 1 :])
        if name not in registry.GROUPS:
            break
    return None, []


def _names_in(group: str) -> Candidates:
    if group:
        return [(name, entry.summary) for name, entry in registry.members(group).items()]
    return [(name, summary) for name, (summary, _) in registry.top_level().items()]


def _starting(word: str, candidates: Iterable[tuple[str, str]]) -> Candidates:
    return [item for item in candidates if item[0].startswith(word)]


def _common() -> list[_Option]:
    return [_Option(item.name, item.flags, item.help, item.metavar) for item in COMMON]


def _own(entry: registry.Entry) -> list[_Option]:
    rows = _words(entry).get("options", ())
    return [_Option(name, tuple(flags), text, metavar) for name, flags, text, metavar in rows]


def _words(entry: registry.Entry) -> dict[str, Any]:
    found: dict[str, Any] = words.read().get(entry.name, {})
    return found


def _values(name: str, metavar: str, entry: registry.Entry, rest: Sequence[str], folder: Path) -> Candidates:
    """What an option or argument takes. Small letters of a metavar (`poisson|constant`) are typed as such."""
    if name == "format":
        return _plain(_words(entry).get("formats", ()))
    if name in _NAMES:
        paths = [folder / word for word in rest if (folder / word).exists()] or [folder / "configs"]
        return _plain(deployment_names(paths))
    if metavar in _VALUES:
        return list(_VALUES[metavar]())
    return _plain(part for part in metavar.split("|") if part.islower())


def _plain(values: Iterable[str]) -> Candidates:
    return [(value, "") for value in values]


def _accelerators() -> Candidates:
    from fwctl.catalog.enums import ACCELERATORS

    return _plain(ACCELERATORS)


def _precisions() -> Candidates:
    from fwctl.catalog.enums import PRECISIONS

    return _plain(PRECISIONS)


def _fields() -> Candidates:
    from fwctl.catalog.fields import FIELDS

    return [(row.path, row.doc) for row in FIELDS]


def _rules() -> Candidates:
    from fwctl.spec.rulebook import rules

    return [(rule.code, rule.title) for rule in rules()]


# Options and arguments that take logical names of deployments.
_NAMES = frozenset(
    (
        "names",
        "deployment",
        "target",
        "exclude",
        "adopt",
        "allow_delete",
        "allow_traffic_loss",
        "allow_scale_down",
        "rollback",
    )
)
_VALUES: dict[str, Callable[[], Candidates]] = {
    "GPU": _accelerators,
    "PRECISION": _precisions,
    "FIELD": _fields,
    "CODE": _rules,
}
