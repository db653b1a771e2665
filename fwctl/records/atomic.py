"""Replacing a file in one step, so that nobody ever reads half of it."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes the place of `path` when the block ends without an exception.

    For results that are too long to hold in memory. Raises OSError.
    """
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with fresh.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)


def replace_file(path: Path, data: bytes) -> bool:
    """Writes the file anew; False when it already held the same. Raises OSError."""
    if path.is_file() and path.read_bytes() == data:
        return False
    with replacing(path) as file:
        file.write(data)
    return True
