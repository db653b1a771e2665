"""What a command is: a function from a `Call` and its own options to a `Report`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.env import Env
from fwctl.report.model import Report

BASIC_FORMATS = ("text", "json")


@dataclass(slots=True)
class Call:
    """One invocation: the outside world, the common options, and where messages go."""

    env: Env
    settings: Settings
    output: Output


@dataclass(frozen=True, slots=True)
class Command:
    """A command with its examples for `--help` and the formats it can produce."""

    function: Callable[..., Report]
    examples: tuple[str, ...]
    formats: tuple[str, ...]

    def __call__(self, call: Call, **options: Any) -> Report:
        return self.function(call, **options)


def command(
    *examples: str, formats: tuple[str, ...] = BASIC_FORMATS
) -> Callable[[Callable[..., Report]], Command]:
    """Declare a command. Its docstring is the help text, its parameters after `call` the options."""

    def declare(function: Callable[..., Report]) -> Command:
        return Command(function, examples, formats)

    return declare
