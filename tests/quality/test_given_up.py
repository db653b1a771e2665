"""A target that serves nothing ends an evaluation early, with the reason."""

from __future__ import annotations

from pathlib import Path

from fwctl.env import SystemClock
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.target import Target
from fwctl.quality.checks import run_checks
from fwctl.quality.evaluate import Evaluation, evaluate
from tests.quality.runs import write_suite
from tests.quality.servers import serving
from tests.quality.support import means


def test_the_rest_is_not_sent_and_the_reason_is_a_failed_check(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": f"p{n}", "prompt": "x", "expected": "y"} for n in range(40)])
    with serving(lambda _: 404) as (url, asked):
        target = Target("m", url, "m")
        plan = Plan(cases.suite, [target], Shape(1), tmp_path / "out", keep_text=True, give_up_s=1e-6)
        summary = evaluate(Evaluation(plan, cases, means(tmp_path)), SystemClock(), say=lambda _: None)
    assert len(asked) == 10
    told = [item["message"] for item in run_checks(summary["quality"]) if item["status"] == "fail"]
    assert told[0].startswith("m was given up: it served no request for 1e-06 s (http_404: check the model")
