"""What an experiment is: candidates of one stack, the load they get, and who wins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from fwctl.planning.digest import canonical_json
from fwctl.spec.model import Deployment, Spec

SEPARATOR = "--"  # between the names of experiment and candidate; neither may hold it


@dataclass(frozen=True, slots=True)
class Load:
    """The same for every candidate. `rate_per_s` makes an open loop; else `concurrency` requests at a time
    go to each candidate. repeat: times through the suite. warmup: unmeasured requests to each candidate."""

    concurrency: int = 8
    rate_per_s: float | None = None
    repeat: int = 3
    warmup: int = 5
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Experiment:
    """A checked file.

    spec: the candidates as a spec of their own, by logical name `<experiment>--<candidate>`. candidates:
    their short names in the order of the file. varied: fields, by short name, that a candidate says for
    itself. slo: limits by last part of the path (`ttft_p95_ms`, milliseconds; `error_rate`, a share).
    margin: largest loss of right answers as a share, None without a quality gate. deployment: entry of the
    user's specs that the recommendation is for.
    """

    name: str
    file: str
    spec: Spec
    candidates: tuple[str, ...]
    baseline: str
    suite: Path
    spend_cap_usd: float
    time_to_live_s: float
    load: Load = field(default_factory=Load)
    slo: Mapping[str, float] = field(default_factory=dict)
    margin: float | None = None
    deployment: str | None = None
    varied: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def logical(self, candidate: str) -> str:
        """Name in the marker: `shapes--fp8`."""
        return f"{self.name}{SEPARATOR}{candidate}"

    def entry(self, candidate: str) -> Deployment:
        return self.spec.deployments[self.logical(candidate)]

    def digest(self, suite_digest: str) -> str:
        """Twelve hex digits of everything that a measurement depends on; cap and time are not part of it."""
        document: dict[str, Any] = {
            "account": self.spec.account,
            "stack": self.spec.stack,
            "candidates": {
                name: {**self.entry(name).fields, **self.entry(name).own} for name in self.candidates
            },
            "baseline": self.baseline,
            "suite": suite_digest,
            "load": [
                getattr(self.load, key) for key in ("concurrency", "rate_per_s", "repeat", "warmup", "seed")
            ],
            "slo": dict(self.slo),
            "margin": self.margin,
        }
        return sha256(canonical_json(document).encode()).hexdigest()[:12]
