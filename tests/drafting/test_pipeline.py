"""The loop from traffic to a decision, on a platform in memory; it may end anywhere and goes on."""

from __future__ import annotations

import json
import stat
from pathlib import Path

import pytest

from fwctl.drafting.deciding import changes
from fwctl.drafting.state import FILE, Step, load
from fwctl.errors import FwctlError, RefusedError
from tests.drafting.pipeline_support import MODEL, OTHER, SMALL, TEXT, FakeDesk, pipeline
from tests.quality.experiments.support import Killed

PREFIX = "accounts/acme/models/tuned-"


def test_narrow_traffic_is_promoted_and_nothing_stays_behind(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    line = pipeline(desk)
    state = line.run()
    decision = state.result(Step.DECIDE)
    assert decision is not None
    assert decision["verdict"] == "promote", decision
    # At a = 0.85 a pass gives 3.19 tokens for k = 3 and 4.15 for k = 5; they cost 1.375 and 1.625.
    assert decision["candidate"] in ("c1-k5", "c2-k5")
    evaluated = state.result(Step.EVALUATE)
    assert evaluated is not None
    assert evaluated["baseline"] == "today"
    arms = {arm["name"]: arm for arm in evaluated["arms"]}
    assert set(arms) == {"default", "off", "today", "c1-k3", "c1-k5", "c2-k3", "c2-k5"}
    assert arms["c1-k5"]["tokens_per_pass"]["value"] == pytest.approx(4.15, abs=0.06)
    against = arms["c1-k5"]["against_off"]
    assert against["measured"]["value"] == pytest.approx(4.15 / 1.625, abs=0.1)
    assert against["agree"] is True
    assert arms["off"]["against_off"]["projected"]["value"] is None
    assert changes(decision, evaluated, line.entry).keys() == {
        "speculation.draft_model",
        "speculation.draft_tokens",
    }
    assert desk.live == []
    assert [word.split()[0] for word in desk.platform.made] == [
        "dataset",
        *["supervised-fine-tuning-job"] * 2,
    ]


def test_open_chat_is_kept_with_the_reason(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path, accepts=0.45)
    decision = pipeline(desk).run().result(Step.DECIDE)
    assert decision is not None
    assert decision["verdict"] == "keep"
    assert "which does not clear 1.05" in decision["reason"]


def test_a_second_run_asks_nothing_and_makes_nothing(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    first = pipeline(desk).run()
    made, asked = list(desk.platform.made), list(desk.questions)
    assert pipeline(desk).run() == first
    assert (desk.platform.made, desk.questions) == (made, asked)
    path = tmp_path / ".fwctl/drafting/tuned" / FILE
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE((path.parent / "data/train.jsonl").stat().st_mode) == 0o600


def goes_on_after(tmp_path: Path, point: str) -> None:
    """Killed at one point, run again: each thing was made once, and nothing stays."""
    desk = FakeDesk(tmp_path, kill=point)
    with pytest.raises(Killed):
        pipeline(desk).run()
    again = FakeDesk(tmp_path, platform=desk.platform, deployments=desk.deployments)
    again.world.clock = desk.world.clock
    state = pipeline(again).run()
    assert set(state.steps) == {"collect", "train", "evaluate", "decide"}
    assert len(desk.platform.datasets) == 1
    assert len(desk.platform.made) == len(set(desk.platform.made)) == 3
    assert again.live == []


def test_killed_while_a_job_was_started_it_goes_on(tmp_path: Path) -> None:
    goes_on_after(tmp_path, "job made")


@pytest.mark.deep
@pytest.mark.parametrize(
    "point",
    [
        "before collect",
        "collect done",
        "before train",
        "before upload",
        "uploaded",
        "before job",
        "job ended",
        "train done",
        "before evaluate",
        "before create",
        "created",
        "load 1",
        "pass 1",
        "measured",
        "decided",
        "before delete",
        "deleted",
        "evaluate done",
        "before decide",
        "decide done",
    ],
)
def test_killed_anywhere_it_goes_on(tmp_path: Path, point: str) -> None:
    goes_on_after(tmp_path, point)


@pytest.mark.parametrize("verb", ["dataset create", "supervised-fine-tuning-job create"])
def test_an_answer_that_was_lost_is_not_a_failure(tmp_path: Path, verb: str) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.lost = {verb}
    pipeline(desk).step(Step.COLLECT)
    pipeline(desk).step(Step.TRAIN)
    assert len(desk.platform.made) == 3


def test_too_little_data_says_how_much_is_missing(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    with pytest.raises(RefusedError, match="30 conversations, 20 fewer than the 50 it takes"):
        pipeline(desk, count=30).run()
    assert load(tmp_path / ".fwctl", "tuned", "acme").steps == {}


def test_nothing_is_sent_before_somebody_agreed(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path, agrees=False)
    with pytest.raises(Killed):
        pipeline(desk).run()
    assert desk.questions == ["upload the data and start 2 jobs"]
    assert desk.platform.made == []
    assert "training: $0.01 in all" in desk.said or "training: $0.00 in all" in desk.said


def test_an_unknown_price_says_so(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path, agrees=False)
    with pytest.raises(Killed):
        pipeline(desk, TEXT.replace("  usd_per_million_tokens: 0.5\n", "")).run()
    assert any("its price is unknown" in text for text in desk.said)


def test_a_refused_base_model_costs_nothing(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.refused = {SMALL}
    with pytest.raises(RefusedError, match="must be a base model") as caught:
        pipeline(desk).run()
    assert "without a draft model the hold-out says" in caught.value.next_steps[0]
    assert desk.platform.made == desk.questions == []


def test_what_is_refused_whatever_drafts_is_no_word_on_the_draft_model(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.refused = {"all"}
    with pytest.raises(FwctlError, match="no such region"):
        pipeline(desk).run()
    assert desk.platform.made == []


def test_an_adapter_that_is_there_is_asked_about_first(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    mine = "accounts/acme/models/old"
    desk.platform.adapters = [{"name": mine, "peft_details": {"base_model": SMALL}, "state": "READY"}]
    desk.platform.refused = {"addons"}
    with pytest.raises(RefusedError, match="old: draft model"):
        pipeline(desk).run()
    assert desk.platform.asked == [SMALL, mine]
    assert desk.platform.made == []


def test_where_nobody_can_say_one_job_asks_for_all(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.refused = {"addons"}
    with pytest.raises(RefusedError, match=PREFIX):
        pipeline(desk).run()
    assert [word.split()[0] for word in desk.platform.made] == ["dataset", "supervised-fine-tuning-job"]


def test_a_candidate_that_fails_is_not_the_end(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.fails = {"2"}
    state = pipeline(desk).run()
    trained = state.result(Step.TRAIN)
    assert trained is not None
    assert [job["state"] for job in trained["jobs"]] == ["COMPLETED", "FAILED"]
    assert trained["jobs"][1]["message"] == "the loss is not a number"
    evaluated = state.result(Step.EVALUATE)
    assert evaluated is not None
    assert [arm["name"] for arm in evaluated["arms"] if arm["tuned"]] == ["c1-k3", "c1-k5"]


def test_when_no_candidate_can_be_trained_it_says_why(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.fails = {SMALL}
    with pytest.raises(RefusedError, match="no candidate could be trained"):
        pipeline(desk).run()


def test_a_job_that_takes_too_long_is_waited_for_again(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    desk.platform.job_looks = 10_000
    text = TEXT.replace("train:\n", "train:\n  timeout: 1h\n")
    with pytest.raises(FwctlError, match="no job has ended yet"):
        pipeline(desk, text).run()
    desk.platform.job_looks = 0
    assert Step.DECIDE in pipeline(desk, text).run().steps
    assert len(desk.platform.made) == 3


def test_reserved_capacity_hears_of_the_offer_first(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path, agrees=False)
    desk.platform.reservations = [{"name": "accounts/acme/reservations/r"}]
    with pytest.raises(Killed):
        pipeline(desk).run()
    assert any("at no extra cost" in text for text in desk.said)


def test_names_that_hold_something_else_are_refused(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    line = pipeline(desk)
    line.step(Step.COLLECT)
    line.step(Step.TRAIN)
    for row in desk.platform.jobs.values():
        row["base_model"] = OTHER
    line.forget(Step.TRAIN)
    with pytest.raises(RefusedError, match="exists with base_model"):
        line.step(Step.TRAIN)
    for row in desk.platform.datasets.values():
        row["example_count"] = "7"
    with pytest.raises(RefusedError, match="holds 7 examples"):
        line.step(Step.TRAIN)


def test_a_step_wants_those_before_it(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    with pytest.raises(RefusedError, match="evaluate has to be done first"):
        pipeline(desk).step(Step.DECIDE)


def test_another_margin_decides_anew_without_measuring(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    pipeline(desk).run()
    asked = list(desk.questions)
    text = TEXT.replace("  repeat: 1\n", "  repeat: 1\n  margin: 90%\n")
    decision = pipeline(desk, text).run().result(Step.DECIDE)
    assert decision is not None
    assert decision["verdict"] == "keep"
    assert desk.questions == asked


def test_lost_files_of_traffic_are_collected_anew(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path)
    line = pipeline(desk)
    line.step(Step.COLLECT)
    (tmp_path / ".fwctl/drafting/tuned/data/train.jsonl").unlink()
    line.step(Step.COLLECT)
    assert (tmp_path / ".fwctl/drafting/tuned/data/train.jsonl").exists()


@pytest.mark.parametrize("text", ["{", "[]", '{"format_version": 2}', '{"format_version": 1, "name": 3}'])
def test_a_damaged_state_is_told(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".fwctl/drafting/tuned" / FILE
    path.parent.mkdir(parents=True)
    path.write_text(text)
    with pytest.raises(FwctlError, match="its content is not what fwctl writes"):
        load(tmp_path / ".fwctl", "tuned", "acme")


def test_the_state_of_another_account_is_not_taken(tmp_path: Path) -> None:
    path = tmp_path / ".fwctl/drafting/tuned" / FILE
    path.parent.mkdir(parents=True)
    path.write_text(
        json.dumps({"format_version": 1, "name": "tuned", "account": "x", "round": 1, "steps": {}})
    )
    with pytest.raises(FwctlError, match="account x"):
        load(tmp_path / ".fwctl", "tuned", "acme")


def test_the_candidates_differ_from_the_deployment_in_their_drafter_alone(tmp_path: Path) -> None:
    desk = FakeDesk(tmp_path, kill="created")
    with pytest.raises(Killed):
        pipeline(desk).run()
    rows = [row for row in desk.deployments.rows if row["state"] == "READY"]
    assert {str(row["base_model"]) for row in rows} == {MODEL}
    assert sorted(str(row.get("draft_model") or "").rpartition("/")[2][:6] for row in rows) == [
        "", "", "llama-", "tuned-", "tuned-", "tuned-", "tuned-",
    ]  # fmt: skip
