"""An experiment from its first candidate to its last delete, killed anywhere, on a platform in memory."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fwctl.catalog.prices import PriceList
from fwctl.errors import (
    FwctlError,
    InterruptedByUserError,
    RefusedError,
    UsageError,
    WaitTimeoutError,
)
from fwctl.exitcodes import Exit
from fwctl.live.normalise import normalise_deployment
from fwctl.measure.suite import load as load_suite
from fwctl.planning.model import Change, Plan
from fwctl.quality.experiments.candidates import require_own
from fwctl.quality.experiments.deletes import remove
from fwctl.quality.experiments.quality import cases_of
from fwctl.quality.experiments.state import Phase
from fwctl.spec.model import Spec
from tests.planning.support import NOW, Platform, row
from tests.quality.experiments.support import MINE, TEXT, Behaviour, FakeWorld, Killed, course, own_rows, run

# Dollars an hour of one replica: bf16 $2.90 (A100), fp8 $8.00 (H100), b200 $13.00. At 4 requests at a time
# of 100 tokens each, a second per answer is 400 tokens/s, so bf16 is $2.9/3600/400*1e6 = $2.014 a million.
FAST_FP8: Mapping[str, Behaviour] = {"bf16": Behaviour(2.0), "fp8": Behaviour(0.5), "b200": Behaviour(0.5)}


def world_in(folder: Path, behaviours: Mapping[str, Behaviour] = FAST_FP8, **more: Any) -> FakeWorld:
    return FakeWorld(folder, Platform(own_rows()), behaviours=behaviours, **more)


def found(state: Any, name: str) -> dict[str, Any]:
    row: dict[str, Any] = next(item for item in state.decision["candidates"] if item["name"] == name)
    return row


def untouched(world: FakeWorld) -> bool:
    rows = {item["name"].rpartition("/")[2]: item for item in world.platform.rows}
    return all({**rows[item["name"].rpartition("/")[2]]} == dict(item) for item in own_rows())


def test_the_cheapest_that_is_good_enough_stays_and_the_others_go(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    state = run(world)
    assert state.phase is Phase.DONE
    # fp8: 4 x 100 tokens / 0.5 s = 800/s, $8/3600/800*1e6 = $2.778; bf16: 200/s, $4.028; b200: $4.514.
    prices = {name: found(state, name)["usd_per_million_output_tokens"] for name in ("bf16", "fp8", "b200")}
    assert prices == pytest.approx({"bf16": 4.0278, "fp8": 2.7778, "b200": 4.5139}, abs=1e-4)
    assert state.decision["winner"] == "fp8"
    assert state.reason.startswith("fp8 is the cheapest of 3 that meet the SLO")
    assert world.candidates() == ["fp8"]
    assert untouched(world)


def test_candidates_cost_nothing_by_themselves_and_carry_their_end(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    run(world)
    (kept,) = [item for item in world.platform.rows if MINE in str(item.get("description"))][:1]
    assert kept["min_replica_count"] == 0
    assert kept["autoscaling_policy"]["scale_to_zero_window"] == "5m0s"
    assert "exp=20261130T1600Z" in kept["description"]  # four hours after noon


def test_a_faster_one_that_loses_quality_does_not_win(tmp_path: Path) -> None:
    wrong = frozenset(range(20))
    world = world_in(tmp_path, {**FAST_FP8, "fp8": Behaviour(0.5, wrong=wrong)})
    state = run(world)
    assert state.decision["winner"] == "bf16"
    assert found(state, "fp8")["quality"]["verdict"] == "fail"
    assert found(state, "fp8")["quality"]["loss"] == pytest.approx(20 / 80)
    assert world.candidates() == ["bf16"]


def test_a_candidate_that_often_fails_says_nothing_about_quality_and_does_not_win(tmp_path: Path) -> None:
    world = world_in(tmp_path, {**FAST_FP8, "fp8": Behaviour(0.5, errors=frozenset(range(8)))})
    state = run(world, TEXT.replace("error_rate: 1%", "error_rate: 50%"))
    assert found(state, "fp8")["quality"]["verdict"] == "invalid"
    assert "16 of 160 answers failed on the way" in found(state, "fp8")["why_not"][0]
    assert state.decision["winner"] == "bf16"


def test_a_cheaper_one_that_misses_the_slo_does_not_win(tmp_path: Path) -> None:
    world = world_in(tmp_path, {**FAST_FP8, "bf16": Behaviour(3.5, tokens=1000)})
    state = run(world)
    assert found(state, "bf16")["slo"] == "missed"
    assert "total_p95_ms 3,500, allowed 3,000" in found(state, "bf16")["why_not"][0]
    assert state.decision["winner"] == "fp8"


def test_without_a_winner_nothing_stays_and_it_is_said(tmp_path: Path) -> None:
    slow = dict.fromkeys(("bf16", "fp8", "b200"), Behaviour(5.0))
    world = world_in(tmp_path, slow)
    state = run(world)
    assert state.decision["winner"] is None
    assert state.reason.startswith("no winner: no candidate meets the SLO")
    assert world.candidates() == []
    assert untouched(world)


def test_delete_all_keeps_the_verdict_only(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    state = run(world, delete_all=True)
    assert (state.decision["winner"], state.keep) == ("fp8", None)
    assert world.candidates() == []


def test_delete_all_afterwards_deletes_the_winner_too(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    run(world)
    state = run(world, delete_all=True)
    assert (state.phase, state.decision["winner"], world.candidates()) == (Phase.DONE, "fp8", [])


POINTS = (
    "before create",
    "created",
    "load 1",
    "pass 1",
    "load 2",
    "pass 2",
    "measured",
    "decided",
    "before delete",
    "deleted",
)


def test_every_point_at_which_a_run_can_end_is_tried(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    run(world)
    assert tuple(world.points) == POINTS


@pytest.mark.parametrize(
    ("point", "keeps_files"),
    [*((point, True) for point in POINTS), *((point, False) for point in ("created", "pass 1", "deleted"))],
)
def test_killed_anywhere_it_goes_on_to_the_same_end(tmp_path: Path, point: str, keeps_files: bool) -> None:
    world = world_in(tmp_path, kill=point)
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    if not keeps_files:
        shutil.rmtree(tmp_path / ".fwctl")
    world.clock.sleep(120)
    state = run(world)
    assert (state.phase, state.decision["winner"]) == (Phase.DONE, "fp8")
    assert world.candidates() == ["fp8"]
    assert untouched(world)
    if keeps_files:  # nothing that was done is done again
        loads = [name for name in world.points if name.startswith("load")]
        expected = ["load 1", "load 2"]
        expected += [point] if point.startswith("load") else []
        assert sorted(loads) == sorted(expected)


def test_killed_between_two_deletes_it_deletes_the_rest(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="before delete")
    with pytest.raises(Killed):
        run(world)
    gone = next(item for item in world.platform.rows if f"{MINE}b200" in str(item.get("description")))
    gone |= {"state": "DELETED"}
    world.kill = ""
    assert run(world).phase is Phase.DONE
    assert world.candidates() == ["fp8"]


def test_a_run_that_is_done_measures_nothing_again(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    first = run(world)
    loads = len([name for name in world.points if name.startswith("load")])
    again = run(world)
    assert (again.decision, again.phase) == (first.decision, Phase.DONE)
    assert len([name for name in world.points if name.startswith("load")]) == loads


def test_the_cap_ends_the_load_before_it_is_passed_and_everything_goes(tmp_path: Path) -> None:
    # $23.90/h: a start of 300 s is $1.99 (900 s are predicted: $5.975), an hour of load would be more.
    world = world_in(tmp_path, pass_s=3600)
    state = run(world, TEXT.replace("$20", "$7"), look_every_s=60.0)
    assert state.phase is Phase.CAPPED
    assert state.reason.endswith("to go on could pass the spend cap of $7.00")
    assert 6.0 < state.spending.usd <= 7.0
    assert world.candidates() == []
    assert untouched(world)


def test_the_cap_ends_the_start_too(tmp_path: Path) -> None:
    world = world_in(tmp_path, start_up_s=7200)
    state = run(world, TEXT.replace("$20", "$7"), look_every_s=60.0)
    assert (state.phase, world.candidates()) == (Phase.CAPPED, [])
    assert state.spending.usd <= 7.0


def test_the_end_of_the_time_ends_the_load_too(tmp_path: Path) -> None:
    world = world_in(tmp_path, pass_s=5 * 3600, look_s=900.0)
    state = run(world, TEXT.replace("$20", "$500"))
    assert (state.phase, state.reason, world.candidates()) == (Phase.CAPPED, "time_to_live has ended", [])


def test_a_winner_whose_time_has_passed_goes(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    run(world)
    world.clock.sleep(4 * 3600)
    state = run(world)
    assert (state.phase, state.keep, world.candidates()) == (Phase.DONE, None, [])


def test_candidates_that_somebody_deleted_are_made_and_measured_again(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="pass 1")
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    world.clock.sleep(60)
    gone = next(item for item in world.platform.rows if f"{MINE}b200" in str(item.get("description")))
    gone["state"] = "DELETED"
    state = run(world)
    assert (state.phase, world.candidates()) == (Phase.DONE, ["fp8"])
    assert [name for name in world.points if name.startswith("load")] == ["load 1", "load 1", "load 2"]


@pytest.mark.parametrize(
    ("code", "error"),
    [(Exit.FAILED, FwctlError), (Exit.TIMEOUT, WaitTimeoutError), (Exit.INTERRUPTED, InterruptedByUserError)],
)
def test_a_start_that_fails_says_how_to_go_on(tmp_path: Path, code: Exit, error: type[FwctlError]) -> None:
    world = world_in(tmp_path, start_code=code)
    with pytest.raises(error) as failed:
        run(world)
    assert failed.value.next_steps[1] == "fwctl experiment stop shapes"
    assert run(world).phase is Phase.DONE


def test_lost_bookkeeping_is_told_and_costs_the_most_it_can_have(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="load 1")
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    shutil.rmtree(tmp_path / ".fwctl")
    for item in world.platform.rows:
        item["create_time"] = "2026-11-30T11:30:00Z"
    found = course(world).prepare()
    # From 11:30 to 12:05, $23.90 an hour.
    assert found.spending.usd == pytest.approx(23.9 * 35 / 60, rel=0.01)
    assert any("the bookkeeping is lost" in line for line in world.said)
    for item in world.platform.rows:
        item["create_time"] = "2026-11-30T11:00:00Z"
    state = run(world)  # $25.89 may have been spent
    assert (state.phase, world.candidates()) == (Phase.CAPPED, [])


def test_another_accounts_experiment_of_that_name_is_refused(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="load 1")
    with pytest.raises(Killed):
        run(world)
    with pytest.raises(RefusedError, match="runs on account acme, stack prod"):
        course(world, TEXT.replace("stack: prod", "stack: dev")).prepare()


def test_a_pass_that_would_pass_the_cap_is_not_begun(tmp_path: Path) -> None:
    # Start $1.99, one pass of 600 s $3.98; the second is predicted with a quarter more: $4.98.
    world = world_in(tmp_path, pass_s=600)
    state = run(world, TEXT.replace("$20", "$8"))
    assert state.phase is Phase.CAPPED
    assert state.reason.startswith("pass 2 would bring the cost from $5.9")
    assert "load 2" not in world.points
    assert world.candidates() == []


def test_a_cap_that_cannot_pay_the_start_creates_nothing(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    with pytest.raises(
        RefusedError, match=r"predicted to bring the cost to \$5.97, above the spend cap of \$5"
    ):
        run(world, TEXT.replace("$20", "$5"))
    assert world.candidates() == []


def test_after_the_cap_a_new_run_begins_anew(tmp_path: Path) -> None:
    world = world_in(tmp_path, pass_s=600)
    run(world, TEXT.replace("$20", "$8"))
    state = run(world)
    assert (state.phase, world.candidates()) == (Phase.DONE, ["fp8"])


def test_an_unknown_price_is_refused_unless_allowed(tmp_path: Path) -> None:
    prices = PriceList({"NVIDIA_H100_80GB": 8.0, "NVIDIA_B200_180GB": 13.0}, NOW.date())
    world = world_in(tmp_path, prices=prices)
    with pytest.raises(RefusedError, match="no price is known for bf16"):
        run(world)
    assert world.candidates() == []
    state = run(world, allow_unknown_price=True)
    assert state.spending.unpriced
    assert found(state, "bf16")["why_not"] == ["its cost is unknown"]


def test_the_end_of_the_time_to_live_ends_everything(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="load 1")
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    world.clock.sleep(4 * 3600 + 60)
    state = run(world)
    assert state.phase is Phase.STOPPED
    assert state.reason == "time_to_live has ended before the experiment was done"
    assert world.candidates() == []


def test_what_another_experiment_left_behind_goes_once_its_time_has_passed(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    world.platform.rows += [
        row("old-a", description="[fwctl prod/old--a exp=20261130T1100Z]"),
        row("young-a", description="[fwctl prod/young--a exp=20261130T2300Z]"),
    ]
    run(world)
    assert world.platform.row("old-a")["state"] == "DELETED"
    assert world.platform.row("young-a")["state"] == "READY"


def test_a_changed_file_is_refused_while_candidates_of_the_old_one_may_run(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="pass 1")
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    with pytest.raises(RefusedError, match="has changed since experiment shapes began") as refused:
        run(world, TEXT.replace("concurrency: 4", "concurrency: 8"))
    assert "fwctl experiment stop shapes" in refused.value.next_steps[0]


def test_an_invalid_pass_is_measured_once_more(tmp_path: Path) -> None:
    world = world_in(tmp_path, invalid=["the client was late"])
    state = run(world)
    assert [(row.folder, row.valid) for row in state.rounds] == [
        ("pass-1-try-1", False),
        ("pass-1-try-2", True),
        ("pass-2-try-1", True),
    ]
    assert state.decision["winner"] == "fp8"


def test_a_pass_that_stays_invalid_has_no_winner(tmp_path: Path) -> None:
    world = world_in(tmp_path, invalid=["the client was late"] * 3)
    state = run(world)
    assert state.reason == "no winner: the measurement is invalid: the client was late"
    assert world.candidates() == []


def test_a_candidate_that_serves_nothing_ends_it_and_deletes_all(tmp_path: Path) -> None:
    world = world_in(tmp_path, given_up={"fp8": "fp8 was given up: http_404"})
    state = run(world)
    assert (state.phase, state.decision) == (Phase.STOPPED, None)
    assert state.reason == "fp8 was given up: http_404"
    assert world.points.count("load 1") == 1
    assert world.candidates() == []


def test_ctrl_c_leaves_everything_for_the_next_run(tmp_path: Path) -> None:
    world = world_in(tmp_path, interrupts=1)
    with pytest.raises(InterruptedByUserError) as ended:
        run(world)
    assert "goes on from here" in ended.value.next_steps[0]
    assert len(world.candidates()) == 3
    assert run(world).phase is Phase.DONE


def test_what_is_blocked_creates_nothing(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    with pytest.raises(RefusedError, match="cannot create shapes--fp8") as refused:
        run(world, TEXT.replace("llama-v3p1-8b-instruct-fast", "no-such-shape"))
    assert refused.value.diagnostics[0].code == "FW502"
    assert world.candidates() == []


def test_an_id_that_is_held_is_passed_over(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    first = course(world)
    held = first.prepare().candidates["fp8"]
    world.platform.rows.append(row(held, state="DELETED"))
    state = run(world)
    assert state.candidates["fp8"] != held
    assert state.candidates["fp8"].startswith("shapes-fp8-")


def test_stop_deletes_only_what_carries_the_markers_of_the_experiment(tmp_path: Path) -> None:
    world = world_in(tmp_path, kill="load 1")
    with pytest.raises(Killed):
        run(world)
    world.kill = ""
    assert remove(world, Spec("acme", "prod"), name="shapes", keep=None) == 3
    assert world.candidates() == []
    assert untouched(world)
    assert remove(world, Spec("acme", "prod"), name="shapes", keep=None) == 0


def test_a_suite_without_answers_cannot_carry_a_quality_gate(tmp_path: Path) -> None:
    world = world_in(tmp_path)
    found = course(world)
    (tmp_path / "prompts.jsonl").write_text('{"id": "a", "prompt": "x"}\n')
    with pytest.raises(UsageError, match=r"no prompt of .* names a grader or an expected answer"):
        cases_of(found.experiment, load_suite(tmp_path / "prompts.jsonl"), found.means)


def test_without_a_margin_quality_is_not_asked(tmp_path: Path) -> None:
    world = world_in(tmp_path, {**FAST_FP8, "fp8": Behaviour(0.5, wrong=frozenset(range(80)))})
    state = run(world, TEXT.replace("quality: {margin: 10%}\n", ""))
    assert found(state, "fp8")["quality"]["verdict"] == "not_asked"
    assert state.decision["winner"] == "fp8"


def test_a_plan_that_would_delete_another_deployment_is_refused() -> None:
    live = normalise_deployment(row("chat", description="[fwctl prod/chat]"))
    plan = Plan("acme", "prod", (Change("chat", "chat", ("delete",), live=live),), "")
    with pytest.raises(RefusedError, match="chat carries no marker of an experiment"):
        require_own(plan, "prod")
