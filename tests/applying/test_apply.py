"""What one apply does to deployments, seen from outside."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fwctl.applying.model import Answer, Outcome, Verify
from fwctl.catalog.field import Effect
from fwctl.errors import FirectlFailedError
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment, Replicas
from fwctl.planning.model import Change, FieldChange, Step
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


def test_a_create_waits_until_the_replicas_are_there(bench: Bench) -> None:
    bench.platform.start_reads = 3
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert [(r.outcome, r.deployment_id) for r in result.results] == [(Outcome.DONE, "chat")]
    assert result.exit_code is Exit.OK
    assert bench.called() == ["deployment create chat"]
    assert bench.platform.reads == 3
    assert [event["stage"] for event in bench.named("progress")] == ["creating", "ready"]


def test_polls_are_an_interval_apart_and_shared_by_everybody_who_waits(bench: Bench) -> None:
    bench.platform.start_reads = 4
    names = [f"d{number}" for number in range(6)]
    bench.apply(plan(*map(creating, names)), spec(*map(entry, names)), parallelism=6, poll_interval_s=10.0)
    assert bench.platform.reads == 4
    assert bench.clock.elapsed_s == pytest.approx(30.0)  # one read at once, three more 10 s apart


def test_without_waiting_a_created_deployment_is_in_progress(bench: Bench) -> None:
    bench.platform.start_reads = 3
    result = bench.apply(plan(creating("chat")), spec(entry("chat")), wait=False)
    assert [r.outcome for r in result.results] == [Outcome.IN_PROGRESS]
    assert result.exit_code is Exit.OK
    assert result.next_steps == ("fwctl wait chat",)
    assert bench.platform.reads == 1


def test_an_empty_plan_makes_no_call_and_exits_0(bench: Bench) -> None:
    idle = Change("chat", "chat", ("no-op",), live=existing(bench, "chat"))
    result = bench.apply(plan(idle), spec(entry("chat")))
    assert (result.results, result.exit_code, bench.platform.reads) == ((), Exit.OK, 0)


def test_one_failure_does_not_stop_the_others(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("quota", "quota exceeded", "ask for more"))]
    result = bench.apply(plan(creating("a"), creating("b")), spec(entry("a"), entry("b")), parallelism=1)
    assert [r.outcome for r in result.results] == [Outcome.FAILED, Outcome.DONE]
    assert result.exit_code is Exit.FAILED
    assert result.next_steps == ("ask for more",)
    assert sorted(result.model_strings) == ["b"]


def test_fail_fast_starts_nothing_after_a_failure(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("quota", "quota exceeded"))]
    result = bench.apply(
        plan(creating("a"), creating("b")), spec(entry("a"), entry("b")), parallelism=1, fail_fast=True
    )
    assert [r.outcome for r in result.results] == [Outcome.FAILED, Outcome.NOT_STARTED]
    assert bench.called() == ["deployment create a"]


@pytest.mark.parametrize(
    ("error_class", "code"),
    [("auth", Exit.AUTH), ("suspended", Exit.AUTH), ("blocked", Exit.FIRECTL)],
)
def test_a_refusal_that_meets_every_call_ends_the_run(bench: Bench, error_class: str, code: Exit) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error(error_class))]
    result = bench.apply(plan(creating("a"), creating("b")), spec(entry("a"), entry("b")), parallelism=1)
    assert [r.outcome for r in result.results] == [Outcome.FAILED, Outcome.NOT_STARTED]
    assert result.exit_code is code


def test_once_something_was_changed_a_failure_exits_1(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 2, error("auth"))]
    result = bench.apply(plan(creating("a"), creating("b")), spec(entry("a"), entry("b")), parallelism=1)
    assert [r.outcome for r in result.results] == [Outcome.DONE, Outcome.FAILED]
    assert result.exit_code is Exit.FAILED


def test_after_is_respected_and_a_failure_skips_what_comes_after(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 2, error("invalid"))]
    chain = plan(creating("a", after=("b",)), creating("b", after=("c",)), creating("c"))
    result = bench.apply(chain, spec(entry("a"), entry("b"), entry("c")), parallelism=4)
    assert bench.called() == ["deployment create c", "deployment create b"]
    assert [r.outcome for r in result.results] == [Outcome.SKIPPED, Outcome.FAILED, Outcome.DONE]
    assert result.results[0].problem is not None
    assert "b did not get done first" in result.results[0].problem.message


def test_a_ring_of_after_is_skipped_instead_of_waiting_for_ever(bench: Bench) -> None:
    ring = plan(creating("a", after=("b",)), creating("b", after=("a",)))
    result = bench.apply(ring, spec(entry("a"), entry("b")))
    assert [r.outcome for r in result.results] == [Outcome.SKIPPED, Outcome.SKIPPED]


def test_deletes_come_last_even_after_a_failure(bench: Bench) -> None:
    gone = deleting(existing(bench, "a"))
    bench.platform.faults = [Fault("deployment create", 1, error("invalid"))]
    result = bench.apply(plan(gone, creating("b")), spec(entry("b")), parallelism=4)
    assert bench.called() == ["deployment create b", "deployment delete a"]
    assert [r.outcome for r in result.results] == [Outcome.DONE, Outcome.FAILED]


def test_rolling_restarts_come_in_waves_as_wide_as_the_parallelism(bench: Bench) -> None:
    moves = (FieldChange("shape", "old", "new", Effect.ROLLING_RESTART),)
    names = ["a", "b", "c", "d"]
    changes = [
        replace(updating(existing(bench, name), values(replicas__max=3)), fields=moves) for name in names
    ]
    bench.platform.start_reads = 2
    seen: list[int] = []
    bench.platform.before_read = lambda platform, nth: seen.append(len(platform.settling))
    wanted = spec(*(entry(name, values(replicas__max=3)) for name in names))
    result = bench.apply(plan(*changes), wanted, parallelism=2)
    assert {r.outcome for r in result.results} == {Outcome.DONE}
    assert max(seen) == 2


def test_an_update_is_refused_when_a_managed_field_moved_since_the_plan(bench: Bench) -> None:
    seen = existing(bench, "chat")
    bench.platform.live["chat"] = replace(seen, fields={**seen.fields, "replicas.max": 9})
    result = bench.apply(
        plan(updating(seen, values(replicas__max=3))), spec(entry("chat", values(replicas__max=3)))
    )
    assert bench.called() == []
    assert result.exit_code is Exit.STALE_PLAN
    problem = result.results[0].problem
    assert problem is not None
    assert problem.message == "chat moved since the plan: replicas.max: was 2, is 9"


def test_an_update_is_refused_when_the_marker_moved(bench: Bench) -> None:
    seen = existing(bench, "chat")
    bench.platform.live["chat"] = replace(seen, marker=marker("chat", protect=True))
    result = bench.apply(plan(updating(seen, values(replicas__max=3))), spec(entry("chat")))
    assert result.exit_code is Exit.STALE_PLAN


def test_an_unmanaged_field_that_moved_is_no_reason_to_refuse(bench: Bench) -> None:
    seen = existing(bench, "chat")
    bench.platform.live["chat"] = replace(seen, fields={**seen.fields, "max_context_length": 4096})
    wanted = values(replicas__max=3)
    result = bench.apply(plan(updating(seen, wanted)), spec(entry("chat", wanted)))
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_an_update_that_another_run_has_made_is_done(bench: Bench) -> None:
    seen = existing(bench, "chat")
    wanted = values(replicas__max=3)
    bench.platform.live["chat"] = ready(deployment("chat", sent("chat", wanted)))
    result = bench.apply(plan(updating(seen, wanted)), spec(entry("chat", wanted)))
    assert bench.called() == []
    assert [(r.outcome, r.note) for r in result.results] == [(Outcome.DONE, "done by another run")]


def test_a_delete_that_another_run_has_made_is_done(bench: Bench) -> None:
    gone = deleting(existing(bench, "old"))
    bench.platform.live.clear()
    result = bench.apply(plan(gone), spec())
    assert [(r.outcome, r.note) for r in result.results] == [(Outcome.DONE, "done by another run")]
    assert bench.called() == []


def test_a_delete_is_refused_when_the_deployment_moved(bench: Bench) -> None:
    seen = existing(bench, "old")
    bench.platform.live["old"] = replace(seen, marker=marker("old", hold_until=None, protect=True))
    result = bench.apply(plan(deleting(seen)), spec())
    assert (result.exit_code, bench.called()) == (Exit.STALE_PLAN, [])


def test_a_delete_refused_after_traffic_says_the_way_out(bench: Bench) -> None:
    way = "wait an hour, or name it with --allow-traffic-loss"
    bench.platform.faults = [Fault("deployment delete", 1, error("recent_traffic", "requests", way))]
    result = bench.apply(plan(deleting(existing(bench, "old"))), spec())
    assert (result.exit_code, result.next_steps) == (Exit.FAILED, (way,))


@pytest.mark.parametrize("error_class", ["timeout", "unavailable", "unknown"])
def test_a_create_without_an_answer_is_done_when_live_shows_it(bench: Bench, error_class: str) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error(error_class), effect=True)]
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.called() == ["deployment create chat"]
    assert [r.outcome for r in result.results] == [Outcome.DONE]
    assert "platform shows the result" in result.results[0].note


def test_a_create_without_an_answer_is_tried_once_more_when_nothing_exists(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("timeout"))]
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.called() == ["deployment create chat"] * 2
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_a_create_is_never_tried_a_third_time(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", nth, error("timeout", "no answer")) for nth in (1, 2)]
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.called() == ["deployment create chat"] * 2
    assert [r.outcome for r in result.results] == [Outcome.FAILED]


def test_a_clear_refusal_is_not_tried_again(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("capacity"))]
    bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.called() == ["deployment create chat"]


def test_an_id_that_another_run_has_created_alike_is_done(bench: Bench) -> None:
    existing(bench, "chat")
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert [(r.outcome, r.note) for r in result.results] == [(Outcome.DONE, "done by another run")]


def test_an_id_that_exists_with_other_values_fails_with_the_difference(bench: Bench) -> None:
    existing(bench, "chat", replicas__max=7)
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    problem = result.results[0].problem
    assert problem is not None
    assert "replicas.max: asked 2, shows 7" in problem.message
    assert result.exit_code is Exit.FAILED


def test_an_id_of_another_stack_is_refused(bench: Bench) -> None:
    live = existing(bench, "chat")
    bench.platform.live["chat"] = replace(live, marker=replace(marker("chat"), stack="staging"))
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    problem = result.results[0].problem
    assert problem is not None
    assert (problem.code, problem.message) == ("refused", "chat exists and belongs to staging/chat")


def test_an_id_held_by_a_deleted_deployment_tells_the_purge_time_and_three_ways_out(bench: Bench) -> None:
    from tests.applying.fakes import START

    held = replace(existing(bench, "chat"), state="DELETED", purge=START)
    bench.platform.live["chat"] = held
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    problem = result.results[0].problem
    assert problem is not None
    assert "until 2026-12-01 08:00 UTC" in problem.message
    assert [step.split()[0] for step in problem.next_steps] == ["fwctl", "give", "set"]


def test_a_purge_planned_before_a_create_frees_the_id(bench: Bench) -> None:
    bench.platform.live["chat"] = replace(existing(bench, "chat"), state="DELETED")
    change = creating("chat")
    purge = Step("deployment delete", "chat", {"hard": True})
    result = bench.apply(plan(replace(change, steps=(purge, *change.steps))), spec(entry("chat")))
    assert bench.called() == ["deployment delete chat", "deployment create chat"]
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_an_update_without_an_answer_is_read_before_it_is_repeated(bench: Bench) -> None:
    wanted = values(replicas__max=3)
    seen = existing(bench, "chat")
    bench.platform.faults = [Fault("deployment update", 1, error("timeout"), effect=True)]
    result = bench.apply(plan(updating(seen, wanted)), spec(entry("chat", wanted)))
    assert bench.called() == ["deployment update chat"]
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_an_update_without_an_answer_or_effect_is_repeated_once(bench: Bench) -> None:
    wanted = values(replicas__max=3)
    bench.platform.faults = [Fault("deployment update", 1, error("unavailable"))]
    result = bench.apply(plan(updating(existing(bench, "chat"), wanted)), spec(entry("chat", wanted)))
    assert bench.called() == ["deployment update chat"] * 2
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_a_delete_without_an_answer_is_done_when_it_is_gone(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment delete", 1, error("timeout"), effect=True)]
    result = bench.apply(plan(deleting(existing(bench, "old"))), spec())
    assert bench.called() == ["deployment delete old"]
    assert [r.outcome for r in result.results] == [Outcome.DONE]


def test_a_failed_state_ends_the_wait_at_once_with_the_servers_words(bench: Bench) -> None:
    def fail(platform: FakePlatform, nth: int) -> None:
        broken = replace(
            platform.live["chat"],
            state="FAILED",
            status_code="RESOURCE_EXHAUSTED",
            status_message="no H100 in US_IOWA_1",
        )
        platform.live["chat"] = broken
        platform.settling.clear()

    bench.platform.before_read = fail
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    problem = result.results[0].problem
    assert problem is not None
    assert "RESOURCE_EXHAUSTED" in problem.message
    assert "no H100 in US_IOWA_1" in problem.message
    assert bench.platform.reads == 1


def test_a_deadline_leaves_the_deployment_alone_and_exits_7(bench: Bench) -> None:
    bench.platform.start_reads = 10_000
    result = bench.apply(plan(creating("chat")), spec(entry("chat")), wait_timeout_s=120.0)
    assert result.exit_code is Exit.TIMEOUT
    assert [r.outcome for r in result.results] == [Outcome.IN_PROGRESS]
    assert "fwctl wait chat" in result.next_steps
    assert "0 of 1 replicas ready" in str(result.results[0].problem)


def test_ready_without_its_floor_of_replicas_is_not_ready(bench: Bench) -> None:
    def starve(platform: FakePlatform, nth: int) -> None:
        if nth < 3:
            starved = replace(platform.live["chat"], state="READY", replicas=Replicas(1, 2, 1, 0, pending=1))
            platform.live["chat"] = starved
            platform.settling["chat"] = 3 - nth + 1

    bench.platform.before_read = starve
    bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert bench.platform.reads == 3
    assert [event["stage"] for event in bench.named("progress")] == ["pending", "ready"]


def test_a_deployment_that_someone_deletes_during_the_wait_is_reported_at_once(bench: Bench) -> None:
    bench.platform.start_reads = 50

    def steal(platform: FakePlatform, nth: int) -> None:
        if nth == 2:
            del platform.live["chat"]
            platform.settling.clear()

    bench.platform.before_read = steal
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert result.results[0].outcome is Outcome.FAILED
    assert bench.platform.reads == 2


def test_a_list_that_lags_behind_the_create_is_given_time(bench: Bench) -> None:
    def hide(platform: FakePlatform, nth: int) -> None:
        if nth == 1:
            hidden["chat"] = platform.live.pop("chat")
            platform.settling.clear()
        elif nth == 3:
            platform.live["chat"] = ready(hidden["chat"])

    hidden: dict[str, LiveDeployment] = {}
    bench.platform.before_read = hide
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert result.results[0].outcome is Outcome.DONE
    assert bench.platform.reads == 3


def test_a_value_that_the_platform_does_not_take_is_a_failure_with_both_values(bench: Bench) -> None:
    def clamp(platform: FakePlatform, nth: int) -> None:
        live = platform.live["chat"]
        platform.live["chat"] = replace(live, fields={**live.fields, "replicas.max": 1})

    bench.platform.before_read = clamp
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    problem = result.results[0].problem
    assert problem is not None
    assert "replicas.max: asked 2, shows 1" in problem.message


def test_a_read_that_fails_for_a_moment_does_not_end_the_wait(bench: Bench) -> None:
    failing = FirectlFailedError("connection reset")
    failing.error_class = "unavailable"
    bench.platform.read_errors = {1: failing}
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert result.exit_code is Exit.OK
    assert "connection reset" in bench.named("note")[0]["message"]


def test_a_read_that_fails_for_good_ends_the_wait_without_touching_anything(bench: Bench) -> None:
    bench.platform.read_errors = {1: FirectlFailedError("cannot understand the list")}
    result = bench.apply(plan(creating("chat")), spec(entry("chat")))
    assert (result.results[0].outcome, result.exit_code) == (Outcome.IN_PROGRESS, Exit.FAILED)
    assert bench.called() == ["deployment create chat"]


def test_marking_writes_and_waits_for_nothing(bench: Bench) -> None:
    live = existing(bench, "chat")
    step = Step("deployment update", "chat", {"description": sent("chat", {}, protect=True)["description"]})
    bench.apply(plan(Change("chat", "chat", ("mark",), steps=(step,), live=live)), spec(entry("chat")))
    assert bench.called() == ["deployment update chat"]
    assert bench.platform.reads == 1  # the re-read before the write


def test_an_operation_in_flight_is_adopted_and_waited_for(bench: Bench) -> None:
    live = deployment("chat", sent("chat", values()), state="CREATING")
    bench.platform.live["chat"] = live
    bench.platform.settling["chat"] = 2
    result = bench.apply(plan(Change("chat", "chat", ("wait",), live=live)), spec(entry("chat")))
    assert (bench.called(), result.results[0].outcome) == ([], Outcome.DONE)


def test_addons_are_loaded_once_the_deployment_is_ready(bench: Bench) -> None:
    lora = "accounts/acme/models/support-lora"
    change = creating("chat")
    load = Step("load-lora", "chat", {"addons.load": [lora]})
    tags = Step("deployment tag set", "chat", {"tags": {"fwctl.owner": "prod/chat"}})
    wanted = spec(entry("chat", values(addons__load=[lora])))
    result = bench.apply(plan(replace(change, steps=(*change.steps, load, tags))), wanted)
    assert bench.called() == [
        "deployment create chat",
        "deployment tag set chat",
        "load-lora chat",
    ]
    base = "accounts/acme/deployments/chat"
    assert result.model_strings["chat"] == {"base": base, "router": None, "addons": {lora: f"{lora}#{base}"}}


def test_verification_asks_until_the_deployment_answers(bench: Bench) -> None:
    scaling = Answer(ok=False, progress=True, message="DEPLOYMENT_SCALING_UP")
    bench.platform.answers = [scaling, scaling, Answer(ok=True)]
    result = bench.apply(plan(creating("chat")), spec(entry("chat")), verify=Verify.REQUEST)
    assert bench.platform.asked == ["accounts/acme/deployments/chat"] * 3
    assert result.exit_code is Exit.OK


def test_verification_that_is_refused_fails_and_one_that_lasts_too_long_exits_7(bench: Bench) -> None:
    bench.platform.answers = [Answer(ok=False, message="401 unauthorized")]
    result = bench.apply(plan(creating("a")), spec(entry("a")), verify=Verify.REQUEST)
    assert result.exit_code is Exit.FAILED
    bench.platform.answers = [Answer(ok=False, progress=True, message="503")]
    result = bench.apply(plan(creating("b")), spec(entry("b")), verify=Verify.REQUEST, wait_timeout_s=60.0)
    assert result.exit_code is Exit.TIMEOUT
    assert result.results[0].outcome is Outcome.IN_PROGRESS


def test_an_undelete_brings_a_deployment_back(bench: Bench) -> None:
    live = replace(existing(bench, "chat"), state="DELETED")
    bench.platform.live["chat"] = live
    step = Step("deployment undelete", "chat")
    result = bench.apply(
        plan(Change("chat", "chat", ("undelete",), steps=(step,), live=live)), spec(entry("chat"))
    )
    assert result.results[0].outcome is Outcome.DONE
    assert bench.platform.live["chat"].state == "READY"
