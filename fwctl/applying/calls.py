"""One mutating call: the intent on disk, the call, the outcome on disk."""

from __future__ import annotations

import threading
from collections.abc import Callable

from fwctl.applying.model import CallResult, Platform, Subject
from fwctl.applying.problems import DEFINITE_CLASSES
from fwctl.errors import FwctlError
from fwctl.planning.model import Step
from fwctl.records.journal import Journal


class Caller:
    """Makes calls and remembers whether any may have changed the platform. Used from several threads."""

    def __init__(self, platform: Platform, journal: Journal, crash: Callable[[str], None]) -> None:
        self._platform = platform
        self._journal = journal
        self._crash = crash
        self._changed = threading.Event()

    @property
    def changed(self) -> bool:
        """True once a call succeeded, or failed in a way that may hide a change."""
        return self._changed.is_set()

    def call(self, subject: Subject, step: Step) -> CallResult:
        """Runs one step between two journal records; `crash` is told each point that can be the last.

        Raises FwctlError when firectl could not be started.
        """
        where = f"{subject.name}/{step.verb}"
        argv = self._platform.argv(step)
        self._crash(f"{where}/before intent")
        seq = self._journal.intent(
            address=subject.address,
            deployment_id=subject.deployment_id,
            call=" ".join(argv),
        )
        self._crash(f"{where}/after intent")
        try:
            result = self._platform.call(step)
        except FwctlError as error:  # firectl was not started
            self._journal.outcome(seq, result="not run", message=error.message)
            raise
        if result.ok or result.error_class not in DEFINITE_CLASSES:
            self._changed.set()
        self._crash(f"{where}/after call")
        self._journal.outcome(
            seq,
            result="ok" if result.ok else result.error_class,
            message=result.message,
            seconds=round(result.seconds, 3),
        )
        self._crash(f"{where}/after outcome")
        return result
