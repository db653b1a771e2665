"""The one place that turns an exception into an exit code and a report."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from pathlib import Path

from fwctl import __version__
from fwctl.env import Env
from fwctl.errors import FwctlError, InterruptedByUserError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report, failure

_DISK_TROUBLE = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO})  # nothing that fwctl can mend


class Terminated(BaseException):
    """SIGTERM arrived."""


class BugError(FwctlError):
    """fwctl itself is wrong."""

    code = "bug"
    exit_code = Exit.BUG


def usage_report(command: str, error: Exception) -> Report:
    """The report of a usage error that typer found."""
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else f"fwctl {command}".replace("fwctl fwctl", "fwctl")
    message = getattr(error, "message", str(error)) or str(error)
    format_message = getattr(error, "format_message", None)
    if format_message is not None and not getattr(error, "possibilities", None):
        message = format_message()
    message = message.rstrip(".")
    near = getattr(error, "possibilities", None)
    if near:
        message += f"; did you mean {' or '.join(sorted(near))}?"
    message = message[:1].lower() + message[1:]
    return failure(command, UsageError(message, next_steps=[f"{path} --help"]))


def interrupted_report(command: str, *, terminated: bool) -> Report:
    """The report of a run that a signal ended."""
    text = "terminated" if terminated else "interrupted"
    code = Exit.TERMINATED if terminated else Exit.INTERRUPTED
    return failure(command, InterruptedByUserError(text), code)


def crash_report(command: str, error: Exception, argv: Sequence[str], env: Env) -> Report:
    """The report of an error that nothing foresaw: a full disk is named, all else is a bug."""
    if isinstance(error, OSError) and error.errno in _DISK_TROUBLE:
        return failure(
            command, FwctlError(f"cannot write {error.filename or 'the output'}: {error.strerror}")
        )
    return bug_report(command, error, argv, env)


def bug_report(command: str, error: BaseException, argv: Sequence[str], env: Env) -> Report:
    """One line for people and a redacted file with the traceback for whoever fixes it."""
    import platform
    import traceback

    lines = [
        f"fwctl {__version__}",
        f"Python {platform.python_version()} on {platform.platform()}",
        "argv: " + " ".join(env.redactor.mask_argv(list(argv))),
        "",
        *traceback.format_exception(error),
    ]
    path = _write(env.redactor.mask("\n".join(lines)))
    name = type(error).__name__
    detail = env.redactor.mask(str(error)).splitlines()
    message = f"this is a bug in fwctl: {name}: {detail[0] if detail else ''}".rstrip(": ")
    steps = [f"attach {path} to a bug report; secrets in it are masked"] if path else []
    return failure(command, BugError(message, next_steps=steps))


def _write(text: str) -> Path | None:
    import tempfile

    try:
        with tempfile.NamedTemporaryFile(
            "w",
            encoding="utf-8",
            errors="backslashreplace",
            prefix="fwctl-report-",
            suffix=".txt",
            delete=False,
        ) as file:
            file.write(text + "\n")
    except OSError:
        return None
    return Path(file.name)
