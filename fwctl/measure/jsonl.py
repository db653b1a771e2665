"""Files of JSON lines that people wrote or exported, with the place of everything that is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.jsontext import JsonTextError, decoded

MAX_LINE_BYTES = 16 * 1024 * 1024
_BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")
HELP = "see docs/bench.md, Prompt sets"


def numbered_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1; a byte order mark is dropped. Raises UsageError."""
    return ((number, line) for number, _, line in placed_lines(path))


def line_at(path: Path, place: int) -> bytes:
    """The line that begins at a byte which `placed_lines` told. Raises UsageError."""
    try:
        with path.open("rb") as file:
            file.seek(place)
            return file.readline(MAX_LINE_BYTES).removeprefix(b"" if place else _BOM)
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def placed_lines(path: Path) -> Iterator[tuple[int, int, bytes]]:
    """As `numbered_lines`, with the byte where each line begins between number and line."""
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot read {path}: it is no regular file", next_steps=["name a file"])
        with path.open("rb") as file:
            number, following = 0, 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number, place, following = number + 1, following, following + len(line)
                if number == 1:
                    if line.startswith(_WIDE):
                        raise wrong(path, 1, "the file is UTF-16", "save it as UTF-8")
                    line = line.removeprefix(_BOM)
                if len(line) > MAX_LINE_BYTES:
                    raise wrong(path, number, f"the line is longer than {MAX_LINE_BYTES // 2**20} MiB")
                if line.strip():
                    yield number, place, line
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
