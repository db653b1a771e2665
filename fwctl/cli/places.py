"""Where things lie in the current folder: the specs, the lock file beside them, and what fwctl remembers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fwctl.cli.command import Call
from fwctl.errors import InvalidSpecError

if TYPE_CHECKING:
    from fwctl.records.lockfile import LockFile

DEFAULT_FOLDER = Path("configs")
STATE_FOLDER = ".fwctl"


def spec_paths(call: Call, paths: Sequence[str]) -> list[Path]:
    """The given files and folders, `configs/` when none is named. InvalidSpecError when that is missing."""
    if paths:
        return [Path(path) for path in paths]
    if not (call.env.cwd / DEFAULT_FOLDER).exists():
        raise InvalidSpecError(
            "there is no configs/ in this folder and no path was given",
            next_steps=["fwctl init > configs/chat.yaml", "fwctl plan PATH", "fwctl demo"],
        )
    return [DEFAULT_FOLDER]


def has_specs(call: Call, paths: Sequence[str]) -> bool:
    """True when paths are given or the default folder is there."""
    return bool(paths) or (call.env.cwd / DEFAULT_FOLDER).exists()


def lock_of(call: Call, paths: Sequence[str]) -> LockFile | None:
    """The lock file beside the specs, None when there is none."""
    from fwctl.records import lockfile

    if not has_specs(call, paths):
        return None
    for path in spec_paths(call, paths):
        folder = path if (call.env.cwd / path).is_dir() else path.parent
        found = lockfile.read(call.env.cwd / folder / lockfile.LOCK_NAME)
        if found is not None:
            return found
    return None
