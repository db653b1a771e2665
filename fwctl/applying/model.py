"""What an apply is given, what it asks of the world, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from fwctl.applying.interrupt import Interrupt
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.model import Change, Step

Event = Mapping[str, Any]
OnEvent = Callable[[Event], None]
Gate = Callable[[Change, LiveDeployment], tuple[str, ...]]


def open_gate(change: Change, live: LiveDeployment) -> tuple[str, ...]:  # noqa: ARG001
    """The gate of a run without evidence to look at: nothing stands in the way."""
    return ()


def no_crash(point: str) -> None:
    """The seam of the recovery tests: called at every point where a run could end."""


class Outcome(StrEnum):
    DONE = "done"
    FAILED = "failed"
    SKIPPED = "skipped"
    NOT_STARTED = "not_started"
    IN_PROGRESS = "in_progress"


class Verify(StrEnum):
    """How a deployment proves that it serves."""

    NONE = "none"
    REQUEST = "request"


@dataclass(frozen=True, slots=True)
class ApplyOptions:
    """Choices of one run.

    parallelism: firectl calls at once. retry_pause_s: before a call without an answer is looked into.
    drain_s: pause between the switch of a replacement and the
    deletion of the old deployment. gate: reasons why a new deployment may not take over. folder:
    `.fwctl/` of the run.
    """

    folder: Path
    parallelism: int = 4
    wait: bool = True
    wait_timeout_s: float = 3600.0
    poll_interval_s: float = 10.0
    retry_pause_s: float = 2.0
    heartbeat_s: float = 25.0
    fail_fast: bool = False
    verify: Verify = Verify.NONE
    drain_s: float = 30.0
    gate: Gate = open_gate
    interrupt: Interrupt = field(default_factory=Interrupt)
    crash: Callable[[str], None] = no_crash


@dataclass(frozen=True, slots=True)
class CallResult:
    """One mutating call. error_class is None when it succeeded, else a name of `firectl`'s classes;
    `argv` is masked; `message` is the server's text, masked."""

    argv: tuple[str, ...]
    error_class: str | None = None
    message: str = ""
    next_steps: tuple[str, ...] = ()
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        return self.error_class is None


@dataclass(frozen=True, slots=True)
class Answer:
    """What one request to a deployment came back with. `progress`: not yet, ask again."""

    ok: bool
    progress: bool = False
    message: str = ""


class Subject(Protocol):
    """Whose call it is, or what an event is about."""

    @property
    def name(self) -> str: ...
    @property
    def address(self) -> str: ...
    @property
    def deployment_id(self) -> str: ...


class Platform(Protocol):
    """The world as apply sees it; `applying.platform` makes it of firectl and HTTP."""

    def argv(self, step: Step) -> tuple[str, ...]:
        """The words of the call, masked."""

    def call(self, step: Step) -> CallResult:
        """Runs one mutating call. What firectl answers never raises; FwctlError when it cannot start."""

    def read(self) -> LiveState:
        """All deployments, deleted ones too, with loaded addons and routers. Raises FwctlError."""

    def ask(self, model: str) -> Answer:
        """One short completion by the model string."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Why a deployment is not done: the stable error object of docs/json.md, and its exit code."""

    code: str
    message: str
    next_steps: tuple[str, ...] = ()
    exit_code: Exit = Exit.FAILED
    error_class: str = "unknown"

    def to_json(self, deployment: str) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "deployment": deployment,
            "next_steps": list(self.next_steps),
        }


@dataclass(frozen=True, slots=True)
class Result:
    """How one change ended. `note` is a remark that is no error (for example: done by another run)."""

    name: str
    address: str
    deployment_id: str
    actions: tuple[str, ...]
    outcome: Outcome
    seconds: float = 0.0
    problem: Problem | None = None
    note: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "address": self.address,
            "deployment_id": self.deployment_id,
            "outcome": self.outcome.value,
            "actions": list(self.actions),
            "seconds": round(self.seconds, 3),
            "error": self.problem.to_json(self.name) if self.problem else None,
            "note": self.note or None,
        }


@dataclass(frozen=True, slots=True)
class ApplyResult:
    """The whole run, in plan order."""

    results: tuple[Result, ...]
    model_strings: Mapping[str, Any]
    exit_code: Exit
    changed: bool
    notes: tuple[str, ...] = ()
    next_steps: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The part of the stable document that is apply's own."""
        return {
            "results": [result.to_json() for result in self.results],
            "model_strings": dict(self.model_strings),
            "notes": list(self.notes),
        }
