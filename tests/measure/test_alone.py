"""Two processes never write the records of one run."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fwctl.env import SystemClock
from fwctl.errors import RefusedError
from fwctl.measure.alone import alone
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.run import run
from fwctl.measure.suite import load
from fwctl.measure.target import Target


def test_a_run_that_goes_on_is_not_gone_on_with(tmp_path: Path) -> None:
    suite = tmp_path / "s.jsonl"
    suite.write_text(json.dumps({"id": "a", "prompt": "x"}) + "\n")
    plan = Plan(load(suite), [Target("t", "http://127.0.0.1:9/v1", "m")], Shape(), tmp_path / "out")
    run(plan, SystemClock())
    # The other process is in the middle of a line.
    with plan.records.open("ab") as file:
        file.write(b'{"half')
    before = plan.records.read_bytes()
    with alone(plan.records), pytest.raises(RefusedError, match="another run is writing to") as caught:
        run(replace(plan, resume=True), SystemClock())
    assert plan.records.read_bytes() == before
    assert caught.value.next_steps[0] == "wait until it has ended"
    # With its end the records are free.
    assert run(replace(plan, resume=True), SystemClock())["targets"]["t"]["n"] == 1
