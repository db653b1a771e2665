"""Streams that are full or closed: one clear message where one can be heard, and no apply left half-way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import Done
from tests.contract.cli_support import Sandbox

FULL = Path("/dev/full")

pytestmark = pytest.mark.skipif(not FULL.exists(), reason="needs a device that is always full")


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    found = Sandbox(tmp_path, near=True)  # what needs a process starts its own
    found.write()
    return found


def shell(box: Sandbox, command: str) -> Done:
    """Run `fwctl COMMAND` with the redirections of a shell."""
    return box.run("sh", "-c", f'"$PYTHON" -m fwctl {command}', PYTHON=sys.executable)


@pytest.mark.parametrize(
    "command", ["validate", "validate --format json", "plan", "plan --format json", "--help", "schema"]
)
def test_a_full_disk_under_stdout_is_one_error_and_exit_1(box: Sandbox, command: str) -> None:
    done = shell(box, f"{command} >/dev/full")
    assert done.code == 1, done.err
    errors = [line for line in done.err.splitlines() if line.startswith("error: ")]
    assert errors == ["error: cannot write the output: No space left on device"]
    assert "Traceback" not in done.err
    assert "Exception ignored" not in done.err


def test_a_full_stderr_changes_neither_result_nor_exit_code(box: Sandbox) -> None:
    done = shell(box, "plan --format json 2>/dev/full")
    assert done.code == 0
    assert json.loads(done.out)["ok"] is True
    assert shell(box, "validate nowhere.yaml 2>/dev/full").code == 3


@pytest.mark.parametrize("command", ["--version", "--help", "validate"])
def test_a_closed_stdout_means_that_nobody_wants_the_result(box: Sandbox, command: str) -> None:
    done = shell(box, f"{command} >&-")
    assert (done.code, done.err) == (0, "")


@pytest.mark.parametrize("form", ["text", "events"])
def test_an_apply_whose_reader_went_away_still_finishes(box: Sandbox, form: str) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", *("apply", "--yes", "--format", form)],
        cwd=box.folder,
        env=box.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert child.stdout is not None
    child.stdout.close()
    assert child.wait(timeout=60) == 1
    assert shell(box, "plan --detailed-exitcode").code == 0


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_current_folder_that_is_gone_is_one_error(box: Sandbox, form: str) -> None:
    (box.folder / "gone").mkdir()
    done = shell(box, f'--help >/dev/null; cd gone; rmdir ../gone; "$PYTHON" -m fwctl plan --format {form}')
    assert done.code == 64
    said = done.document["error"]["message"] if form == "json" else done.err.splitlines()[0]
    assert said.removeprefix("error: ") == "the current folder does not exist any more"


def test_a_plan_file_that_is_no_file_is_refused_at_once(box: Sandbox) -> None:
    os.mkfifo(box.folder / "pipe.json")  # reading it would wait for a writer for ever
    done = box.fwctl("apply", "--plan", "pipe.json", "--yes")
    assert done.code == 3
    assert "the plan file pipe.json cannot be read: it is not a regular file" in done.err


def test_a_plan_is_not_lost_because_the_name_of_its_file_is_empty(box: Sandbox) -> None:
    done = box.fwctl("plan", "--out", "")
    assert done.code == 64
    assert "--out needs the name of a file" in done.err


def test_a_lock_file_that_is_no_file_is_refused_at_once(box: Sandbox) -> None:
    (box.folder / "configs/fwctl.lock").symlink_to("/dev/zero")  # reading it would never end
    done = box.fwctl("plan")
    assert done.code == 3
    assert "fwctl.lock: not a regular file" in done.err
