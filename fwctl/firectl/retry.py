"""Trying a read again when the platform only stumbled. Mutating calls never come here."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from fwctl.env import Clock
from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.outcome import Outcome

_T = TypeVar("_T")
_SERVER_FAULTS = ("code = Internal", "code = Unknown")


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """attempts: calls at most. The n-th wait is `first_s * 2**n`, at most `longest_s`, of which a
    random half is taken off (`jitter` gives 0 to 1), so that parallel runs drift apart."""

    attempts: int = 4
    first_s: float = 0.5
    longest_s: float = 8.0
    jitter: Callable[[], float] = random.random

    def wait_s(self, number: int) -> float:
        """Seconds before attempt `number` + 2 (the first wait is number 0)."""
        return float(min(self.first_s * 2**number, self.longest_s)) * (1 - self.jitter() / 2)


def is_transient(outcome: Outcome) -> bool:
    """A failure that may be gone in a moment: the platform or the network, not the request."""
    if outcome.ok or outcome.interrupted:
        return False
    if outcome.error_class is ErrorClass.UNAVAILABLE:
        return True
    return outcome.error_class is ErrorClass.UNKNOWN and any(f in outcome.message for f in _SERVER_FAULTS)


def read_with_retry(read: Callable[[], Outcome], clock: Clock, policy: RetryPolicy) -> Outcome:
    """The first outcome that is no transient failure, else the last one."""
    outcome = read()
    for number in range(policy.attempts - 1):
        if not is_transient(outcome):
            break
        clock.sleep(policy.wait_s(number))
        outcome = read()
    return outcome
