"""The text of `--help`: own options apart from the common ones, examples, no word ever cut."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.cli.options import COMMON, COMMON_NAMES
from fwctl.report.layout import Page, Span, columns

DEFAULT_WIDTH = 80  # of pipes, and so of the docs
_WIDEST = 100
_NARROW = 60  # below this, explanations stand under their option instead of beside it
_NAME_COLUMNS = 28

Rows = Sequence[tuple[str, str]]


def width_of(terminal: int | None) -> int:
    return min(terminal or DEFAULT_WIDTH, _WIDEST)


def write_command(
    page: Page,
    usage: str,
    text: str,
    *,
    params: Iterable[Any],
    formats: tuple[str, ...],
    examples: Sequence[str],
) -> None:
    """Help of one command. params: typer's parameter objects."""
    own = [param for param in params if param.name not in COMMON_NAMES]
    arguments = [param for param in own if param.param_type_name == "argument"]
    options = [param for param in own if param.param_type_name != "argument"]
    _head(page, f"{usage}{''.join(' ' + _usage_name(param) for param in arguments)}", text)
    _section(page, "Arguments", [(_usage_name(param), param.help or "") for param in arguments])
    _section(page, "Options", [(_flags(param), param.help or "") for param in options])
    page.blank()
    page.line(Span("Common options", "bold"), " (explained by `fwctl --help`):")
    shown = f"--format {'|'.join(formats)}"
    page.line(
        ", ".join(shown if option.name == "format" else option.flags[0] for option in COMMON),
        indent=2,
        hang=0,
    )
    page.blank()
    page.line(Span("Examples:", "bold"))
    for line in (line for example in examples for line in example.splitlines()):
        page.raw(f"  {line}")


def write_group(page: Page, usage: str, text: str, sections: Mapping[str, Rows], *, common: bool) -> None:
    """Help of `fwctl` itself (common options explained) or of a group of commands."""
    _head(page, f"{usage} COMMAND", text)
    for title, rows in sections.items():
        _section(page, title, rows)
    if common:
        rows = [(_common_flags(option), option.help) for option in COMMON]
        _section(page, "Common options, before or after the command", [*rows, ("-h, --help", "Show help.")])
        page.blank()
        page.line("Each has a variable: FWCTL_ and its name in capitals, for example FWCTL_FORMAT=json.")


def _head(page: Page, usage: str, text: str) -> None:
    page.line(Span("Usage: ", "bold"), usage, hang=7)
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        page.blank()
        page.line(" ".join(paragraph.split()), indent=2, hang=0)


def _section(page: Page, title: str, rows: Rows) -> None:
    if not rows:
        return
    page.blank()
    page.line(Span(f"{title}:", "bold"))
    beside = page.style.width is None or page.style.width >= _NARROW
    column = min(max(columns(name) for name, _ in rows), _NAME_COLUMNS) + 2
    for name, text in rows:
        if beside and columns(name) + 2 <= column:
            page.line(f"{name:<{column}}", text, indent=2, hang=column)
        else:
            page.line(name, indent=2)
            page.line(text, indent=2 + (column if beside else 2), hang=0)


def _flags(param: Any) -> str:
    flags = ", ".join(sorted(param.opts, key=len))
    if param.is_flag:
        return flags
    kinds = {int: "N", float: "NUMBER"}
    plain = next((name for kind, name in kinds.items() if kind in _kinds(param)), "TEXT")
    return f"{flags} {param.metavar or plain}" + ("..." if param.multiple else "")


def _kinds(param: Any) -> tuple[Any, ...]:
    annotation = param.type_descriptor.annotation
    return (annotation, *getattr(annotation, "__args__", ()))


def _common_flags(option: Any) -> str:
    flags = ", ".join(sorted(option.flags, key=len))
    return f"{flags} {option.metavar}" if option.metavar else flags


def _usage_name(param: Any) -> str:
    name = param.metavar or param.name.upper()
    name = name + "..." if param.nargs == -1 else name
    return name if param.required else f"[{name}]"
