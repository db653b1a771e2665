"""How a body begins that was to be an event stream: what it is instead, in words, and a way out."""

from __future__ import annotations

from fwctl.inference.failures import ErrorClass, Failure

STREAM = "text/event-stream"
KEPT_BYTES = 4096
SHOWN_CHARACTERS = 80
_NO_STREAM = "the server answers as a whole: use one that takes `stream: true`"
_OTHER_PAGE = "check the URL of the target, and what stands before it: a proxy, a login page"


class Opening:
    """The first bytes of a body with HTTP 200, kept until its first event."""

    __slots__ = ("_head", "_kind")

    def __init__(self, content_type: str | None) -> None:
        self._kind = (content_type or "").partition(";")[0].strip().lower()
        self._head = b""

    def add(self, chunk: bytes) -> None:
        """Take the next bytes; what is beyond KEPT_BYTES is dropped."""
        if len(self._head) < KEPT_BYTES:
            self._head += chunk[: KEPT_BYTES - len(self._head)]

    def failure(self) -> Failure | None:
        """What a body without one event is. None for a stream that ended before its first event.

        A whole answer of a model is named and not shown; of everything else the beginning is shown.
        """
        head = self._head.removeprefix(b"\xef\xbb\xbf").strip()
        if self._kind == STREAM and not head.startswith((b"<", b"{", b"[")):
            return None
        what = f"HTTP 200 with {self._kind or 'no content type'} instead of an event stream"
        if not head:
            return Failure(ErrorClass.NOT_A_STREAM, f"{what}, and an empty body: {_OTHER_PAGE}")
        if head.startswith(b"{") and b'"choices"' in head:
            return Failure(ErrorClass.NOT_A_STREAM, f"{what}: {_NO_STREAM}")
        text = " ".join(head.decode("utf-8", "replace").split())[:SHOWN_CHARACTERS]
        shown = "".join(letter if letter.isprintable() else "\N{REPLACEMENT CHARACTER}" for letter in text)
        return Failure(ErrorClass.NOT_A_STREAM, f"{what}; it begins {shown!r}: {_OTHER_PAGE}")
