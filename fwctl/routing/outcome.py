"""What an attempt's end means for the request, for its target, and for the account behind it.

One row for each error class; the reasons stand in docs/routing.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fwctl.inference.failures import ErrorClass


class Verdict(StrEnum):
    """What an attempt says about its target."""

    OK = "ok"
    BROKEN = "broken"  # counts for the breaker
    TERMINAL = "terminal"  # opens the breaker at once and for long
    OVERLOAD = "overload"  # shifts load, is not a fault
    COLD = "cold"  # scaling up from zero, is not a fault
    NOTHING = "nothing"  # the caller's doing; counts for nothing


@dataclass(frozen=True, slots=True)
class Outcome:
    """moves_on: another target may serve the request."""

    verdict: Verdict
    moves_on: bool


_BROKEN = Outcome(Verdict.BROKEN, moves_on=True)
_TERMINAL = Outcome(Verdict.TERMINAL, moves_on=True)
_OVERLOAD = Outcome(Verdict.OVERLOAD, moves_on=True)
_CALLERS = Outcome(Verdict.NOTHING, moves_on=False)

OUTCOMES: dict[ErrorClass, Outcome] = {
    **dict.fromkeys(
        (
            ErrorClass.CONNECT,
            ErrorClass.TLS,
            ErrorClass.DNS,
            ErrorClass.TIMEOUT_CONNECT,
            ErrorClass.TIMEOUT_TTFT,
            ErrorClass.TIMEOUT_IDLE,
            ErrorClass.HTTP_3XX,
            ErrorClass.HTTP_5XX,
            ErrorClass.NOT_A_STREAM,
            ErrorClass.SSE_ERROR,
            ErrorClass.TRUNCATED,
            ErrorClass.EMPTY,
            ErrorClass.INVALID_JSON,
        ),
        _BROKEN,
    ),
    **dict.fromkeys(
        (ErrorClass.HTTP_401, ErrorClass.HTTP_402, ErrorClass.HTTP_403, ErrorClass.HTTP_404), _TERMINAL
    ),
    ErrorClass.RATE_LIMITED: _OVERLOAD,
    ErrorClass.OVERLOADED: _OVERLOAD,
    ErrorClass.SCALING_UP: Outcome(Verdict.COLD, moves_on=True),
    # The request's own deadline is over: no target could still answer in time.
    ErrorClass.TIMEOUT_TOTAL: Outcome(Verdict.NOTHING, moves_on=False),
    **dict.fromkeys(
        (
            ErrorClass.HTTP_400,
            ErrorClass.HTTP_413,
            ErrorClass.HTTP_422,
            ErrorClass.HTTP_4XX,
            ErrorClass.CANCELLED,
        ),
        _CALLERS,
    ),
}

# 408 and 425 stand among the other 4xx of `failures`; they are transport trouble.
STATUS_MOVES_ON = frozenset({408, 425})


def outcome_of(error_class: ErrorClass, status: int | None = None) -> Outcome:
    """The row of a failed attempt. status: of HTTP, where there was one."""
    if error_class is ErrorClass.HTTP_4XX and status in STATUS_MOVES_ON:
        return _BROKEN
    return OUTCOMES.get(error_class, _CALLERS)
