"""Drift is called when traffic moved, and hardly ever when it did not."""

from __future__ import annotations

from random import Random

import pytest

from fwctl.speculation.drift import FALSE_ALARMS, Trend, Window, detect, p_value


def traffic(random: Random, acceptance: float, requests: int = 200) -> Window:
    """Requests of 40 passes with up to 4 drafted tokens. Acceptance varies from request to request."""
    window = Window()
    for _ in range(requests):
        mean = min(0.98, max(0.02, random.gauss(acceptance, 0.15)))
        accepted = 0
        for _ in range(40):
            run = 0
            while run < 4 and random.random() < mean:
                run += 1
            accepted += run
        window.add(40, accepted)
    return window


def test_tokens_per_pass_and_its_variance_by_hand() -> None:
    """Requests (2, 1), (2, 3), (4, 4): ratio 8/8 = 1; residuals -1, 1, 0; variance 2/2 * 3/64."""
    window = Window.of([(2, 1), (2, 3), (4, 4), (0, 0)])
    assert window.requests == 3
    assert window.tokens_per_pass == 2.0
    assert window.variance == pytest.approx(3 / 64)


def test_a_fall_and_a_rise_over_three_windows_are_called() -> None:
    random = Random(1)
    base = traffic(random, 0.7, 500)
    fall = detect(base, [traffic(random, 0.5) for _ in range(3)])
    assert fall.trend is Trend.FALL
    assert fall.windows == 3
    assert fall.change is not None
    assert fall.change < -0.10
    assert detect(base, [traffic(random, 0.9) for _ in range(3)]).trend is Trend.RISE


def test_one_bad_window_is_no_drift_and_neither_is_a_small_certain_change() -> None:
    random = Random(2)
    base = traffic(random, 0.7, 2000)
    good, bad = [traffic(random, 0.7) for _ in range(3)], traffic(random, 0.4)
    assert detect(base, [*good[:2], bad]).trend is Trend.STEADY
    slight = [traffic(random, 0.67, 2000) for _ in range(3)]
    assert p_value(base, slight[-1]) < FALSE_ALARMS
    assert detect(base, slight).trend is Trend.STEADY


def test_opposite_windows_do_not_agree() -> None:
    random = Random(3)
    base = traffic(random, 0.6)
    windows = [traffic(random, 0.3), traffic(random, 0.9), traffic(random, 0.3)]
    assert detect(base, windows).trend is Trend.STEADY


def test_too_few_requests_or_windows_say_nothing() -> None:
    random = Random(4)
    base = traffic(random, 0.6)
    assert detect(base, [traffic(random, 0.2, 29) for _ in range(3)]).trend is Trend.UNKNOWN
    assert detect(base, [traffic(random, 0.2)] * 2).trend is Trend.UNKNOWN
    assert detect(Window(), [base] * 3).trend is Trend.UNKNOWN


def test_a_window_differs_by_chance_as_often_as_stated() -> None:
    """Of 600 windows without drift, those below a p-value of 0.05 number 30 give or take 4 deviations."""
    random = Random(5)
    below = sum(p_value(traffic(random, 0.6, 60), traffic(random, 0.6, 60)) < 0.05 for _ in range(600))
    assert 30 - 4 * 5.34 <= below <= 30 + 4 * 5.34


def test_windows_without_any_variation_differ_for_certain_or_not_at_all() -> None:
    same, other = Window.of([(10, 5)] * 40), Window.of([(10, 2)] * 40)
    assert p_value(same, same) == 1.0
    assert p_value(same, other) == 0.0
