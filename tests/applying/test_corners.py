"""Ends and detours that are rare, each seen from outside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fwctl.applying.compare import differences
from fwctl.applying.model import CallResult, Outcome
from fwctl.applying.settle import stage_of
from fwctl.errors import FirectlFailedError, InterruptedByUserError
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment, LiveState, Replicas
from fwctl.planning.model import Change, Step
from fwctl.redact import Secret
from tests.applying.fakes import (
    Bench,
    FakePlatform,
    Fault,
    creating,
    deleting,
    deployment,
    entry,
    error,
    marker,
    ok,
    plan,
    ready,
    sent,
    spec,
    updating,
    values,
)


def existing(bench: Bench, name: str, **fields: object) -> LiveDeployment:
    live = ready(deployment(name, sent(name, values(**fields))))
    bench.platform.live[name] = live
    return live


@pytest.mark.parametrize(
    ("replicas", "state", "stage"),
    [
        (Replicas(1, 2, 1, 0, downloading=1), "CREATING", "downloading"),
        (Replicas(1, 2, 1, 0, initializing=1), "CREATING", "initializing"),
        (Replicas(1, 2, 1, 0, pending=1), "READY", "pending"),
        (Replicas(1, 2, 1, 0), "CREATING", "creating"),
        (Replicas(0, 0, 0, 0), "READY", "parked"),
        (Replicas(0, 2, 0, 0), "READY", "scaled to zero"),
        (Replicas(1, 2, 1, 1), "READY", "ready"),
        (Replicas(2, 2, 2, 1), "READY", "pending"),
        (Replicas(1, 2, 1, 1), "SOMETHING_NEW", "something_new"),
    ],
)
def test_stages_are_told_apart(replicas: Replicas, state: str, stage: str) -> None:
    assert stage_of(replace(deployment("a", values()), replicas=replicas, state=state)) == stage


def test_secrets_and_what_the_platform_does_not_return_are_not_compared() -> None:
    wanted = {
        "direct_route.api_keys": [Secret("${env:K}", "canary")],
        "speculation.mode": "draft",
        "router": "front",
        "no.such.field": 1,
    }
    assert differences(wanted, deployment("a", values())) == ()


def test_a_deletion_under_way_is_followed_to_its_end(bench: Bench) -> None:
    live = replace(existing(bench, "a"), state="DELETING")
    bench.platform.live["a"] = live

    def ends(platform: FakePlatform, nth: int) -> None:
        if nth == 3:
            platform.live["a"] = replace(live, state="DELETED")

    bench.platform.before_read = ends
    result = bench.apply(plan(Change("a", "a", ("wait",), live=live)), spec(entry("a")))
    assert result.results[0].outcome is Outcome.DONE
    assert "plan again" in result.results[0].note
    assert bench.platform.reads == 3


@pytest.mark.parametrize("wait", [True, False])
def test_a_deletion_that_lasts_is_left_to_the_platform(bench: Bench, wait: bool) -> None:
    live = existing(bench, "a")
    slow = Fault("deployment delete", 1, ok())  # accepted, but nothing happens
    bench.platform.faults = [slow]
    result = bench.apply(plan(deleting(live)), spec(), wait=wait, wait_timeout_s=60.0)
    assert result.results[0].outcome is Outcome.IN_PROGRESS
    assert result.exit_code is (Exit.TIMEOUT if wait else Exit.OK)


def test_a_delete_of_what_the_platform_no_longer_knows_is_done(bench: Bench) -> None:
    live = existing(bench, "a")

    class Gone(FakePlatform):
        def call(self, step: Step) -> CallResult:
            self.live.clear()
            return super().call(step)

    bench.platform = Gone(live=bench.platform.live)
    result = bench.apply(plan(deleting(live)), spec())
    assert (result.results[0].outcome, result.results[0].note) == (Outcome.DONE, "done by another run")


def test_a_delete_that_is_refused_as_unknown_while_it_still_exists_fails(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment delete", 1, error("not_found", "not found"))]
    result = bench.apply(plan(deleting(existing(bench, "a"))), spec())
    assert result.results[0].outcome is Outcome.FAILED
    assert bench.called() == ["deployment delete a"]


def test_an_update_that_never_gets_an_answer_fails_after_two_tries(bench: Bench) -> None:
    wanted = values(replicas__max=3)
    bench.platform.faults = [Fault("deployment update", nth, error("timeout", "late")) for nth in (1, 2)]
    result = bench.apply(plan(updating(existing(bench, "a"), wanted)), spec(entry("a", wanted)))
    assert (result.results[0].outcome, len(bench.platform.calls)) == (Outcome.FAILED, 2)


def test_an_update_of_a_deployment_that_is_gone_is_stale(bench: Bench) -> None:
    live = existing(bench, "a")
    bench.platform.live.clear()
    result = bench.apply(plan(updating(live, values(replicas__max=3))), spec(entry("a")))
    problem = result.results[0].problem
    assert problem is not None
    assert problem.message == "a moved since the plan: it was deleted"


def test_tags_are_set_and_unset_once_even_without_an_answer(bench: Bench) -> None:
    live = existing(bench, "a")
    put = Step("deployment tag set", "a", {"tags": {"team": "x"}})
    drop = Step("deployment tag unset", "a", {"tags": ["old"]})
    bench.platform.faults = [
        Fault("deployment tag set", 1, error("timeout"), effect=True),
        Fault("deployment tag unset", 1, error("timeout"), effect=True),
    ]
    result = bench.apply(plan(Change("a", "a", ("mark",), steps=(put, drop), live=live)), spec(entry("a")))
    assert result.results[0].outcome is Outcome.DONE
    assert bench.called() == ["deployment tag set a", "deployment tag unset a"]


def test_tags_of_a_deployment_that_vanished_fail(bench: Bench) -> None:
    live = existing(bench, "a")

    class Vanishing(FakePlatform):
        def call(self, step: Step) -> CallResult:
            self.calls.append(step)
            self.live.clear()
            return error("unavailable", "gone")

    bench.platform = Vanishing(live=bench.platform.live)
    put = Step("deployment tag set", "a", {"tags": {"team": "x"}})
    result = bench.apply(plan(Change("a", "a", ("mark",), steps=(put,), live=live)), spec(entry("a")))
    assert result.results[0].outcome is Outcome.FAILED


def test_an_undelete_without_an_answer_is_done_when_it_is_back(bench: Bench) -> None:
    live = replace(existing(bench, "a"), state="DELETED")
    bench.platform.live["a"] = live
    bench.platform.faults = [Fault("deployment undelete", 1, error("timeout"), effect=True)]
    step = Step("deployment undelete", "a")
    result = bench.apply(plan(Change("a", "a", ("undelete",), steps=(step,), live=live)), spec(entry("a")))
    assert (result.results[0].outcome, len(bench.platform.calls)) == (Outcome.DONE, 1)


def test_an_adapter_that_is_loaded_already_is_done(bench: Bench) -> None:
    live = existing(bench, "a")
    load = Step("load-lora", "a", {"addons.load": ["l"]})
    unload = Step("unload-lora", "a", {"addons.load": ["m"]})
    bench.platform.addons["a"] = ("l",)
    bench.platform.faults = [
        Fault("load-lora", 1, error("already_exists")),
        Fault("unload-lora", 1, error("not_found")),
    ]
    wanted = values(addons__load=["l"])
    change = Change("a", "a", ("update",), steps=(unload, load), live=live, desired=wanted)
    assert bench.apply(plan(change), spec(entry("a", wanted))).results[0].outcome is Outcome.DONE


def test_a_parked_deployment_needs_no_replica(bench: Bench) -> None:
    live = existing(bench, "a")
    step = Step("deployment update", "a", {"replicas.min": 0, "replicas.max": 0})
    change = Change("a", "a", ("park",), steps=(step,), live=live, desired={})
    assert bench.apply(plan(change), spec(entry("a"))).results[0].outcome is Outcome.DONE


def test_a_blocked_change_is_skipped_with_its_reason(bench: Bench) -> None:
    from fwctl.errors import Diagnostic, Severity

    cause = Diagnostic(Severity.ERROR, "FW505", "precision differs", suggestion="write FP8")
    result = bench.apply(plan(Change("a", "a", ("blocked",), blocked_by=(cause,))), spec(entry("a")))
    assert (result.exit_code, result.next_steps) == (Exit.REFUSED, ("write FP8",))
    assert result.results[0].outcome is Outcome.SKIPPED


def test_a_read_before_a_write_that_fails_leaves_the_deployment_alone(bench: Bench) -> None:
    bench.platform.read_errors = {1: FirectlFailedError("garbage")}
    result = bench.apply(plan(updating(existing(bench, "a"), values(replicas__max=3))), spec(entry("a")))
    assert (result.results[0].outcome, bench.called()) == (Outcome.FAILED, [])


def test_a_read_that_a_second_ctrl_c_ends_is_no_failure(bench: Bench) -> None:
    from fwctl.applying.interrupt import Interrupt

    interrupt = Interrupt()
    bench.platform.read_errors = {1: InterruptedByUserError("interrupted while firectl was running")}
    bench.platform.before_read = lambda platform, nth: interrupt.request()
    result = bench.apply(plan(creating("a")), spec(entry("a")), interrupt=interrupt)
    assert (result.results[0].outcome, result.exit_code) == (Outcome.IN_PROGRESS, Exit.INTERRUPTED)


def test_an_earlier_run_that_died_is_mentioned(bench: Bench) -> None:
    folder = bench.folder / ".fwctl" / "journal"
    folder.mkdir(parents=True)
    line = '{"kind": "intent", "seq": 1, "call": "firectl deployment create a"}\n'
    (folder / "20261130T080000-1-aaaaaa.jsonl").write_text(line)
    result = bench.apply(plan(creating("a")), spec(entry("a")))
    assert "ended during `firectl deployment create a`" in result.notes[0]
    assert result.exit_code is Exit.OK


def test_start_times_are_kept_for_predictions(bench: Bench) -> None:
    from fwctl.records.history import History

    bench.platform.start_reads = 3
    bench.apply(plan(creating("a")), spec(entry("a")))
    history = History(bench.folder / ".fwctl" / "history.db")
    assert history.start_times_s(model=str(values()["model"])) == [pytest.approx(20.0)]


def test_updates_wait_for_their_turn_before_they_are_looked_at(bench: Bench) -> None:
    names = [f"d{number}" for number in range(8)]
    changes = [updating(existing(bench, name), values(replicas__max=3)) for name in names]
    ahead: list[int] = []

    def looked(platform: FakePlatform, nth: int) -> None:
        begun = len(bench.named("started"))
        ahead.append(begun - len(bench.named("answer")))

    bench.platform.before_read = looked
    bench.apply(plan(*changes), spec(*(entry(n, values(replicas__max=3)) for n in names)), parallelism=2)
    assert max(ahead) <= 2


def rollback(bench: Bench, *, switched: bool, router: str | None = None) -> Change:
    """Deletes `a-new` and lets `a` serve (again)."""
    existing(bench, "a")
    extra = {"role": "next", "step": "switched"} if switched else {"role": "next"}
    new = ready(deployment("a-new", sent("a", values(), **extra)))
    bench.platform.live["a-new"] = new
    marks = []
    if switched:
        marks.append(
            Step("deployment update", "a-new", {"description": sent("a", {}, role="next")["description"]})
        )
    marks.append(Step("deployment update", "a", {"description": sent("a", {}, attempt=1)["description"]}))
    if router:
        marks.append(Step("router update", router, {"deployments": ["accounts/acme/deployments/a"]}))
    drop = Step("deployment delete", "a-new")
    return Change("a", "a-new", ("delete",), steps=(*marks, drop), live=new)


@pytest.mark.parametrize("switched", [True, False])
def test_a_rollback_lets_the_old_one_serve_before_the_new_one_goes(bench: Bench, switched: bool) -> None:
    result = bench.apply(plan(rollback(bench, switched=switched)), spec(entry("a")))
    assert result.results[0].outcome is Outcome.DONE
    assert bench.called()[-2:] == ["deployment update a", "deployment delete a-new"]
    assert bench.platform.live["a"].marker == marker("a", attempt=1)
    assert bench.platform.live["a-new"].state == "DELETED"


def test_a_rollback_gives_the_router_back_before_the_new_one_goes(bench: Bench) -> None:
    bench.platform.routers["front"] = {"deployments": ["accounts/acme/deployments/a-new"], "strategy": "X"}
    result = bench.apply(plan(rollback(bench, switched=True, router="front")), spec(entry("a")))
    assert result.results[0].outcome is Outcome.DONE
    assert bench.platform.routers["front"]["deployments"] == ["accounts/acme/deployments/a"]
    assert bench.called()[-2:] == ["router update front", "deployment delete a-new"]
    assert [item.address for item in result.results] == ["deployments/a"]


def test_a_router_is_never_emptied(bench: Bench) -> None:
    bench.platform.routers["front"] = {"deployments": ["accounts/acme/deployments/a-new"], "strategy": "X"}
    change = rollback(bench, switched=False, router="front")

    class WithoutOld(FakePlatform):
        def read(self) -> LiveState:
            state = super().read()
            return replace(state, deployments={k: v for k, v in state.deployments.items() if k != "a"})

    bench.platform = WithoutOld(live=bench.platform.live, routers=bench.platform.routers)
    result = bench.apply(plan(change), spec(entry("a")))
    problem = result.results[0].problem
    assert problem is not None
    assert "would stand before no deployment" in problem.message
    assert bench.platform.live["a-new"].state == "READY"


def test_two_replacements_behind_one_router_change_it_one_after_the_other(bench: Bench) -> None:
    routed = values(router="front")
    bench.platform.routers["front"] = {
        "deployments": [f"accounts/acme/deployments/{name}" for name in ("a", "b")],
        "strategy": "WEIGHTED_RANDOM",
    }
    changes = []
    for name in ("a", "b"):
        old, key = existing(bench, name), f"{name}-new"
        switch = {"description": sent(name, {}, role="next", step="switched")["description"]}
        steps = (
            Step("deployment create", key, sent(name, routed, role="next")),
            Step("router update", "front", {"deployments": []}),
            Step("deployment update", key, switch),
            Step("router update", "front", {"deployments": []}),
            Step("deployment delete", name),
            Step("deployment update", key, {"description": sent(name, {})["description"]}),
        )
        changes.append(
            Change(name, name, ("create", "delete"), steps=steps, live=old, next_id=key, desired=routed)
        )
    result = bench.apply(plan(*changes), spec(entry("a", routed), entry("b", routed)), parallelism=4)
    assert [item.outcome for item in result.results] == [Outcome.DONE, Outcome.DONE]
    members = bench.platform.routers["front"]["deployments"]
    assert members == [f"accounts/acme/deployments/{name}-new" for name in ("a", "b")]
