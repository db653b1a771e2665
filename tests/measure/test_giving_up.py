"""A target that no request reaches is given up, and nothing else is."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from fwctl.env import SystemClock
from fwctl.measure.giving_up import GivingUp, why
from fwctl.measure.load import Job
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.record import Record
from fwctl.measure.run import run
from fwctl.measure.suite import Prompt, load
from fwctl.measure.target import Target


def ended(word: str | None) -> Record:
    return Record("r", "t", "p", 0, "2026-12-01T10:00:00+00:00", error_class=word)


def lost_after(ends: list[tuple[float, str | None]], after_s: float | None = 30.0) -> dict[str, str]:
    seen = GivingUp(after_s, 2)
    for at, word in ends:
        seen.note("t", ended(word), at)
    return seen.lost


def test_it_takes_the_time_and_ten_failures_in_a_row() -> None:
    every_3_s = [(3.0 * at, "connect") for at in range(11)]
    assert lost_after(every_3_s[:10]) == {}  # 27 s
    assert list(lost_after(every_3_s)) == ["t"]  # 30 s
    assert lost_after([(20.0 * at, "dns") for at in range(9)]) == {}  # 160 s, nine failures
    assert lost_after(every_3_s, None) == {}


def test_any_answer_begins_anew() -> None:
    failures = [(3.0 * at, "tls") for at in range(20)]
    assert lost_after([*failures[:10], (29.0, "rate_limited"), *failures[10:]]) == {}
    assert lost_after([*failures[:10], (29.0, None), *failures[10:]]) == {}


@pytest.mark.parametrize(
    "word", ["http_3xx", "http_401", "http_404", "http_422", "http_5xx", "not_a_stream", "timeout_ttft"]
)
def test_a_target_that_never_served_is_given_up_and_one_that_did_is_not(word: str) -> None:
    failures = [(3.0 * at, word) for at in range(1, 20)]
    assert list(lost_after(failures)) == ["t"]
    assert lost_after([(0.0, None), *failures]) == {}


@pytest.mark.parametrize("word", ["rate_limited", "overloaded", "scaling_up", "length", "invalid_json"])
def test_what_passes_and_what_is_an_answer_never_give_a_target_up(word: str) -> None:
    assert lost_after([(3.0 * at, word) for at in range(100)]) == {}


def test_the_reason_says_what_came_instead_or_what_to_do() -> None:
    assert lost_after([(9.0 * at, "http_401") for at in range(10)]) == {
        "t": "http_401: check the key of the target (`api_key`, --api-key-env)"
    }
    row = Record("r", "t", "p", 0, "", error_class="not_a_stream", error_note="HTTP 200 with text/html")
    assert why(row.to_json()) == "not_a_stream: HTTP 200 with text/html"


def test_the_others_go_on_and_without_any_the_load_ends() -> None:
    seen = GivingUp(0.0, 2)
    targets = {name: Target(name, "http://127.0.0.1:9/v1", "m") for name in ("a", "b")}

    def endless() -> Iterator[tuple[Job, bool]]:
        while True:
            yield from ((Job(item, name, Prompt("p", "x", {}), 0), True) for name, item in targets.items())

    rest = seen.rest(endless())
    for at in range(10):
        seen.note("a", ended("connect"), float(at))
    assert [(job.name, mine) for job, mine in (next(rest), next(rest))] == [("a", False), ("b", True)]
    for at in range(10):
        seen.note("b", ended("connect"), float(at))
    assert list(rest) == []


def test_a_run_says_whom_it_gave_up_and_goes_on_with_the_rest_later(tmp_path: Path) -> None:
    suite = tmp_path / "s.jsonl"
    suite.write_text("".join(json.dumps({"id": str(at), "prompt": "x"}) + "\n" for at in range(30)))
    target = Target("t", "http://127.0.0.1:9/v1", "m")
    plan = Plan(load(suite), [target], Shape(), tmp_path / "out", workers=1, give_up_s=1e-6)
    summary = run(plan, SystemClock())
    assert summary["targets"]["t"]["n"] == 10
    (reason,) = summary["invalid_reasons"]
    assert reason.startswith("t was given up: it served no request for 1e-06 s (connect: check the URL")
    assert reason.endswith("; the rest was not sent")
    assert summary["given_up"] == {"t": reason}
    again = Plan(load(suite), [target], Shape(), tmp_path / "out", workers=1, resume=True)
    summary = run(again, SystemClock())
    assert (summary["targets"]["t"]["n"], summary["valid"]) == (30, True)
