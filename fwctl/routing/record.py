"""What is known about one request at its end: for metrics, logs and the trace log."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.routing.answers import Tried

# How a request ended beside the error codes of `answers`.
OK = "ok"
CLIENT_GONE = "client_gone"
PASSED_ON = "passed_on"  # the target's own error about the request went back unchanged


@dataclass(slots=True)
class Record:
    """One request. Times in seconds. outcome: `ok`, `client_gone`, `passed_on` or an error code.

    kind: what the client called this kind of request. tokens: usage of the target that answered.
    """

    route: str
    path: str
    stream: bool
    kind: str | None = None
    tried: list[Tried] = field(default_factory=list)
    target: str | None = None
    outcome: str = OK
    status: int = 200
    first_token_s: float | None = None
    total_s: float = 0.0
    usage: Mapping[str, Any] | None = None
    adapted: str = ""
    hedged: bool = False

    @property
    def attempts(self) -> int:
        return len(self.tried)

    def to_json(self) -> dict[str, Any]:
        """A log line: no content, no header, no key."""
        usage = self.usage or {}
        return {
            "route": self.route,
            "path": self.path,
            "type": self.kind,
            "stream": self.stream,
            "outcome": self.outcome,
            "status": self.status,
            "target": self.target,
            "attempts": [item.to_json() for item in self.tried],
            "first_token_s": None if self.first_token_s is None else round(self.first_token_s, 4),
            "total_s": round(self.total_s, 4),
            "prompt_tokens": usage.get("prompt_tokens"),
            "completion_tokens": usage.get("completion_tokens"),
            "adapted": self.adapted or None,
        }


Observer = Callable[[Record], None]


def nobody(_record: Record) -> None:
    """The observer of a router that nobody watches."""
