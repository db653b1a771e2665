"""What passed through, counted in memory and written to the state in batches."""

from __future__ import annotations

import time
from collections import deque
from dataclasses import dataclass, field
from typing import NamedTuple


class Sample(NamedTuple):
    """One finished request. at_s: seconds of the monotonic clock at its end. status: HTTP status. Times in
    milliseconds, None where the request never got there.
    """

    at_s: float
    deployment: str
    base_model: str
    account: str
    status: int
    prompt_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    ttft_ms: float | None = None
    total_ms: float | None = None
    queue_ms: float | None = None
    prefill_ms: float | None = None
    per_token_ms: float | None = None
    drafted: int = 0
    accepted: int = 0


@dataclass
class Log:
    """The samples of the last minutes, for the metrics page, and those not yet written to the state."""

    window_s: float = 300.0
    samples: deque[Sample] = field(default_factory=deque)
    unwritten: list[Sample] = field(default_factory=list)

    def add(self, sample: Sample) -> None:
        self.samples.append(sample)
        self.unwritten.append(sample)
        oldest = sample.at_s - self.window_s
        while self.samples and self.samples[0].at_s < oldest:
            self.samples.popleft()

    def take(self) -> list[Sample]:
        """The samples to write; they are the caller's now."""
        taken, self.unwritten = self.unwritten, []
        return taken

    def since(self, seconds: float) -> list[Sample]:
        start = time.monotonic() - seconds
        return [sample for sample in self.samples if sample.at_s >= start]
