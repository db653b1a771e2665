"""argv -> command and values, with the rules and the words of Go's cobra and pflag."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from fwctl.simulator.commands.registry import commands, exists, flags_of
from fwctl.simulator.commands.table import (
    GLOBAL,
    NOUN_ALIASES,
    OLD_2025,
    OLD_COMMANDS,
    PLAIN,
    VERB_ALIASES,
    Command,
    Flag,
    nouns,
)
from fwctl.simulator.profiles import Profile
from fwctl.simulator.timing import parse_go_duration

_INT32_MAX = 2**31 - 1
_HELP = Flag("help", "bool", "help", "h")


class UsageError(Exception):
    """firectl would refuse this command line; the message is its text."""


class Invocation(NamedTuple):
    """command is None for help of the root or of a noun (`topic`). old: verb-noun form was used.

    flags: only those given, by name; durations in seconds, maps as dict, lists as list.
    """

    command: Command | None
    topic: str
    args: list[str]
    flags: dict[str, Any]
    old: bool
    help: bool


class _Found(NamedTuple):
    command: Command | None
    topic: str
    words: int
    old: bool


def _singular(noun: str, known: list[str]) -> str:
    """`deployments` -> `deployment`, `quotas` -> `quota`, when that is a noun."""
    for candidate in (noun, noun.removesuffix("s"), re.sub("ies$", "y", noun)):
        if candidate in known:
            return candidate
    return noun


def _walk(words: list[str], profile: Profile) -> _Found:
    """The command that the first words name, as far as they name one."""
    table = {path: row for path, row in commands().items() if exists(row, profile)}
    known = nouns(table)
    if not words:
        return _Found(None, "", 0, False)
    first = NOUN_ALIASES.get(words[0], words[0])
    if first in known:
        rest = [VERB_ALIASES.get(word, word) for word in words[1:3]]
        for count in (2, 1):
            row = table.get(" ".join([first, *rest[:count]]))
            if row and len(rest) >= count:
                return _Found(row, "", 1 + count, False)
        deeper = [path for path in table if path.startswith(" ".join([first, *rest[:1]]) + " ")]
        topic = " ".join([first, *rest[:1]]) if rest and deeper else first
        return _Found(None, topic, len(topic.split()), False)
    if first in table:
        return _Found(table[first], "", 1, False)
    return _old_form(words, table, known, profile)


def _old_form(words: list[str], table: dict[str, Command], known: list[str], profile: Profile) -> _Found:
    for count in (1, 2):
        path = OLD_COMMANDS.get(" ".join(words[:count]))
        if path:
            return _Found(table[path], "", count, True)
    if len(words) > 1:
        verb = VERB_ALIASES.get(words[0], words[0])
        noun = _singular(NOUN_ALIASES.get(words[1], words[1]), known)
        row = table.get(f"{noun} {verb}")
        if row and not row.control:
            return _Found(row, "", 2, True)
    if profile["era"] == "2025" and words[0] in OLD_2025:
        return _Found(table[OLD_2025[words[0]]], "", 1, True)
    raise UsageError(f'unknown command "{words[0]}" for "firectl"')


def _globals(profile: Profile) -> tuple[Flag, ...]:
    return (*GLOBAL, *PLAIN) if profile["era"] == "2025" else GLOBAL


def _command_words(argv: list[str], profile: Profile) -> tuple[list[int], list[str]]:
    """Places and words of argv that are no flags and no values of flags that may stand before a verb."""
    flags = {f"--{flag.name}": flag for flag in (*_globals(profile), _HELP)}
    flags |= {f"-{flag.short}": flag for flag in (*_globals(profile), _HELP) if flag.short}
    places: list[int] = []
    at = 0
    while at < len(argv):
        word = argv[at]
        if word == "--":
            break
        if word.startswith("-") and word != "-":
            known = flags.get(word)
            value_follows = known.kind != "bool" if known else word.startswith("--") or len(word) == 2
            takes_next = "=" not in word and value_follows
            at += 2 if takes_next else 1
            continue
        places.append(at)
        at += 1
    return places, [argv[place] for place in places]


def parse(argv: list[str], profile: Profile) -> Invocation:
    """Raises UsageError with firectl's text."""
    places, words = _command_words(argv, profile)
    help_first = bool(words) and words[0] == "help"
    if help_first:
        argv = [word for at, word in enumerate(argv) if at != places[0]]
        places, words = _command_words(argv, profile)
    found = _walk(words, profile)
    dropped = set(places[: found.words])
    rest = [word for at, word in enumerate(argv) if at not in dropped]
    known = [*_globals(profile), *(flags_of(found.command, profile) if found.command else ())]
    wants_help = help_first or "--help" in rest or "-h" in rest
    if found.command is None and not words[found.words :] and not wants_help:
        _values(rest, known, profile)
        wants_help = True
    if wants_help:
        return Invocation(found.command, found.topic, [], {}, found.old, True)
    if found.command is None:
        if profile["unknown_verb"] == "help":
            return Invocation(None, found.topic, [], {}, False, True)
        raise UsageError(f'unknown command "{words[found.words]}" for "firectl {found.topic}"')
    if found.old and profile["verb_noun"] == "refuse":
        raise UsageError(f'unknown command "{words[0]}" for "firectl"')
    args, flags = _values(rest, known, profile)
    _check_args(found.command, args)
    return Invocation(found.command, "", args, flags, found.old, False)


