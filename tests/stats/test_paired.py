"""Paired comparison of latencies."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from fwctl.stats.paired import Verdict, compare, compare_all
from fwctl.stats.resample import Pairs


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


def series(n_prompts: int, repeats: int, factor: float = 1.0, seed: int = 5) -> Pairs:
    """Log-normal times: most of the variance is the prompt's, the rest is noise of each request."""
    random = Random(seed)
    base, candidate, clusters = [], [], []
    for prompt in range(n_prompts):
        middle = random.gauss(0, 0.45)
        for _ in range(repeats):
            base.append(exp(middle + random.gauss(0, 0.22)))
            candidate.append(factor * exp(middle + random.gauss(0, 0.22)))
            clusters.append(prompt)
    return Pairs(base, candidate, clusters)


def test_repeats_of_few_prompts_are_not_many_prompts() -> None:
    found = compare_all({"ttft_s": series(5, 20)}, (0.5,), resamples=50)["ttft_s", 0.5]
    # 100 pairs of 5 prompts; 6 prompts are the fewest, so 120 pairs at 20 repeats.
    assert (found.value, found.verdict, found.n_needed) == (None, Verdict.INCONCLUSIVE, 120)
    found = compare_all({"ttft_s": series(17, 20)}, (0.95,), resamples=50)["ttft_s", 0.95]
    # A p95 needs 72 samples and a quarter as many prompts: 18.
    assert (found.value, found.n_needed) == (None, 360)


def test_copies_of_one_measurement_do_not_narrow_the_interval() -> None:
    once = series(60, 1, seed=11)
    tenfold = Pairs(list(once.base) * 10, list(once.candidate) * 10, list(once.clusters) * 10)
    found = compare_all({"once": once, "ten": tenfold}, (0.5,), resamples=300)
    one, ten = found["once", 0.5], found["ten", 0.5]
    assert one.low is not None
    assert one.high is not None
    assert ten.low is not None
    assert ten.high is not None
    assert (ten.low, ten.high) == pytest.approx((one.low, one.high), rel=0.03)


def test_a_planted_regression_of_a_fifth_is_found() -> None:
    found = compare_all({"a": series(300, 3, 1.2)}, (0.5, 0.95), resamples=300)
    assert [found["a", q].verdict for q in (0.5, 0.95)] == [Verdict.WORSE, Verdict.WORSE]


def test_many_pairs_are_judged_on_a_sample_with_a_narrower_interval() -> None:
    found = compare_all({"a": series(20_000, 1, 1.05)}, (0.5,), resamples=100)["a", 0.5]
    assert found.n_pairs == 20_000
    assert found.low is not None
    assert found.high is not None
    # A median of 20,000 pairs: the spread of log ratios is about 0.4, 1.25 * 0.4 / sqrt(20,000) = 0.0035.
    assert 1.03 < found.low < 1.05 < found.high < 1.07
    assert found.high - found.low < 0.03


@pytest.mark.deep
def test_the_same_thing_twice_is_called_a_difference_less_often_than_stated() -> None:
    wrong = 0
    for seed in range(200):
        found = compare_all({"a": series(100, 1, seed=seed)}, (0.5, 0.95), tolerance=1e-9, resamples=300)
        wrong += any(item.verdict in (Verdict.BETTER, Verdict.WORSE) for item in found.values())
    assert wrong <= 10  # 5 % of 200


@pytest.mark.deep
@pytest.mark.parametrize(("n", "low", "high"), [(200, 0.5, 0.75), (400, 0.8, 1.0)])
def test_a_slower_p95_is_found_about_as_often_as_the_page_says(n: int, low: float, high: float) -> None:
    """docs/bench.md: a p95 that is 20 % slower is found in 6 of 10 runs of 200 prompts, 9 of 10 of 400."""
    seen = sum(
        compare_all({"a": series(n, 1, 1.2, seed)}, (0.95,), resamples=300)["a", 0.95].verdict
        is Verdict.WORSE
        for seed in range(100)
    )
    assert low <= seen / 100 <= high
