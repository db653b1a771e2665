"""What a suite can show, against published sizes and hand arithmetic."""

from __future__ import annotations

import pytest

from fwctl.quality.outlook import outlook, sentences


# (1.6449 + 0.8416)^2 = 6.1826: * 0.06 / 0.0004 = 927.4 and * 0.10 / 0.0009 = 686.9.
@pytest.mark.parametrize(("margin", "discordance", "n"), [(0.02, 0.06, 928), (0.03, 0.10, 687)])
def test_pairs_needed_are_said(margin: float, discordance: float, n: int) -> None:
    found = outlook({"chat": 500}, discordance=discordance, margin=margin)
    assert (found.pairs_needed, found.missing_prompts) == (n, n - 500)


def test_500_prompts_rule_out_2_7_points_and_show_3_1() -> None:
    # sqrt(0.06 / 500) = 0.010954: * 2.4865 = 0.02724, * (1.9600 + 0.8416) = 0.03069.
    found = outlook({"chat": 500})
    assert found.rules_out == pytest.approx(0.02724, abs=1e-5)
    assert found.shows == pytest.approx(0.03069, abs=1e-5)
    told = "\n".join(sentences(found))
    assert "rule out a loss of 2.7 points and show one of 3.1 points" in told
    assert "928 pairs: 428 more prompts, or 1 more repeat" in told


def test_repeats_count_as_pairs_with_a_caution() -> None:
    found = outlook({"chat": 300, "math": 200}, repeats=2)
    assert (found.n_pairs, found.enough, found.missing_repeats) == (1000, True, 0)
    told = sentences(found)
    assert told[0].startswith("500 graded prompts x 2 repeats = 1,000 pairs")
    assert "Repeats count in full only" in told[1]
    # sqrt(0.06 / 600) * 2.4865 = 0.02486 and sqrt(0.06 / 400) * 2.4865 = 0.03045.
    assert told[2] == "By type it can rule out: chat 2.5 points, math 3.0 points."


def test_nothing_to_grade_is_said() -> None:
    assert "nothing can be graded" in sentences(outlook({}))[0]
    assert outlook({}).to_json()["rules_out"] == 1.0


def test_shares_outside_their_range_are_refused() -> None:
    with pytest.raises(ValueError, match="shares"):
        outlook({"chat": 5}, margin=0)
