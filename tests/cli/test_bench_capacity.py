"""`fwctl bench capacity` from the command line, on the simulator and without it."""

from __future__ import annotations

import json
import os
from contextlib import chdir
from pathlib import Path

import pytest

from tests.cli.support import SPEC, Done, fwctl, make_env
from tests.simulator.http.support import KEY, serving

SLO = "    slo: {ttft_p95_ms: 2000}\n"
PEAK = "    workload: {peak_rps: 180, context_tokens: 4096, concurrency: 4}\n"
KNOBS = {"FIRECTL_SIM_OUTPUT_TOKENS": "4", "FIRECTL_SIM_NOW": "", "FIRECTL_SIM_SPEED": "600"}


class Folder:
    def __init__(self, path: Path, more: str) -> None:
        self.path = path
        (path / "configs").mkdir()
        text = SPEC.replace("traffic: interactive\n", "traffic: batch\n")
        (path / "configs/chat.yaml").write_text(text + more)
        lines = [{"id": f"p{n}", "prompt": f"Say {n}.", "max_tokens": 4} for n in range(40)]
        (path / "p.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
        self.environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(path),
            "FWCTL_FIRECTL": "sim",
            "FIRECTL_SIM_HOME": str(path / "sim"),
            "FIRECTL_SIM_SPEED": "600",
            "SIM_KEY": KEY,
        }

    def run(self, *argv: str) -> Done:
        with chdir(self.path):
            return fwctl(make_env(self.path, self.environ), *argv)


def test_a_capacity_search_becomes_evidence_and_a_piece_of_spec(tmp_path: Path) -> None:
    """One level at 60/s is met on one replica, so that the peak of 180/s needs three."""
    folder = Folder(tmp_path, SLO + PEAK)
    assert folder.run("apply", "--yes", "--poll-interval", "1s").code == 0
    words = ("bench", "capacity", "chat", "--suite", "p.jsonl", "--out", "runs", "--no-selftest")
    with serving(tmp_path / "http", FIRECTL_SIM_HOME=str(tmp_path / "sim"), **KNOBS) as sim:
        url = ("--target-url", f"{sim.url}/inference/v1", "--api-key-env", "SIM_KEY")
        options = ("--start", "60", "--most", "60", "--looks", "1", "--level-time", "1s", "--format", "json")
        done = folder.run(*words, *url, *options)
    assert done.code == 0, done.out + done.err
    found = done.document
    assert (found["rate_per_s"], found["replicas"], found["limited_by"][:7]) == (60.0, 1, "nothing")
    assert found["proposal"]["replicas.max"] == 3
    assert found["models"] == ["accounts/acme/deployments/chat"]
    assert "replicas: {max: 3, max_concurrency: " in found["patch"]
    assert "60/s  met" in done.err
    record = json.loads((tmp_path / found["evidence"]).read_text())
    assert (record["kind"], record["replicas"], record["passed"]) == ("capacity", 1, True)
    assert (record["precision"], record["suite_file"]) == ("FP8", "p.jsonl")
    assert "/llama-v3p1-8b-instruct-fast/versions/" in record["shape_version"]


@pytest.mark.parametrize(
    ("more", "options", "said"),
    [
        (SLO, ("nope", "--suite", "p.jsonl"), "'nope' is not in the specs"),
        (PEAK, ("chat", "--suite", "p.jsonl"), "has no objective for a time"),
        (SLO, ("chat",), "give --suite FILE, or slo.at.suite"),
        (SLO, ("chat", "--suite", "gone.jsonl"), "cannot read"),
        ("    slo: {ttft_p95_ms: 1, at: {suite: gone.jsonl}}\n", ("chat",), "cannot read"),
        (SLO, ("chat", "--suite", "p.jsonl", "--precision", "2"), "--precision"),
        (SLO, ("chat", "--suite", "p.jsonl", "--looks", "0"), "--looks"),
        (SLO, ("chat", "--suite", "p.jsonl", "--start", "-1"), "--start"),
        (SLO, ("chat", "--suite", "p.jsonl", "--level-time", "0"), "--level-time"),
        (SLO, ("chat", "--suite", "p.jsonl", "--cache", "hot"), "--cache"),
    ],
)
def test_what_is_missing_is_said_before_the_platform_is_asked(
    tmp_path: Path, more: str, options: tuple[str, ...], said: str
) -> None:
    folder = Folder(tmp_path, more)
    folder.environ["FWCTL_FIRECTL"] = str(tmp_path / "no-firectl")
    done = folder.run("bench", "capacity", *options)
    assert done.code == 64, done.err
    assert said in done.err
