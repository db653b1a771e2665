"""What a command is: a function from a `Call` and its own options to a `Report`.

A parameter whose type is a dataclass stands for a set of options that several commands share: each of
its fields becomes an option, and the function receives the dataclass.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cached_property
from typing import Any, get_type_hints

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


@dataclass(frozen=True)
class Command:
    """A command with its examples for `--help` and the formats it can produce."""

    function: Callable[..., Report]
    examples: tuple[str, ...]
    formats: tuple[str, ...]

    def __call__(self, call: Call, **options: Any) -> Report:
        return self.function(call, **options)

    @cached_property
    def signature(self) -> Mapping[str, inspect.Parameter]:
        """The function's parameters after `call`."""
        found = dict(inspect.signature(self.function, eval_str=True).parameters)
        del found["call"]
        return found

    @cached_property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Every option and argument, shared sets spread out."""
        spread: list[inspect.Parameter] = []
        for item in self.signature.values():
            spread += _spread(item.annotation) if is_dataclass(item.annotation) else [item]
        return tuple(spread)

    def invoke(self, call: Call, options: Mapping[str, Any]) -> Report:
        """Run with one value for each of `parameters`."""
        values: dict[str, Any] = {}
        for name, item in self.signature.items():
            if is_dataclass(item.annotation):
                kind: Any = item.annotation
                values[name] = kind(**{part.name: options[part.name] for part in fields(kind)})
            else:
                values[name] = options[name]
        return self.function(call, **values)


def command(
    *examples: str, formats: tuple[str, ...] = BASIC_FORMATS
) -> Callable[[Callable[..., Report]], Command]:
    """Declare a command. Its docstring is the help text, its parameters after `call` the options."""

    def declare(function: Callable[..., Report]) -> Command:
        return Command(function, examples, formats)

    return declare


def _spread(kind: Any) -> list[inspect.Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    return [
        inspect.Parameter(
            item.name, inspect.Parameter.KEYWORD_ONLY, default=_default(item), annotation=hints[item.name]
        )
        for item in fields(kind)
    ]


def _default(item: Field[Any]) -> Any:
    return inspect.Parameter.empty if item.default is MISSING else item.default
