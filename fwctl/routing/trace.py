"""The trace log: sampled requests with their answers, one JSON line each, for replays and prompt sets.

A line has `id`, `type`, `messages` (or `prompt`), `completion`, `created_at` and `model`, and how the
request ended. Secrets that fwctl knows, and what looks like a credential, are masked. Off by default,
because it is the only thing here that holds what people wrote.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from fwctl.inference.answer import Answer
from fwctl.inference.sse import EventParser
from fwctl.redact import Redactor
from fwctl.routing.jsonbytes import loads
from fwctl.routing.record import Record

LARGEST_LINE_BYTES = 8 * 2**20
_MODE = 0o600


class TraceLog:
    """Appends to one file, which only its owner may read.

    share: of requests, from 0 to 1. chance: a number from 0 to 1 at each call.
    """

    def __init__(
        self,
        path: Path,
        share: float,
        *,
        chance: Callable[[], float],
        now: Callable[[], datetime],
        redactor: Redactor,
    ) -> None:
        self.path = path
        self.share = share
        self._chance = chance
        self._now = now
        self._redactor = redactor

    def wants(self) -> bool:
        """True for a request that is to be logged."""
        return self._chance() < self.share

    def write(self, body: Mapping[str, Any], record: Record, pieces: Sequence[bytes]) -> str | None:
        """One line; why it could not be written, None when all is well. Lines over 8 MiB are left out.

        pieces: the answer as it was sent on.
        """
        line = self._redactor.mask(self.line(body, record, pieces))
        if len(line) > LARGEST_LINE_BYTES:
            return None
        try:
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, _MODE)
            with os.fdopen(handle, "ab") as file:
                file.write(line.encode("utf-8", "replace") + b"\n")
        except OSError as error:
            return error.strerror or str(error)
        return None

    def line(self, body: Mapping[str, Any], record: Record, pieces: Sequence[bytes]) -> str:
        """The JSON of one request; nothing of its headers."""
        answer = read_answer(pieces, stream=record.stream)
        now = self._now()
        asked = {key: body[key] for key in _ASKED if key in body}
        usage = record.usage or {}
        row = {
            "id": f"{now:%Y%m%dT%H%M%S.%f}-{int(self._chance() * 16**8):08x}",
            "type": record.kind or "other",
            **asked,
            "completion": answer.text,
            "finish_reason": answer.finish_reason,
            "created_at": now.isoformat(),
            "model": record.route,
            "target": record.target,
            "outcome": record.outcome,
            "attempts": record.attempts,
            "first_token_s": record.first_token_s,
            "total_s": record.total_s,
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
            "prediction_dropped": "prediction" in record.adapted,
        }
        return json.dumps(row, ensure_ascii=False)


# Parts of a request that shape its answer.
_ASKED = (
    "messages",
    "prompt",
    "prediction",
    "max_tokens",
    "temperature",
    "top_p",
    "stop",
    "response_format",
    "tools",
    "reasoning_effort",
)


def read_answer(pieces: Sequence[bytes], *, stream: bool) -> Answer:
    """What the bytes of an answer say."""
    answer = Answer()
    if stream:
        parser = EventParser()
        for piece in pieces:
            for event in parser.feed(piece):
                answer.absorb(event, 0.0)
        return answer
    try:
        payload = loads(b"".join(pieces))
    except ValueError:
        return answer
    if isinstance(payload, dict):
        answer.absorb_payload(payload, 0.0)
    return answer
