"""The model strings of a run as a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from fwctl.records.outputs import write_outputs

CHAT = {"base": "accounts/acme/deployments/chat", "router": None, "addons": {}}


def test_the_file_holds_what_clients_send(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    assert write_outputs(path, "acme", ["chat"], {"chat": CHAT}) is True
    assert json.loads(path.read_text()) == {"format_version": 1, "account": "acme", "models": {"chat": CHAT}}
    assert write_outputs(path, "acme", ["chat"], {"chat": CHAT}) is False


def test_deployments_that_this_run_did_not_look_at_stay_and_those_without_spec_go(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    write_outputs(path, "acme", ["a", "b"], {"a": CHAT, "b": CHAT})
    write_outputs(path, "acme", ["b", "c"], {"c": CHAT})
    assert list(json.loads(path.read_text())["models"]) == ["b", "c"]


@pytest.mark.parametrize("text", [b"deployments: {}", b"[]", b"\xff", b'{"models": 5}', b"[" * 100_000])
def test_a_file_that_is_something_else_is_not_overwritten(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "models.json"
    path.write_bytes(text)
    with pytest.raises(FileExistsError, match="not written by fwctl"):
        write_outputs(path, "acme", ["chat"], {"chat": CHAT})
    assert path.read_bytes() == text


def test_an_empty_file_is_filled(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    path.write_text("\n")
    write_outputs(path, "acme", ["chat"], {"chat": CHAT})
    assert json.loads(path.read_text())["models"] == {"chat": CHAT}


def test_a_file_of_many_megabytes_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "models.json"
    with path.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(FileExistsError):
        write_outputs(path, "acme", ["chat"], {"chat": CHAT})


def test_a_place_that_cannot_be_written_raises_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "models.json").mkdir()
    with pytest.raises(OSError):
        write_outputs(tmp_path / "models.json", "acme", ["chat"], {"chat": CHAT})
    assert [item.name for item in tmp_path.iterdir()] == ["models.json"]


def test_a_pipe_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "outputs.json"
    os.mkfifo(path)
    with pytest.raises(FileExistsError):
        write_outputs(path, "acme", ["chat"], {"chat": {}})
