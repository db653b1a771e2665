"""An evaluation that is interrupted keeps what was done and goes on with it."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

from tests.cli.support import fwctl, make_env
from tests.quality.servers import Body, serving

PROMPTS = 12


def test_ctrl_c_and_resume(tmp_path: Path) -> None:
    rows = ({"id": f"p{n}", "prompt": str(n), "expected": "yes"} for n in range(PROMPTS))
    (tmp_path / "s.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    stuck, go = threading.Event(), threading.Event()
    asked: list[Body] = []

    def answer(body: Body) -> tuple[str, str]:
        asked.append(body)
        if len(asked) == 5:
            stuck.set()
            go.wait(20)
        return "yes", "stop"

    with serving(answer) as (url, _):
        words = (
            "eval",
            "run",
            "--suite",
            "s.jsonl",
            "--target-url",
            url,
            "--model",
            "m",
            "--concurrency",
            "1",
        )
        child = subprocess.Popen(
            [sys.executable, "-m", "fwctl", *words, "--out", "run"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": os.pathsep.join(sys.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        with child:
            try:
                assert stuck.wait(20)
                child.send_signal(signal.SIGINT)
                out, err = child.communicate(timeout=20)
            finally:
                child.kill()
        go.set()
        assert (child.returncode, "Traceback" in out + err) == (130, False)
        assert "--resume run" in err
        assert not (tmp_path / "run/grades.jsonl").exists()
        before = len((tmp_path / "run/records.jsonl").read_text().splitlines())
        assert 4 <= before < PROMPTS
        found = fwctl(make_env(tmp_path), *words, "--resume", "run", "--format", "json")
    assert found.code == 0, found.err
    figures = found.document["summary"]["quality"]["targets"]["m"]
    assert figures["n"] == PROMPTS
    assert figures["right"] + figures["failed"] == PROMPTS


def test_a_reader_of_an_interrupted_run_is_told_how_to_go_on(tmp_path: Path) -> None:
    (tmp_path / "run").mkdir()
    (tmp_path / "run/summary.json").write_text('{"run_id": "r", "interrupted": true}')
    found = fwctl(make_env(tmp_path), "eval", "compare", "run", "run")
    assert found.code == 64
    assert "run was interrupted" in found.err
    assert "--resume" in found.err
