"""How evaluations look: what occurred is shown, what did not is left out, and nothing is markup."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.exitcodes import Exit
from fwctl.report.formats import renderer
from fwctl.report.layout import Style
from fwctl.report.model import Report

SHARE = {"value": 0.94, "low": 0.916, "high": 0.958, "n": 500}
NONE = {"value": None, "low": None, "high": None, "n": 0}
COUNTS = {
    "n": 503,
    "right": 470,
    "wrong": 30,
    "empty": 3,
    "truncated": 0,
    "failed": 0,
    "degenerate": 0,
    "ungraded": 0,
    "unasked": 0,
}
STRUCTURED = {
    "n": 200,
    "formats": {"json_object": 150, "json_schema": 50},
    "valid": SHARE,
    "invalid_json": 4,
    "schema_violation": 0,
    "length": 2,
    "empty": 0,
    "failed": 0,
    "whitespace": 1,
    "reasoning_only": 0,
    "retries": 7,
    "wasted_tokens": 900,
}


def run(**quality: Any) -> Report:
    target = {**COUNTS, "accuracy": SHARE, "types": {}, "problems": [], "structured": None}
    body = {"targets": {"<fp8>": target}, "judge": None, "warnings": [], **quality}
    checks = [{"name": "eval_valid", "status": "pass", "message": "fine", "deployment": "<fp8>"}]
    return Report(
        "eval run", {"out": "runs/a", "summary": {"interrupted": False, "quality": body}, "checks": checks}
    )


def pairs(**more: Any) -> dict[str, Any]:
    base = {"n_pairs": 200, "both": 180, "only_base": 12, "only_candidate": 3, "neither": 5}
    return {**base, "loss": 0.045, "loss_upper": 0.08, "p_value": 0.035, "design_effect": 1.0, **more}


def comparison(**more: Any) -> Report:
    names = [f"p{n}" for n in range(12)]
    body = {
        "base": "a",
        "candidate": "b",
        "verdict": "fail",
        "quality": pairs(lost_prompts=names, gained_prompts=["q"]),
        "types": [],
        "broken": {"classes": {"empty": {"base": 0, "candidate": 0}}},
        "checks": [{"name": "eval_quality", "status": "fail", "message": "worse"}],
        **more,
    }
    return Report("eval compare", body, Exit.REFUSED)


def text(report: Report) -> str:
    return renderer("text").render(report, Style())


def test_only_outcomes_that_occurred_have_a_column() -> None:
    shown = text(run())
    assert shown.splitlines()[0] == "runs/a: graded"
    assert "target  type  answers                right  wrong  empty" in shown
    assert "<fp8>   all       503  94.0 % [91.6, 95.8]     30      3" in shown
    assert "truncated" not in shown


def test_structured_output_has_a_table_of_its_own() -> None:
    target = {**COUNTS, "accuracy": SHARE, "types": {}, "problems": [], "structured": STRUCTURED}
    shown = text(run(targets={"m": target}))
    header = (
        "target  format                           answers                valid  no JSON  whitespace  cut off"
    )
    assert f"{header}  retries  wasted tokens" in shown
    assert "150 json_object, 50 json_schema" in shown
    assert "breaks schema" not in shown


def test_the_judge_is_shown_with_its_interval() -> None:
    judge = {"model": "j", "swap": SHARE, "repeat": NONE}
    shown = text(run(judge=judge))
    assert (
        "the judge agrees with itself in 94.0 % [91.6, 95.8] of 500 answers with the order swapped" in shown
    )
    assert "judged again" not in shown


def test_a_run_that_says_nothing_and_one_that_was_interrupted_say_so() -> None:
    target = {**COUNTS, "accuracy": NONE, "types": {}, "problems": ["all are empty"], "structured": None}
    assert text(run(targets={"m": target})).startswith("runs/a: says nothing about quality")
    stopped = Report("eval run", {"out": "runs/a", "summary": {"interrupted": True}, "checks": []})
    assert text(stopped) == "runs/a: interrupted\n"


def test_a_comparison_names_the_first_prompts_that_differ() -> None:
    shown = text(comparison())
    assert "fail: b against a" in shown
    assert "all     200      96.0 %           91.5 %    12       3   4.5      8.0  0.035" in shown
    assert "lost: p0, p1, p2, p3, p4, p5, p6, p7, p8, p9 and 2 more" in shown
    assert "gained: q" in shown
    assert "Broken answers" not in shown


def test_types_and_broken_answers_are_shown_where_there_are_any() -> None:
    rows = [{"type": name, **pairs(), "p_holm": 0.07} for name in ("chat", "math")]
    classes = {"empty": {"base": 0, "candidate": 9}}
    quality = pairs(design_effect=2.9, lost_prompts=[], gained_prompts=[])
    shown = text(comparison(types=rows, broken={"classes": classes}, quality=quality))
    assert "for types adjusted by Holm" in shown
    assert "  math    200" in shown
    assert "  empty     0          9" in shown
    assert "2.9 of them count as one" in shown


def test_a_type_without_pairs_has_no_share() -> None:
    quality = pairs(n_pairs=0, lost_prompts=[], gained_prompts=[])
    assert "none" in text(comparison(quality=quality))


@pytest.mark.parametrize("name", ["markdown", "html"])
def test_names_are_never_markup(name: str) -> None:
    shown = renderer(name).render(run(), Style())
    assert "<fp8>" not in shown
    assert "fp8" in shown
