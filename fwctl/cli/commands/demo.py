"""`fwctl demo`: the whole job on the simulator, as real commands."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

import fwctl
from fwctl.cli.command import Call, command
from fwctl.cli.output import write
from fwctl.errors import FwctlError, UsageError
from fwctl.exitcodes import Exit
from fwctl.process import run as run_process
from fwctl.report.layout import Span
from fwctl.report.model import Report

DEADLINE_S = 300.0
SPEED = "600"  # simulated seconds a second: a deployment is ready within one


@dataclass(frozen=True, slots=True)
class Step:
    """One command of the demo and what it shows."""

    argv: tuple[str, ...]
    shows: str


STEPS = (
    Step(("validate",), "Every problem of every spec in one pass. These three are fine."),
    Step(("fit-check",), "Weights and KV memory against the GPUs, before anything is created."),
    Step(
        ("plan", "--out", "plan.json"), "What an apply would do, with fit, cost and the exact firectl calls."
    ),
    Step(
        ("apply", "--plan", "plan.json", "--yes", "--poll-interval", "1s"),
        "Exactly that plan is applied, and waited for.",
    ),
    Step(("plan", "--detailed-exitcode"), "Live now matches the specs: exit 0 and no changes."),
)


@command("fwctl demo", "fwctl demo --folder my-demo")
def demo(
    call: Call,
    *,
    folder: Annotated[
        str | None, typer.Option("--folder", metavar="DIR", help="Keep specs and simulator state there.")
    ] = None,
) -> Report:
    """Run the main job on the embedded simulator: validate, fit-check, plan, apply, plan again.

    It needs no account and no network, and nothing is billed. Without --folder everything happens in
    a temporary folder that is removed at the end.
    """
    with ExitStack() as stack:
        place = _place(call, folder, stack)
        rows = [_run(call, place, number, step) for number, step in enumerate(STEPS, 1)]
    failed = [row for row in rows if row["exit_code"]]
    error = None
    if failed:
        error = FwctlError(f"step {len(rows)} of the demo, `{rows[-1]['command']}`, went wrong")
    code = Exit.FAILED if error else Exit.OK
    report = Report("demo", {"folder": folder, "steps": rows}, code, error=error)
    return report.hinted(() if error else _next(folder))


def example_specs() -> Path:
    """The folder with the specs that ship with fwctl."""
    package = Path(fwctl.__file__).parent
    installed = package / "_configs"
    return installed if installed.is_dir() else package.parent / "configs"


def _place(call: Call, folder: str | None, stack: ExitStack) -> Path:
    """A folder with the example specs and an empty simulator."""
    if folder is None:
        place = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="fwctl-demo-")))
    else:
        place = call.env.cwd / folder
        if place.exists() and (not place.is_dir() or any(place.iterdir())):
            raise UsageError(f"--folder: {folder} exists and is not an empty folder")
    shutil.copytree(example_specs(), place / "configs", dirs_exist_ok=True)
    return place


def _environment(call: Call, place: Path) -> Mapping[str, str]:
    """The child's variables: the simulator, and none of the user's own settings."""
    kept = {
        name: value
        for name, value in call.env.environ.items()
        if not name.startswith(("FWCTL_", "FIRECTL_", "FIREWORKS_"))
    }
    settings = {
        "FWCTL_FIRECTL": "sim",
        "FIRECTL_SIM_HOME": str(place / ".firectl-sim"),
        "FIRECTL_SIM_SPEED": SPEED,
        "PYTHONPATH": os.pathsep.join(
            filter(None, (str(Path(fwctl.__file__).parents[1]), kept.get("PYTHONPATH")))
        ),
    }
    color = {"FORCE_COLOR": "1"} if call.output.style(call.env.stdout).color else {"NO_COLOR": "1"}
    return {**kept, **settings, **color}


def _run(call: Call, place: Path, number: int, step: Step) -> dict[str, Any]:
    line = "fwctl " + " ".join(step.argv)
    if number > 1 and not call.settings.quiet:
        write(call.env.stderr, "\n")
    call.output.message(Span(f"{number}. {step.shows}", "bold"))
    call.output.message(Span(f"$ {line}", "cyan"))
    done = run_process(
        [sys.executable, "-m", "fwctl", *step.argv],
        env=_environment(call, place),
        deadline_s=DEADLINE_S,
        cwd=place,
    )
    if call.settings.format == "text":
        write(call.env.stdout, done.stdout)
        write(call.env.stderr, done.stderr if done.returncode else "")
    return {"command": line, "exit_code": done.returncode, "seconds": round(done.seconds, 2)}


def _next(folder: str | None) -> tuple[str, ...]:
    if folder:
        return (
            f"everything is in {folder}; go on there with:",
            f"  cd {folder} && export FWCTL_FIRECTL=sim && fwctl status",
            "  then change a number in configs/chat.yaml and run `fwctl plan`",
        )
    return (
        "next: fwctl demo --folder my-demo       keeps the specs and the simulator to play with",
        "next: fwctl init > configs/chat.yaml    starts a spec of your own",
    )
