"""State files: written whole, and never guessed from."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from fwctl.errors import FwctlError
from fwctl.records.state_file import load_state, save_state


def read(document: dict[str, int]) -> int:
    return document["count"]


def test_what_is_saved_is_read_again_under_its_format(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "state.json"
    save_state(path, {"count": 3}, mode=0o600)
    assert path.read_text() == '{\n "count": 3,\n "format_version": 1\n}\n'
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert load_state(path, read, anew="begin") == 3


def test_no_file_is_no_state(tmp_path: Path) -> None:
    assert load_state(tmp_path / "state.json", read, anew="begin") is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"format_version": 2, "count": 1}', '{"format_version": 1}']
)
def test_anything_else_is_refused_with_the_way_on(tmp_path: Path, text: str) -> None:
    path = tmp_path / "state.json"
    path.write_text(text)
    with pytest.raises(FwctlError, match="not what fwctl writes") as refused:
        load_state(path, read, anew="begin again")
    assert refused.value.next_steps == (f"rm {path}, then begin again",)


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "state.json")
    with pytest.raises(FwctlError, match="not a regular file"):
        load_state(tmp_path / "state.json", read, anew="begin")


def test_a_place_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(FwctlError, match="cannot write"):
        save_state(tmp_path / "file" / "state.json", {})
