"""A stream on its way through: whole events only, looked at as bytes, unchanged.

Nearly every piece holds whole events and none of the marks, and is passed on as it is. Parsing happens
for the events that carry a finish reason, usage, an error or the end. JSON escapes quotes inside text, so
text of a model cannot look like a key; where it resembles a mark, the event is parsed and found harmless.
"""

from __future__ import annotations

import re
from typing import Any

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.inference.sse import EventParser, EventTooLongError
from fwctl.routing.jsonbytes import loads

MAX_EVENT_BYTES = 4 * 2**20
MAX_OPENING_BYTES = 4 * 2**20
_BLOCK = re.compile(rb".*?(?:\r\n\r\n|\n\n|\r\r)", re.DOTALL)
_CONTENT_KEYS = (
    "content",
    "text",
    "refusal",
    "reasoning_content",
    "reasoning",
    "tool_calls",
    "function_call",
)
CUT = Failure(ErrorClass.TRUNCATED, "the stream ended without finish_reason")
_ERROR = Failure(ErrorClass.SSE_ERROR, "the target reported an error inside the stream")
_GARBAGE = Failure(ErrorClass.SSE_ERROR, "an event of the stream is not JSON")
_LONG = Failure(ErrorClass.SSE_ERROR, f"an event is longer than {MAX_EVENT_BYTES} bytes")
_EMPTY = Failure(ErrorClass.EMPTY, "the stream ended before any content")


class Opening:
    """The beginning of a stream, held back until there is content.

    failure: why there will be none. model: the name that its chunks carry.
    """

    __slots__ = ("_parser", "_pieces", "_size", "failure", "model")

    def __init__(self) -> None:
        self._parser = EventParser()
        self._pieces: list[bytes] = []
        self._size = 0
        self.failure: Failure | None = None
        self.model: str | None = None

    @property
    def data(self) -> bytes:
        """The bytes so far."""
        return b"".join(self._pieces)

    def feed(self, piece: bytes) -> bool:
        """True when the waiting is over: with content, an orderly end, or a failure."""
        self._pieces.append(piece)
        self._size += len(piece)
        if self._size > MAX_OPENING_BYTES:
            self.failure = _LONG
            return True
        try:
            events = self._parser.feed(piece)
        except EventTooLongError:
            self.failure = _LONG
            return True
        return any(self._take(event.name, event.data) for event in events)

    def close(self) -> bool:
        """The stream is over; True when its last, unfinished event settles the matter."""
        if not any(self._take(event.name, event.data) for event in self._parser.close()):
            self.failure = _EMPTY
        return True

    def _take(self, name: str, data: bytes) -> bool:
        if data.strip() == b"[DONE]":
            self.failure = _EMPTY
            return True
        payload = _parsed(data)
        if payload is None or name == "error" or payload.get("error"):
            self.failure = _GARBAGE if payload is None else _ERROR
            return True
        if self.model is None and isinstance(model := payload.get("model"), str):
            self.model = model
        return any(_has_content(item) for item in _choices(payload))


class Scanner:
    """Feed it what came, send on what it returns.

    wanted: answers that were asked for (`n`). finished: indexes that have a finish reason. failure: set
    once the stream is known to be broken; nothing is passed on from there.
    """

    __slots__ = ("_pieces", "_size", "done", "failure", "finished", "usage", "wanted")

    def __init__(self, wanted: int = 1) -> None:
        self._pieces: list[bytes] = []
        self._size = 0
        self.wanted = wanted
        self.finished: set[Any] = set()
        self.usage: dict[str, Any] | None = None
        self.done = False
        self.failure: Failure | None = None

    @property
    def complete(self) -> bool:
        """True when every answer has its finish reason."""
        return len(self.finished) >= self.wanted

    def feed(self, piece: bytes) -> bytes:
        """The whole events that may be sent on now."""
        if not self._pieces and piece.endswith(b"\n\n"):
            return self._events(piece) if _is_marked(piece) else piece
        return self._by_piece(piece)

    def close(self) -> bytes:
        """The stream is over: what may still be sent on; `failure` says whether it was complete."""
        rest, self._pieces, self._size = b"".join(self._pieces), [], 0
        sent = self._events(rest + b"\n\n") if rest.strip() and self.failure is None else b""
        if self.failure is None and not self.complete:
            self.failure = CUT
        return sent

    def _by_piece(self, piece: bytes) -> bytes:
        if self._pieces and b"\n" not in piece and b"\r" not in piece:
            self._hold(piece)
            return b""
        data = b"".join(self._pieces) + piece
        self._pieces, self._size = [], 0
        end = max(data.rfind(b"\n\n") + 2, data.rfind(b"\r\n\r\n") + 4, data.rfind(b"\r\r") + 2)
        if end < 4:
            end = 0
        if end < len(data):
            self._hold(data[end:])
        whole = data[:end]
        return self._events(whole) if whole and _is_marked(whole) else whole

    def _hold(self, rest: bytes) -> None:
        self._pieces.append(rest)
        self._size += len(rest)
        if self._size > MAX_EVENT_BYTES:
            self.failure = _LONG

    def _events(self, data: bytes) -> bytes:
        """Look into each event; the bytes before the first one that breaks the stream."""
        sent = 0
        for found in _BLOCK.finditer(data):
            block = found.group()
            if block.startswith(b"data: ") and block.endswith(b"\n\n") and block.count(b"\n") == 2:
                self.failure = self._judge("message", block[6:])
            else:
                for event in EventParser().feed(block):
                    self.failure = self.failure or self._judge(event.name, event.data)
            if self.failure is not None:
                return data[:sent]
            sent = found.end()
        return data

    def _judge(self, name: str, data: bytes) -> Failure | None:
        if data.strip() == b"[DONE]":
            self.done = True
            return None if self.complete else CUT
        payload = _parsed(data)
        if payload is None:
            return _GARBAGE
        if name == "error" or payload.get("error"):
            return _ERROR
        for item in _choices(payload):
            reason = item.get("finish_reason")
            if reason == "error":
                return _ERROR
            if reason:
                self.finished.add(item.get("index", 0))
        if isinstance(usage := payload.get("usage"), dict):
            self.usage = usage
        return None


def _is_marked(data: bytes) -> bool:
    """True when an event must be looked into."""
    if b'"error"' in data or b"[DONE]" in data or b'"usage":{' in data or b'"usage": {' in data:
        return True
    reasons = data.count(b"finish_reason")
    if reasons and reasons != data.count(b'finish_reason":null') + data.count(b'finish_reason": null'):
        return True
    return b"event:" in data and b"error" in data


def _parsed(data: bytes) -> dict[str, Any] | None:
    try:
        payload = loads(data)
    except (ValueError, RecursionError):
        return None
    return payload if isinstance(payload, dict) else None


def _choices(payload: dict[str, Any]) -> list[dict[str, Any]]:
    found = payload.get("choices")
    return [item for item in found if isinstance(item, dict)] if isinstance(found, list) else []


def _has_content(item: dict[str, Any]) -> bool:
    """True for a choice that brings a token or its end; a role alone is nothing."""
    if item.get("finish_reason"):
        return bool(item["finish_reason"] != "error")
    delta = item.get("delta")
    part = delta if isinstance(delta, dict) else item
    return any(part.get(key) for key in _CONTENT_KEYS)
