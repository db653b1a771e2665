"""The file of an experiment: what is written is read, and nothing else is believed."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from fwctl.errors import FwctlError
from fwctl.quality.experiments.state import Phase, Round, Spending, State, load, load_all, save

STATE = State(
    name="shapes",
    account="acme",
    stack="prod",
    run="20261130T120000Z",
    digest="0123456789ab",
    phase=Phase.MEASURING,
    started="2026-11-30T12:00:00+00:00",
    expires="2026-11-30T16:00:00+00:00",
    cap_usd=20.0,
    spending=Spending(1.25, 8.0, "2026-11-30T12:10:00+00:00", unpriced=True),
    candidates={"bf16": "shapes-bf16-aaaa"},
    usd_per_hour={"bf16": None},
    rounds=(Round("pass-1-try-1", 60.0, True, (), {"bf16": 1}),),
)


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    decided = STATE.at(
        Phase.CLOSING, decision={"winner": None, "reason": "none", "tied": [], "candidates": []}, keep=None
    )
    for state in (STATE, decided):
        save(tmp_path, state)
        assert load(tmp_path, "shapes") == state


def test_all_that_can_be_read_are_listed(tmp_path: Path) -> None:
    save(tmp_path, replace(STATE, name="b"))
    save(tmp_path, replace(STATE, name="a"))
    (tmp_path / "experiments/c").mkdir()
    (tmp_path / "experiments/d").mkdir()
    (tmp_path / "experiments/d/state.json").write_text("{")
    assert [state.name for state in load_all(tmp_path)] == ["a", "b"]
    assert list(load_all(tmp_path / "no")) == []


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("format_version", 2),
        ("name", 3),
        ("phase", "sleeping"),
        ("cap_usd", "much"),
        ("spending", None),
        ("rounds", [1]),
        ("candidates", []),
        ("usd_per_hour", {"a": "b"}),
        ("expires", "soon"),
        ("expires", "2026-11-30T16:00:00"),
        ("decision", {}),
        ("decision", 3),
    ],
)
def test_a_value_that_nobody_wrote_is_refused(tmp_path: Path, key: str, value: object) -> None:
    save(tmp_path, STATE)
    path = tmp_path / "experiments/shapes/state.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    with pytest.raises(FwctlError, match="its content is not what fwctl writes") as refused:
        load(tmp_path, "shapes")
    assert refused.value.next_steps[0].startswith("rm ")


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    folder = tmp_path / "experiments/shapes"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "state.json")
    with pytest.raises(FwctlError, match="not a regular file"):
        load(tmp_path, "shapes")


def test_a_folder_that_cannot_be_written_is_said(tmp_path: Path) -> None:
    (tmp_path / "experiments").write_text("")
    with pytest.raises(FwctlError, match="cannot write"):
        save(tmp_path, STATE)
