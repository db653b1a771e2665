"""firectl-sim as real child processes: streams, crashes, kills, concurrency, time."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fwctl.simulator.state import Store

ROOT = Path(__file__).parents[2]
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
NOTICE = b"firectl-sim: this is the Fireworks simulator, nothing is billed.\n"

Start = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def start(tmp_path: Path) -> Start:
    def popen(*argv: str, **environ: str) -> subprocess.Popen[bytes]:
        base = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(tmp_path / "nobody")}
        return subprocess.Popen(
            [sys.executable, "-m", "fwctl.simulator", *argv],
            cwd=tmp_path,
            env={**base, **environ},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    return popen


def finish(process: subprocess.Popen[bytes]) -> tuple[int, bytes, bytes]:
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def create(start: Start, name: str, *flags: str, **environ: str) -> subprocess.Popen[bytes]:
    words = ["deployment", "create", MODEL, "--deployment-id", name, "--deployment-shape", SHAPE]
    return start(*words, *flags, **environ)


def listed(start: Start) -> list[str]:
    code, out, err = finish(start("deployment", "list", "-o", "json", "--no-paginate"))
    assert code == 0, err
    return sorted(row["name"].rsplit("/", 1)[1] for row in json.loads(out))


def test_results_and_the_notice_use_their_own_streams(start: Start):
    assert finish(start("version")) == (0, b"1.8.9\n", NOTICE)
    code, out, err = finish(start("deployment", "get", "none"))
    assert (code, out) == (1, b"")
    assert b"Failed to execute: error getting deployment: rpc error: code = NotFound" in err


def test_state_lives_in_the_folder_of_the_caller_unless_the_variable_names_another(
    start: Start, tmp_path: Path
):
    finish(create(start, "a"))
    assert (tmp_path / ".firectl-sim" / "state.db").exists()
    finish(start("deployment", "list", FIRECTL_SIM_HOME=str(tmp_path / "elsewhere" / "deep")))
    assert (tmp_path / "elsewhere" / "deep" / "state.db").exists()


def test_a_scaled_clock_brings_a_deployment_to_ready(start: Start):
    code, out, _ = finish(create(start, "a", "--wait", FIRECTL_SIM_SPEED="2000"))
    assert (code, b"State: CREATING" in out) == (0, True)
    _, out, _ = finish(start("deployment", "get", "a", "-o", "json"))
    assert json.loads(out)["state"] == "READY"


def test_processes_that_start_together_share_one_new_home(start: Start):
    processes = [create(start, f"d{number}") for number in range(8)]
    assert [finish(process)[0] for process in processes] == [0] * 8
    assert listed(start) == [f"d{number}" for number in range(8)]


def test_one_of_many_creates_of_an_id_wins(start: Start):
    processes = [create(start, "same") for _ in range(6)]
    results = [finish(process) for process in processes]
    assert sorted(code for code, _, _ in results) == [0, 1, 1, 1, 1, 1]
    assert all(b"code = AlreadyExists" in err for code, _, err in results if code)


def test_the_quota_holds_against_concurrent_creates(start: Start):
    finish(start("sim", "quota-set", "global--h100-count", "3"))
    processes = [create(start, f"d{number}") for number in range(6)]
    codes = [finish(process)[0] for process in processes]
    assert codes.count(0) == 3
    assert len(listed(start)) == 3


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")
class TestKills:
    @pytest.mark.parametrize(("when", "there"), [("before", []), ("after", ["a"])])
    def test_a_crash_before_or_after_the_effect(self, start: Start, when: str, there: list[str]):
        finish(start("faults", "add", "crash", "--match", "deployment create*", "--when", when))
        code, _, _ = finish(create(start, "a"))
        assert code == -signal.SIGKILL
        assert listed(start) == there

    def test_a_kill_at_any_moment_leaves_a_whole_state(self, start: Start):
        def killed(number: int) -> bool:
            process = create(start, f"d{number}")
            try:
                process.wait(timeout=0.02 + number * 0.007)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate(timeout=60)
            return process.returncode == 0

        with ThreadPoolExecutor(4) as pool:
            finished = list(pool.map(killed, range(20)))
        names = listed(start)
        assert {f"d{number}" for number, done in enumerate(finished) if done} <= set(names)
        assert finish(create(start, "after"))[0] == 0

    def test_a_killed_hang_holds_no_lock(self, start: Start):
        finish(start("faults", "add", "hang", "--match", "deployment create*", "--when", "after"))
        process = create(start, "a")
        assert process.stdout
        assert process.stdout.readline().startswith(b"Name: ")
        assert listed(start) == ["a"]
        process.kill()
        process.communicate(timeout=60)
        assert finish(create(start, "b"))[0] == 0

    def test_the_log_tells_which_calls_never_ended(self, start: Start):
        finish(start("faults", "add", "crash", "--match", "deployment create*"))
        finish(create(start, "a", "--api-key", "fw_test"))
        finish(start("deployment", "list"))
        _, out, _ = finish(start("calls", "list", "-o", "json"))
        first, second = json.loads(out)
        assert ("exit_code" in first, second["exit_code"]) == (False, 0)
        assert b"fw_test" not in out


class TestStreams:
    def test_a_reader_that_leaves_early_causes_no_traceback(self, start: Start, tmp_path: Path):
        finish(start("faults", "add", "noise", "--bytes", "5000000", "--match", "deployment list*"))
        process = start("deployment", "list")
        assert process.stdout
        process.stdout.read(10)
        process.stdout.close()
        assert process.stderr
        err = process.stderr.read()
        process.stderr.close()
        assert process.wait(timeout=60) == 141
        assert b"Traceback" not in err

    @pytest.mark.parametrize("stream", ["stdout", "stderr"])
    def test_five_megabytes_on_either_stream(self, start: Start, stream: str):
        finish(start("faults", "add", "noise", "--bytes", "5000000", "--stream", stream))
        _, out, err = finish(start("deployment", "list"))
        assert len(out if stream == "stdout" else err) > 5_000_000

    def test_bytes_that_are_no_text(self, start: Start):
        finish(start("faults", "add", "garbage"))
        assert finish(start("deployment", "list"))[1].startswith(b"\xff\xfe\x00\x80garbage\nNAME")

    def test_a_grandchild_holds_the_pipe(self, start: Start):
        finish(start("faults", "add", "hold_pipe", "--seconds", "1.5", "--match", "version"))
        process = start("version")
        assert process.wait(timeout=60) == 0
        assert process.stdout
        os.set_blocking(process.stdout.fileno(), False)
        assert os.read(process.stdout.fileno(), 100) == b"1.8.9\n"
        with pytest.raises(BlockingIOError):
            os.read(process.stdout.fileno(), 100)
        os.set_blocking(process.stdout.fileno(), True)
        process.communicate(timeout=60)


def test_a_thousand_deployments_are_listed_in_one_page(start: Start, tmp_path: Path):
    finish(create(start, "d"))
    with Store(tmp_path / ".firectl-sim") as store, store.write() as tx:
        doc = tx.get("deployments", "accounts/acme/deployments/d")
        assert doc
        for number in range(999):
            name = f"accounts/acme/deployments/d{number}"
            tx.put("deployments", name, doc | {"name": name})
    assert len(listed(start)) == 1000


def test_output_is_utf8_whatever_the_locale(start: Start):
    finish(create(start, "a", "--display-name", "Büro ✓", LC_ALL="C", PYTHONUTF8="0"))
    _, out, _ = finish(start("deployment", "get", "a", LC_ALL="C", PYTHONUTF8="0"))
    assert "Display Name: Büro ✓\n".encode() in out


def test_words_that_are_no_utf8_are_refused(start: Start):
    code, out, err = finish(start("deployment", "get", os.fsdecode(b"\xff\xfe")))
    assert (code, out) == (1, b"")
    assert err.endswith(b"string field contains invalid UTF-8\n")


def test_an_unusable_state_is_one_line(start: Start, tmp_path: Path):
    (tmp_path / ".firectl-sim").mkdir()
    (tmp_path / ".firectl-sim" / "state.db").write_bytes(b"this is no database, this is no database" * 50)
    code, out, err = finish(start("deployment", "list"))
    assert (code, out) == (1, b"")
    assert err.startswith(NOTICE + b"firectl-sim: the state cannot be used: file is not a database")
    (tmp_path / "file").write_text("")
    code, _, err = finish(start("deployment", "list", FIRECTL_SIM_HOME="file"))
    assert (code, err.count(b"\n")) == (1, 2)


def test_an_interrupted_wait_ends_without_a_traceback(start: Start):
    process = create(start, "a", "--wait")
    assert process.stdout
    assert process.stdout.readline().startswith(b"Name: ")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in out + err
