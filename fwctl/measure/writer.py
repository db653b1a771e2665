"""Lines to a file from a thread of its own, so that a slow disk never delays a stamp."""

from __future__ import annotations

import threading
from pathlib import Path
from queue import SimpleQueue
from types import TracebackType


class Writer:
    """Appends lines and flushes as often as it can. Raises OSError from `put` and at the end."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab", buffering=0)
        self._queue: SimpleQueue[bytes | None] = SimpleQueue()
        self._error: OSError | None = None
        self._thread = threading.Thread(target=self._write, daemon=True)

    def __enter__(self) -> Writer:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._queue.put(None)
        self._thread.join()
        self._file.close()
        if self._error is not None and kind is None:
            raise self._error

    def put(self, line: bytes) -> None:
        """Hand over one whole line. Raises the error of an earlier one."""
        if self._error is not None:
            raise self._error
        self._queue.put(line)

    def _write(self) -> None:
        while (line := self._queue.get()) is not None:
            try:
                rest = memoryview(line)
                while rest:
                    rest = rest[self._file.write(rest) :]
            except OSError as error:
                self._error = error
                return
