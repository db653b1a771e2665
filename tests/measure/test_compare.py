"""Two runs to a verdict: pairing, what makes it invalid, the noise floor, and what it cannot tell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.measure.compare import compare_runs
from fwctl.measure.pairing import Options
from fwctl.measure.summary import Facts
from tests.measure.runs import rows, save


def compare(folder: Path, base: str, candidate: str, **options: Any) -> dict[str, Any]:
    return compare_runs(folder, base, candidate, Options(resamples=200, **options))


def verdicts(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(item["metric"], item["quantile"]): item["verdict"] for item in found["comparisons"]}


def test_a_planted_regression_of_a_fifth_is_worse_and_its_reverse_better(tmp_path: Path) -> None:
    base, slow = save(tmp_path / "a", rows(300)), save(tmp_path / "b", rows(300, factor=1.2, seed=2))
    found = verdicts(compare(tmp_path, base, slow))
    assert found["ttft_s", "p50"] == found["ttft_s", "p95"] == found["tpot_s", "p95"] == "worse"
    found = verdicts(compare(tmp_path, slow, base))
    assert found["ttft_s", "p50"] == found["ttft_s", "p95"] == "better"


def test_values_stand_beside_the_ratio(tmp_path: Path) -> None:
    base = save(tmp_path / "a", rows(100, ttft_s=0.2))
    slow = save(tmp_path / "b", rows(100, ttft_s=0.3))
    first = compare(tmp_path, base, slow)["comparisons"][0]
    assert (first["metric"], first["base"], first["candidate"]) == ("ttft_s", 0.2, 0.3)
    assert first["ratio"] == first["low"] == first["high"] == pytest.approx(1.5)
    assert (first["n_pairs"], first["n_prompts"], first["n_needed"]) == (100, 100, None)


def test_few_pairs_are_inconclusive_and_say_how_many_it_takes(tmp_path: Path) -> None:
    base, again = save(tmp_path / "a", rows(30)), save(tmp_path / "b", rows(30, seed=2))
    found = compare(tmp_path, base, again)
    p95 = next(item for item in found["comparisons"] if item["quantile"] == "p95")
    assert (p95["verdict"], p95["ratio"], p95["n_needed"]) == ("inconclusive", None, 72)


def test_pairs_are_of_the_same_prompt_repeat_and_load(tmp_path: Path) -> None:
    base = save(tmp_path / "a", rows(50, repeats=2))
    short = save(tmp_path / "b", rows(40, repeats=2))
    found = compare(tmp_path, base, short)
    assert (found["comparisons"][0]["n_pairs"], found["unpaired"]) == (80, 20)
    other = save(tmp_path / "c", rows(50, concurrency=16))
    found = compare(tmp_path, base, other)
    assert "load differs: 8 at a time and 16 at a time" in found["invalid_reasons"][0]
    assert found["invalid_reasons"][1] == "no prompt went well in both runs at the same load"
    assert set(verdicts(found).values()) == {"invalid"}


def test_types_are_judged_apart(tmp_path: Path) -> None:
    slow = [item if item["type"] == "chat" else {**item, "ttft_s": item["ttft_s"] * 2} for item in rows(300)]
    found = compare(tmp_path, save(tmp_path / "a", rows(300)), save(tmp_path / "b", slow))
    first = {name: items[0]["verdict"] for name, items in found["types"].items()}
    assert first == {"chat": "same", "edit": "worse"}


def drafted(records: list[dict[str, Any]], said: Mapping[str, str]) -> list[dict[str, Any]]:
    """The records with what their server said about drafts. said: type -> acceptance by position."""
    return [
        {**item, "server": {"speculation-acceptance": said[item["type"]]}} if item["type"] in said else item
        for item in records
    ]


def test_tokens_per_pass_stand_beside_each_other_and_by_type(tmp_path: Path) -> None:
    # 40 prompts of each type. Of 10 passes the first position held in 5, the second in 2: 1 + 0.7 tokens.
    base = save(tmp_path / "a", drafted(rows(80), {"edit": "1:5/10,2:2/10"}))
    more = {"edit": "1:9/10,2:8/10", "chat": "1:1/10,2:0/10"}
    found = compare(tmp_path, base, save(tmp_path / "b", drafted(rows(80), more)))["speculation"]
    assert found["base"]["tokens_per_pass"]["value"] == pytest.approx(1.7)
    assert found["base"]["acceptance_by_position"] == pytest.approx([0.5, 0.2])
    assert found["candidate"]["tokens_per_pass"]["value"] == pytest.approx(1 + (1.7 + 0.1) / 2)
    assert found["ratio"] == pytest.approx(1.9 / 1.7)
    assert found["types"]["edit"]["ratio"] == pytest.approx(2.7 / 1.7)
    assert found["types"]["chat"]["base"] is None
    assert found["types"]["chat"]["candidate"]["tokens_per_pass"]["n"] == 40
    assert found["types"]["chat"]["ratio"] is None


def test_drafts_are_compared_over_the_pairs_alone(tmp_path: Path) -> None:
    said = {"edit": "1:5/10", "chat": "1:5/10"}
    base = save(tmp_path / "a", drafted(rows(100), said))
    short = save(tmp_path / "b", drafted(rows(30), said))
    found = compare(tmp_path, base, short)["speculation"]
    assert [found[side]["tokens_per_pass"]["n"] for side in ("base", "candidate")] == [30, 30]


def test_runs_whose_servers_say_nothing_of_drafts_have_nothing_to_compare(tmp_path: Path) -> None:
    base, again = save(tmp_path / "a", rows(40)), save(tmp_path / "b", rows(40))
    assert compare(tmp_path, base, again)["speculation"] is None


@pytest.mark.parametrize(
    ("base", "candidate", "reason"),
    [
        ({"digest": "x"}, {}, "the prompt sets differ"),
        ({"invalid_reasons": ["the client was late"]}, {}, "base: the client was late"),
        ({"cache": "cold"}, {"cache": "warm"}, "cache differs: cold and warm"),
        ({"lock": {"shape": "s1"}}, {"lock": {"shape": "s2"}}, "shape differs: s1 and s2"),
        (
            {"lock": {"targets": {"t": {"model": {"precision": "FP16"}}}}},
            {"lock": {"targets": {"t": {"model": {"precision": "FP8"}}}}},
            "model.precision differs: FP16 and FP8; if that is meant, --expect-change precision",
        ),
        (
            {"replicas": [{"at": "", "ready": {"t": 1}}]},
            {"replicas": [{"at": "", "ready": {"t": 2}}]},
            "replicas differs: 1 and 2",
        ),
    ],
)
def test_what_must_not_differ_makes_it_invalid(
    tmp_path: Path, base: dict[str, Any], candidate: dict[str, Any], reason: str
) -> None:
    save(tmp_path / "a", rows(20), **base)
    save(tmp_path / "b", rows(20), **candidate)
    found = compare(tmp_path, "a", "b")
    assert any(reason in item for item in found["invalid_reasons"])
    assert set(verdicts(found).values()) == {"invalid"}
    assert found["error_rate"]["verdict"] == "invalid"


def test_what_was_meant_to_differ_may(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(20), lock={"t": {"shape": "s1", "precision": "FP16"}})
    save(tmp_path / "b", rows(20), lock={"t": {"shape": "s2", "precision": "FP8"}})
    assert not compare(tmp_path, "a", "b", expected=("shape", "precision"))["invalid_reasons"]
    assert len(compare(tmp_path, "a", "b", expected=("shape",))["invalid_reasons"]) == 1
    with pytest.raises(UsageError) as caught:
        compare(tmp_path, "a", "b", expected=("precison",))
    assert caught.value.next_steps == ("did you mean precision?",)


def test_cached_shares_over_five_points_apart_make_it_invalid(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(20, cached_tokens=300))
    save(tmp_path / "b", rows(20, cached_tokens=340))
    assert not compare(tmp_path, "a", "b")["invalid_reasons"]
    save(tmp_path / "c", rows(20, cached_tokens=360))
    assert "33 % and 40 %" in compare(tmp_path, "a", "c")["invalid_reasons"][0]


def test_failures_are_compared_beside_the_times(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(200))
    save(tmp_path / "b", rows(200, failures=10))
    found = compare(tmp_path, "a", "b")["error_rate"]
    # Ten prompts that failed in one arm only: 2 * 0.5 ** 10.
    assert found["p"] == pytest.approx(2 / 1024)
    assert (found["verdict"], found["candidate"]["value"]) == ("worse", 0.05)
    assert found["candidate"]["errors"] == {"rate_limited": 10}
    found = compare(tmp_path, "a", "a")["error_rate"]
    # No pair differs; ruling out one point takes (1.645 + 0.842) ** 2 / 0.01 = 619 pairs.
    assert (found["verdict"], found["n_needed"]) == ("inconclusive", 619)
    save(tmp_path / "c", rows(700))
    assert compare(tmp_path, "c", "c")["error_rate"]["verdict"] == "same"


def test_longer_answers_are_said(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(100, output_tokens=100))
    save(tmp_path / "b", rows(100, output_tokens=118))
    found = compare(tmp_path, "a", "b")
    assert found["output_tokens"] == {"base": 100, "candidate": 118, "ratio": 1.18, "n_pairs": 100}
    assert "18 % longer in tokens" in found["warnings"][0]


def test_missing_usage_and_interruptions_are_said(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(20), interrupted=True)
    save(tmp_path / "b", rows(20, tokens_source=None, output_tokens=None))
    found = compare(tmp_path, "a", "b")["warnings"]
    assert found == ["base: the run was interrupted", "candidate: 20 of 20 answers carry no usage"]


def test_when_everything_failed_it_is_said_with_what(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(5, failures=5))
    save(tmp_path / "b", rows(5))
    (reason,) = compare(tmp_path, "a", "b")["invalid_reasons"]
    assert reason == "no prompt went well in both runs at the same load (base: 5 rate_limited)"


def test_times_from_the_schedule_are_compared_for_open_loops_only(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(20, ttft_from_schedule_s=1.0))
    save(tmp_path / "b", rows(20, ttft_from_schedule_s=1.0, rate_per_s=5.0, concurrency=None))
    assert ("ttft_from_schedule_s", "p50") not in verdicts(compare(tmp_path, "a", "a"))
    assert verdicts(compare(tmp_path, "b", "b"))["ttft_from_schedule_s", "p50"] == "same"


def test_cost_is_compared_when_both_are_known(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(100), facts={"t": Facts(usd_per_hour=4.0)})
    save(tmp_path / "b", rows(100), facts={"t": Facts(usd_per_hour=5.0)})
    assert compare(tmp_path, "a", "b")["usd_per_million_output_tokens"]["ratio"] == pytest.approx(1.25)
    save(tmp_path / "c", rows(100))
    assert compare(tmp_path, "a", "c")["usd_per_million_output_tokens"]["ratio"] is None


def test_a_difference_within_the_noise_floor_shows_nothing(tmp_path: Path) -> None:
    base = save(tmp_path / "a", rows(300))
    again = save(tmp_path / "again", rows(300, factor=1.4, seed=2))
    slow = save(tmp_path / "slow", rows(300, factor=1.25, seed=3))
    found = compare(tmp_path, base, slow, floor=again)
    assert set(verdicts(found).values()) == {"inconclusive"}
    assert found["floor"]["source"] == "again"
    assert found["comparisons"][0]["floor"] == pytest.approx(1.4, rel=0.05)
    slower = save(tmp_path / "slower", rows(300, factor=2.0, seed=3))
    assert verdicts(compare(tmp_path, base, slower, floor=again))["ttft_s", "p50"] == "worse"


def test_repeats_of_the_base_give_a_floor_of_their_own(tmp_path: Path) -> None:
    steady = save(tmp_path / "a", rows(300, repeats=2))
    found = compare(tmp_path, steady, steady)
    assert found["floor"]["source"] == "repeats of the base"
    assert [row["floor"] for row in found["comparisons"]] == [1.0] * 8
    second = [{**item, "repeat": 1} for item in rows(300, factor=1.5, seed=2)]
    drifting = save(tmp_path / "b", rows(300) + second)
    found = compare(tmp_path, drifting, drifting)
    assert found["comparisons"][0]["floor"] == pytest.approx(1.5, rel=0.1)
    assert compare(tmp_path, save(tmp_path / "c", rows(30)), "c")["floor"] == {
        "source": None,
        "seen": [],
    }


def test_targets_of_one_run_are_compared_by_name(tmp_path: Path) -> None:
    save(tmp_path / "a", [*rows(10, target="x"), *rows(10, target="y")])
    assert verdicts(compare(tmp_path, "a:x", "a:y"))["ttft_s", "p50"] == "same"
    with pytest.raises(UsageError, match="several targets") as caught:
        compare(tmp_path, "a", "a:y")
    assert caught.value.next_steps == ("a:x", "a:y")
    with pytest.raises(UsageError, match="its targets are: x, y"):
        compare(tmp_path, "a:z", "a:y")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("summary.json", "{", "not JSON"),
        ("summary.json", "[]", "not the summary"),
        ("records.jsonl", "{\n", "records.jsonl:1: this is not a record"),
        ("records.jsonl", "{}\n", "records.jsonl:1: this is not a record"),
        ("records.jsonl", "\udcff\n", "records.jsonl:1: this is not a record"),
        ("records.jsonl", "", "holds no measured records"),
        ("records.jsonl", None, "cannot read"),
        ("summary.json", None, "cannot read"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    save(tmp_path / "a", rows(1))
    (tmp_path / "a" / name).unlink()
    if content is not None:
        (tmp_path / "a" / name).write_text(content, errors="surrogateescape")
    with pytest.raises(UsageError, match=message):
        compare(tmp_path, "a", "a")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ttft_s", '"fast"'),
        ("ttft_s", "NaN"),
        ("total_s", "1e999"),
        ("output_tokens", "1" + "0" * 400),
        ("repeat", "1" + "0" * 30),
        ("rate_per_s", '"5/s"'),
        ("concurrency", "[]"),
        ("type", "{}"),
        ("prompt_id", "7"),
    ],
)
def test_a_value_that_cannot_be_is_no_record(tmp_path: Path, key: str, value: str) -> None:
    save(tmp_path / "a", rows(1))
    line = json.dumps({**rows(1)[0], key: "HERE"}).replace('"HERE"', value)
    (tmp_path / "a/records.jsonl").write_text(line + "\n")
    with pytest.raises(UsageError, match="not a record"):
        compare(tmp_path, "a", "a")


def test_a_line_that_was_cut_off_by_a_kill_is_left_out(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(20))
    with (tmp_path / "a/records.jsonl").open("a") as file:
        file.write('{"target": "t", "prom')
    assert compare(tmp_path, "a", "a")["comparisons"][0]["n_pairs"] == 20


def test_a_folder_of_pipes_is_refused(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(1))
    (tmp_path / "a/records.jsonl").unlink()
    (tmp_path / "a/records.jsonl").mkdir()
    with pytest.raises(UsageError, match="no regular file"):
        compare(tmp_path, "a", "a")


@pytest.mark.deep
def test_the_same_thing_twice_is_called_a_difference_less_often_than_stated(tmp_path: Path) -> None:
    """200 pairs of runs of one thing: at most 5 % of them may show a difference in the metric gated on."""
    wrong = 0
    save(tmp_path / "a", rows(150, seed=1000))
    for seed in range(200):
        save(tmp_path / "a", rows(150, seed=2 * seed))
        save(tmp_path / "b", rows(150, seed=2 * seed + 1))
        wrong += verdicts(compare_runs(tmp_path, "a", "b"))["ttft_s", "p95"] in ("better", "worse")
    assert wrong <= 10
