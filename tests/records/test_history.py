"""History: read for predictions, deletable, and never in the way."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fwctl.records.history import History, Start

AT = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
START = Start(AT, "chat", "llama", "fast", "NVIDIA_H100_80GB", "US_IOWA_1", 215.0)


def test_start_times_come_newest_first_and_by_model(tmp_path: Path) -> None:
    history = History(tmp_path / ".fwctl" / "history.db")
    history.record_start(START)
    history.record_start(replace(START, time=AT + timedelta(hours=1), ready_s=340.0))
    history.record_start(replace(START, model="qwen", ready_s=1.0))
    assert history.start_times_s(model="llama") == [340.0, 215.0]
    assert history.start_times_s(model="llama", limit=1) == [340.0]
    assert history.start_times_s(model="llama", accelerator="NVIDIA_B200_180GB") == []


def test_no_file_is_an_empty_history_and_reading_makes_none(tmp_path: Path) -> None:
    history = History(tmp_path / "history.db")
    assert history.start_times_s(model="llama") == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"not a database" * 100, b""])
def test_a_damaged_file_gives_nothing_and_stops_nothing(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "history.db"
    path.write_bytes(content)
    history = History(path)
    history.record_start(START)
    assert history.start_times_s(model="llama") in ([], [215.0])


def test_a_folder_that_cannot_be_made_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    History(tmp_path / "file" / "history.db").record_start(START)
