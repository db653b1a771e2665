"""Proof that a deployment serves: one real completion, asked for until it is answered.

READY is not serving: minutes of 503 DEPLOYMENT_SCALING_UP after it are normal, and count as progress.
"""

from __future__ import annotations

from fwctl.applying.effects import ActionFailedError, Ask, Ended, Pause, Procedure
from fwctl.applying.model import Answer, Outcome
from fwctl.applying.problems import failed, timed_out
from fwctl.applying.work import Work
from fwctl.units import short_duration


def answered(work: Work, deployment_id: str) -> Procedure[Ended]:
    """Asks until there is an answer, the endpoint refuses for good, or the deadline passes."""
    model = work.model_string(deployment_id)
    began_s = work.clock.monotonic()
    while True:
        answer: Answer = yield Ask(model)
        if answer.ok:
            return Ended()
        if not answer.progress:
            raise ActionFailedError(
                failed(
                    f"{deployment_id} is READY, but does not answer: {answer.message}",
                    (f"fwctl wait {work.change.name} --verify request",),
                    "verify",
                )
            )
        if work.clock.monotonic() - began_s >= work.options.wait_timeout_s:
            waited = short_duration(round(work.options.wait_timeout_s))
            return Ended(
                Outcome.IN_PROGRESS,
                problem=timed_out(
                    f"{deployment_id} is READY, but did not answer within {waited}: {answer.message}",
                    (f"fwctl wait {work.change.name} --verify request",),
                ),
            )
        yield Pause(work.options.poll_interval_s)
