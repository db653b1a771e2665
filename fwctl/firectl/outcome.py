"""How one firectl call ended; what it printed is masked on its way out."""

from __future__ import annotations

from dataclasses import dataclass, field

from fwctl.errors import FwctlError, InterruptedByUserError
from fwctl.firectl.errors import TIMEOUT_STEPS, ErrorClass, Failure, classify, failure_line, to_error
from fwctl.firectl.text import last_line, without_ansi
from fwctl.process import Completed
from fwctl.redact import Redactor

# Failures after which the platform may nevertheless have done what was asked.
AMBIGUOUS = frozenset({ErrorClass.UNAVAILABLE, ErrorClass.TIMEOUT, ErrorClass.UNKNOWN})


@dataclass(frozen=True, slots=True)
class Outcome:
    """One call. `argv` starts behind the binary and is masked, and so are `message` and `next_steps`,
    which are empty when `ok`. returncode is negative for a signal.

    raw_stdout, raw_stderr: as printed, without colours, for the parser alone; everybody else reads
    `stdout` and `stderr`.
    """

    argv: tuple[str, ...]
    ok: bool
    seconds: float
    returncode: int | None
    error_class: ErrorClass | None = None
    message: str = ""
    next_steps: tuple[str, ...] = ()
    timed_out: bool = False
    interrupted: bool = False
    raw_stdout: str = field(default="", repr=False)
    raw_stderr: str = field(default="", repr=False)
    redactor: Redactor = field(default_factory=Redactor, repr=False, compare=False)

    @property
    def stdout(self) -> str:
        """What firectl printed, masked (on every access: keep it if it is large)."""
        return self.redactor.mask(self.raw_stdout)

    @property
    def stderr(self) -> str:
        return self.redactor.mask(self.raw_stderr)

    @property
    def ambiguous(self) -> bool:
        """True when a mutating call failed in a way that may hide a change: read live state first."""
        return not self.ok and (self.interrupted or self.error_class in AMBIGUOUS)

    def error(self, deployment: str | None = None) -> FwctlError:
        """The exception that this failure means for a command."""
        if self.interrupted:
            return InterruptedByUserError(self.message, deployment=deployment, next_steps=self.next_steps)
        return to_error(self.error_class or ErrorClass.UNKNOWN, self.message, self.next_steps, deployment)

    def checked(self, deployment: str | None = None) -> Outcome:
        """Itself when it succeeded; raises `error` otherwise."""
        if not self.ok:
            raise self.error(deployment)
        return self


def judge(completed: Completed, argv: tuple[str, ...], redactor: Redactor, deadline_s: float) -> Outcome:
    """The outcome of a finished child: its own words decide, then its exit code.

    A `Failed to execute:` line is a failure whatever the exit code says.
    """
    stdout, stderr = without_ansi(completed.stdout), without_ansi(completed.stderr)
    failure = None
    if completed.interrupted:
        failure = Failure(ErrorClass.UNKNOWN, "interrupted while firectl was running", "", TIMEOUT_STEPS)
    elif completed.timed_out:
        slow = f"firectl gave no answer within {deadline_s:g} s and was stopped"
        failure = Failure(ErrorClass.TIMEOUT, slow, "", TIMEOUT_STEPS)
    else:
        line = failure_line(stdout, stderr, succeeded=completed.returncode == 0)
        if line is not None or completed.returncode != 0:
            failure = classify(line or _without_words(completed, stdout, stderr), stdout + "\n" + stderr)
    return Outcome(
        argv=tuple(redactor.mask_argv(argv)),
        ok=failure is None,
        seconds=completed.seconds,
        returncode=completed.returncode,
        error_class=failure.error_class if failure else None,
        message=redactor.mask(failure.line) if failure else "",
        next_steps=tuple(redactor.mask(step) for step in failure.next_steps) if failure else (),
        timed_out=completed.timed_out,
        interrupted=completed.interrupted,
        raw_stdout=stdout,
        raw_stderr=stderr,
        redactor=redactor,
    )


def _without_words(completed: Completed, stdout: str, stderr: str) -> str:
    """What to say about a child that failed without firectl's failure line."""
    said = last_line(stderr) or last_line(stdout)
    code = completed.returncode
    if code is None:
        how = "firectl could not be stopped"
    elif code < 0:
        how = f"firectl was killed by signal {-code}"
    else:
        how = f"firectl exited with code {code}"
    return f"{how}: {said}" if said else f"{how} and printed nothing"
