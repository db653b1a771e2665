"""Experiments by real processes on the simulator: compared, decided, cleaned up, killed half-way too."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fwctl.cli.main import run
from tests.cli.support import make_env
from tests.contract.cli_support import Sandbox
from tests.simulator.http.support import serving

SHAPES = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct"
# Two shapes of one model and an FP8 arm with n-gram drafts. FP8 answers 2 % of the prompts wrongly.
TEXT = f"""\
apiVersion: fwctl/v1
kind: Experiment
account: acme
stack: test
name: shapes
deployment: chat
suite: prompts.jsonl
baseline: bf16
load: {{concurrency: 4, repeat: 1, warmup: 1}}
slo: {{total_p95_ms: 5000, error_rate: 5%}}
quality: {{margin: 15%}}
spend_cap: $20
time_to_live: 4h
base: {{model: accounts/fireworks/models/llama-v3p1-8b-instruct, region: US}}
candidates:
  bf16: {{shape: {SHAPES}-bf16}}
  throughput: {{shape: {SHAPES}-throughput}}
  fp8:
    shape: {SHAPES}-fast
    speculation: {{mode: ngram, ngram_length: 3, draft_tokens: 4}}
    overrides: [speculation]
"""
PROMPTS = 80


class Lab:
    """A sandbox whose deployments answer, and a spec with a deployment that no experiment may touch."""

    def __init__(self, box: Sandbox, url: str) -> None:
        self.box = box
        box.environ |= {"FIREWORKS_API_KEY": "fw_test", "FIREWORKS_BASE_URL": url}
        box.write()
        box.write(TEXT, "experiment.yaml")
        model, mark = "accounts/fireworks/models/llama-v3p1-8b-instruct", "[fwctl test/chat]"
        words = ("--deployment-shape", f"{SHAPES}-fast", "--description", mark, "--deployment-id", "chat")
        done = box.firectl("deployment", "create", model, *words)
        assert done.code == 0, done.err
        self.own = self.deployments()

    @property
    def words(self) -> tuple[str, ...]:
        return ("experiment", "run", "experiment.yaml", "--yes", "--poll-interval", "0.5s")

    def deployments(self) -> dict[str, str]:
        """ID -> description of what is there."""
        rows = json.loads(self.box.firectl("deployment", "list", "-o", "json").out)
        rows = rows["deployments"] if isinstance(rows, dict) else rows
        left = (row for row in rows if row["state"] != "DELETING")
        return {row["name"].rpartition("/")[2]: str(row.get("description")) for row in left}

    def candidates(self) -> list[str]:
        return sorted(
            text.partition("/shapes--")[2].split()[0]
            for text in self.deployments().values()
            if "/shapes--" in text
        )

    def killed_when(self, moment: Callable[[], bool]) -> None:
        """Run the experiment and kill -9 it at that moment."""
        child = subprocess.Popen(
            [sys.executable, "-m", "fwctl", *self.words],
            cwd=self.box.folder,
            env=self.box.environ,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            end = time.monotonic() + 60
            while not moment() and child.poll() is None and time.monotonic() < end:
                time.sleep(0.02)  # not a wait for time to pass: for what the child does
        finally:
            child.send_signal(signal.SIGKILL)
            child.wait()

    def run_here(self) -> tuple[int, dict[str, Any], str]:
        """Run the experiment in this process: exit code, document, stderr."""
        env: Any = make_env(self.box.folder, self.box.environ)
        specs = ("--specs", str(self.box.folder / "configs"), "--evidence", "--format", "json")
        code = run([*self.words, *specs], env)
        return code, json.loads(env.stdout.text()), env.stderr.text()

    def state(self) -> dict[str, Any]:
        path = self.box.folder / ".fwctl/experiments/shapes/state.json"
        found: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {"phase": None}
        return found


@contextmanager
def lab(folder: Path) -> Iterator[Lab]:
    lines = [
        {"id": f"p{at}", "prompt": f"Say {at}.", "expected": str(at), "grader": "exact", "max_tokens": 16}
        for at in range(PROMPTS)
    ]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    box = Sandbox(folder)
    answers = {
        "FIRECTL_SIM_HOME": box.environ["FIRECTL_SIM_HOME"],
        "FIRECTL_SIM_SPEED": box.environ["FIRECTL_SIM_SPEED"],
        "FIRECTL_SIM_NOW": "",
        "FIRECTL_SIM_INFERENCE_SPEED": "1",
        "FIRECTL_SIM_ANSWERS": str(folder / "prompts.jsonl"),
        "FIRECTL_SIM_WRONG_SHARE": "FP8=0.02",
    }
    with serving(folder, **answers) as sim:
        yield Lab(box, sim.url)


def ends_well(lab: Lab) -> None:
    """A run to its end: three measured, one left, the stack's own as it was."""
    code, document, said = lab.run_here()
    found = document["experiment"]
    assert found["phase"] == "done", said
    results = {row["name"]: row["result"] for row in found["candidates"]}
    assert set(results) == {"bf16", "throughput", "fp8"}
    for row in results.values():
        assert row["n"] == PROMPTS
        assert row["total_s"]["p95"]["value"] > 0
        assert row["usd_per_million_output_tokens"] > 0
        assert row["slo"] == "met"
    assert results["bf16"]["quality"]["verdict"] == "baseline"
    assert results["throughput"]["quality"]["verdict"] == "pass"
    winner = found["winner"]
    if winner is None:  # a machine too busy to measure says so, and nothing stays
        assert found["reason"].startswith("no winner: the measurement is invalid")
        assert (code, lab.candidates()) == (4, [])
        return
    cheapest = min(results, key=lambda name: results[name]["usd_per_million_output_tokens"])
    assert winner in (cheapest, "bf16")  # the baseline wins a tie
    assert code == 0
    assert len(document["evidence"]) == 3
    assert document["recommendation"]["deployment"] == "chat"
    assert lab.candidates() == [winner]
    assert {key: text for key, text in lab.deployments().items() if key in lab.own} == lab.own


def test_killed_under_load_it_goes_on_decides_and_leaves_the_winner_alone(tmp_path: Path) -> None:
    with lab(tmp_path) as at:

        def under_load() -> bool:
            return any(
                item.stat().st_size for item in tmp_path.glob(".fwctl/experiments/*/*/*/records.jsonl")
            )

        at.killed_when(under_load)
        assert at.candidates() == ["bf16", "fp8", "throughput"]
        ends_well(at)
        stopped = at.box.fwctl("experiment", "stop", "shapes", "--yes")
        assert stopped.code == 0
        assert at.candidates() == []


@pytest.mark.deep
@pytest.mark.parametrize("phase", ["creating", "measuring", "closing"])
@pytest.mark.parametrize("delay_s", [0.0, 0.3, 0.8, 1.5])
@pytest.mark.parametrize("keeps_files", [True, False])
def test_killed_at_any_moment_it_goes_on(
    tmp_path: Path, phase: str, delay_s: float, keeps_files: bool
) -> None:
    with lab(tmp_path) as at:
        seen: list[float] = []

        def moment() -> bool:
            if at.state()["phase"] == phase and not seen:
                seen.append(time.monotonic())
            return bool(seen) and time.monotonic() - seen[0] >= delay_s

        at.killed_when(moment)
        if not keeps_files:
            import shutil

            shutil.rmtree(tmp_path / ".fwctl")
        ends_well(at)
