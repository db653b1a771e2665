"""JSON that came from somewhere: bounded, an object, or one clear error."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError

MOST_CONFIG_BYTES = 16 * 2**20
MOST_INDEX_BYTES = 64 * 2**20


def parse(data: bytes, origin: str) -> Mapping[str, Any]:
    """The JSON object of some bytes. UsageError names the origin when it is none."""
    try:
        found = json.loads(data)
    except RecursionError:
        raise UsageError(f"{origin} is nested too deeply") from None
    except ValueError as error:
        raise UsageError(f"{origin} is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise UsageError(f"{origin} holds no JSON object")
    return found


def read(file: Path, most_bytes: int = MOST_CONFIG_BYTES) -> Mapping[str, Any]:
    """The JSON object of a file. UsageError when it cannot be read, is too large or is no object."""
    try:
        with file.open("rb") as stream:
            data = stream.read(most_bytes + 1)
    except OSError as error:
        raise UsageError(f"{file} cannot be read: {error.strerror}") from None
    if len(data) > most_bytes:
        raise UsageError(f"{file} is larger than {most_bytes // 2**20} MiB")
    return parse(data, str(file))
