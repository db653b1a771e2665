"""What an experiment asks of the world; the command makes it of firectl and the harness."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from fwctl.applying.model import ApplyResult
from fwctl.env import Clock
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.graders.means import Means
from fwctl.spec.model import Spec

Look = Callable[[Sequence[LiveDeployment]], bool]


class World(Protocol):
    """The platform, the load, and the person in front."""

    @property
    def clock(self) -> Clock: ...

    def live(self, spec: Spec) -> LiveState:
        """Everything that a plan of `spec` needs. Raises FwctlError."""

    def plan(self, spec: Spec, live: LiveState, options: PlanOptions) -> Plan:
        """The plan with every guard. Raises FwctlError."""

    def apply(self, plan: Plan, spec: Spec, *, serve: bool) -> ApplyResult:
        """Carry it out. serve: wait until every deployment answers a request."""

    def watching(self, look: Look) -> AbstractContextManager[None]:
        """Meanwhile reads the deployments again and again and hands them to `look`; when it answers False
        the load or the apply under way is ended."""

    def measure(
        self, experiment: Experiment, candidates: Mapping[str, str], out: Path, number: int
    ) -> Mapping[str, Any]:
        """One pass of the suite over all candidates (short name -> deployment ID), into `out`, where an
        interrupted one goes on; its summary."""

    def means(self, experiment: Experiment) -> Means:
        """What graders may use."""

    def start_s(self, model: str) -> float | None:
        """Seconds that starts of a model took here, None when nobody knows."""

    def say(self, text: str) -> None:
        """One line of progress."""

    def reached(self, point: str) -> None:
        """Called at every point where a run could end; the seam of the recovery tests."""
