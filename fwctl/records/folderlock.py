"""One apply, one watch, one experiment at a time in one folder: an advisory lock on a file in `.fwctl/`.

The operating system drops the lock when its holder ends, however it ends, so there is no stale lock
to clean up. Across machines there is none; apply re-reads before it changes anything instead.
"""

from __future__ import annotations

import errno
import json
import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from fwctl.env import Clock
from fwctl.errors import RefusedError

_LOCK_BYTE = 1 << 30  # far behind the text, so that others can still read who holds it
_BUSY = {errno.EACCES, errno.EAGAIN, errno.EDEADLK}
_LONGEST_HOLDER_BYTES = 4096


@contextmanager
def folder_lock(
    path: Path, clock: Clock, command: str, *, lock: Callable[[BinaryIO], None] | None = None
) -> Iterator[str | None]:
    """Holds the lock; yields a note when this file system offers no locks, else None. lock: how a file
    is locked, by default as the operating system does it.

    Raises RefusedError that names the holder when another process has it.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.open("a+b", buffering=0)
    except OSError as error:
        yield f"no local lock: {path} cannot be opened ({error.strerror or error})"
        return
    with file:
        note = _acquire(file, path, command, lock or _lock)
        if note is None:
            _write_holder(file, clock, command)
        yield note


def _acquire(file: BinaryIO, path: Path, command: str, lock: Callable[[BinaryIO], None]) -> str | None:
    try:
        lock(file)
    except OSError as error:
        if error.errno in _BUSY:
            raise _refusal(file, path, command) from None
        return f"no local lock: this file system offers none ({error.strerror or error})"
    return None


def _lock(file: BinaryIO) -> None:
    if sys.platform == "win32":
        import msvcrt

        file.seek(_LOCK_BYTE)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)


def _write_holder(file: BinaryIO, clock: Clock, command: str) -> None:
    holder = {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": clock.now().isoformat(timespec="seconds"),
        "command": command,
    }
    try:
        file.truncate(0)
        file.write(json.dumps(holder).encode() + b"\n")
    except OSError:
        return  # the lock itself holds; only the name of its holder is lost


def _holder(file: BinaryIO) -> dict[str, Any]:
    try:
        file.seek(0)
        found = json.loads(file.read(_LONGEST_HOLDER_BYTES))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _refusal(file: BinaryIO, path: Path, command: str) -> RefusedError:
    who = _holder(file)
    named = "another process that did not leave its name"
    if isinstance(who.get("pid"), int):
        host, command, since = (str(who.get(key, "?"))[:200] for key in ("host", "command", "since"))
        named = f"process {who['pid']} on {host}, `{command}` since {since}"
    return RefusedError(
        f"`{command}` cannot begin while another works in this folder: {named}",
        next_steps=(
            "wait until it has ended, then run the command again",
            f"the lock is {path}; it is free as soon as that process ends",
        ),
    )
