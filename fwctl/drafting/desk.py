"""What a pipeline asks of the world; the commands make it of firectl, the harness and a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.outcome import Outcome
from fwctl.quality.experiments.world import World


class Platform(Protocol):
    """Of the facade `firectl.client.Firectl`."""

    @property
    def capabilities(self) -> Capabilities: ...

    def perform(self, verb: str, target: str | None, fields: Mapping[str, Any]) -> Outcome: ...

    def get_dataset(self, dataset_id: str) -> dict[str, Any]: ...

    def get_tuning_job(self, job_id: str) -> dict[str, Any]: ...

    def get_model(self, name: str) -> dict[str, Any]: ...

    def list_models(self) -> list[dict[str, Any]]: ...

    def list_reservations(self) -> list[dict[str, Any]]: ...


class Desk(Protocol):
    """root: `.fwctl/`. environ: for `${env:...}` in the file. poll_s: between two looks at a job."""

    root: Path
    environ: Mapping[str, str]
    poll_s: float

    @property
    def platform(self) -> Platform: ...

    @property
    def world(self) -> World: ...

    def confirm(self, question: str) -> None:
        """Goes on only when somebody agreed. Raises RefusedError, or what `confirm.ask` raises."""

    def draft_key(self, url: str) -> str | None:
        """The key for an endpoint that serves draft models."""

    def say(self, text: str) -> None:
        """One line of progress."""

    def reached(self, point: str) -> None:
        """Called wherever a run could end; the seam of the recovery tests."""
