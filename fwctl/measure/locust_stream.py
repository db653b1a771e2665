"""Records on their way from a worker to the master: numbered portions, acknowledged, sent again when lost."""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

WINDOW = 8  # portions on their way at a time
RESEND_S = 3.0
PORTION_BYTES = 256 * 1024
MOST_BYTES = 64 * 2**20  # of a portion when unpacked; a worker that sends more is no worker


@dataclass(slots=True)
class Outbox:
    """Portions in order. Seconds on the caller's clock."""

    waiting: deque[tuple[int, Mapping[str, Any]]] = field(default_factory=deque)
    next_number: int = 0
    sent: int = 0  # of those that wait
    sent_at: float = 0.0

    def put(self, portion: Mapping[str, Any]) -> None:
        self.waiting.append((self.next_number, portion))
        self.next_number += 1

    def due(self, now: float) -> list[Mapping[str, Any]]:
        """What to send now, each with its `number`; all that was not acknowledged when that took too long."""
        if self.sent and now - self.sent_at >= RESEND_S:
            self.sent = 0
        found: list[Mapping[str, Any]] = [
            {"number": number, **portion}
            for place, (number, portion) in enumerate(self.waiting)
            if self.sent <= place < WINDOW
        ]
        if found:
            self.sent += len(found)
            self.sent_at = now
        return found

    def acknowledge(self, number: int, now: float) -> None:
        """Forget all portions up to this one."""
        while self.waiting and self.waiting[0][0] <= number:
            self.waiting.popleft()
            self.sent = max(0, self.sent - 1)
            self.sent_at = now

    @property
    def empty(self) -> bool:
        return not self.waiting


@dataclass(slots=True)
class Inbox:
    """Which portions have come."""

    wanted: int = 0

    def accept(self, number: int) -> bool:
        """True for the next one; false for one that came before or out of order."""
        if number != self.wanted:
            return False
        self.wanted += 1
        return True

    @property
    def acknowledged(self) -> int:
        """The last one of those that came; -1 before the first."""
        return self.wanted - 1


def portions(lines: Iterable[bytes]) -> Iterator[bytes]:
    """Lines packed in portions of about 256 KiB before packing; a longer line has one for itself."""
    kept: list[bytes] = []
    size = 0
    for line in lines:
        if kept and size + len(line) > PORTION_BYTES:
            yield zlib.compress(b"".join(kept), 1)
            kept, size = [], 0
        kept.append(line)
        size += len(line)
    if kept:
        yield zlib.compress(b"".join(kept), 1)


def unpack(data: object) -> list[bytes]:
    """The lines of a portion, each with its end. Raises ValueError for what `portions` did not make."""
    if not isinstance(data, bytes):
        raise ValueError("a portion is bytes")
    unpacker = zlib.decompressobj()
    try:
        text = unpacker.decompress(data, MOST_BYTES)
    except zlib.error:
        raise ValueError("a portion cannot be unpacked") from None
    if not unpacker.eof or not text.endswith(b"\n"):
        raise ValueError("a portion is too long or cut off")
    return text.splitlines(keepends=True)
