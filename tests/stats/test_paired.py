"""Paired comparison of latencies."""

from __future__ import annotations

from random import Random

import pytest

from fwctl.stats.paired import Verdict, compare


def prompts(n: int, factor: float, noise: float = 0.02) -> list[tuple[float, float]]:
    random = Random(7)
    base = [random.lognormvariate(0, 0.5) for _ in range(n)]
    return [(value, value * factor * random.uniform(1 - noise, 1 + noise)) for value in base]


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.5, Verdict.WORSE), (0.6, Verdict.BETTER), (1.0, Verdict.SAME)]
)
def test_a_clear_case_gets_its_word(factor: float, verdict: Verdict) -> None:
    found = compare(prompts(200, factor), 0.5, resamples=300)
    assert found.verdict is verdict
    assert found.value == pytest.approx(factor, rel=0.05)
    assert found.low is not None
    assert found.high is not None
    assert found.low <= factor <= found.high
    assert found.n_needed is None


def test_identical_arms_have_a_ratio_of_exactly_one() -> None:
    found = compare([(float(i), float(i)) for i in range(1, 101)], 0.95, resamples=100)
    assert (found.value, found.low, found.high, found.verdict) == (1, 1, 1, Verdict.SAME)


def test_noise_without_enough_pairs_is_inconclusive_and_says_how_many() -> None:
    random = Random(3)
    pairs = [(random.lognormvariate(0, 1), random.lognormvariate(0, 1)) for _ in range(30)]
    found = compare(pairs, 0.5, resamples=300)
    assert found.verdict is Verdict.INCONCLUSIVE
    assert found.n_needed is not None
    assert found.n_needed > 30


@pytest.mark.parametrize("pairs", [[], [(1.0, 1.0)] * 71])
def test_too_few_pairs_for_a_p95_give_no_ratio(pairs: list[tuple[float, float]]) -> None:
    found = compare(pairs, 0.95)
    assert (found.value, found.verdict, found.n_needed) == (None, Verdict.INCONCLUSIVE, 72)


def test_the_same_seed_gives_the_same_interval() -> None:
    pairs = prompts(80, 1.1, noise=0.3)
    assert compare(pairs, 0.95, resamples=200, seed=4) == compare(pairs, 0.95, resamples=200, seed=4)


def test_a_base_of_zero_cannot_be_divided_by() -> None:
    assert compare([(0.0, 1.0)] * 100, 0.5).value is None
