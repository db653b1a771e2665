"""Where something long stands, such as an experiment: one JSON file, replaced in one step.

Nothing is guessed from a file that fwctl cannot have written: it is refused, and the way on is named.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fwctl.errors import FwctlError
from fwctl.records.atomic import replace_file

LARGEST_BYTES = 16 * 2**20
FORMAT_VERSION = 1

T = TypeVar("T")


def save_state(path: Path, values: Mapping[str, Any], *, mode: int | None = None) -> None:
    """On disk before this returns. mode: permissions of the file. Raises FwctlError."""
    text = json.dumps({"format_version": FORMAT_VERSION, **values}, indent=1, sort_keys=True) + "\n"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        replace_file(path, text.encode())
        if mode is not None:
            path.chmod(mode)
    except OSError as error:
        raise FwctlError(
            f"cannot write {path}: {error.strerror or error}",
            next_steps=["free the disk or the folder, then run it again: it goes on from here"],
        ) from None


def load_state(path: Path, read: Callable[[Any], T], *, anew: str) -> T | None:
    """None when there is no file. read: the document -> its value; what it raises for wrong values makes the
    file a damaged one. anew: what happens without the file, for the error. Raises FwctlError."""
    try:
        if path.exists() and not path.is_file():  # a pipe could stay silent for ever
            raise damaged(path, "it is not a regular file", anew=anew)
        with path.open("rb") as file:
            data = file.read(LARGEST_BYTES + 1)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise damaged(path, error.strerror or str(error), anew=anew) from None
    try:
        document = json.loads(data)
        if document["format_version"] != FORMAT_VERSION:
            raise ValueError("another format")
        return read(document)
    except (ValueError, KeyError, TypeError, RecursionError, AttributeError):
        raise damaged(path, "its content is not what fwctl writes", anew=anew) from None


def damaged(path: Path, why: str, *, anew: str) -> FwctlError:
    """A file that cannot be gone on from."""
    return FwctlError(f"{path} cannot be read: {why}", next_steps=[f"rm {path}, then {anew}"])