def _check_args(command: Command, args: list[str]) -> None:
    if command.least <= len(args) <= command.most:
        return
    if command.least == command.most:
        raise UsageError(f"accepts {command.least} arg(s), received {len(args)}")
    if len(args) < command.least:
        raise UsageError(f"requires at least {command.least} arg(s), only received {len(args)}")
    raise UsageError(f"accepts at most {command.most} arg(s), received {len(args)}")


def _values(words: list[str], known: list[Flag], profile: Profile) -> tuple[list[str], dict[str, Any]]:
    long = {flag.name: flag for flag in known}
    short = {flag.short: flag for flag in known if flag.short}
    args: list[str] = []
    values: dict[str, Any] = {}
    queue = list(words)
    while queue:
        word = queue.pop(0)
        if word == "--":
            args += queue
            break
        if word.startswith("--"):
            _long(word[2:], long, queue, values, profile)
        elif word.startswith("-") and word != "-":
            _short(word[1:], short, queue, values)
        else:
            args.append(word)
    return args, values


def _long(
    text: str, long: dict[str, Flag], queue: list[str], values: dict[str, Any], profile: Profile
) -> None:
    name, equals, value = text.partition("=")
    if not name or name.startswith(("-", "=")):
        raise UsageError(f"bad flag syntax: --{text}")
    flag = long.get(name)
    if flag is None:
        if name == "preemptible" and profile["preemptible_unknown_flag"] == "ignored":
            return
        raise UsageError(f"unknown flag: --{name}")
    if not equals and flag.kind == "bool":
        value = "true"
    elif not equals:
        if not queue:
            raise UsageError(f"flag needs an argument: --{name}")
        value = queue.pop(0)
    _put(values, flag, value, f"--{name}")


def _short(text: str, short: dict[str, Flag], queue: list[str], values: dict[str, Any]) -> None:
    flag = short.get(text[0])
    if flag is None:
        raise UsageError(f"unknown shorthand flag: {text[0]!r} in -{text}")
    label = f"-{flag.short}, --{flag.name}"
    rest = text[1:]
    if flag.kind == "bool":
        _put(values, flag, rest[1:] if rest.startswith("=") else "true", label)
        if rest and not rest.startswith("="):
            _short(rest, short, queue, values)
    elif rest:
        _put(values, flag, rest.removeprefix("="), label)
    elif queue:
        _put(values, flag, queue.pop(0), label)
    else:
        raise UsageError(f"flag needs an argument: '{text[0]}' in -{text}")


def _put(values: dict[str, Any], flag: Flag, text: str, label: str) -> None:
    try:
        value = _CONVERT[flag.kind](text)
    except ValueError as error:
        raise UsageError(f'invalid argument "{text}" for "{label}" flag: {error}') from None
    if flag.kind == "stringArray":
        value = [*values.get(flag.name, []), value]
    elif flag.kind == "strings":
        value = [*values.get(flag.name, []), *value]
    elif flag.kind == "Map":
        value = {**values.get(flag.name, {}), **value}
    values[flag.name] = value


def _bool(text: str) -> bool:
    if text in {"1", "t", "T", "TRUE", "true", "True"}:
        return True
    if text in {"0", "f", "F", "FALSE", "false", "False"}:
        return False
    raise ValueError(f'strconv.ParseBool: parsing "{text}": invalid syntax')


def _int32(text: str) -> int:
    if not re.fullmatch(r"[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]+)", text):
        raise ValueError(f'strconv.ParseInt: parsing "{text}": invalid syntax')
    number = int(text, 16) if "x" in text.lower() else int(text)
    if not -_INT32_MAX - 1 <= number <= _INT32_MAX:
        raise ValueError(f'strconv.ParseInt: parsing "{text}": value out of range')
    return number


def _map(text: str) -> dict[str, float]:
    pairs: dict[str, float] = {}
    for part in filter(None, text.split(",")):
        key, equals, value = part.partition("=")
        if not equals:
            raise ValueError(f"{part} must be formatted as key=value")
        try:
            pairs[key] = float(value)
        except ValueError:
            raise ValueError(f'strconv.ParseFloat: parsing "{value}": invalid syntax') from None
    return pairs


_CONVERT: dict[str, Any] = {
    "bool": _bool,
    "string": str,
    "int32": _int32,
    "duration": parse_go_duration,
    "Map": _map,
    "strings": lambda text: [part for part in text.split(",") if part],
    "stringArray": str,
}
