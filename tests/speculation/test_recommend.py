"""Traffic of known nature must come out as what it is, and figures as worked by hand."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.entries import Options, entries
from fwctl.speculation.intervals import acceptance, gain, interval
from fwctl.speculation.recommend import Bench, judge, judge_type
from fwctl.speculation.replay import Replayer, training
from fwctl.speculation.suffix import SuffixIndex
from fwctl.speculation.tally import CHOOSE, JUDGE, TRAIN, Tally, TypeTally, group, split
from fwctl.speculation.tokens import approximate
from fwctl.speculation.trace import read
from fwctl.speculation.verify import Histogram, Spent
from tests.speculation import traffic

TOKENS = approximate()


def replayed(items: Iterable[dict[str, Any]], options: Options) -> Tally:
    traces = [read(item) for item in items]
    replayer = Replayer(options, TOKENS, SuffixIndex.build(training(traces, TOKENS), options.index_tokens))
    for trace in traces:
        replayer.feed(trace)
    return replayer.tally


def one(items: Iterable[dict[str, Any]], **settings: Any) -> dict[str, Any]:
    options = Options(lengths=(2, 4), draft_tokens=(2, 8), **settings)
    [found] = judge(replayed(items, options), options)["by_type"].values()
    return dict(found)


def source(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(item for item in found["sources"] if item["source"] == name)


def test_open_ended_chat_is_left_alone() -> None:
    found = one(traffic.chat(60))["recommendation"]
    assert found["source"] == "none"
    assert (found["settings"], found["spec_patch"], found["request_patch"]) == ({}, {}, {})
    assert "gain 10 %" in found["reason"]


def test_edits_want_a_prediction() -> None:
    found = one(traffic.edit(60))
    assert found["recommendation"]["source"] == "prediction"
    assert found["recommendation"]["settings"] == {"field": "prediction", "k": 8}
    assert found["recommendation"]["request_patch"]["prediction"]["type"] == "content"
    measured = source(found, "prediction")
    assert measured["speedup"]["low"] > 2
    assert 1 + sum(measured["acceptance_by_position"]) == pytest.approx(measured["tokens_per_pass"])


def test_answers_that_repeat_the_prompt_want_ngrams() -> None:
    found = one(traffic.quoting(60))["recommendation"]
    assert found["source"] == "ngram"
    assert found["spec_patch"] == {"speculation": {"mode": "ngram", "ngram_length": 2, "draft_tokens": 8}}


def test_a_narrow_domain_wants_a_draft_model() -> None:
    model = "accounts/fireworks/models/llama-v3p2-1b-instruct"
    found = one(traffic.narrow(60), draft_model=model)
    assert found["recommendation"]["source"] == "draft"
    assert found["recommendation"]["settings"] == {"model": model, "k": 8}
    assert found["recommendation"]["spec_patch"]["speculation"]["draft_model"] == model
    # Right in 85 % of the tokens: the first position is that, give or take 1,800 trials.
    assert source(found, "draft")["acceptance_by_position"][0] == pytest.approx(0.85, abs=0.05)
    unnamed = one(traffic.narrow(60))["recommendation"]
    assert "--draft-model" in unnamed["reason"]


def test_a_draft_that_costs_more_than_it_brings_is_not_recommended() -> None:
    found = one(traffic.narrow(60, right=0.3), costs=Costs(0.3, 0.02))
    assert found["recommendation"]["source"] == "none"
    assert source(found, "draft")["share_slower"] > 0.5


def test_a_gain_of_a_few_long_answers_does_not_make_up_for_a_loss_of_most() -> None:
    random = traffic.Random(6)
    items = []
    for number in range(90):
        words = traffic.words(random, 200 if number % 3 == 0 else 10)
        drafted = words if number % 3 == 0 else ["?"] * len(words)
        items.append({"prompt": f"{number}", "completion": " ".join(words), "draft_tokens": drafted})
    found = one(items)["recommendation"]
    assert found["source"] == "none"
    assert "% of the requests would be slower" in found["reason"]


def test_repeated_answers_show_in_the_suffix_index() -> None:
    answers = [" ".join(traffic.words(traffic.Random(seed), 60)) for seed in range(3)]
    items = [
        {"prompt": f"question {number}", "completion": answers[number % 3], "type": "faq"}
        for number in range(60)
    ]
    found = one(items)
    assert source(found, "suffix")["tokens_per_pass"] > 5
    assert found["recommendation"]["source"] == "none"  # the platform has no such index
    # Every draft of 8 tokens is right, so a pass of a model gives up to 9 tokens for 1 + 8 · 0.12 passes.
    assert found["trained_draft"]["k"] == 8
    assert (
        3.5 < found["trained_draft"]["speedup"]["low"] <= found["trained_draft"]["speedup"]["high"] < 9 / 1.96
    )


def test_where_the_traffic_is_not_known_no_training_is_proposed() -> None:
    assert one(traffic.chat(60))["trained_draft"] is None
    assert one(traffic.edit(60))["trained_draft"] is None


def test_training_is_not_proposed_for_less_than_it_costs() -> None:
    answers = [" ".join(traffic.words(traffic.Random(seed), 60)) for seed in range(3)]
    items = [{"prompt": f"question {number}", "completion": answers[number % 3]} for number in range(60)]
    assert one(items, costs=Costs(0.9, 0.1))["trained_draft"] is None


def test_few_conversations_decide_nothing() -> None:
    found = one(traffic.edit(9))["recommendation"]
    assert found["source"] == "none"
    assert "conversations" in found["reason"]


def test_one_conversation_is_one_witness_however_long() -> None:
    items = [{**item, "conversation_id": "same"} for item in traffic.edit(60)]
    assert one(items)["recommendation"]["source"] == "none"


def test_a_draft_recorded_for_a_few_does_not_speak_for_all() -> None:
    items = list(traffic.narrow(60))
    for item in items[15:]:
        del item["draft_tokens"]
    assert one(items)["recommendation"]["source"] == "none"


def test_draft_tokens_that_do_not_lie_beside_the_answer_are_counted() -> None:
    items = [{**item, "draft_tokens": ["x"]} for item in traffic.narrow(10)]
    options = Options(lengths=(2,), draft_tokens=(2,), index_tokens=0)
    found = judge(replayed(items, options), options)
    assert found["unaligned"] == found["by_type"]["narrow"]["n_judged"] + sum(
        split(read(item).cluster) == CHOOSE for item in items
    )
    assert "draft" not in [item["source"] for item in found["by_type"]["narrow"]["sources"]]


@pytest.mark.parametrize(
    ("item", "aligned"),
    [
        ({"completion_tokens": [5, 6], "draft_tokens": [5, 7]}, True),
        ({"completion_tokens": ["a", "b"], "draft_tokens": ["a", "b"]}, True),
        ({"draft_tokens": ["one", " two"]}, True),
        ({"draft_tokens": ["one", "two"]}, True),
        ({"completion": "extraordinary two", "draft_tokens": ["extraordinary", "two"]}, True),  # words
        ({"completion": "extraordinary two", "draft_tokens": ["extraordin", "ary", "two"]}, True),
        ({"draft_tokens": [1, 2]}, False),  # ids mean nothing beside approximate tokens
    ],
)
def test_recorded_choices_need_the_same_alphabet(item: dict[str, Any], aligned: bool) -> None:
    numbers = (
        number
        for number in range(1000)
        if split(read({"prompt": f"{number}", "completion": "x"}).cluster) == JUDGE
    )
    trace = read({"prompt": f"{next(numbers)}", "completion": "one two", **item})
    replayer = Replayer(Options(lengths=(2,), draft_tokens=(2,)), TOKENS)
    replayer.feed(trace)
    assert replayer.tally.unaligned == (not aligned)


def test_the_cap_of_the_platform_cuts_a_prediction() -> None:
    items = list(traffic.edit(40))
    whole, cut = one(items), one(items, prediction_cap=20)
    assert source(cut, "prediction")["tokens_per_pass"] < 0.5 * source(whole, "prediction")["tokens_per_pass"]
    own = one([{**item, "max_tokens": 20} for item in items])
    assert source(own, "prediction") == source(cut, "prediction")


def test_parts_add_up_to_the_same_digits_in_any_order() -> None:
    items = [*traffic.edit(30), *traffic.chat(30), *traffic.quoting(20)]
    options = Options(lengths=(2, 3), draft_tokens=(2, 8), index_tokens=0)
    at_once = replayed(items, options)
    added = Tally()
    for part in (items[50:], items[:20], items[20:50]):
        added.merge(Tally.from_json(replayed(part, options).to_json()))
    assert judge(added, options) == judge(at_once, options)


def test_splits_are_shares_of_conversations() -> None:
    parts = [split(cluster) for cluster in range(1000)]
    assert (parts.count(TRAIN), parts.count(CHOOSE), parts.count(JUDGE)) == (200, 300, 500)
    assert {group(cluster) for cluster in range(100_000)} == set(range(256))


def test_too_many_types_are_refused() -> None:
    with pytest.raises(UsageError, match="200 request types"):
        replayed(
            ({"prompt": "a", "completion": "b", "type": f"{number}"} for number in range(201)), Options()
        )


def test_acceptance_is_counted_over_all_passes() -> None:
    # 10 passes: 4 accepted nothing, 3 one token, 1 two, 2 three.
    assert acceptance(Histogram([4, 3, 1, 2], [4, 0, 0, 6])) == [0.6, 0.3, 0.2]
    assert acceptance(Histogram([0, 0], [0, 0])) == []


def test_an_interval_holds_its_value_and_needs_enough_groups() -> None:
    rows = [Spent(100, 50, 10, 0)] * 7
    assert interval(rows, Costs()).low is None
    same = interval(rows * 2, Costs(0.0, 1.0))
    # 100 / (50 + 10) in every group: nothing varies.
    assert (same.value, same.low, same.high) == (pytest.approx(5 / 3),) * 3
    paid = interval([Spent(100, 50, 0, 10)] * 8, Costs(0.5, 0.5))
    assert paid.value == pytest.approx(5 / 3)


def test_intervals_cover_the_truth_about_as_often_as_they_say() -> None:
    # 200 samples of 12 groups, each 100 tokens in 40..60 passes: the truth is 100 / 50 = 2.
    random = traffic.Random(5)
    covered = 0
    for _ in range(200):
        found = interval([Spent(100, random.randint(40, 60), 0, 0) for _ in range(12)], Costs())
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= 2 <= found.high
    assert covered >= 182  # 95 % of 200 is 190; two standard deviations are 6


def luck(seed: int, options: Options) -> TypeTally:
    """Counts of one type in which every setting costs exactly what it saves, give or take 10 % a group."""
    random, grid = traffic.Random(seed), entries(options)
    counts = TypeTally.empty(grid)
    for part, groups in ((CHOOSE, 24), (JUDGE, 40)):
        counts.requests[part] = groups
        for place in range(groups):
            for at, entry in enumerate(grid):
                if entry.source == "ngram":
                    counts.add(part, place, at, Spent(100, round(random.gauss(100, 10)), 1, 0))
    for at, entry in enumerate(grid):
        counts.answered[at] = 40 if entry.source == "ngram" else 0
        counts.histograms[at].drafted[-1] = 1
    return counts


def test_luck_among_many_settings_is_not_taken_for_gain() -> None:
    options = Options(costs=Costs(0.0, 0.0))
    grid = entries(options)
    taken = naive = 0
    for seed in range(60):
        counts = luck(seed, options)
        found = judge_type(Bench(counts, grid, options, margin=0.0))["recommendation"]
        taken += found["source"] != "none"
        best = max(
            gain(counts.rows(JUDGE, at), options.costs) for at in range(len(grid)) if counts.answered[at]
        )
        naive += best > 1 + 1.96 * 0.1 / 40**0.5
    # One in forty by design, so 1.5 of 60; judging the best of 16 on its own part would take far more.
    assert taken <= 5
    assert naive >= 12
