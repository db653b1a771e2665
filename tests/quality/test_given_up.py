"""A target that serves nothing ends an evaluation early, with the reason."""

from __future__ import annotations

from pathlib import Path

from aiohttp import web

from fwctl.env import SystemClock
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.target import Target
from fwctl.quality.checks import run_checks
from fwctl.quality.evaluate import Evaluation, evaluate
from tests.measure.servers import serving as answering
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


async def page(_: web.Request) -> web.Response:
    return web.Response(text="<title>Sign in</title>", content_type="text/html")


def test_a_page_instead_of_answers_is_shown_with_a_way_out(tmp_path: Path) -> None:
    cases = write_suite(tmp_path, [{"id": f"p{n}", "prompt": "x", "expected": "y"} for n in range(4)])
    with answering(page) as url:
        plan = Plan(cases.suite, [Target("m", url, "m")], Shape(1), tmp_path / "out", keep_text=True)
        summary = evaluate(Evaluation(plan, cases, means(tmp_path)), SystemClock(), say=lambda _: None)
    ((told,),) = [item["problems"] for item in summary["quality"]["targets"].values()]
    assert told.startswith("4 of 4 answers failed on the way, 4 with not_a_stream: HTTP 200 with text/html")
    assert "begins '<title>Sign in</title>': check the URL of the target" in told
