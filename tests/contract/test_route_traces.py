"""The trace log of the router is read by the commands that learn from traffic."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fwctl.redact import Redactor
from fwctl.routing.record import Record
from fwctl.routing.trace import TraceLog
from tests.routing.upstreams import DONE, ROLE, STOP, chunk

WORDS = ("the", "quick", "brown", "fox", "jumps", "over", "the", "lazy", "dog")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("traces")
    chances = iter(at / 1000 for at in range(1000))
    now = datetime(2026, 11, 30, 12, tzinfo=UTC)
    log = TraceLog(
        made / "traces.jsonl", 1.0, chance=lambda: next(chances), now=lambda: now, redactor=Redactor()
    )
    pieces = [ROLE, *(chunk(f"{word} ") for word in WORDS), STOP, DONE]
    for at in range(4):
        body = {
            "model": "chat",
            "messages": [{"role": "user", "content": f"Question {at}"}],
            "max_tokens": 64,
        }
        record = Record("chat", "chat/completions", stream=True, kind="edit", target="a")
        assert log.write(body, record, pieces) is None
    return made


def fwctl(folder: Path, *argv: str) -> str:
    kept = {name: os.environ[name] for name in ("PATH", "LANG") if name in os.environ}
    command = [sys.executable, "-m", "fwctl", *argv]
    done = subprocess.run(
        command, cwd=folder, env=kept | {"HOME": str(folder)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_replay_sees_every_answer_by_its_type(folder: Path) -> None:
    document = json.loads(fwctl(folder, "speculate", "replay", "traces.jsonl", "--format", "json"))
    assert document["by_type"]["edit"]["n_requests"] == 4
    assert document["left_out"] == {}


def test_import_makes_a_prompt_set_of_it(folder: Path) -> None:
    fwctl(folder, "bench", "import", "traces.jsonl", "--from", "trace", "--out", "set.jsonl")
    rows = [json.loads(line) for line in (folder / "set.jsonl").read_text().splitlines()]
    assert {row["type"] for row in rows} == {"edit"}
    assert {row["messages"][0]["content"] for row in rows} == {f"Question {at}" for at in range(4)}
