"""Result files that the user names: complete or untouched."""

from __future__ import annotations

from pathlib import Path

from fwctl.env import Env
from fwctl.errors import FwctlError
from fwctl.records.atomic import replace_file


def write_file(env: Env, name: Path, content: str | bytes) -> None:
    """Replace the file in one step; what is no regular file (a pipe, /dev/stdout) is written to.

    A link stays a link. Raises FwctlError.
    """
    path = env.cwd / name
    data = content.encode() if isinstance(content, str) else content
    try:
        path = path.resolve()
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            replace_file(path, data)
    except OSError as error:
        raise FwctlError(f"cannot write {name}: {error.strerror}") from None
