"""What a guard says: a check that everybody reads, and the changes that it stops."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from fwctl.planning.context import Context
from fwctl.planning.model import Change

PASS, FAIL, WARN, UNKNOWN = "pass", "fail", "warn", "unknown"


@dataclass(frozen=True, slots=True)
class Finding:
    """name: the check's stable name. code: of the diagnostic (the name unless it is a rule). blocks: the
    changes that a failure stops. suggestion: the way out, with the flag that lifts the guard."""

    name: str
    status: str
    message: str
    deployment: str | None = None
    blocks: tuple[Change, ...] = ()
    suggestion: str | None = None
    code: str | None = None
    path: str = ""


Guard = Callable[[Context, Sequence[Change]], Iterable[Finding]]

_IDLE = ("no-op", "wait", "blocked")


def active(changes: Sequence[Change]) -> list[Change]:
    """The changes that would call firectl."""
    return [change for change in changes if change.primary not in _IDLE]


def removes(change: Change) -> bool:
    """True for a delete and for a replacement."""
    return "delete" in change.actions


def creates(change: Change) -> bool:
    return "create" in change.actions
