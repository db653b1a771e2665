"""`fwctl speculate adapt`, and its steps `collect`, `train`, `evaluate`, `decide` and `watch`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import RefusedError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.drafting.adapt import Adapt
    from fwctl.drafting.pipeline import Pipeline
    from fwctl.drafting.state import State, Step

File = Annotated[str, typer.Option("--file", "-f", metavar="FILE", help="The pipeline.", show_default=False)]
Write = Annotated[bool, typer.Option("--write", help="Write a promotion into the spec.")]


@dataclass(frozen=True)
class Running:
    """Options of everything that may start something."""

    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
    again: Annotated[bool, typer.Option("--again", help="Do it anew, although it was done.")] = False
    allow_unknown_price: Annotated[
        bool, typer.Option("--allow-unknown-price", help="Although the spend cap does not hold for it.")
    ] = False


@command("fwctl speculate adapt -f adapt.yaml", "fwctl speculate adapt -f adapt.yaml --yes --write")
def speculate_adapt(call: Call, *, file: File, running: Running, write: Write = False) -> Report:
    """Collect traffic, tune small models on it, measure them as drafters, and keep or promote.

    Nothing is uploaded, trained or created before it was confirmed. An
    interrupted or killed run goes on when the same command is given again.
    Exit 4: too little data, or something was refused.
    """
    return _run(call, "adapt", file, running, write=write)


@command("fwctl speculate collect -f adapt.yaml")
def speculate_collect(
    call: Call,
    *,
    file: File,
    again: Annotated[bool, typer.Option("--again", help="Do it anew, although it was done.")] = False,
) -> Report:
    """Write training and hold-out files from recorded traffic, without what points at people.

    Nothing leaves this machine. Exit 4: there is too little data.
    """
    return _run(call, "collect", file, Running(again=again))


@command("fwctl speculate train -f adapt.yaml")
def speculate_train(call: Call, *, file: File, running: Running) -> Report:
    """Upload the data and fine-tune every candidate; what exists already is not made again."""
    return _run(call, "train", file, running)


@command("fwctl speculate evaluate -f adapt.yaml")
def speculate_evaluate(call: Call, *, file: File, running: Running) -> Report:
    """Replay the hold-out, then measure the drafters on deployments of their own, which are deleted."""
    return _run(call, "evaluate", file, running)


@command("fwctl speculate decide -f adapt.yaml", "fwctl speculate decide -f adapt.yaml --write")
def speculate_decide(call: Call, *, file: File, write: Write = False) -> Report:
    """Say whether a candidate is promoted, and with which change of the spec."""
    return _run(call, "decide", file, Running(), write=write)


@command("fwctl speculate watch -f adapt.yaml", "fwctl speculate watch -f adapt.yaml --yes")
def speculate_watch(
    call: Call,
    *,
    file: File,
    records: Annotated[
        list[str] | None,
        typer.Option("--records", metavar="FILE", help="Records, instead of watch.records."),
    ] = None,
    running: Running,
) -> Report:
    """Compare acceptance in recent traffic with that of the evaluation.

    With `watch.on_drift: restart` a drift starts the pipeline again at its
    first step. Exit 4: acceptance drifted.
    """
    from fwctl.cli.adapt_desk import read
    from fwctl.drafting.following import ALARMS, said

    adapt, _ = read(call, file)
    state = _state(call, adapt)
    found = _followed(call, adapt, state, records or list(adapt.watching.records))
    drifted = found["trend"] in ALARMS
    if drifted and adapt.watching.restart:
        call.output.message(f"{said(found)}; starting again at the first step")
        report = _run(call, "adapt", file, running, begin=True)
        return Report("speculate watch", {"drift": found, **report.body}, report.exit_code)
    error = RefusedError(said(found), next_steps=[f"fwctl speculate adapt -f {file} --again"])
    if drifted:
        return Report("speculate watch", {"drift": found}, Exit.REFUSED, (), error)
    return Report("speculate watch", {"drift": found})


def _followed(call: Call, adapt: Adapt, state: State, files: list[str]) -> dict[str, object]:
    from fwctl.cli.adapt_desk import read
    from fwctl.drafting.following import followed, windows_of
    from fwctl.drafting.state import Step
    from fwctl.speculation.drift import Window
    from fwctl.speculation.reading import parts
    from fwctl.speculation.reading import read as read_rows

    evaluated, decision = state.result(Step.EVALUATE), state.result(Step.DECIDE)
    if evaluated is None or decision is None:
        raise RefusedError(
            "nothing was evaluated yet, so there is nothing to compare with",
            next_steps=[f"fwctl speculate adapt -f {adapt.file}"],
        )
    if not files:
        raise UsageError("there are no records to look at", next_steps=["--records FILE, or watch.records"])
    name = decision["candidate"] if decision["verdict"] == "promote" else evaluated["baseline"]
    arm = next(item for item in evaluated["arms"] if item["name"] == name)
    _, entry = read(call, adapt.file)
    rows = (row for part in parts(tuple(files), call.env.cwd) for row in read_rows(part))
    windows = windows_of(
        (row for row in rows if isinstance(row, dict)),
        entry.deployment_id,
        adapt.watching.window_s,
        call.env.clock.now(),
    )
    return followed(Window(**arm["drafts"]), windows)


def _state(call: Call, adapt: Adapt) -> State:
    from fwctl.cli.places import STATE_FOLDER
    from fwctl.drafting.state import load

    return load(call.env.cwd / STATE_FOLDER, adapt.name, adapt.account)


def _run(
    call: Call, word: str, file: str, running: Running, *, write: bool = False, begin: bool = False
) -> Report:
    """One step, or all of them for `adapt`, alone in this folder."""
    from fwctl.cli.adapt_desk import CallDesk, document, promotion, read
    from fwctl.cli.experiment_world import confirm_course, require_key
    from fwctl.cli.session import Session, check_account
    from fwctl.drafting.pipeline import Pipeline
    from fwctl.drafting.state import Step, folder_of
    from fwctl.records.folderlock import folder_lock

    adapt, entry = read(call, file)
    check_account(call, adapt.account)
    if word in ("adapt", "evaluate"):
        require_key(call)
    with Session(call, adapt.account) as session:
        desk = CallDesk(call, session, yes=running.yes)
        lock = folder_of(desk.root, adapt.name) / "run.lock"
        with folder_lock(lock, call.env.clock, f"fwctl speculate {word}"):
            pipeline = Pipeline(
                adapt,
                entry,
                desk,
                lambda course: confirm_course(call, course, yes=running.yes),
                allow_unknown_price=running.allow_unknown_price,
            )
            if running.again or begin:
                pipeline.forget(Step.COLLECT if word == "adapt" else Step(word))
            _steps(word)(pipeline)
    shown = promotion(call, adapt, entry, pipeline.state, write=write)
    body = {"adapt": document(adapt, pipeline.state), "promotion": shown}
    return Report(f"speculate {word}", body, hints=_hints(file, shown))


def _steps(word: str) -> Callable[[Pipeline], object]:
    from fwctl.drafting.state import Step

    if word == "adapt":
        return lambda pipeline: pipeline.run()
    step: Step = Step(word)
    return lambda pipeline: pipeline.step(step)


def _hints(file: str, shown: dict[str, object] | None) -> tuple[str, ...]:
    if shown is None or not shown["changes"]:
        return ()
    if shown["written"]:
        return (f"next: fwctl plan {shown['file']}, then fwctl apply",)
    return (f"next: fwctl speculate decide -f {file} --write",)
