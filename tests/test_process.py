"""Real small children: what process.run promises about ends, pipes, groups and output."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fwctl.process import Completed, Graces, Running, run

ENV = {"PATH": os.environ.get("PATH", ""), "PYTHONUTF8": "1"}
FAST = Graces(interrupt_s=0.3, terminate_s=0.3, pipe_s=0.2)


def py(code: str, *args: str, **options: object) -> Completed:
    options = {"env": ENV, "deadline_s": 30.0, "graces": FAST, **options}
    return run([sys.executable, "-S", "-c", code, *args], **options)  # type: ignore[arg-type]


def alive(pid: int) -> bool:
    """Whether a process still runs (a zombie does not)."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def wait_until(condition, limit_s: float = 5.0) -> bool:
    end = time.monotonic() + limit_s
    pause = threading.Event()
    while time.monotonic() < end:
        if condition():
            return True
        pause.wait(0.01)
    return condition()


def test_output_exit_code_and_environment_are_the_childs_own():
    done = py(
        "import os, sys; print('out', os.environ['MARK']); print('err', file=sys.stderr); sys.exit(7)",
        env={**ENV, "MARK": "x1"},
    )
    assert (done.returncode, done.stdout, done.stderr) == (7, "out x1\n", "err\n")
    assert not done.timed_out
    assert not done.interrupted
    assert not done.cut


def test_stdin_is_closed_so_that_a_prompt_ends_at_once():
    assert py("import sys; print(repr(sys.stdin.read()))").stdout == "''\n"


def test_arguments_reach_the_child_without_a_shell(tmp_path: Path):
    words = ["$(touch x)", "; rm -rf /", "a b", "*", "", "ü\n"]
    done = py("import sys; print(sys.argv[1:])", *words, cwd=tmp_path)
    assert done.stdout.strip() == str(words)
    assert list(tmp_path.iterdir()) == []


def test_a_child_has_a_session_of_its_own_and_no_terminal_signal_reaches_it():
    done = py("import os; print(os.getsid(0) == os.getpid(), os.getpgid(0) == os.getpid())")
    assert done.stdout == "True True\n"


def test_a_program_that_does_not_exist_raises():
    with pytest.raises(FileNotFoundError):
        run(["/nonexistent/firectl"], env=ENV, deadline_s=1)


def test_a_file_that_may_not_be_run_raises(tmp_path: Path):
    plain = tmp_path / "plain"
    plain.write_text("x")
    with pytest.raises(PermissionError):
        run([str(plain)], env=ENV, deadline_s=1)


def test_an_argument_that_no_process_can_receive_raises():
    with pytest.raises(ValueError):
        run([sys.executable, "a\0b"], env=ENV, deadline_s=1)


def test_megabytes_on_both_streams_neither_block_nor_get_lost():
    code = "import sys\nfor i in range(80):\n  sys.stdout.write('o'*65536)\n  sys.stderr.write('e'*65536)"
    done = py(code)
    assert (len(done.stdout), len(done.stderr), done.cut) == (80 * 65536, 80 * 65536, False)


def test_output_beyond_the_limit_is_read_and_dropped_and_said_to_be_cut():
    done = py("import sys; sys.stdout.write('x'*3_000_000); sys.exit(3)", kept_bytes=1000)
    assert (done.stdout, done.cut, done.returncode) == ("x" * 1000, True, 3)


def interrupted_when_ready(tmp_path: Path, code: str, graces: Graces = FAST) -> Completed:
    """Run a child that touches the file of its first argument, then set the interrupt event."""
    event, mark = threading.Event(), tmp_path / "mark"
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(py, code, str(mark), interrupt=event, graces=graces)
        assert wait_until(mark.exists, 20)
        event.set()
        return running.result(30)


READY_THEN_SLEEP = "import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)"


def test_a_hanging_child_is_stopped_at_its_deadline():
    done = py("import time; time.sleep(60)", deadline_s=0.3)
    assert done.timed_out
    assert not done.interrupted
    assert done.returncode != 0
    assert done.seconds < 10


