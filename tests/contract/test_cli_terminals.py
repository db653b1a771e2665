"""Narrow, dumb, coloured and non-UTF-8 terminals, pipes, and the demo: nothing is cut or lost."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox

SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    found = Sandbox(tmp_path, near=True)  # what needs a process starts its own
    found.write()
    return found


def on_terminal(
    box: Sandbox, *argv: str, columns: int = 40, answer: str = "", **variables: str
) -> tuple[int, str]:
    """Exit code and everything shown on a real pseudo-terminal of that width."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", *argv],
        cwd=box.folder,
        env={**box.environ, "TERM": "xterm", **variables},
        stdin=slave,
        stdout=slave,
        stderr=slave,
        close_fds=True,
    )
    os.close(slave)
    shown = b""
    while True:
        try:
            read = os.read(master, 65536)
        except OSError:  # Linux answers EIO when the last writer has gone
            break
        if not read:
            break
        shown += read
        if answer and shown.rstrip().endswith(b">"):
            os.write(master, answer.encode() + b"\n")
            answer = ""
    code = child.wait(timeout=30)
    os.close(master)
    return code, shown.decode(errors="replace").replace("\r\n", "\n")


@pytest.mark.parametrize(
    "command", [("plan",), ("status",), ("shapes", "llama-v3p1-8b-instruct"), ("fit-check",)]
)
def test_forty_columns_cut_no_identifier(box: Sandbox, command: tuple[str, ...]) -> None:
    if command[0] == "shapes":
        command = ("shapes", "accounts/fireworks/models/llama-v3p1-8b-instruct")
    code, shown = on_terminal(box, *command, NO_COLOR="1")
    assert code == 0
    words = shown.split()
    expected = {
        "plan": SHAPE + "/versions/",
        "status": "absent",
        "shapes": SHAPE,
        "fit-check": "NVIDIA_H100_80GB",
    }
    assert any(expected[command[0]] in word for word in words)
    assert "…" not in shown
    assert "\x1b" not in shown


def test_wide_lines_are_wrapped_only_on_a_terminal(box: Sandbox) -> None:
    _, shown = on_terminal(box, "rules", NO_COLOR="1")
    assert shown == box.fwctl("rules").out  # a text that is a result is never changed
    _, narrow = on_terminal(box, "version", "--help", NO_COLOR="1")
    assert max(len(line) for line in narrow.splitlines() if " " in line.strip()) <= 40


def test_colours_follow_the_terminal_and_the_variables(box: Sandbox) -> None:
    assert "\x1b[" in on_terminal(box, "validate")[1]
    assert "\x1b[" not in on_terminal(box, "validate", NO_COLOR="1")[1]
    assert "\x1b[" not in on_terminal(box, "validate", "--no-color")[1]
    assert "\x1b[" not in on_terminal(box, "validate", TERM="dumb")[1]
    assert "\x1b[" not in box.fwctl("validate").out
    assert "\x1b[" in box.fwctl("validate", FORCE_COLOR="1").out


def test_an_ascii_terminal_gets_stand_ins_and_loses_nothing(box: Sandbox) -> None:
    box.write(SPEC + "    display_name: Gespräch 模型\n")
    box.near = False
    done = box.fwctl("plan", PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    assert done.code == 0
    assert done.out.isascii()
    assert "Gespr\\xe4ch \\u6a21\\u578b" in done.out
    assert "ok fit" in done.out


def test_what_a_spec_says_is_never_obeyed_by_the_terminal(box: Sandbox) -> None:
    box.write(SPEC + "    display_name: '[bold red]x[/] [/etc/passwd]'\n")
    done = box.fwctl("plan")
    assert "[bold red]x[/] [/etc/passwd]" in done.out


def test_a_person_confirms_and_a_wrong_answer_changes_nothing(box: Sandbox) -> None:
    code, shown = on_terminal(box, "apply", answer="no", columns=120)
    assert code == 1
    assert "nothing was changed" in shown
    assert box.mutations() == 0
    code, shown = on_terminal(box, "apply", answer="yes", columns=120)
    assert code == 0, shown
    assert box.mutations() > 0


def test_deleting_asks_for_the_name(box: Sandbox) -> None:
    box.write(SPEC.replace("interactive", "batch"))
    assert box.fwctl("apply", "--yes").code == 0
    box.write(SPEC.replace("  chat:", "  other:"), "configs/chat.yaml")
    argv = ("apply", "--prune", "--allow-delete", "chat", "--target", "chat")
    code, shown = on_terminal(box, *argv, answer="yes", columns=120)
    assert code == 1, shown
    code, shown = on_terminal(box, *argv, answer="chat", columns=120)
    assert code == 0, shown


def test_the_demo_ends_with_no_changes_and_leaves_nothing(tmp_path: Path) -> None:
    box = Sandbox(tmp_path)
    done = box.fwctl("demo")
    assert done.code == 0, done.out + done.err
    assert "3 to create" in done.out
    assert "No changes." in done.out
    steps = re.findall(r"^\$ fwctl (\S+)", done.err, re.MULTILINE)
    assert steps == ["validate", "fit-check", "plan", "apply", "plan"]
    assert not (tmp_path / "configs").exists()


def test_the_demo_runs_again_and_can_leave_its_folder_to_play_with(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    done = box.fwctl("demo", "--folder", "play", "--format", "json")
    assert done.code == 0
    assert [step["exit_code"] for step in done.document["steps"]] == [0, 0, 0, 0, 0]
    assert {"chat.yaml", "evaluation.yaml", "support-lora.yaml"} <= {
        path.name for path in (tmp_path / "play/configs").iterdir()
    }
    assert box.fwctl("demo", "--folder", "play").code == 64


def test_help_and_completion_import_nothing_heavy(box: Sandbox) -> None:
    for argv in (["--help"], ["plan", "--help"], ["__complete", "pl"], ["validate"]):
        code = (
            "import sys; from fwctl.__main__ import main\n"
            f"sys.argv = ['fwctl', *{argv!r}]\n"
            "try: main()\nexcept SystemExit: pass\n"
            "heavy = {'pydantic', 'httpx', 'rich', 'jsonschema', 'aiohttp'} & set(sys.modules)\n"
            "assert not heavy, heavy"
        )
        done = box.run(sys.executable, "-c", code)
        assert done.code == 0, done.err


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts_are_printed(box: Sandbox, shell: str) -> None:
    done = box.fwctl("completion", shell)
    assert done.code == 0
    assert "__complete" in done.out


def test_bash_completes_deployment_names_of_the_specs(box: Sandbox) -> None:
    script = box.fwctl("completion", "bash").out
    body = (
        'fwctl() { "$PYTHON" -m fwctl "$@"; }\n'
        + script
        + "COMP_WORDS=(fwctl plan --target ch); COMP_CWORD=3; _fwctl\n"
        'printf "%s\\n" "${COMPREPLY[@]}"'
    )
    done = box.run("bash", "-c", body, PYTHON=sys.executable)
    assert done.out.split() == ["chat"]
