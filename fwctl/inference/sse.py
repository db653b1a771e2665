"""Incremental parser of server-sent events over bytes.

Source: WHATWG HTML, section 9.2 (event stream interpretation). One difference: an event that the stream
cut off before its blank line is delivered by `close`, because some servers leave the blank line out.
"""

from __future__ import annotations

from typing import NamedTuple

MAX_EVENT_BYTES = 16 * 1024 * 1024
_MARK = b"\xef\xbb\xbf"


class EventTooLongError(ValueError):
    """A server sent an event that does not end within MAX_EVENT_BYTES."""


class Event(NamedTuple):
    """One event: its name (`message` by default) and its undecoded data, lines joined by a newline."""

    name: str
    data: bytes


class EventParser:
    """Feed it whatever the socket gave; it returns the events that became complete.

    UTF-8 may be split anywhere: nothing is decoded before its line is whole. Every byte is looked at a
    bounded number of times, however small the pieces are.
    """

    __slots__ = ("_data", "_name", "_pieces", "_size", "_started")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._data: list[bytes] = []
        self._name = ""
        self._size = 0
        self._started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events completed by this chunk. Raises EventTooLongError."""
        if self._pieces:
            if self._started and b"\n" not in chunk and b"\r" not in chunk and self._pieces[-1] != b"\r":
                self._hold(chunk)
                return []
            held = b"".join(self._pieces)
            self._size -= len(held)
            self._pieces = []
            chunk = held + chunk
        if not self._started:
            if len(chunk) < len(_MARK) and _MARK.startswith(chunk):
                self._hold(chunk)
                return []
            self._started = True
            chunk = chunk.removeprefix(_MARK)
        if b"\r" not in chunk and not self._data and not self._name:
            return self._plain(chunk)
        return self._by_line(chunk)

    def only(self, chunk: bytes) -> bytes | None:
        """The data of a chunk that is one whole event of one data line and nothing else, as nearly all
        are; None, with nothing taken, for every other."""
        between = self._started and not self._pieces and not self._data and not self._name
        whole = between and chunk[:6] == b"data: " and chunk[-2:] == b"\n\n" and b"\r" not in chunk
        return chunk[6:-2] if whole and chunk.count(b"\n") == 2 else None

    def close(self) -> list[Event]:
        """The event that the end of the stream left unfinished, if any."""
        rest, self._pieces = b"".join(self._pieces), []
        found = [self._line(line) for line in rest.replace(b"\r", b"\n").split(b"\n")]
        return [event for event in (*found, self._dispatch()) if event is not None]

    def _plain(self, chunk: bytes) -> list[Event]:
        """The way of nearly every chunk: whole events of one data line each, split at blank lines."""
        *blocks, rest = chunk.split(b"\n\n")
        found: list[Event] = []
        for block in blocks:
            if block.startswith(b"data: ") and b"\n" not in block:
                found.append(Event("message", block[6:]))
            else:
                lines = (*block.split(b"\n"), b"")
                found += [event for line in lines if (event := self._line(line)) is not None]
        if b"\n" in rest:
            found += self._by_line(rest)
        elif rest:
            self._hold(rest)
        return found

    def _by_line(self, chunk: bytes) -> list[Event]:
        # A carriage return at the very end may be half of a CRLF.
        held = b"\r" if chunk.endswith(b"\r") else b""
        if b"\r" in chunk:
            chunk = chunk.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = chunk.split(b"\n")
        found = [event for line in lines if (event := self._line(line)) is not None]
        for piece in (rest, held):
            if piece:
                self._hold(piece)
        return found

    def _hold(self, rest: bytes) -> None:
        self._pieces.append(rest)
        self._grow(len(rest))

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > MAX_EVENT_BYTES:
            raise EventTooLongError(f"an event is longer than {MAX_EVENT_BYTES} bytes")

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._grow(len(value) + 1)
        elif field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        return None

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], "", 0
        return Event(name or "message", b"\n".join(data)) if data else None
