"""One process at a time writes the records of a run."""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fwctl.errors import RefusedError

_BUSY = frozenset({errno.EAGAIN, errno.EACCES})


@contextmanager
def alone(records: Path) -> Iterator[None]:
    """Hold the records while the block runs; they are free as soon as this process ends, however it does.

    Does nothing where the system has no such locks. Raises RefusedError while another process holds them.
    """
    try:
        import fcntl
    except ImportError:
        yield  # a lock of Windows would keep others from reading the records too
        return
    with records.open("rb") as file:
        try:
            fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            if error.errno in _BUSY:
                raise RefusedError(
                    f"another run is writing to {records.parent}",
                    next_steps=["wait until it has ended", "give --out DIR for a run of its own"],
                ) from None
        yield
