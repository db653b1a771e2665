"""Replacing a file in one step, so that nobody ever reads half of it."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def replace_file(path: Path, data: bytes) -> bool:
    """Writes the file anew; False when it already held the same. Raises OSError."""
    if path.is_file() and path.read_bytes() == data:
        return False
    fresh = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with fresh.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        fresh.replace(path)
    finally:
        fresh.unlink(missing_ok=True)
    return True
