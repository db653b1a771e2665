"""What servers say about drafts, added up."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.measure.speculation import of_rows
from fwctl.measure.summary import summarise
from fwctl.measure.table import Table


def row(target: str = "a", kind: str = "chat", **server: Any) -> dict[str, Any]:
    return {
        "target": target,
        "type": kind,
        "prompt_id": "p",
        "repeat": 0,
        "measured": True,
        "output_tokens": 50,
        "server": {name.replace("_", "-"): value for name, value in server.items()},
    }


def test_passes_are_added_up_and_positions_with_them() -> None:
    # 6 + 2 of 10 passes, then 9 + 8 of 10: 25 accepted tokens in 20 passes.
    found = of_rows(
        [row(speculation_acceptance="0:6/10,1:2/10"), row(speculation_acceptance="0:9/10,1:8/10")]
    )
    assert found.tokens_per_pass()["value"] == pytest.approx(2.25)
    assert found.acceptance_by_position == pytest.approx((0.75, 0.5))


def test_conditional_totals_mean_the_same() -> None:
    same = of_rows([row(speculation_acceptance="1:6/10,2:3/6")])
    assert same.acceptance_by_position == pytest.approx((0.6, 0.3))


def test_drafts_that_ended_early_are_passes_all_the_same() -> None:
    # N-grams near the end of what they copy: of 94 passes 86, 47, 45 and 45 came so far.
    found = of_rows([row(speculation_acceptance="0:86/94,1:47/62,2:45/62,3:45/62")])
    assert found.unread == 0
    assert found.tokens_per_pass()["value"] == pytest.approx(1 + 223 / 94)


def test_predictions_are_told_by_precision_and_by_coverage() -> None:
    told = {"speculation_prompt_tokens": 80.0, "speculation_prompt_matched_tokens": 40.0}
    found = of_rows([row(**told), row()]).to_json()
    assert found is not None
    assert found["predictions"] == {
        "requests": 1,
        "tokens": 80.0,
        "matched_tokens": 40.0,
        "matched_share": 0.5,
        "coverage": 0.8,
    }
    assert found["tokens_per_pass"]["value"] is None


def test_what_has_an_unknown_meaning_is_counted_and_nothing_is_guessed() -> None:
    found = of_rows([row(speculation_acceptance="0:6/10,1:2/12"), row(speculation_acceptance="nonsense")])
    assert found.unread == 2
    assert found.tokens_per_pass()["value"] is None
    assert (
        of_rows([row(), {**row(speculation_acceptance="0:1/2"), "error_class": "timeout"}]).to_json() is None
    )


def test_three_arms_and_types_are_told_apart_in_a_summary() -> None:
    rows = [
        row("default", speculation_acceptance="0:5/10"),
        row("default", "edit", speculation_acceptance="0:9/10"),
        row("candidate", speculation_acceptance="0:8/10,1:6/10"),
        row("off"),
    ]
    targets = summarise(rows, (), suite_digest="s", open_loop=False)["targets"]
    assert targets["default"]["speculation"]["tokens_per_pass"]["value"] == pytest.approx(1.7)
    assert targets["default"]["types"]["edit"]["speculation"]["acceptance_by_position"] == [0.9]
    assert targets["candidate"]["speculation"]["acceptance_by_position"] == pytest.approx([0.8, 0.6])
    assert targets["off"]["speculation"] is None


def test_a_table_keeps_the_counts_of_each_row() -> None:
    table = Table([row(), row(speculation_acceptance="0:5/10"), row(), row(speculation_acceptance="0:7/10")])
    assert table.drafts(table.all()).tokens_per_pass()["value"] == pytest.approx(1.6)
    assert table.drafts([1]).tokens_per_pass()["value"] == pytest.approx(1.5)
    assert table.drafts([0, 2]).to_json() is None
