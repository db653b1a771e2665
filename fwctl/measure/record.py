"""One request as it is written to records.jsonl. What is not known is null, never 0."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any


@dataclass(slots=True)
class Record:
    """Times in seconds; `ttft_s`, `ttfv_s` and `total_s` count from the last byte sent.

    attempt: 2 and more for a structured answer that was cut off and asked for again with more tokens.
    connection: `new` or `reused`; the time to connect is `connect_s` and in no other figure.
    error_note: what came with HTTP 200 instead of a stream.
    limited_by: which limit a 429 came from: `deployment`, `account`, or None when it does not say.
    """

    run_id: str
    target: str
    prompt_id: str
    repeat: int
    started_at: str
    type: str = "other"
    attempt: int = 1
    measured: bool = True
    concurrency: int | None = None
    rate_per_s: float | None = None
    dispatch_lag_s: float | None = None
    queue_lag_s: float | None = None
    connection: str | None = None
    connect_s: float | None = None
    ttft_s: float | None = None
    ttft_from_schedule_s: float | None = None
    ttfv_s: float | None = None
    total_s: float | None = None
    done_s: float | None = None
    gap_p50_s: float | None = None
    gap_p95_s: float | None = None
    max_gap_s: float | None = None
    stalls: int | None = None
    tpot_s: float | None = None
    reads_with_tokens: int | None = None
    prompt_tokens: int | None = None
    cached_tokens: int | None = None
    output_tokens: int | None = None
    reasoning_tokens: int | None = None
    tokens_source: str | None = None
    finish_reason: str | None = None
    http_status: int | None = None
    error_class: str | None = None
    limited_by: str | None = None
    request_id: str | None = None
    response_digest: str | None = None
    text: str | None = None
    error_note: str | None = None
    server: dict[str, float | str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The line of records.jsonl; `text` and `error_note` are left out where there is none."""
        found = {name: getattr(self, name) for name in _NAMES}
        for name in ("text", "error_note"):
            if found[name] is None:
                del found[name]
        return found


_NAMES = tuple(item.name for item in fields(Record))
