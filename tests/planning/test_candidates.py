"""Deployments that an experiment made: apart from the stack's own, deleted once their time has passed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

from fwctl.live.identity import match
from fwctl.live.model import LiveDeployment
from fwctl.live.reader import read_live
from fwctl.planning.model import Plan
from fwctl.planning.options import Intent
from tests.planning.support import CAPS, NOW, Platform, entry, marked_row, only, plan_of, row, spec

LATER = NOW + timedelta(hours=4)


def candidate(end: str = "20261130T1100Z", **more: Any) -> dict[str, Any]:
    """What an experiment made; by default its time ended an hour ago."""
    return row("shapes-fp8-ab12", description=f"[fwctl prod/shapes--fp8 exp={end}]", **more)


def actions(plan: Plan) -> dict[str, tuple[str, ...]]:
    return {change.deployment_id: change.actions for change in plan.changes}


def test_an_apply_deletes_what_outlived_its_end_without_being_asked_by_name() -> None:
    plan = plan_of(entry(), [marked_row(), candidate()])
    assert actions(plan) == {"chat": ("no-op",), "shapes-fp8-ab12": ("delete",)}
    (gone,) = [change for change in plan.changes if change.deployment_id != "chat"]
    assert gone.reason == "made by an experiment, to live until 2026-11-30 11:00"
    assert "--ignore-checks" in gone.commands[0]  # its traffic was the experiment's


def test_one_that_still_has_time_is_nobodys_orphan() -> None:
    plan = plan_of(entry(), [marked_row(), candidate("20261130T1300Z")], prune=True)
    assert actions(plan) == {"chat": ("no-op",)}
    assert plan.notes == ()


def test_another_stacks_and_an_unmarked_one_stay() -> None:
    foreign = row("x-fp8", description="[fwctl dev/shapes--fp8 exp=20261130T1100Z]")
    assert actions(plan_of(entry(), [marked_row(), foreign, row("plain")])) == {"chat": ("no-op",)}


def test_one_that_the_spec_means_by_its_id_is_not_deleted() -> None:
    plan = plan_of(entry(id="shapes-fp8-ab12"), [candidate()])
    assert "delete" not in only(plan).actions


def test_a_candidate_is_created_with_its_end_beside_an_equal_deployment_of_the_stack() -> None:
    plan = plan_of(spec(entry("shapes--fp8")), [marked_row()], expires=LATER)
    assert only(plan).actions == ("create",)
    assert "exp=20261130T1600Z" in " ".join(only(plan).commands[0])


def test_a_candidate_never_stands_for_a_deployment_of_the_same_name() -> None:
    entries = spec(entry("chat")).deployments.values()
    live = live_of([marked_row(), candidate()])
    own = match(entries, live, "prod")
    assert own.by_name["chat"].current is not None
    theirs = match(spec(entry("shapes--fp8")).deployments.values(), live, "prod", experiment=True)
    assert theirs.by_name["shapes--fp8"].current == live["shapes-fp8-ab12"]
    assert theirs.orphans == {}


def test_forget_keeps_one_past_its_end_and_destroy_names_it() -> None:
    rows = [candidate("20261130T1300Z")]
    kept = only(plan_of(entry(), rows, intent=Intent.FORGET, intent_names=("shapes-fp8-ab12",)))
    assert kept.actions == ("mark",)
    assert "exp=" not in " ".join(kept.commands[0])
    gone = only(plan_of(entry(), rows, intent=Intent.DESTROY, intent_names=("shapes--fp8",)))
    assert (gone.deployment_id, gone.actions) == ("shapes-fp8-ab12", ("delete",))


def live_of(rows: list[dict[str, Any]]) -> Mapping[str, LiveDeployment]:
    return read_live(Platform(rows), spec(entry()), CAPS).deployments
