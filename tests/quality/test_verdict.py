"""The gate keeps its promises: exact error rates over every outcome, simulated ones with repeats."""

from __future__ import annotations

from collections import Counter
from math import exp, lgamma, log
from random import Random

import pytest

from fwctl.quality.verdict import Counts, Gate, Pair, count, judge


def chances(n: int, *, loss: float, discordance: float, margin: float) -> dict[Gate, float]:
    """Exact probability of every verdict when prompts are independent: a sum over all outcomes."""
    p_lost, p_gained = (discordance + loss) / 2, (discordance - loss) / 2
    most = int(2.5 * n * discordance) + 8
    found = dict.fromkeys(Gate, 0.0)
    for lost in range(most):
        for gained in range(min(most, n - lost)):
            same = n - lost - gained
            ways = lgamma(n + 1) - lgamma(lost + 1) - lgamma(gained + 1) - lgamma(same + 1)
            chance = exp(ways + lost * log(p_lost) + gained * log(p_gained) + same * log(1 - discordance))
            if chance > 1e-7:
                counts = Counts(same, lost, gained, 0, n, lost, gained, 1.0)
                found[judge(counts, margin).verdict] += chance
    assert sum(found.values()) == pytest.approx(1, abs=1e-3)
    return found


@pytest.mark.parametrize(("n", "discordance"), [(100, 0.03), (200, 0.06), (300, 0.021)])
def test_a_loss_of_the_margin_passes_in_at_most_5_percent(n: int, discordance: float) -> None:
    assert chances(n, loss=0.02, discordance=discordance, margin=0.02)[Gate.PASS] <= 0.05


@pytest.mark.parametrize(
    ("n", "discordance", "most"), [(50, 0.10, 0.055), (100, 0.20, 0.0515), (200, 0.20, 0.0515)]
)
def test_few_or_noisy_prompts_pass_a_loss_of_the_margin_hardly_more_often(
    n: int, discordance: float, most: float
) -> None:
    # The worst cases of a grid of prompts, discordance and margin, summed up exactly.
    assert 0.05 < chances(n, loss=0.02, discordance=discordance, margin=0.02)[Gate.PASS] <= most


@pytest.mark.parametrize(("n", "discordance"), [(100, 0.10), (300, 0.06)])
def test_equal_arms_fail_in_at_most_2_5_percent(n: int, discordance: float) -> None:
    assert chances(n, loss=0.0, discordance=discordance, margin=0.02)[Gate.FAIL] <= 0.025


def test_the_stated_size_has_about_the_stated_power() -> None:
    # 687 pairs at 10 % discordance for 3 points: 80 % is stated, from the normal approximation.
    assert chances(687, loss=1e-9, discordance=0.10, margin=0.03)[Gate.PASS] == pytest.approx(0.80, abs=0.02)


def simulated(seed: int, *, loss: float, alike: float, runs: int = 300) -> Counter[Gate]:
    """Verdicts on 120 prompts of 4 repeats; `alike`: how often a repeat copies the one before."""
    random = Random(seed)
    weights = (0.9, (0.1 + loss) / 2, (0.1 - loss) / 2)
    found: Counter[Gate] = Counter()
    for _ in range(runs):
        pairs = []
        for prompt in range(120):
            draw = 0
            for repeat in range(4):
                if not repeat or random.random() > alike:
                    (draw,) = random.choices((0, 1, -1), weights)
                pairs.append(Pair(str(prompt), draw != -1, draw != 1))
        found[judge(count(pairs), 0.03).verdict] += 1
    return found


@pytest.mark.parametrize("alike", [1.0, 0.8, 0.0])
def test_repeats_that_resemble_each_other_do_not_loosen_the_gate(alike: float) -> None:
    # 5 % of 300 runs are 15; three standard errors more are 26.
    assert simulated(1, loss=0.03, alike=alike)[Gate.PASS] <= 26
    # 2.5 % are 7.5; three standard errors more are 16.
    assert simulated(2, loss=0.0, alike=alike)[Gate.FAIL] <= 16


def pairs(both: int, lost: int, gained: int, repeats: int = 1) -> list[Pair]:
    kinds = [(True, True)] * both + [(True, False)] * lost + [(False, True)] * gained
    return [Pair(f"p{at}", *kind) for at, kind in enumerate(kinds) for _ in range(repeats)]


def test_independent_repeats_are_worth_more_than_copies() -> None:
    random = Random(3)
    kinds = random.choices(((True, True), (True, False), (False, True)), (0.8, 0.1, 0.1), k=600)
    independent = count(Pair(f"p{at % 200}", *kind) for at, kind in enumerate(kinds))
    assert independent.effect == pytest.approx(1, abs=0.2)
    assert count(pairs(160, 20, 20, repeats=3)).effect == pytest.approx(3, abs=0.02)


def test_copies_decide_exactly_as_one_repeat_does() -> None:
    once, thrice = judge(count(pairs(390, 8, 2)), 0.02), judge(count(pairs(390, 8, 2, repeats=3)), 0.02)
    assert thrice.verdict is once.verdict
    assert thrice.p_value == once.p_value
    assert thrice.upper == pytest.approx(once.upper, abs=1e-3)


def test_a_shown_loss_fails() -> None:
    # Two-sided exact test of 9 against 0: 2 / 2^9 = 0.0039.
    found = judge(count(pairs(391, 9, 0)), 0.02)
    assert (found.verdict, found.n_needed) == (Gate.FAIL, None)
    assert found.p_value == pytest.approx(0.0039, abs=1e-4)
    assert found.loss == pytest.approx(9 / 400)


def test_a_loss_within_the_margin_passes_even_when_it_is_shown() -> None:
    # 9 of 4000: 0.2 points, p = 0.0039, and the bound lies far below 2 points.
    assert judge(count(pairs(3991, 9, 0)), 0.02).verdict is Gate.PASS


def test_too_few_prompts_are_inconclusive_and_say_how_many_it_takes() -> None:
    # Without a difference 0.98^n <= 0.05 needs log(0.05) / log(0.98) = 148.3 prompts.
    found = judge(count(pairs(50, 0, 0)), 0.02)
    assert (found.verdict, found.n_needed) == (Gate.INCONCLUSIVE, 149)
    assert judge(count(pairs(149, 0, 0)), 0.02).verdict is Gate.PASS
    assert judge(count(pairs(148, 0, 0)), 0.02).verdict is Gate.INCONCLUSIVE
    # 4 of 100 differ, evenly: 6.1826 * 0.04 / 0.02^2 = 618.3.
    assert judge(count(pairs(96, 2, 2)), 0.02).n_needed == 619
    assert judge(count([]), 0.02).verdict is Gate.INCONCLUSIVE
    assert judge(count([]), 0.02).n_needed == 149
