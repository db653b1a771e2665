"""When a target is given up: no request has reached it for a while."""

from __future__ import annotations

from fwctl.inference.failures import ErrorClass
from fwctl.measure.load import Todo

# A low rate may have a single failure in all that time.
LEAST = 10
UNREACHED = frozenset({ErrorClass.CONNECT, ErrorClass.DNS, ErrorClass.TLS, ErrorClass.TIMEOUT_CONNECT})


class GivingUp:
    """What one process sees of its targets at one level of the load.

    after_s: seconds with nothing but requests that reached no server, None for never. `lost`: the targets
    that were given up, with the class of their last failure.
    """

    def __init__(self, after_s: float | None, arms: int) -> None:
        self._after_s = after_s
        self._arms = arms
        self._rows: dict[str, tuple[float, int]] = {}
        self.lost: dict[str, str] = {}

    def note(self, name: str, error_class: str | None, at: float) -> None:
        """Take the end of one request at the moment `at`, in seconds."""
        if error_class not in UNREACHED:
            self._rows.pop(name, None)
            return
        first, failures = self._rows.get(name, (at, 0))
        self._rows[name] = (first, failures + 1)
        if self._after_s is not None and failures + 1 >= LEAST and at - first >= self._after_s:
            self.lost[name] = str(error_class)

    def rest(self, todo: Todo) -> Todo:
        """The jobs without those of targets that were given up; it ends when there is no target left."""
        for job, mine in todo:
            if len(self.lost) == self._arms:
                return
            yield job, mine and job.name not in self.lost


def reasons(lost: dict[str, str], after_s: float | None) -> list[str]:
    """Why a run with targets that were given up is invalid."""
    return [
        f"{name} was given up: no request reached it for {after_s:g} s ({word}); the rest was not sent"
        for name, word in sorted(lost.items())
    ]
