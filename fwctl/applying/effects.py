"""What a procedure asks the engine for, and how a procedure ends.

A procedure is a generator: it yields one effect, the engine carries it out (in a thread, at the next
poll, after a pause) and sends back what came of it. So the steps of a change read from top to bottom,
and are tested without threads, clocks or processes.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Any, TypeVar

from fwctl.applying.model import Outcome, Problem
from fwctl.planning.model import Step


@dataclass(frozen=True, slots=True)
class Call:
    """Run a mutating call; answers with a CallResult."""

    step: Step


@dataclass(frozen=True, slots=True)
class Look:
    """Read live state now; answers with a LiveState read after the question was asked."""


@dataclass(frozen=True, slots=True)
class Poll:
    """Read live state together with everybody who waits; answers with a LiveState."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One request to a model string; answers with an Answer."""

    model: str


@dataclass(frozen=True, slots=True)
class Pause:
    """Nothing for some seconds."""

    seconds: float


Effect = Call | Look | Poll | Ask | Pause


@dataclass(frozen=True, slots=True)
class Ended:
    """How a procedure ended without failing. deployment_id: the one that serves now, when it is not the
    one that the change began with."""

    outcome: Outcome = Outcome.DONE
    note: str = ""
    problem: Problem | None = None
    deployment_id: str | None = None


T = TypeVar("T")
Procedure = Generator[Effect, Any, T]


class ActionFailedError(Exception):
    """The change did not happen, or not as planned."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.message)
        self.problem = problem


class StoppedError(Exception):
    """Thrown into a procedure when the run is interrupted: whatever is under way stays as it is."""
