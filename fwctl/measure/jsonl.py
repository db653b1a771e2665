"""Files of JSON lines that people wrote or exported, with the place of everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.jsontext import JsonTextError, decoded
from fwctl.records import opening

MAX_LINE_BYTES = 16 * 1024 * 1024
HELP = "see docs/bench.md, Prompt sets"


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1; a byte order mark is dropped. Raises UsageError."""
    return opening.lines_of(path, MAX_LINE_BYTES, HELP)


def placed_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """As `numbered_lines`, with the byte where each line begins between number and line."""
    return opening.placed_lines(path, MAX_LINE_BYTES, HELP)


def line_at(path: Path, place: int) -> bytes:
    """The line that begins at a byte which `placed_lines` told. Raises UsageError."""
    try:
        with path.open("rb") as file:
            file.seek(place)
            return file.readline(MAX_LINE_BYTES).removeprefix(b"" if place else opening.BOM)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def parse_line(path: Path, number: int, line: bytes) -> Any:
    """The value of one line. Raises UsageError with the place of what is wrong."""
    try:
        return decoded(line)
    except JsonTextError as error:
        step = f"jq -c '.[]' {path}" if number == 1 and line.lstrip().startswith(b"[") else HELP
        raise wrong(path, number, str(error), step) from None


def wrong(path: Path, number: int, message: str, *steps: str) -> UsageError:
    """What is wrong with a line, and a way out."""
    return UsageError(f"{path}:{number}: {message}", next_steps=list(steps) or [HELP])