def test_a_child_that_ends_cleanly_on_interrupt_may_do_so(tmp_path: Path):
    code = (
        "import signal, sys, time\n"
        "def end(*_): print('tidied', flush=True); sys.exit(0)\n"
        "signal.signal(signal.SIGINT, end)\n"
    )
    done = interrupted_when_ready(tmp_path, code + READY_THEN_SLEEP, Graces(20, 20, 0.2))
    assert (done.returncode, done.stdout) == (0, "tidied\n")


def test_a_child_that_ignores_interrupt_is_terminated(tmp_path: Path):
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
    done = interrupted_when_ready(tmp_path, code + READY_THEN_SLEEP, Graces(0.1, 20, 0.2))
    assert done.returncode == -signal.SIGTERM


def test_a_child_that_ignores_interrupt_and_terminate_is_killed(tmp_path: Path):
    code = "import signal\nfor s in (signal.SIGINT, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)\n"
    done = interrupted_when_ready(tmp_path, code + READY_THEN_SLEEP, Graces(0.1, 0.1, 0.2))
    assert done.returncode == -signal.SIGKILL


def test_the_interrupt_event_is_told_apart_from_the_deadline(tmp_path: Path):
    done = interrupted_when_ready(tmp_path, READY_THEN_SLEEP)
    assert done.interrupted
    assert not done.timed_out


def test_an_event_that_is_never_set_lets_the_child_finish():
    assert py("print(1)", interrupt=threading.Event()).stdout == "1\n"


GRANDCHILD = (
    "import subprocess, sys\n"
    "p = subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1]], **eval(sys.argv[2]))\n"
    "print(p.pid, flush=True)"
)


@pytest.mark.parametrize(
    ("inner", "options"),
    [
        ("import time; time.sleep(60)", "{}"),
        (
            "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(60)",
            "{}",
        ),
        ("import time; time.sleep(60)", "dict(stdout=-3, stderr=-3)"),
    ],
    ids=["holds the pipe", "holds the pipe and ignores terminate", "holds nothing"],
)
def test_a_grandchild_that_outlives_the_child_neither_hangs_the_call_nor_survives_it(inner, options):
    begun = time.monotonic()
    done = py(GRANDCHILD, inner, options)
    assert time.monotonic() - begun < 5
    assert done.returncode == 0
    assert wait_until(lambda: not alive(int(done.stdout)))


def test_a_grandchild_that_left_the_session_does_not_hang_the_call_and_is_not_blocked(tmp_path: Path):
    """It writes more than a pipe holds after the call is over, and only then makes its mark."""
    go, mark = tmp_path / "go", tmp_path / "mark"
    inner = (
        f"import pathlib, sys\nwhile not pathlib.Path({str(go)!r}).exists(): pass\n"
        f"sys.stdout.write('x' * 500_000); sys.stdout.flush(); pathlib.Path({str(mark)!r}).touch()"
    )
    done = py(GRANDCHILD, inner, "dict(start_new_session=True)")
    assert done.returncode == 0
    assert "x" not in done.stdout
    go.touch()
    assert wait_until(mark.exists, 20)


def test_a_grandchild_may_still_write_its_last_words():
    done = py(GRANDCHILD, "import time; time.sleep(0.02); print('late')", "{}", graces=Graces(1, 1, 10))
    assert done.stdout.splitlines()[-1] == "late"


def test_the_whole_group_goes_down_with_an_interrupt(tmp_path: Path):
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-S', '-c', 'import time; time.sleep(60)'])\n"
        "print(p.pid, flush=True)\n"
    )
    done = interrupted_when_ready(tmp_path, code + READY_THEN_SLEEP)
    assert wait_until(lambda: not alive(int(done.stdout)))


def test_a_child_that_closes_its_streams_is_still_waited_for():
    done = py("import os, time; os.close(1); os.close(2); time.sleep(0.1); os._exit(5)")
    assert done.returncode == 5


