"""The process exit codes of fwctl and which one wins when several apply."""

from __future__ import annotations

from collections.abc import Iterable
from enum import IntEnum


class Exit(IntEnum):
    """Every code fwctl exits with. Scripts build on these numbers."""

    OK = 0
    FAILED = 1
    CHANGES = 2
    INVALID_SPEC = 3
    REFUSED = 4
    AUTH = 5
    FIRECTL = 6
    TIMEOUT = 7
    STALE_PLAN = 8
    USAGE = 64
    BUG = 70
    INTERRUPTED = 130
    TERMINATED = 143


PRECEDENCE = (
    Exit.INTERRUPTED,
    Exit.TERMINATED,
    Exit.BUG,
    Exit.USAGE,
    Exit.INVALID_SPEC,
    Exit.FIRECTL,
    Exit.AUTH,
    Exit.STALE_PLAN,
    Exit.REFUSED,
    Exit.FAILED,
    Exit.TIMEOUT,
    Exit.CHANGES,
    Exit.OK,
)


def worst(codes: Iterable[Exit]) -> Exit:
    """The code to exit with when several causes hold at once; OK when there is none."""
    return min(codes, key=PRECEDENCE.index, default=Exit.OK)
