"""What goes wrong around fwctl, and that every failure is one clear answer with the right exit code."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox

posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and scripts")


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    found = Sandbox(tmp_path, near=True)  # what needs a process starts its own
    found.write()
    return found


def runs(pid: int) -> bool:
    """Whether a process still runs; one that waits to be reaped by init does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    state = Path(f"/proc/{pid}/stat")
    return not (state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z")


def script(box: Sandbox, body: str) -> str:
    """A stand-in for firectl, written in shell."""
    path = box.folder / "firectl"
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return str(path)


@pytest.mark.parametrize("command", ["plan", "apply", "status", "doctor"])
def test_a_missing_firectl_is_exit_6(box: Sandbox, command: str) -> None:
    done = box.fwctl(command, "--firectl", "/no/such/firectl", "--format", "json")
    assert done.code == 6
    assert done.document["error"]["code"] == "firectl_missing"
    assert done.document["error"]["next_steps"]


def test_not_signed_in_is_exit_5(box: Sandbox) -> None:
    box.near = False
    done = box.fwctl("plan", "--format", "json", FIRECTL_SIM_AUTH="signed_out")
    assert done.code == 5
    assert done.document["error"]["code"] == "auth"


def test_a_suspended_account_is_exit_5(box: Sandbox) -> None:
    assert box.fwctl("apply", "--yes", FIRECTL_SIM_SUSPENDED="1").code == 5


def test_another_account_than_the_specs_is_exit_5(box: Sandbox) -> None:
    done = box.fwctl("plan", "--account", "other")
    assert done.code == 5
    assert box.mutations() == 0


def test_a_firectl_that_refuses_to_run_is_exit_6_and_shows_the_command(box: Sandbox) -> None:
    done = box.fwctl("apply", "--yes", "--format", "json", FIRECTL_SIM_BLOCKED="1")
    assert done.code == 6
    assert done.document["error"]["code"] == "firectl_blocked"


def test_a_firectl_that_prints_no_json_is_one_error_with_what_it_said(box: Sandbox) -> None:
    path = script(box, 'case "$*" in *version*) echo 1.8.9;; *) echo "hello from elsewhere";; esac')
    done = box.fwctl("plan", "--firectl", path)
    assert done.code == 1
    assert "hello from elsewhere" in done.err


@posix
def test_a_hanging_firectl_with_a_child_that_holds_the_pipe_ends_at_the_deadline(box: Sandbox) -> None:
    box.near = False
    path = script(box, "sleep 300 & echo $! > grandchild; sleep 300")
    done = box.fwctl("plan", "--firectl", path, "--firectl-timeout", "1s", timeout=30)
    assert done.code in (1, 7)
    assert "within 1 s" in done.err
    grandchild = int((box.folder / "grandchild").read_text())
    assert not runs(grandchild)


@pytest.mark.parametrize(
    "argv",
    [
        ("plan", "--no-such-flag", "--detailed-exitcode"),
        ("plam",),
        ("fit-check", "--accelerator"),
        ("fit-check", "--model", "x", "--accelerator", "H100", "--count", "many"),
        ("fit-check", "--config", "no/such/config.json", "--accelerator", "H100"),
        ("fit-check", "--model", "llama-v3p1-8b-instruct", "--accelerator", "TPU", "--count", "1"),
        ("plan", "--target", "no-such-name"),
        ("plan", "--set", "chat.replicas.max=many"),
        ("rules", "FW999"),
        ("explain", "deployments.chat.replicsa"),
        ("completion", "tcsh"),
    ],
)
def test_wrong_usage_is_64_in_text_and_one_document_in_json(box: Sandbox, argv: tuple[str, ...]) -> None:
    done = box.fwctl(*argv)
    assert done.code in (64, 3)
    assert done.out == ""
    assert done.err.startswith("error: ") or "\nerror: " in done.err
    document = box.fwctl(*argv, "--format=json").document
    assert document["exit_code"] == done.code
    assert document["error"]["code"] in ("usage", "invalid_spec")


@pytest.mark.parametrize("path", ["no/such/file.yaml", "empty", "."])
def test_no_spec_is_exit_3(box: Sandbox, path: str) -> None:
    (box.folder / "empty").mkdir()
    (box.folder / "configs/chat.yaml").unlink()
    assert box.fwctl("plan", path).code == 3


def test_a_plan_file_that_is_none_is_exit_3_with_its_name(box: Sandbox) -> None:
    (box.folder / "p.json").write_bytes(b"\xff\xfe{")
    done = box.fwctl("show", "p.json", "--format", "json")
    assert done.code == 3
    assert "p.json" in done.document["error"]["message"]


def test_an_edited_plan_file_is_refused(box: Sandbox) -> None:
    box.fwctl("plan", "--out", "p.json")
    path = box.folder / "p.json"
    path.write_text(path.read_text().replace('"after": 2', '"after": 9'))
    assert box.fwctl("apply", "--plan", "p.json", "--yes").code == 3
    assert box.mutations() == 0


def test_a_canary_key_appears_nowhere(box: Sandbox) -> None:
    box.near = False
    key = "fw_canary9d21"
    written = []
    for argv in (
        ("plan", "--out", "p.json", "--json-out", "j.json"),
        ("show", "p.json", "--format", "markdown"),
        ("apply", "--yes", "-v"),
        ("status", "--format", "json"),
        ("doctor",),
        ("plan", "--firectl", key),
        ("plan", f"--{key}"),
    ):
        done = box.fwctl(*argv, FIREWORKS_API_KEY=key, FIRECTL_SIM_KEYS=f"{key}=admin")
        written.append(done.out + done.err)
    files = [path for path in box.folder.rglob("*") if path.is_file() and "sim" not in path.parts]
    written += [path.read_text(errors="replace") for path in files]
    assert not [text for text in written if key in text]


def test_a_credential_in_plain_text_never_reaches_a_plan_file(box: Sandbox) -> None:
    box.write(SPEC + "    display_name: fw_canary9d21\n")
    done = box.fwctl("plan", "--out", "p.json")
    assert done.code == 4
    assert "fw_canary9d21" not in done.out + done.err
    assert not (box.folder / "p.json").exists()


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_while_reading_ends_with_its_own_code(box: Sandbox, number: int, code: int) -> None:
    path = script(box, "touch started; sleep 60")
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", "plan", "--format", "json", "--firectl", path],
        cwd=box.folder,
        env=box.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    with child:
        try:
            while not (box.folder / "started").exists():
                assert child.poll() is None
                time.sleep(0.01)
            child.send_signal(number)
            out, err = child.communicate(timeout=30)
        finally:
            child.kill()
    assert child.returncode == code, err
    assert json.loads(out)["error"]["code"] == "interrupted"


@posix
def test_a_reader_that_goes_away_is_no_traceback(box: Sandbox) -> None:
    done = box.run(
        "sh", "-c", f"{sys.executable} -m fwctl schema | head -1; {sys.executable} -m fwctl rules | head -1"
    )
    assert done.err == ""
    assert done.out.splitlines()[0] == "{"


def test_a_bug_is_one_line_and_a_masked_report_file(box: Sandbox) -> None:
    box.near = False
    # A broken module on the path of one command makes fwctl itself fail, from outside.
    (box.folder / "broken").mkdir()
    (box.folder / "broken/yaml.py").write_text("raise RuntimeError('token=fw_canary9d21')\n")
    done = box.fwctl(
        *("validate", "--format", "json"),
        PYTHONPATH=os.pathsep.join((str(box.folder / "broken"), box.environ["PYTHONPATH"])),
        TMPDIR=str(box.folder),
    )
    assert done.code == 70
    error = done.document["error"]
    assert error["code"] == "bug"
    [report] = box.folder.glob("fwctl-report-*.txt")
    assert str(report) in error["next_steps"][0]
    text = report.read_text()
    assert "RuntimeError" in text
    assert "fw_canary9d21" not in text
