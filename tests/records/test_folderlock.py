"""One apply at a time in one folder."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fwctl.errors import RefusedError
from fwctl.exitcodes import Exit
from fwctl.records.folderlock import folder_lock


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 12, 1, 8, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("the lock never sleeps")


def test_the_second_apply_is_refused_and_told_who_holds_the_lock(tmp_path: Path) -> None:
    path = tmp_path / ".fwctl" / "apply.lock"
    with folder_lock(path, Clock(), "fwctl apply") as note:
        assert note is None
        with pytest.raises(RefusedError) as caught, folder_lock(path, Clock(), "fwctl apply"):
            pass
    assert f"process {os.getpid()}" in caught.value.message
    assert "`fwctl apply` since 2026-12-01T08:00:00+00:00" in caught.value.message
    assert caught.value.exit_code is Exit.REFUSED


def test_the_lock_is_free_again_afterwards(tmp_path: Path) -> None:
    path = tmp_path / "apply.lock"
    for _ in range(2):
        with folder_lock(path, Clock(), "fwctl apply"):
            assert json.loads(path.read_text())["pid"] == os.getpid()


@pytest.mark.parametrize("text", [b"", b"\xff", b"[]", b'{"pid": "x"}', b"[" * 5000])
def test_a_lock_whose_holder_left_no_readable_name_still_holds(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "apply.lock"
    with folder_lock(path, Clock(), "fwctl apply"):
        path.write_bytes(text)
        with pytest.raises(RefusedError, match="did not leave its name"), folder_lock(path, Clock(), "x"):
            pass


def test_a_folder_that_cannot_hold_a_lock_is_a_remark(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with folder_lock(tmp_path / "file" / "apply.lock", Clock(), "fwctl apply") as note:
        assert note is not None
        assert "no local lock" in note


class NoLocks:
    """A file of a file system that offers no locks, or of one that is full."""

    def __init__(self, number: int) -> None:
        self.number = number

    def __call__(self, *words: object) -> None:
        raise OSError(self.number, "refused")


def test_a_file_system_without_locks_is_a_remark(tmp_path: Path) -> None:
    import errno

    with folder_lock(tmp_path / "l", Clock(), "fwctl apply", lock=NoLocks(errno.ENOLCK)) as note:
        assert note == "no local lock: this file system offers none (refused)"
