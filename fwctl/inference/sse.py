"""Incremental parser of server-sent events over bytes.

Source: WHATWG HTML, section 9.2 (event stream interpretation). One difference: an event that the stream
cut off before its blank line is delivered by `close`, because some servers leave the blank line out.
"""

from __future__ import annotations

from dataclasses import dataclass

MAX_EVENT_BYTES = 16 * 1024 * 1024


class EventTooLongError(ValueError):
    """A server sent an event that does not end within MAX_EVENT_BYTES."""


@dataclass(frozen=True, slots=True)
class Event:
    """One event: its name (`message` by default) and its undecoded data, lines joined by a newline."""

    name: str
    data: bytes


class EventParser:
    """Feed it whatever the socket gave; it returns the events that became complete.

    UTF-8 may be split anywhere: nothing is decoded before its line is whole.
    """

    __slots__ = ("_buffer", "_data", "_name", "_size", "_started")

    def __init__(self) -> None:
        self._buffer = b""
        self._data: list[bytes] = []
        self._name = ""
        self._size = 0
        self._started = False

    def feed(self, chunk: bytes) -> list[Event]:
        """Events completed by this chunk. Raises EventTooLongError."""
        buffer = self._buffer + chunk if self._buffer else chunk
        if not self._started:
            if len(buffer) < 3 and b"\xef\xbb\xbf".startswith(buffer):
                self._buffer = buffer
                return []
            self._started = True
            buffer = buffer.removeprefix(b"\xef\xbb\xbf")
        # A carriage return at the very end may be half of a CRLF.
        held = b"\r" if buffer.endswith(b"\r") else b""
        if b"\r" in buffer:
            buffer = buffer.removesuffix(b"\r").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        *lines, rest = buffer.split(b"\n")
        self._buffer = rest + held
        if len(self._buffer) + self._size > MAX_EVENT_BYTES:
            raise EventTooLongError(f"an event is longer than {MAX_EVENT_BYTES} bytes")
        return [event for line in lines if (event := self._line(line)) is not None]

    def close(self) -> list[Event]:
        """The event that the end of the stream left unfinished, if any."""
        rest, self._buffer = self._buffer, b""
        found = [self._line(line) for line in rest.replace(b"\r", b"\n").split(b"\n")]
        return [event for event in (*found, self._dispatch()) if event is not None]

    def _line(self, line: bytes) -> Event | None:
        if not line:
            return self._dispatch()
        field, _, value = line.partition(b":")
        if field == b"data":
            value = value.removeprefix(b" ")
            self._data.append(value)
            self._size += len(value)
        elif field == b"event":
            self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        return None

    def _dispatch(self) -> Event | None:
        data, name = self._data, self._name
        self._data, self._name, self._size = [], "", 0
        return Event(name or "message", b"\n".join(data)) if data else None