def test_a_keyboard_interrupt_in_the_caller_stops_the_child_and_goes_on(tmp_path: Path):
    """In a process of its own, because the signal goes to a whole main thread."""
    pid_file = tmp_path / "pid"
    program = (
        "import os, signal, sys, threading\nfrom pathlib import Path\nfrom fwctl.process import Graces, run\n"
        "pid = Path(sys.argv[1])\n"
        "def press():\n"
        "    while not pid.exists() or not pid.read_text(): pass\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=press, daemon=True).start()\n"
        "code = 'import os, pathlib, sys, time; pathlib.Path(sys.argv[1]).write_text(str(os.getpid())); "
        "time.sleep(60)'\n"
        "try:\n"
        "    run([sys.executable, '-c', code, sys.argv[1]], env=dict(os.environ), deadline_s=30,"
        " graces=Graces(0.3, 0.3, 0.2))\n"
        "except KeyboardInterrupt:\n    print('interrupted')\n"
    )
    done = run(
        [sys.executable, "-c", program, str(pid_file)],
        env=dict(os.environ),
        deadline_s=30,
        cwd=Path(__file__).parent.parent,
    )
    assert done.stdout == "interrupted\n", done.stderr
    assert not alive(int(pid_file.read_text()))


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (rb"b'caf\xc3\xa9'", "café"),
        (rb"b'\xef\xbb\xbf{}'", "{}"),
        (rb"b'a\xffb'", "a�b"),
    ],
    ids=["utf-8", "byte order mark", "not utf-8"],
)
def test_output_is_decoded_whatever_it_holds(data: bytes, text: str):
    assert py(f"import sys; sys.stdout.buffer.write({data.decode()})").stdout == text


def test_an_open_file_descriptor_can_be_handed_over():
    read_end, write_end = os.pipe()
    try:
        os.write(write_end, b"hello")
        os.close(write_end)
        done = py("import os, sys; print(os.read(int(sys.argv[1]), 9))", str(read_end), input_fds=[read_end])
    finally:
        os.close(read_end)
    assert done.stdout == "b'hello'\n"


def test_many_threads_may_run_children_at_once():
    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(lambda n: py(f"print({n} * 2)").stdout, range(16)))
    assert done == [f"{n * 2}\n" for n in range(16)]


def open_files() -> int:
    return sum(1 for _ in Path("/dev/fd").iterdir())


def test_nothing_of_a_finished_call_stays_open():
    before = open_files()
    for _ in range(5):
        py("print(1)")
    assert wait_until(lambda: open_files() <= before)


def test_a_running_child_can_be_watched_and_is_stopped_on_leaving():
    code = "import time; print('up', flush=True); time.sleep(60)"
    with Running([sys.executable, "-S", "-c", code], env=ENV, graces=FAST) as child:
        assert wait_until(lambda: child.output()[0] == "up\n", 20)
        assert not child.ended()
        assert alive(child.pid)
    assert child.ended()
    assert not alive(child.pid)


def test_a_running_child_that_ended_by_itself_keeps_its_exit_code():
    with Running([sys.executable, "-S", "-c", "raise SystemExit(4)"], env=ENV, graces=FAST) as child:
        assert wait_until(lambda: child.ended(0.1), 20)
        assert child.stop().returncode == 4
    assert child.stop().returncode == 4


def test_a_running_child_is_stopped_when_the_block_fails():
    with pytest.raises(KeyError), Running([sys.executable, "-c", "input()"], env=ENV, graces=FAST) as child:
        raise KeyError
    assert not alive(child.pid)


@pytest.mark.parametrize("ignored", ["", "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"])
def test_where_there_are_no_sessions_the_child_itself_is_stopped(ignored: str):
    """As on Windows."""
    code = ignored + "import time; print('up', flush=True); time.sleep(60)"
    argv = [sys.executable, "-S", "-c", code]
    with Running(argv, env=ENV, graces=Graces(0.1, 0.1, 0.1), own_session=False) as child:
        assert wait_until(lambda: child.output()[0] == "up\n", 20)
        done = child.stop()
    assert done.returncode == (-signal.SIGKILL if ignored else -signal.SIGTERM)
