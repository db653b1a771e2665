"""The accuracy table of docs/fit-check.md: every bar holds on the measurements that come along."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks.fit_accuracy import DEFAULT_FILE, main


def test_every_bar_holds_on_the_measurements_that_come_along(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    text = capsys.readouterr().out
    assert text.count(": holds") == 4
    assert "wrong verdicts: 0" in text


def test_a_wrong_measurement_is_seen(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = json.loads(DEFAULT_FILE.read_text())[:4]
    for row in rows[:3]:
        row["kv_cache_tokens"] *= 2
    rows[3]["ran_out_of_memory"] = True
    file = tmp_path / "rows.json"
    file.write_text(json.dumps(rows))
    assert main([str(file), str(tmp_path)]) == 1
    text = capsys.readouterr().out
    assert "MISSED" in text
    assert "fits, but it ran out of memory" in text
