"""One request as it is written to records.jsonl. What is not known is null, never 0."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any


@dataclass(slots=True)
class Record:
    """Times in seconds; `ttft_s`, `ttfv_s` and `total_s` count from the last byte sent."""

    run_id: str
    target: str
    prompt_id: str
    repeat: int
    started_at: str
    measured: bool = True
    dispatch_lag_s: float | None = None
    queue_lag_s: float | None = None
    ttft_s: float | None = None
    ttft_from_schedule_s: float | None = None
    ttfv_s: float | None = None
    total_s: float | None = None
    max_gap_s: float | None = None
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
    request_id: str | None = None
    response_digest: str | None = None
    text: str | None = None
    server: dict[str, float | str] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The line of records.jsonl; `text` is left out unless it was kept."""
        found = asdict(self)
        if self.text is None:
            del found["text"]
        return found
