"""What graders may use of the outside world: endpoints, child processes, and a place to report to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwctl.inference.client import Endpoint


@dataclass(frozen=True, slots=True)
class Model:
    """A model behind an endpoint."""

    endpoint: Endpoint
    model: str


@dataclass(slots=True)
class Means:
    """folder: where files of a prompt set are looked for. environ: for child processes, secrets left out
    by whoever starts them. say: told what takes long. facts: what a grader learned about itself, by its
    name, for the summary."""

    folder: Path
    environ: Mapping[str, str] = field(repr=False)
    judge: Model | None = None
    embeddings: Model | None = None
    concurrency: int = 4
    say: Callable[[str], None] = lambda _text: None
    facts: dict[str, Any] = field(default_factory=dict)
