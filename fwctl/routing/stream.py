"""A stream after its first content: from the target to the client, watched and never retried."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable

import aiohttp

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.routing import answers
from fwctl.routing.scanner import CUT, Scanner
from fwctl.routing.upstream import Opened

_IDLE = Failure(ErrorClass.TIMEOUT_IDLE, "the stream stood still")
_TOTAL = Failure(ErrorClass.TIMEOUT_TOTAL, "the deadline of the request is over")
# After [DONE] there is nothing to wait for but the end of the body.
_AFTER_DONE_S = 1.0
_MESSAGES = {
    ErrorClass.TIMEOUT_TOTAL: "the deadline of the request is over; the answer is not complete",
}
_CUT_MESSAGE = "the target broke off; the answer is not complete"
_LARGEST_TAP_BYTES = 4 * 2**20


Ended = Callable[[Scanner, Failure | None, bool], None]


class _StoppedError(Exception):
    """Set on the reader when a limit is over."""


class Stream:
    """Iterate once. ended: called once, with the failure (None: complete) and whether the client left.

    rename: (bytes, bytes) pairs to replace. tap: receives what was sent on, up to 4 MiB, where it is set.
    """

    def __init__(
        self,
        opened: Opened,
        *,
        wanted: int,
        idle_s: float,
        deadline: float,
        rename: tuple[tuple[bytes, bytes], ...] = (),
        ended: Ended,
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._response = opened.response
        self._first = opened.data
        self._idle_s = idle_s
        self._deadline = deadline
        self._rename = rename
        self._ended: Ended | None = ended
        self._stopped: Failure | None = None
        self._reading_since: float | None = None
        self._timer: asyncio.TimerHandle | None = None
        self.scanner = Scanner(wanted)
        self.tap: list[bytes] | None = None
        self._tapped = 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        scanner, content = self.scanner, self._response.content
        self._watch()
        try:
            piece = self._first
            while piece:
                out = scanner.feed(piece)
                if out:
                    yield self._passed(out)
                if scanner.failure is not None:
                    break
                self._reading_since = self._loop.time()
                try:
                    piece = await content.readany()
                except (_StoppedError, aiohttp.ClientError, OSError):
                    break
                self._reading_since = None
            else:
                if out := scanner.close():
                    yield self._passed(out)
            failure = self._verdict()
            if failure is not None:
                yield _last_words(failure)
            self._end(failure)
        finally:
            self.close()

    def close(self) -> None:
        """Free the connection; before the end this counts as a client that left."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._ended is not None:
            self._end(None, left=True)

    def _end(self, failure: Failure | None, *, left: bool = False) -> None:
        ended, self._ended = self._ended, None
        if left or failure is not None or self._stopped is not None or not self._response.content.at_eof():
            self._response.close()
        if ended is not None:
            ended(self.scanner, failure, left)

    def _verdict(self) -> Failure | None:
        """A stream that has all its finish reasons is complete, however the connection ended."""
        failure = self.scanner.failure
        if failure is not None and failure is not CUT:
            return failure
        if self.scanner.complete:
            return None
        return self._stopped or CUT

    def _passed(self, out: bytes) -> bytes:
        for old, new in self._rename:
            out = out.replace(old, new)
        if self.tap is not None and self._tapped <= _LARGEST_TAP_BYTES:
            self._tapped += len(out)
            self.tap.append(out)
        return out

    def _watch(self) -> None:
        """One timer that looks now and then, instead of one a read: a tenth of a limit late at most."""
        now, since = self._loop.time(), self._reading_since
        idle = _AFTER_DONE_S if self.scanner.done else self._idle_s
        if now >= self._deadline:
            self._stop(_TOTAL)
        elif since is not None and now - since >= idle:
            self._stop(_IDLE)
        else:
            step = min(self._deadline - now, max(min(idle, self._idle_s) / 10, 0.005))
            self._timer = self._loop.call_later(step, self._watch)

    def _stop(self, failure: Failure) -> None:
        self._stopped = failure
        self._response.content.set_exception(_StoppedError())


def _last_words(failure: Failure) -> bytes:
    code = answers.DEADLINE if failure.error_class is ErrorClass.TIMEOUT_TOTAL else answers.UPSTREAM_CUT
    return answers.error_event(code, _MESSAGES.get(failure.error_class, _CUT_MESSAGE))


def renaming(old: str | None, new: str) -> tuple[tuple[bytes, bytes], ...]:
    """Replacements that make chunks carry another model name, in both spellings of JSON."""
    if old is None or old == new:
        return ()
    was, now = (json.dumps(name, ensure_ascii=False).encode() for name in (old, new))
    return tuple((b'"model":' + space + was, b'"model":' + space + now) for space in (b"", b" "))
