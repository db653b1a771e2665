"""Holm's procedure against a worked example."""

from __future__ import annotations

import pytest

from fwctl.stats.multiplicity import holm


def test_worked_example() -> None:
    # R: p.adjust(c(0.01, 0.04, 0.03, 0.005), "holm") is 0.03 0.06 0.06 0.02.
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])


def test_nothing_and_one() -> None:
    assert holm([]) == []
    assert holm([0.2]) == [0.2]


def test_no_adjusted_value_is_above_one() -> None:
    assert holm([0.6, 0.7]) == [1.0, 1.0]
