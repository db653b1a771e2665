"""From a failed call or an exception to what the user reads: code, text, next steps, exit code."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fwctl.applying.model import CallResult, Problem
from fwctl.errors import FwctlError
from fwctl.exitcodes import Exit

# The server refused before it did anything; every other class may hide a change that went through.
DEFINITE_CLASSES = frozenset(
    {
        "auth",
        "permission",
        "quota",
        "capacity",
        "suspended",
        "precondition",
        "recent_traffic",
        "not_found",
        "invalid",
        "blocked",
    }
)
# No further call of this run can succeed.
STOPPING_CLASSES = frozenset({"auth", "suspended", "blocked"})
# Worth another try when nothing was changed by it.
TRANSIENT_CLASSES = frozenset({"unavailable", "timeout"})

_CODES: dict[str, tuple[str, Exit]] = {
    "auth": ("auth", Exit.AUTH),
    "permission": ("auth", Exit.AUTH),
    "suspended": ("auth", Exit.AUTH),
    "blocked": ("firectl_blocked", Exit.FIRECTL),
}


def of_call(result: CallResult) -> Problem:
    """The problem of a mutating call that failed."""
    error_class = result.error_class or "unknown"
    code, exit_code = _CODES.get(error_class, ("firectl_failed", Exit.FAILED))
    return Problem(code, result.message, result.next_steps, exit_code, error_class)


def from_error(error: FwctlError) -> Problem:
    """The problem of a read that failed for good."""
    return Problem(
        error.code, error.message, error.next_steps, error.exit_code, error.error_class or "unknown"
    )


def stale(message: str) -> Problem:
    """The deployment moved since the plan."""
    return Problem(
        "stale_plan",
        message,
        ("fwctl plan", "fwctl apply"),
        Exit.STALE_PLAN,
        "stale",
    )


def refused(message: str, next_steps: Sequence[str]) -> Problem:
    return Problem("refused", message, tuple(next_steps), Exit.REFUSED, "refused")


def failed(message: str, next_steps: Sequence[str] = (), error_class: str = "unknown") -> Problem:
    return Problem("firectl_failed", message, tuple(next_steps), Exit.FAILED, error_class)


def timed_out(message: str, next_steps: Sequence[str]) -> Problem:
    """The waiting ended, not the operation."""
    return Problem("timeout", message, tuple(next_steps), Exit.TIMEOUT, "wait")


def shown(value: Any) -> str:
    """A value as a message shows it."""
    return "nothing" if value is None else f"{value}"
