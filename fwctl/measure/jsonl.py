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
    try:
        if path.exists() and not path.is_file():
            raise UsageError(f"cannot read {path}: it is no regular file", next_steps=["name a file"])
        with path.open("rb") as file:
            number = 0
            while line := file.readline(MAX_LINE_BYTES + 1):
                number += 1
                if number == 1:
                    if line.startswith(_WIDE):
                        raise wrong(path, 1, "the file is UTF-16", "save it as UTF-8")
                    line = line.removeprefix(_BOM)
                if len(line) > MAX_LINE_BYTES:
                    raise wrong(path, number, f"the line is longer than {MAX_LINE_BYTES // 2**20} MiB")
                if line.strip():
                    yield number, line
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
