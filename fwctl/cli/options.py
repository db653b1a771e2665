"""Options that every command takes, before or after its name, and the `FWCTL_*` variables for them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.units import parse_duration

FORMATS = ("text", "json", "markdown", "github", "sarif", "junit", "events", "html", "csv")
AUTH_MODES = ("env", "file")


@dataclass(frozen=True, slots=True)
class CommonOption:
    """One row: declared once, shown in the help of every command, read from `FWCTL_<NAME>` too."""

    name: str
    flags: tuple[str, ...]
    help: str
    metavar: str | None = None  # None: a switch

    @property
    def variable(self) -> str:
        return f"FWCTL_{self.name.upper()}"


COMMON: tuple[CommonOption, ...] = (
    CommonOption("account", ("--account", "-a"), "Account; the specs' account must be the same.", "ID"),
    CommonOption("profile", ("--profile", "-p"), "firectl profile.", "NAME"),
    CommonOption("defaults", ("--defaults",), "File whose values are merged under every deployment.", "FILE"),
    CommonOption(
        "firectl", ("--firectl",), "firectl to run: a path, or `sim` for the embedded simulator.", "PATH|sim"
    ),
    CommonOption("format", ("--format",), "Form of the result; text unless given.", "FORMAT"),
    CommonOption("json_out", ("--json-out",), "Also write the JSON document to this file.", "FILE"),
    CommonOption("no_color", ("--no-color",), "No colours (NO_COLOR does the same)."),
    CommonOption("quiet", ("--quiet", "-q"), "No progress, notes or hints."),
    CommonOption("verbose", ("--verbose", "-v"), "Say more: unchanged deployments, every firectl call."),
    CommonOption("parallelism", ("--parallelism",), "firectl calls at a time [4].", "N"),
    CommonOption("wait_timeout", ("--wait-timeout",), "Longest wait for one deployment [60m].", "DURATION"),
    CommonOption("firectl_timeout", ("--firectl-timeout",), "Longest firectl call [120s].", "DURATION"),
    CommonOption(
        "poll_interval", ("--poll-interval",), "Time between looks at live state [10s].", "DURATION"
    ),
    CommonOption("auth", ("--auth",), "How the API key reaches firectl [env].", "env|file"),
)
COMMON_NAMES = frozenset(option.name for option in COMMON)


@dataclass(frozen=True, slots=True)
class Settings:
    """The common options after merging command line, environment and defaults. Times are in seconds."""

    account: str | None = None
    profile: str | None = None
    defaults: Path | None = None
    firectl: str | None = None
    format: str = "text"
    json_out: Path | None = None
    no_color: bool = False
    quiet: bool = False
    verbose: bool = False
    parallelism: int = 4
    wait_timeout_s: float = 3600.0
    firectl_timeout_s: float = 120.0
    poll_interval_s: float = 10.0
    auth: str = "env"


def resolve(
    given: Mapping[str, Any], environ: Mapping[str, str], formats: tuple[str, ...] = FORMATS
) -> Settings:
    """Merge the options given on the command line with `FWCTL_*`; UsageError names the bad one.

    given: option name -> value, None or False when absent. formats: what this command can produce.
    """
    values: dict[str, Any] = {}
    for option in COMMON:
        value, origin = given.get(option.name), option.flags[0]
        if not value:
            value, origin = environ.get(option.variable) or None, option.variable
        if value is not None:
            key, convert = _CONVERT.get(option.name, (option.name, _text))
            values[key] = _switch(value, origin) if option.metavar is None else convert(value, origin)
    settings = Settings(**values)
    if settings.format not in formats and not given.get("format"):
        return replace(settings, format="text")  # FWCTL_FORMAT is a wish, for the commands that have it
    if settings.format not in formats:
        raise UsageError(
            f"this command has no format {settings.format!r}",
            next_steps=[f"use --format {'|'.join(formats)}"],
        )
    return settings


def duration_s(text: str, origin: str) -> float:
    """Seconds of a duration option; UsageError otherwise."""
    try:
        return parse_duration(text)
    except ValueError as error:
        raise UsageError(f"{origin}: {error}") from None


def one_of(choices: tuple[str, ...]) -> Callable[[str, str], str]:
    """A converter that accepts these words only and suggests the nearest."""

    def convert(value: str, origin: str) -> str:
        if value in choices:
            return value
        from difflib import get_close_matches

        near = get_close_matches(value, choices, 1)
        hint = f"did you mean {near[0]!r}? " if near else ""
        raise UsageError(f"{origin}: {value!r} is not known; {hint}choose from {', '.join(choices)}")

    return convert


def _text(value: str, origin: str) -> str:
    if not value.strip():
        raise UsageError(f"{origin} is empty")
    return value


def _path(value: str, origin: str) -> Path:
    return Path(_text(value, origin))


def _positive(value: str, origin: str) -> int:
    if not (value.isascii() and value.isdigit()) or len(value) > 4 or int(value) < 1:
        raise UsageError(f"{origin}: {value!r} is not a number from 1 to 9999")
    return int(value)


def _switch(value: bool | str, origin: str) -> bool:
    if isinstance(value, bool):
        return value
    known = {
        "1": True,
        "true": True,
        "yes": True,
        "on": True,
        "0": False,
        "false": False,
        "no": False,
        "off": False,
    }
    if value.lower() not in known:
        raise UsageError(f"{origin}: {value!r} is neither true nor false")
    return known[value.lower()]


def _wait(value: str, origin: str) -> float:
    seconds = duration_s(value, origin)
    if seconds <= 0:
        raise UsageError(f"{origin}: {value!r} must be more than zero")
    return seconds


_CONVERT: dict[str, tuple[str, Callable[[str, str], Any]]] = {
    "defaults": ("defaults", _path),
    "json_out": ("json_out", _path),
    "format": ("format", one_of(FORMATS)),
    "parallelism": ("parallelism", _positive),
    "wait_timeout": ("wait_timeout_s", _wait),
    "firectl_timeout": ("firectl_timeout_s", _wait),
    "poll_interval": ("poll_interval_s", _wait),
    "auth": ("auth", one_of(AUTH_MODES)),
}
