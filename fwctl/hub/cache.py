"""Small files from the hub, kept for the next run and for runs without a network."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path


def folder(environ: Mapping[str, str]) -> Path | None:
    """Where the cache lives: FWCTL_CACHE_DIR, XDG_CACHE_HOME or ~/.cache; None without any of them."""
    if environ.get("FWCTL_CACHE_DIR"):
        return Path(environ["FWCTL_CACHE_DIR"]) / "hub"
    base = environ.get("XDG_CACHE_HOME") or (environ.get("HOME") and f"{environ['HOME']}/.cache")
    return Path(base) / "fwctl" / "hub" if base else None


class Cache:
    """Bytes by address. A cache that cannot be read or written is as good as an empty one."""

    def __init__(self, where: Path | None) -> None:
        self._where = where

    def _file(self, url: str) -> Path | None:
        return None if self._where is None else self._where / hashlib.sha256(url.encode()).hexdigest()

    def get(self, url: str) -> bytes | None:
        file = self._file(url)
        try:
            return None if file is None else file.read_bytes()
        except OSError:
            return None

    def put(self, url: str, data: bytes) -> None:
        """Whole or not at all: another run never sees half a file."""
        file = self._file(url)
        if file is None:
            return
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            handle, name = tempfile.mkstemp(dir=file.parent)
            with os.fdopen(handle, "wb") as stream:
                stream.write(data)
            Path(name).replace(file)
        except OSError:
            return
