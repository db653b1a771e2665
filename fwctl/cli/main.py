"""One run of fwctl: parse, execute, report, and leave with the right exit code."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Sequence
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, TextIO

from fwctl.cli.failure import Terminated, crash_report, interrupted_report, usage_report
from fwctl.cli.output import MACHINE_FORMATS, Output, write
from fwctl.env import Env
from fwctl.errors import FwctlError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report, failure

if TYPE_CHECKING:
    from fwctl.cli.build import Run


def run_process(argv: Sequence[str]) -> int:
    """Run in this process: real streams and signals."""

    def terminate(_signum: int, _frame: FrameType | None) -> None:
        raise Terminated

    signal.signal(signal.SIGTERM, terminate)
    try:
        env = Env.system()
    except UsageError as error:
        env = Env.system(Path(os.sep))
        report = failure(prescan_command(argv), error)
        Output(env, prescan_format(argv, env)).result(report)
        return int(report.exit_code)
    try:
        code = run(argv, env)
    except BrokenPipeError:
        code = int(Exit.FAILED)  # the reader went away (`fwctl plan | head`); nothing more can be said
    if not _drained(env.stdout):
        code = code or int(Exit.FAILED)
    _drained(env.stderr)
    return code


def _drained(stream: TextIO) -> bool:
    """Flush; False when the stream takes no more, and then what it still holds is dropped, so that the
    interpreter does not stumble over it at its end."""
    try:
        stream.flush()
    except OSError:
        with contextlib.suppress(OSError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
        return False
    return True


def run(argv: Sequence[str], env: Env) -> int:
    """Run one command line in this environment and return the exit code. Never raises but BrokenPipe."""
    from fwctl.cli.build import Run

    state = Run(env)
    state.output = Output(env, prescan_format(argv, env))
    asked = state.output.format
    report = _guarded(argv, env, state)
    if report is not None:
        state.report = report
        if asked in MACHINE_FORMATS:  # also when a broken option swallowed `--format json`
            state.output.format = asked
        try:
            state.output.result(report)
        except FwctlError as error:  # the --json-out file or stdout, on top of the failure being told
            _told(state, failure(report.command, error))
    return int(state.report.exit_code) if state.report is not None else int(Exit.OK)


def _told(state: Run, report: Report) -> None:
    """Report a failure of reporting; on stderr alone when stdout takes nothing."""
    try:
        state.output.result(report)
    except FwctlError:
        state.output.error(report)


def _guarded(argv: Sequence[str], env: Env, state: Run) -> Report | None:
    """Execute; the report of a failure, None when the command reported by itself."""
    import typer

    name = prescan_command(argv)
    try:
        from fwctl.cli.build import application

        code = application().main(args=list(argv), prog_name="fwctl", standalone_mode=False, obj=state)
    except UsageError as error:
        error.next_steps = error.next_steps or (
            "fwctl --help" if name == "fwctl" else f"fwctl {name} --help",
        )
        return failure(name, error)
    except FwctlError as error:
        return failure(name, error)
    except typer.TyperException as error:
        if not argv and state.output.format == "text":
            write(env.stderr, error.ctx.get_help() + "\n\n")  # type: ignore[attr-defined]
        return usage_report(name, error)
    except (KeyboardInterrupt, typer.Abort):
        return interrupted_report(name, terminated=False)
    except Terminated:
        return interrupted_report(name, terminated=True)
    except BrokenPipeError:
        raise
    except Exception as error:
        return crash_report(name, error, argv, env)
    return interrupted_report(name, terminated=False) if code == int(Exit.INTERRUPTED) else None


def prescan_format(argv: Sequence[str], env: Env) -> str:
    """`json` or `events` when the command line or FWCTL_FORMAT asks for it, read before any parsing so
    that a usage error is JSON too; `text` otherwise."""
    found = env.environ.get("FWCTL_FORMAT", "")
    words = list(argv)
    if "--" in words:
        words = words[: words.index("--")]
    for at, word in enumerate(words):
        if word == "--format" and at + 1 < len(words):
            found = words[at + 1]
        elif word.startswith("--format="):
            found = word.partition("=")[2]
    return found if found in MACHINE_FORMATS else "text"


def prescan_command(argv: Sequence[str]) -> str:
    """The command's name for the report of a failure; `fwctl` when there is none."""
    from fwctl.cli.options import COMMON
    from fwctl.cli.registry import BY_NAME, GROUPS

    takes_value = {flag for option in COMMON if option.metavar for flag in option.flags}
    words: list[str] = []
    skip = False
    for word in argv:
        if skip:
            skip = False
        elif word in takes_value:
            skip = True
        elif not word.startswith("-"):
            words.append(word)
    pair = " ".join(words[:2])
    name = pair if words and (words[0] in GROUPS or pair in BY_NAME) else "".join(words[:1])
    return name if name in BY_NAME else "fwctl"
