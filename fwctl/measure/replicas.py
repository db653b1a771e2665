"""Ready replicas while a run goes on: a number that changes makes its figures incomparable."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any

from fwctl.env import Clock
from fwctl.errors import FwctlError

EVERY_S = 30.0

# Ready replicas by target; targets that name no deployment are left out.
Sample = Callable[[], Mapping[str, int]]


class Replicas:
    """Samples before, every 30 s during and after. Nothing happens without a function to sample.

    earlier: samples of the sessions of this run that were interrupted.
    """

    def __init__(
        self,
        sample: Sample | None,
        clock: Clock,
        every_s: float = EVERY_S,
        earlier: Iterable[Mapping[str, Any]] = (),
    ) -> None:
        self._sample = sample
        self._clock = clock
        self._every_s = every_s
        self._earlier = [dict(row) for row in earlier]
        self._seen: list[dict[str, Any]] = []
        self._failed: str | None = None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def __enter__(self) -> Replicas:
        if self._sample is not None:
            self._take()
            self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        if self._sample is not None:
            self._thread.join()
            self._take()

    def to_json(self) -> list[dict[str, Any]]:
        """`at` (ISO time) and `ready` (replicas by target) of every sample of this session."""
        return list(self._seen)

    def all(self) -> list[dict[str, Any]]:
        """The same of all sessions."""
        return [*self._earlier, *self._seen]

    def reasons(self) -> list[str]:
        """Why the run is invalid: replicas that came or went."""
        found = []
        looks = self.all()
        for name in sorted({name for row in looks for name in row["ready"]}):
            counts = [row["ready"].get(name, 0) for row in looks]
            if len(set(counts)) > 1:
                found.append(
                    f"the ready replicas of {name} changed during the run: from {counts[0]}, "
                    f"between {min(counts)} and {max(counts)}"
                )
        return found

    def warnings(self) -> list[str]:
        """What is not known about the replicas."""
        if self._failed is None:
            return []
        return [f"the ready replicas could not be read, so a change would not be seen: {self._failed}"]

    def _watch(self) -> None:
        while not self._ended.wait(self._every_s):
            self._take()

    def _take(self) -> None:
        assert self._sample is not None
        try:
            ready = dict(self._sample())
        except FwctlError as error:
            self._failed = error.message
            return
        self._seen.append({"at": self._clock.now().isoformat(), "ready": ready})
