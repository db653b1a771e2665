"""Replacing a deployment: beside the old one, or in its place, from any point where a run may have died."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fwctl.applying.model import Answer, Outcome
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment
from fwctl.planning.model import Change, Plan, Step
from fwctl.spec.model import Spec
from tests.applying.fakes import (
    Bench,
    FakePlatform,
    Fault,
    deployment,
    entry,
    error,
    plan,
    ready,
    sent,
    spec,
    values,
)

OLD_MODEL = "accounts/fireworks/models/llama-v3-8b-instruct"
NEW = "chat-ab12"
WANTED = values()


def serving(bench: Bench) -> LiveDeployment:
    live = ready(deployment("chat", sent("chat", values(model=OLD_MODEL))))
    bench.platform.live["chat"] = live
    return live


def blue_green(
    old: LiveDeployment, *, wanted: dict[str, object] | None = None, built: bool = False
) -> Change:
    wanted = wanted or WANTED
    create = Step("deployment create", NEW, sent("chat", wanted, role="next"))
    switch = Step("deployment update", NEW, marked(role="next", step="switched"))
    drop = Step("deployment delete", "chat")
    end = Step("deployment update", NEW, marked())
    return Change(
        "chat",
        "chat",
        ("create", "delete"),
        steps=(*(() if built else (create,)), switch, drop, end),
        live=old,
        next_id=NEW,
        desired=wanted,
    )


def marked(**extra: object) -> dict[str, object]:
    return {"description": sent("chat", {}, **extra)["description"]}


def wanted_spec(fields: dict[str, object] | None = None) -> Spec:
    return spec(entry("chat", fields or WANTED))


def planned(old: LiveDeployment, **extra: object) -> Plan:
    return plan(blue_green(old, **extra))  # type: ignore[arg-type]


def role_and_step(bench: Bench) -> tuple[str | None, str | None]:
    marker = bench.platform.live[NEW].marker
    assert marker is not None
    return marker.role, marker.step


def test_the_new_one_answers_before_the_old_one_goes(bench: Bench) -> None:
    order: list[str] = []
    bench.platform.answers = [Answer(ok=False, progress=True), Answer(ok=True)]
    result = bench.apply(planned(serving(bench)), wanted_spec())
    order = bench.called()
    assert order == [
        f"deployment create {NEW}",
        f"deployment update {NEW}",
        "deployment delete chat",
        f"deployment update {NEW}",
    ]
    assert bench.platform.asked == [f"accounts/acme/deployments/{NEW}"] * 2
    assert bench.platform.live["chat"].state == "DELETED"
    assert role_and_step(bench) == (None, None)
    assert result.results[0].outcome is Outcome.DONE
    assert result.model_strings["chat"]["base"] == f"accounts/acme/deployments/{NEW}"


@pytest.mark.parametrize(
    ("answers", "says"),
    [([Answer(ok=False, message="HTTP 401")], "does not answer"), ([], "FAILED")],
)
def test_a_new_one_that_does_not_serve_leaves_the_old_one_alone(
    bench: Bench, answers: list[Answer], says: str
) -> None:
    def fail(platform: FakePlatform, nth: int) -> None:
        if not answers and NEW in platform.live:
            platform.live[NEW] = replace(platform.live[NEW], state="FAILED", status_message="no capacity")
            platform.settling.clear()

    bench.platform.before_read = fail
    bench.platform.answers = answers or [Answer(ok=True)]
    result = bench.apply(planned(serving(bench)), wanted_spec())
    problem = result.results[0].problem
    assert problem is not None
    assert says in problem.message
    assert f"chat still serves; {NEW} costs while it exists" in problem.message
    assert f"fwctl apply --rollback chat  # delete {NEW}" in problem.next_steps
    assert bench.called() == [f"deployment create {NEW}"]
    assert result.model_strings["chat"]["base"] == "accounts/acme/deployments/chat"


def test_a_gate_can_keep_the_new_one_from_taking_over(bench: Bench) -> None:
    result = bench.apply(
        planned(serving(bench)), wanted_spec(), gate=lambda change, live: ("no evaluation of this model",)
    )
    problem = result.results[0].problem
    assert problem is not None
    assert (problem.code, "no evaluation of this model" in problem.message) == ("refused", True)
    assert "deployment delete chat" not in bench.called()


def test_a_run_that_died_before_the_switch_is_resumed_without_a_second_create(bench: Bench) -> None:
    old = serving(bench)
    bench.platform.live[NEW] = ready(deployment(NEW, sent("chat", WANTED, role="next")))
    bench.apply(planned(old, built=True), wanted_spec())
    assert bench.called() == [
        f"deployment update {NEW}",
        "deployment delete chat",
        f"deployment update {NEW}",
    ]


def test_a_run_that_died_after_the_switch_only_ends_the_old_one(bench: Bench) -> None:
    old = serving(bench)
    bench.platform.live[NEW] = ready(deployment(NEW, sent("chat", WANTED, role="next", step="switched")))
    change = blue_green(old)
    bench.apply(plan(replace(change, steps=change.steps[2:])), wanted_spec())
    assert bench.called() == ["deployment delete chat", f"deployment update {NEW}"]
    assert role_and_step(bench) == (None, None)
    assert bench.platform.asked == []


def test_an_old_one_with_recent_traffic_stays_and_the_run_says_so(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment delete", 1, error("recent_traffic", "requests"))]
    result = bench.apply(planned(serving(bench)), wanted_spec())
    assert result.exit_code is Exit.OK
    assert result.results[0].outcome is Outcome.IN_PROGRESS
    assert "both cost" in result.results[0].note
    assert role_and_step(bench) == ("next", "switched")
    assert result.model_strings["chat"]["base"] == f"accounts/acme/deployments/{NEW}"


def test_a_refused_delete_of_the_old_one_is_a_failure(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment delete", 1, error("permission", "not allowed"))]
    result = bench.apply(planned(serving(bench)), wanted_spec())
    assert result.results[0].outcome is Outcome.FAILED


def test_an_old_one_that_moved_since_the_plan_is_not_replaced(bench: Bench) -> None:
    old = serving(bench)
    bench.platform.live["chat"] = replace(old, fields={**old.fields, "replicas.max": 9})
    result = bench.apply(planned(old), wanted_spec())
    assert (result.exit_code, bench.called()) == (Exit.STALE_PLAN, [])


def test_a_new_one_that_is_not_ready_in_time_waits_for_the_next_run(bench: Bench) -> None:
    bench.platform.start_reads = 10_000
    result = bench.apply(planned(serving(bench)), wanted_spec(), wait_timeout_s=60.0)
    assert result.exit_code is Exit.TIMEOUT
    assert bench.called() == [f"deployment create {NEW}"]


def test_an_answer_that_does_not_come_in_time_leaves_the_old_one_serving(bench: Bench) -> None:
    bench.platform.answers = [Answer(ok=False, progress=True, message="503")]
    result = bench.apply(planned(serving(bench)), wanted_spec(), wait_timeout_s=60.0)
    assert result.exit_code is Exit.TIMEOUT
    assert "deployment delete chat" not in bench.called()


def test_a_parked_replacement_is_not_asked_for_an_answer(bench: Bench) -> None:
    parked = values(replicas__min=0, replicas__max=0)
    bench.apply(planned(serving(bench), wanted=parked), wanted_spec(parked))
    assert bench.platform.asked == []
    assert bench.platform.live["chat"].state == "DELETED"


def test_the_router_gets_the_new_one_first_and_loses_the_old_one_after_the_switch(bench: Bench) -> None:
    routed = values(router="front")
    bench.platform.routers["front"] = {
        "name": "accounts/acme/routers/front",
        "deployments": ["accounts/acme/deployments/chat", "accounts/acme/deployments/other"],
        "strategy": "EVEN_LOAD",
    }
    bench.apply(planned(serving(bench), wanted=routed), wanted_spec(routed))
    moves = [step.fields for step in bench.platform.calls if step.verb == "router update"]
    short = [[name.rsplit("/", 1)[-1] for name in move["deployments"]] for move in moves]
    assert short == [["chat", NEW, "other"], [NEW, "other"]]
    assert [move["strategy"] for move in moves] == ["even-load", "even-load"]
    verbs = [step.verb for step in bench.platform.calls]
    assert verbs.index("deployment delete") > max(i for i, v in enumerate(verbs) if v == "router update")


def test_addons_and_tags_of_the_new_one_come_before_the_switch(bench: Bench) -> None:
    change = blue_green(serving(bench))
    tags = Step("deployment tag set", NEW, {"tags": {"fwctl.owner": "prod/chat"}})
    load = Step("load-lora", NEW, {"addons.load": ["accounts/acme/models/l"]})
    end = Step("deployment tag set", NEW, {"tags": {"fwctl.state": "d=1"}})
    create, *rest = change.steps
    bench.apply(plan(replace(change, steps=(create, tags, load, *rest, end))), wanted_spec())
    assert [step.verb for step in bench.platform.calls] == [
        "deployment create",
        "deployment tag set",
        "load-lora",
        "deployment update",
        "deployment delete",
        "deployment update",
        "deployment tag set",
    ]


def test_a_recreate_deletes_for_good_waits_for_the_id_and_creates(bench: Bench) -> None:
    old = serving(bench)
    drop = Step("deployment delete", "chat", {"hard": True})
    create = Step("deployment create", "chat", sent("chat", WANTED))
    change = Change("chat", "chat", ("delete", "create"), steps=(drop, create), live=old, desired=WANTED)
    result = bench.apply(plan(change), wanted_spec())
    assert bench.called() == ["deployment delete chat", "deployment create chat"]
    assert result.results[0].outcome is Outcome.DONE
    assert bench.platform.live["chat"].fields["model"] == WANTED["model"]


def test_a_recreate_whose_delete_is_refused_creates_nothing(bench: Bench) -> None:
    old = serving(bench)
    drop = Step("deployment delete", "chat", {"hard": True})
    create = Step("deployment create", "chat", sent("chat", WANTED))
    bench.platform.faults = [Fault("deployment delete", 1, error("recent_traffic", "requests"))]
    change = Change("chat", "chat", ("delete", "create"), steps=(drop, create), live=old, desired=WANTED)
    result = bench.apply(plan(change), wanted_spec())
    assert result.results[0].outcome is Outcome.FAILED
    assert bench.called() == ["deployment delete chat"]
    assert bench.platform.live["chat"] == old


def test_an_id_that_is_not_freed_in_time_stops_a_recreate(bench: Bench) -> None:
    old = serving(bench)
    drop = Step("deployment delete", "chat")  # a soft delete keeps the ID
    create = Step("deployment create", "chat", sent("chat", WANTED))
    change = Change("chat", "chat", ("delete", "create"), steps=(drop, create), live=old, desired=WANTED)
    result = bench.apply(plan(change), wanted_spec(), wait_timeout_s=60.0)
    assert (result.exit_code, result.results[0].outcome) == (Exit.TIMEOUT, Outcome.FAILED)
    assert bench.called() == ["deployment delete chat"]


def test_a_switch_that_somebody_took_back_is_not_ended(bench: Bench) -> None:
    old = serving(bench)
    bench.platform.live[NEW] = ready(deployment(NEW, sent("chat", WANTED, role="next")))
    change = blue_green(old)
    result = bench.apply(plan(replace(change, steps=change.steps[2:])), wanted_spec())
    assert (result.exit_code, bench.called()) == (Exit.STALE_PLAN, [])


def test_an_old_one_that_is_gone_already_is_not_deleted_again(bench: Bench) -> None:
    old = serving(bench)
    bench.platform.live[NEW] = ready(deployment(NEW, sent("chat", WANTED, role="next", step="switched")))
    bench.platform.live["chat"] = replace(old, state="DELETED")
    result = bench.apply(planned(old), wanted_spec())
    assert result.results[0].outcome is Outcome.DONE
    assert bench.called() == [f"deployment update {NEW}"]


def test_a_new_one_that_vanishes_before_the_switch_does_not_take_over(bench: Bench) -> None:
    class Vanishing(FakePlatform):
        def ask(self, model: str) -> Answer:
            del self.live[NEW]
            return super().ask(model)

    bench.platform = Vanishing()
    result = bench.apply(planned(serving(bench)), wanted_spec())
    problem = result.results[0].problem
    assert problem is not None
    assert f"{NEW} is gone" in problem.message
