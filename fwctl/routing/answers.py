"""Errors as OpenAI's clients expect them, with fwctl's own codes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

ALL_TARGETS_FAILED = "all_targets_failed"
DEADLINE = "deadline"
BUDGET_EXHAUSTED = "budget_exhausted"
UPSTREAM_CUT = "upstream_cut"
BAD_REQUEST = "bad_request"
UNKNOWN_ROUTE = "unknown_route"
UNAUTHORIZED = "unauthorized"

# OpenAI's word for the kind of error, by HTTP status; other 4xx are the client's mistake too.
_TYPES = {401: "authentication_error", 404: "not_found_error", 429: "rate_limit_error"}


@dataclass(frozen=True, slots=True)
class Tried:
    """One attempt of a request, for error bodies, logs and headers. seconds: until it ended or had content.

    error_class is None for the attempt that answered.
    """

    target: str
    error_class: str | None
    status: int | None
    seconds: float
    hedge: bool = False

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.target,
            "error": self.error_class,
            "status": self.status,
            "seconds": round(self.seconds, 4),
            "hedge": self.hedge,
        }


def error_object(code: str, message: str, status: int, tried: Sequence[Tried] = ()) -> dict[str, Any]:
    """The JSON of an error; `fwctl.attempts` lists what was tried."""
    kind = _TYPES.get(status) or ("invalid_request_error" if status < 500 else "server_error")
    error: dict[str, Any] = {"message": message, "type": kind, "param": None, "code": code}
    document: dict[str, Any] = {"error": error}
    if tried:
        document["fwctl"] = {"attempts": [item.to_json() for item in tried]}
    return document


def error_body(code: str, message: str, status: int, tried: Sequence[Tried] = ()) -> bytes:
    """The same as bytes."""
    return json.dumps(error_object(code, message, status, tried)).encode()


def error_event(code: str, message: str) -> bytes:
    """The last event of a stream that broke; no [DONE] follows."""
    return b"data: " + error_body(code, message, 502) + b"\n\n"
