"""Paths -> bytes. The only place of this room that reads files."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from fwctl.spec.decode import LARGEST_FILE_BYTES

SUFFIXES = (".yaml", ".yml")


@dataclass(frozen=True, slots=True)
class Given:
    """One file as the user named it; `problem` says why there are no bytes."""

    file: str
    data: bytes = b""
    problem: str | None = None
    suggestion: str | None = None


def read_paths(paths: Sequence[Path]) -> list[Given]:
    """Every spec file of these paths, folders sorted and recursive, each file once."""
    given: list[Given] = []
    seen: set[str] = set()
    for path in paths:
        if "\0" in str(path):
            given.append(Given(shown_path(path), problem="has a NUL character in its name"))
            continue
        for found in _expand(path):
            if isinstance(found, Given):
                given.append(found)
            elif (real := os.path.realpath(found)) not in seen:
                seen.add(real)
                given.append(read_file(found))
    return given


def shown_path(path: str | Path) -> str:
    """The name as text that can be printed: bytes that are no UTF-8 are replaced."""
    return os.fsencode(path).decode("utf-8", "replace")


def _expand(path: Path) -> Iterator[Path | Given]:
    if not os.path.isdir(path):  # noqa: PTH112 - Path.is_dir raises where a parent may not be read
        yield path
        return
    unreadable: list[OSError] = []
    found = sorted(_in_folder(path, unreadable), key=lambda file: file.parts)
    for failure in unreadable:
        yield Given(shown_path(failure.filename), problem=f"cannot be read: {failure.strerror}")
    if not found and not unreadable:
        yield Given(
            shown_path(path),
            problem="no spec in this folder (files that end in .yaml or .yml)",
            suggestion="`fwctl init` writes a first one",
        )
    yield from found


def _in_folder(folder: Path, unreadable: list[OSError]) -> Iterator[Path]:
    for place, folders, files in os.walk(folder, onerror=unreadable.append):
        folders[:] = [name for name in folders if not name.startswith(".")]
        for name in files:
            if name.endswith(SUFFIXES) and not name.startswith("."):
                yield Path(place) / name


def read_file(path: Path) -> Given:
    """Bytes of one file, at most one more than a spec may have."""
    name = shown_path(path)
    try:
        mode = path.stat().st_mode
        if not stat.S_ISREG(mode):
            what = "is a folder" if stat.S_ISDIR(mode) else "is not a regular file"
            return Given(name, problem=what, suggestion="name a YAML file")
        with path.open("rb") as file:
            return Given(name, file.read(LARGEST_FILE_BYTES + 1))
    except FileNotFoundError:
        return Given(name, problem="does not exist", suggestion="check the path")
    except OSError as error:
        return Given(name, problem=f"cannot be read: {error.strerror}")
