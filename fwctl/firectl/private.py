"""Files for one child's eyes: 0600, in a 0700 folder of this process, gone with the call.

A folder is locked for as long as its process lives; whatever a killed process left behind is swept at
the next start.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping
from importlib.util import find_spec
from pathlib import Path

from fwctl.errors import FirectlFailedError

_ABANDONED_S = 24 * 3600.0
_SETTLED_S = 60.0  # a folder gets its lock right after it is made
_LOCK = "lock"
_HAS_LOCKS = find_spec("fcntl") is not None


class PrivateFolder:
    """Makes private files below a folder of this process. Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str], *, locks: bool = _HAS_LOCKS) -> None:
        """Where the system has no file locks, a folder older than a day counts as left behind."""
        root = environ.get("XDG_RUNTIME_DIR") or environ.get("TMPDIR") or tempfile.gettempdir()
        owner = os.getuid() if hasattr(os, "getuid") else environ.get("USERNAME", "user")
        self._base = Path(root) / f"fwctl-{owner}"
        self._take = _flock if locks else None
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._held: int | None = None

    @contextlib.contextmanager
    def files(self, contents: Mapping[str, str]) -> Iterator[Path]:
        """A fresh folder that holds these files (relative path -> text) while the block runs.

        Raises FirectlFailedError when it cannot be made privately.
        """
        try:
            folder = Path(tempfile.mkdtemp(dir=self._opened()))
        except OSError as error:
            raise _unusable(self._base, str(error)) from error
        try:
            for name, text in contents.items():
                _write(folder / name, text)
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def sweep(self) -> int:
        """Removes what dead processes left behind; returns how many folders went."""
        gone = 0
        folders: list[Path] = []
        with contextlib.suppress(OSError):
            folders = list(self._base.iterdir())
        for folder in folders:
            with contextlib.suppress(OSError):
                if folder != self._folder and self._is_abandoned(folder):
                    shutil.rmtree(folder, ignore_errors=True)
                    gone += 1
        return gone

    def close(self) -> None:
        """Removes this process's folder."""
        with self._lock:
            if self._folder is not None:
                shutil.rmtree(self._folder, ignore_errors=True)
            if self._held is not None:
                os.close(self._held)
            self._folder = self._held = None

    def _opened(self) -> Path:
        with self._lock:
            if self._folder is None:
                _make_base(self._base)
                self._folder = Path(tempfile.mkdtemp(prefix="run-", dir=self._base))
                self._held = os.open(self._folder / _LOCK, os.O_CREAT | os.O_RDWR, 0o600)
                if self._take:
                    self._take(self._held)
            return self._folder

    def _is_abandoned(self, folder: Path) -> bool:
        age_s = time.time() - folder.lstat().st_mtime
        try:
            held = os.open(folder / _LOCK, os.O_RDWR)
        except OSError:  # killed between making the folder and its lock
            return age_s > _SETTLED_S
        try:
            return self._take(held) if self._take else age_s > _ABANDONED_S
        finally:
            os.close(held)


def _make_base(base: Path) -> None:
    base.mkdir(mode=0o700, parents=True, exist_ok=True)
    found = base.lstat()
    if not stat.S_ISDIR(found.st_mode):
        raise _unusable(base, "it is not a folder")
    if hasattr(os, "getuid") and (found.st_uid != os.getuid() or found.st_mode & 0o077):
        raise _unusable(base, "others can reach it")


def _unusable(base: Path, why: str) -> FirectlFailedError:
    return FirectlFailedError(
        f"cannot keep private files in {base}: {why}",
        next_steps=(f"Remove {base}, or set TMPDIR to a folder of your own.",),
    )


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600), "w", encoding="utf-8") as file:
        file.write(text)


def _flock(held: int) -> bool:
    import fcntl

    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
