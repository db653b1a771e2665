"""`fwctl experiment run|status|stop|list`: compare candidate deployments and keep the one that wins."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.choices import Scope
from fwctl.cli.command import Call, command
from fwctl.cli.confirm import ask
from fwctl.cli.experiment_result import document, evidence_files, proposed_for, recommendation
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.session import Session, check_account, scope_spec
from fwctl.errors import FwctlError, InterruptedByUserError, RefusedError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.live.model import LiveDeployment
    from fwctl.quality.experiments.run import Course
    from fwctl.quality.experiments.state import State

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the experiment.", show_default=False)]


@command("fwctl experiment run experiment.yaml", "fwctl experiment run experiment.yaml --yes --delete-all")
def experiment_run(
    call: Call,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="The experiment.", show_default=False)],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    delete_all: Annotated[bool, typer.Option("--delete-all", help="Do not keep the winner either.")] = False,
    allow_unknown_price: Annotated[
        bool, typer.Option("--allow-unknown-price", help="Although the spend cap does not hold for it.")
    ] = False,
    evidence: Annotated[
        bool, typer.Option("--evidence", help="Keep the results as evidence beside the specs.")
    ] = False,
    specs: Annotated[
        list[str] | None,
        typer.Option("--specs", metavar="PATH", help="Specs that the recommendation is for [configs/]."),
    ] = None,
) -> Report:
    """Create candidates, give all the same load, keep the cheapest that is good enough, delete the rest.

    The winner is the cheapest candidate, per million output tokens, that meets
    the SLO and loses no more quality against the baseline than allowed. An
    interrupted or killed run goes on when the same command is given again.
    Exit 4: there is no winner, or the spend cap was reached.
    """
    from fwctl.cli.experiment_world import PlatformWorld, confirm_course, require_key
    from fwctl.measure.suite import load as load_suite
    from fwctl.quality.experiments.file import load_experiment
    from fwctl.quality.experiments.run import Choices, Course

    experiment = load_experiment(call.env.cwd / file, environ=call.env.environ, shown_as=file)
    check_account(call, experiment.spec.account)
    require_key(call)
    proposed_for(call, experiment, specs or [])
    suite = load_suite(experiment.suite)
    choices = Choices(allow_unknown_price, delete_all, call.settings.poll_interval_s)
    with _alone(call, experiment.name, "run"), Session(call, experiment.spec.account) as session:
        world = PlatformWorld(call, session)
        course = Course(experiment, world, call.env.cwd / STATE_FOLDER, suite, choices)
        course.prepare()
        confirm_course(call, course, yes=yes)
        state = _go(course)
        live = world.live(experiment.spec)
    body = {
        "experiment": document(state, live.deployments),
        "recommendation": recommendation(call, experiment, state, specs or []),
        "evidence": evidence_files(call, experiment, state, specs or []) if evidence else [],
    }
    return Report("experiment run", body, *_end(state), hints=_hints(state))


def _go(course: Course) -> State:
    """To the end, or to Ctrl-C wherever it comes."""
    try:
        return course.go()
    except KeyboardInterrupt:
        stop = f"fwctl experiment stop {course.experiment.name}"
        raise InterruptedByUserError(
            "the experiment was interrupted", next_steps=["run it again: it goes on from here", stop]
        ) from None


def _alone(call: Call, name: str, word: str) -> AbstractContextManager[str | None]:
    """One command at a time for an experiment; free as soon as its process ends."""
    from fwctl.quality.experiments.state import folder_of
    from fwctl.records.folderlock import folder_lock

    path = folder_of(call.env.cwd / STATE_FOLDER, name) / "run.lock"
    return folder_lock(path, call.env.clock, f"fwctl experiment {word}")


def _end(state: State) -> tuple[Exit, tuple[()], FwctlError | None]:
    """0 with a winner; 4 without one, at the cap, and at the end of the time."""
    from fwctl.quality.experiments.state import Phase

    if state.phase is Phase.DONE and state.decision is not None and state.decision["winner"]:
        return Exit.OK, (), None
    return Exit.REFUSED, (), RefusedError(state.reason, next_steps=["fwctl experiment status " + state.name])


def _hints(state: State) -> tuple[str, ...]:
    if state.keep is None:
        return ()
    until, stop = f"{state.end:%Y-%m-%d %H:%M} UTC", f"fwctl experiment stop {state.name}"
    return (f"{state.candidates[state.keep]} stays until {until}; `{stop}` deletes it now",)


@command("fwctl experiment status chat-shapes")
def experiment_status(call: Call, *, name: Name) -> Report:
    """Say what an experiment of this folder has done, found and cost."""
    state = _state(call, name)
    with Session(call, state.account) as session:
        live = session.live(None, silent=True)
    return Report("experiment status", {"experiment": document(state, live.deployments)})


def _state(call: Call, name: str) -> State:
    from fwctl.quality.experiments.state import load, load_all
    from fwctl.spec.closest import did_you_mean

    _check_name(name)
    root = call.env.cwd / STATE_FOLDER
    found = load(root, name)
    if found is None:
        near = did_you_mean(name, [state.name for state in load_all(root)])
        raise UsageError(
            f"this folder knows no experiment {name!r}",
            next_steps=[*([near] if near else []), "fwctl experiment list"],
        )
    return found


def _check_name(name: str) -> None:
    from fwctl.quality.experiments.values import name_problem

    if problem := name_problem(name):
        raise UsageError(f"the name {name[:80]!r} {problem}")


@command("fwctl experiment stop chat-shapes", "fwctl experiment stop chat-shapes --stack prod --yes")
def experiment_stop(
    call: Call,
    *,
    name: Name,
    scope: Scope,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
) -> Report:
    """Delete all candidates of an experiment, the winner too.

    Only deployments that carry the marker of this experiment are deleted; it is
    read again right before each delete. Works without the files of .fwctl too.
    """
    from fwctl.cli.experiment_world import PlatformWorld
    from fwctl.quality.experiments.deletes import remove
    from fwctl.quality.experiments.state import Phase, load, save
    from fwctl.spec.model import Spec

    _check_name(name)
    root = call.env.cwd / STATE_FOLDER
    state = load(root, name)
    spec = Spec(state.account, state.stack) if state and not scope.specs else scope_spec(call, scope)
    ask(call, f"type {name} to delete all candidates of it", name, yes=yes)
    with _alone(call, name, "stop"), Session(call, spec.account) as session:
        count = remove(PlatformWorld(call, session), spec, name=name, keep=None)
        live = session.live(spec, silent=True)
    if state is not None:
        phase = state.phase if state.phase is Phase.CAPPED else Phase.STOPPED
        state = state.at(phase, keep=None)
        save(root, state)
    shown = document(state, live.deployments) if state is not None else None
    hints = () if state is not None or count else (_nothing_of(name, live.deployments, spec.stack),)
    return Report("experiment stop", {"name": name, "deleted": count, "experiment": shown}).hinted(hints)


def _nothing_of(name: str, live: Mapping[str, LiveDeployment], stack: str) -> str:
    """What a stop says that found nothing, since the name may be misspelt and its candidates cost money."""
    from fwctl.live.identity import is_candidate
    from fwctl.quality.experiments.candidates import experiment_of

    mine = (item.marker for item in live.values() if is_candidate(item, stack))
    names = sorted({experiment_of(marker.name) for marker in mine if marker})
    others = f"experiments with candidates: {', '.join(names)}" if names else "no experiment has candidates"
    return f"nothing on the account carries the marker of {name!r} in stack {stack!r}; {others}"


@command("fwctl experiment list")
def experiment_list(call: Call, *, scope: Scope) -> Report:
    """List the experiments of this folder and what they left on the platform."""
    from fwctl.live.identity import has_expired, is_candidate
    from fwctl.quality.experiments.candidates import experiment_of
    from fwctl.quality.experiments.state import load_all

    states = {state.name: state for state in load_all(call.env.cwd / STATE_FOLDER)}
    spec = scope_spec(call, scope)
    with Session(call, spec.account) as session:
        live = session.live(None, silent=True)
    now, rows = call.env.clock.now(), []
    found = [item for item in live.deployments.values() if is_candidate(item, spec.stack) and item.marker]
    names = {experiment_of(item.marker.name) for item in found if item.marker}
    for name in sorted({*states, *names}):
        mine = [item for item in found if item.marker and experiment_of(item.marker.name) == name]
        state = states.get(name)
        rows.append(
            {
                "name": name,
                "phase": state.phase.value if state else None,
                "spent_usd": round(state.spending.usd, 4) if state else None,
                "winner": (state.decision or {}).get("winner") if state else None,
                "candidates": [item.deployment_id for item in mine],
                "expires": min(
                    (i.marker.expires.isoformat() for i in mine if i.marker and i.marker.expires),
                    default=None,
                ),
                "expired": any(has_expired(item, now) for item in mine),
            }
        )
    return Report("experiment list", {"account": spec.account, "stack": spec.stack, "experiments": rows})
