"""Hold-out judgements and figures of a whole replay, by hand."""

from __future__ import annotations

import pytest

from fwctl.speculation import drafts
from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.entries import Options
from fwctl.speculation.intervals import break_even_verify_cost
from fwctl.speculation.projection import project
from fwctl.speculation.recommend import judge
from fwctl.speculation.replay import Replayer
from fwctl.speculation.tokens import approximate
from fwctl.speculation.trace import read
from fwctl.speculation.verify import Spent
from tests.speculation.traffic import Random, words


def test_a_holdout_by_hand() -> None:
    # Five tokens, the third wrong, 2 a pass: 2 passes, 4 drafted by the model (see test_verify.py).
    offer = drafts.recorded([1, 1, 0, 1, 1], [1, 1, 1, 1, 1], 2)
    found = project(((cluster, offer) for cluster in range(10)), 2, Costs(0.1, 0.05))
    assert (found.requests, found.tokens, found.tokens_per_pass) == (10, 50, 2.5)
    assert found.acceptance_by_position == (1.0, 0.5)
    assert found.speedup.value == pytest.approx(5 / 2.6)  # 2 + 4 * 0.15
    assert (found.speedup.low, found.speedup.high) == (pytest.approx(5 / 2.6), pytest.approx(5 / 2.6))
    assert found.share_slower == 0
    slow = project([(1, offer), (1, offer)], 2, Costs(0.8))
    assert slow.share_slower == 1.0  # 2 + 4 * 0.8 = 5.2
    assert slow.speedup.low is None
    with pytest.raises(ValueError, match="no answers"):
        project([], 2, Costs())


def test_the_verify_cost_that_eats_the_gain() -> None:
    # 10 tokens in 4 passes, 12 drafted, 8 of them by a model at 0.25: (10 - 4 - 2) / 12.
    assert break_even_verify_cost([Spent(10, 4, 4, 8)], Costs(0.25)) == pytest.approx(1 / 3)
    assert break_even_verify_cost([Spent(10, 9, 40, 40)], Costs(0.25)) == 0.0
    assert break_even_verify_cost([Spent(10, 10, 0, 0)], Costs()) is None


def test_a_whole_replay_by_hand() -> None:
    # Every answer is nine tokens, all predicted, 4 a pass: 9 tokens in 2 passes with 4 + 3 drafted (see
    # test_verify.py). 4.5 a pass; 9 / (2 + 7 * 0.1) = 3.33; all gain is gone at (9 - 2) / 7 = 1.
    options = Options(lengths=(2,), draft_tokens=(4,), index_tokens=0, costs=Costs(0.1, 0.1))
    replayer, random = Replayer(options, approximate()), Random(1)
    for number in range(40):
        answer = " ".join(words(random, 9))
        replayer.feed(read({"prompt": f"{number}", "prediction": answer, "completion": answer, "type": "x"}))
    found = judge(replayer.tally, options)["by_type"]["x"]
    [measured] = [item for item in found["sources"] if item["source"] == "prediction"]
    assert found["n_tokens"] == 40 * 9
    assert measured["tokens_per_pass"] == 4.5
    assert measured["acceptance_by_position"] == [1.0, 1.0, 1.0, 0.5]
    assert measured["speedup"]["value"] == pytest.approx(9 / 2.7)
    assert measured["break_even_verify_cost"] == pytest.approx(1.0)
    assert measured["drafting_share"] == 1.0
