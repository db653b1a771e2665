"""When a target is given up: it serves nothing, and waiting does not help."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.inference.failures import WAYS_OUT, ErrorClass
from fwctl.measure.load import Todo
from fwctl.measure.record import Record

AFTER_S = 30.0
# A low rate may have a single failure in all that time.
LEAST = 10
UNREACHED = frozenset({ErrorClass.CONNECT, ErrorClass.DNS, ErrorClass.TLS, ErrorClass.TIMEOUT_CONNECT})
# Of a target that has never answered: that it is another address, another key or broken. Limits, overload
# and a start from zero pass, and belong into the figures.
UNSERVED = UNREACHED | {
    ErrorClass.TIMEOUT_TTFT,
    ErrorClass.HTTP_3XX,
    ErrorClass.HTTP_400,
    ErrorClass.HTTP_401,
    ErrorClass.HTTP_402,
    ErrorClass.HTTP_403,
    ErrorClass.HTTP_404,
    ErrorClass.HTTP_413,
    ErrorClass.HTTP_422,
    ErrorClass.HTTP_4XX,
    ErrorClass.HTTP_5XX,
    ErrorClass.NOT_A_STREAM,
    ErrorClass.SSE_ERROR,
}


class GivingUp:
    """What one process sees of its targets at one level of the load.

    after_s: seconds with nothing but requests that reached no server, or, of a target that never answered,
    that it did not serve; None for never. `lost`: the targets that were given up, with the last failure.
    """

    def __init__(self, after_s: float | None, arms: int) -> None:
        self._after_s = after_s
        self._arms = arms
        self._answered: set[str] = set()
        self._rows: dict[str, tuple[float, int]] = {}
        self.lost: dict[str, str] = {}

    def note(self, name: str, record: Record, at: float) -> None:
        """Take the end of one request at the moment `at`, in seconds."""
        if record.error_class not in (UNREACHED if name in self._answered else UNSERVED):
            self._rows.pop(name, None)
            self._answered.add(name)
            return
        first, failures = self._rows.get(name, (at, 0))
        self._rows[name] = (first, failures + 1)
        if self._after_s is not None and failures + 1 >= LEAST and at - first >= self._after_s:
            self.lost[name] = why(record.to_json())

    def rest(self, todo: Todo) -> Todo:
        """The jobs without those of targets that were given up; it ends when there is no target left."""
        for job, mine in todo:
            if len(self.lost) == self._arms:
                return
            yield job, mine and job.name not in self.lost


def why(row: Mapping[str, Any]) -> str:
    """The failure of a record in words: its class, and what came instead or what to do."""
    word = str(row["error_class"])
    more = row.get("error_note") or WAYS_OUT.get(word)
    return f"{word}: {more}" if more else word


def reasons(lost: Mapping[str, str], after_s: float | None) -> dict[str, str]:
    """By target: why a run in which it was given up is invalid."""
    return {
        name: f"{name} was given up: it served no request for {after_s:g} s ({why}); the rest was not sent"
        for name, why in sorted(lost.items())
    }
