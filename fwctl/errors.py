"""Diagnostics about a user's input, and the exceptions that end a command.

Every problem fwctl reports is one of these two, so that text, JSON, SARIF and annotations all say
the same thing.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, ClassVar

from fwctl.exitcodes import Exit


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True)
class Position:
    """A span in a file; lines and columns count from 1, the end is exclusive."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem, with its place and a way out.

    `path` is a JSON Pointer into the spec file; `source_line` is the text the caret points into and
    is not part of the JSON form.
    """

    severity: Severity
    code: str
    message: str
    deployment: str | None = None
    path: str | None = None
    position: Position | None = None
    suggestion: str | None = None
    docs: str | None = None
    source_line: str | None = None

    def to_json(self) -> dict[str, Any]:
        """The stable JSON object of docs/json.md."""
        at = self.position
        return {
            "severity": self.severity.value,
            "code": self.code,
            "message": self.message,
            "deployment": self.deployment,
            "path": self.path,
            "file": at.file if at else None,
            "line": at.line if at else None,
            "column": at.column if at else None,
            "end_line": at.end_line if at else None,
            "end_column": at.end_column if at else None,
            "suggestion": self.suggestion,
            "docs": self.docs,
        }


class FwctlError(Exception):
    """A command cannot go on. `code` is the stable name in JSON, `exit_code` the process exit code.

    `error_class` is set for a failed firectl call: one of the words of `firectl.errors.ErrorClass`.
    """

    code: ClassVar[str] = "firectl_failed"
    exit_code: ClassVar[Exit] = Exit.FAILED
    error_class: str | None = None

    def __init__(
        self,
        message: str,
        *,
        deployment: str | None = None,
        next_steps: tuple[str, ...] | list[str] = (),
        diagnostics: tuple[Diagnostic, ...] | list[Diagnostic] = (),
    ) -> None:
        super().__init__(message)
        self.message = message
        self.deployment = deployment
        self.next_steps = tuple(next_steps)
        self.diagnostics = tuple(diagnostics)

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "message": self.message,
            "deployment": self.deployment,
            "next_steps": list(self.next_steps),
        }


class InvalidSpecError(FwctlError):
    """The spec has errors, or none was found where one is needed; see `diagnostics`."""

    code = "invalid_spec"
    exit_code = Exit.INVALID_SPEC


class RefusedError(FwctlError):
    """A guard, policy, budget, fit or gate says no."""

    code = "refused"
    exit_code = Exit.REFUSED


class AuthError(FwctlError):
    """Not signed in, wrong account, no permission, or a suspended account."""

    code = "auth"
    exit_code = Exit.AUTH


class FirectlMissingError(FwctlError):
    code = "firectl_missing"
    exit_code = Exit.FIRECTL


class FirectlTooOldError(FwctlError):
    code = "firectl_too_old"
    exit_code = Exit.FIRECTL


class FirectlBlockedError(FwctlError):
    """firectl refused to run the command itself (a line that begins with BLOCKED:)."""

    code = "firectl_blocked"
    exit_code = Exit.FIRECTL


class FirectlFailedError(FwctlError):
    """firectl ran and reported a failure, or its output could not be understood."""


class WaitTimeoutError(FwctlError):
    """fwctl stopped waiting; the operation goes on remotely."""

    code = "timeout"
    exit_code = Exit.TIMEOUT


class StalePlanError(FwctlError):
    """Live state or the specs moved since the plan, or the digest is not the expected one."""

    code = "stale_plan"
    exit_code = Exit.STALE_PLAN


class UsageError(FwctlError):
    code = "usage"
    exit_code = Exit.USAGE


class InterruptedByUserError(FwctlError):
    code = "interrupted"
    exit_code = Exit.INTERRUPTED


class NetworkError(FwctlError):
    """An HTTP request that fwctl made itself failed."""

    code = "network"
    exit_code = Exit.FAILED
