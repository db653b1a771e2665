"""Opening files that others wrote: tables and JSON lines that may be long."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from fwctl.errors import UsageError

_GZIP = b"\x1f\x8b"
BOM = b"\xef\xbb\xbf"
_WIDE = (b"\xff\xfe", b"\xfe\xff")


@contextmanager
def opened(path: Path) -> Iterator[BufferedReader]:
    """A regular file of text, to be read. Raises UsageError, also for what fails while it is read."""
    try:
        if path.exists() and not path.is_file():  # a pipe could stay silent for ever
            raise UsageError(f"cannot read {path}: it is not a regular file", next_steps=["name a file"])
        with path.open("rb") as file:
            start = file.peek(2)[:2]
            if start == _GZIP:
                unpack = shlex.join(["gunzip", "--keep", str(path)])
                raise UsageError(f"{path} is compressed with gzip", next_steps=[unpack])
            if start in _WIDE:
                raise UsageError(f"{path}:1: the file is UTF-16", next_steps=["save it as UTF-8"])
            yield file
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None


def lines_of(path: Path, most_bytes: int, help_: str) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, numbered from 1, without a byte order mark. help_: the way out for a line
    of more than `most_bytes`. Raises UsageError."""
    return ((number, line) for number, _, line in placed_lines(path, most_bytes, help_))


def placed_lines(path: Path, most_bytes: int, help_: str) -> Iterator[tuple[int, int, bytes]]:
    """As `lines_of`, with the byte where each line begins between number and line."""
    with opened(path) as file:
        number, following = 0, 0
        while line := file.readline(most_bytes + 1):
            number, place, following = number + 1, following, following + len(line)
            if number == 1:
                line = line.removeprefix(BOM)
            if len(line) > most_bytes:
                why = f"the line is longer than {most_bytes // 2**20} MiB"
                raise UsageError(f"{path}:{number}: {why}", next_steps=[help_])
            if line.strip():
                yield number, place, line
