"""Terminals of any width, pipes that close early, progress, prompts, names, and the real shells."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox
from tests.contract.test_cli_terminals import on_terminal

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    found = Sandbox(tmp_path, near=True)  # what needs a process starts its own
    found.write()
    return found


def words(text: str) -> list[str]:
    return re.sub("\x1b\\[[0-9;]*m", "", text).split()


@pytest.mark.parametrize("columns", [40, 80, 200])
@pytest.mark.parametrize("command", [("plan",), ("validate", "configs/bad.yaml"), ("fit-check", "--explain")])
def test_no_width_loses_a_word(box: Sandbox, columns: int, command: tuple[str, ...]) -> None:
    """The same words in the same order as in a pipe, where nothing is wrapped; tables aside."""
    box.write(SPEC.replace("max: 2", "max: 0x2").replace("chat:", "bad:"), "bad.yaml")
    (box.folder / "configs/bad.yaml").unlink(missing_ok=True)
    if command[0] == "validate":
        command = ("validate", "bad.yaml")
    piped = box.fwctl(*command)
    _, shown = on_terminal(box, *command, columns=columns, NO_COLOR="1")
    wanted = [word for word in words(piped.out) if "/" in word or "=" in word or ":" in word]
    found = words(shown)
    assert [word for word in wanted if word not in found] == []
    assert "\x1b" not in shown


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_lines_fit_unless_a_single_word_is_longer(box: Sandbox, columns: int) -> None:
    _, shown = on_terminal(box, "plan", columns=columns, NO_COLOR="1")
    for line in shown.splitlines():
        command = line.lstrip().startswith("$ ")  # to be copied, so never broken by us
        assert len(line) <= columns or command or len(line.split()) <= 4, line


def test_latin_1_terminals_show_what_they_can_and_escape_the_rest(box: Sandbox) -> None:
    box.write(SPEC + "    display_name: Gespräch 模型\n")
    done = subprocess.run(
        [sys.executable, "-m", "fwctl", "plan"],
        cwd=box.folder,
        env={**box.environ, "PYTHONIOENCODING": "latin-1"},
        capture_output=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0
    assert "Gespräch \\u6a21\\u578b".encode("latin-1") in done.stdout
    assert b"ok fit" in done.stdout


@pytest.mark.parametrize(
    "argv",
    [("plan", "--format", "json"), ("rules",), ("--help",), ("plan", "--format", "html")],
    ids=" ".join,
)
def test_a_reader_that_leaves_early_gets_no_traceback(box: Sandbox, argv: tuple[str, ...]) -> None:
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", *argv],
        cwd=box.folder,
        env=box.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert child.stdout is not None
    assert child.stderr is not None
    child.stdout.close()
    said = child.stderr.read().decode()
    child.stderr.close()
    assert child.wait(timeout=60) in (0, 1)
    assert "Traceback" not in said
    assert "Exception ignored" not in said


@pytest.mark.parametrize("closed", ["stdout", "stderr", "stdin"])
def test_a_stream_that_does_not_exist_is_no_crash(box: Sandbox, closed: str) -> None:
    number = {"stdin": "0<&-", "stdout": "1>&-", "stderr": "2>&-"}[closed]
    done = box.run("sh", "-c", f'"$PYTHON" -m fwctl plan {number}', PYTHON=sys.executable)
    assert done.code in (0, 1)


def test_every_format_for_programs_is_free_of_escape_codes_whatever_is_forced(box: Sandbox) -> None:
    for name in ("json", "markdown", "html", "github"):
        done = box.fwctl("plan", "--format", name, FORCE_COLOR="1")
        assert "\x1b" not in done.out, name


def test_progress_ends_with_whole_lines_and_a_clean_cursor(box: Sandbox) -> None:
    code, shown = on_terminal(box, "apply", "--yes", columns=100)
    assert code == 0
    assert shown.endswith("\n")
    hidden, back = shown.count("\x1b[?25l"), shown.count("\x1b[?25h")
    assert hidden == back
    assert not shown.rstrip("\n").endswith("\r")
    assert shown.count("\x1b[0m") >= len(re.findall("\x1b\\[[1-9][0-9;]*m", shown))


@pytest.mark.parametrize("answer", ["", "y", "Yes please", "no", "YES"])
def test_only_the_whole_word_confirms(box: Sandbox, answer: str) -> None:
    done = box.fwctl("apply", stdin=f"{answer}\n", terminal=True)
    assert done.code == 1
    assert "nothing was changed" in done.out + done.err
    assert box.mutations() == 0


def test_names_of_deployments_get_a_suggestion(box: Sandbox) -> None:
    for argv in (("plan", "--target", "caht"), ("plan", "--set", "caht.replicas.max=3")):
        done = box.fwctl(*argv)
        assert done.code == 64
        assert "did you mean chat?" in done.err
    assert "did you mean replicas.max?" in box.fwctl("plan", "--set", "chat.replicas.mx=3").err
    assert box.fwctl("apply", "--yes").code == 0
    done = box.fwctl("hold", "caht", "--for", "3h", "--yes")
    assert done.code == 64
    assert "did you mean chat?" in done.err


def test_words_of_a_spec_get_a_suggestion(box: Sandbox) -> None:
    text = (
        SPEC.replace("replicas:", "replica:")
        .replace("H100_80GB", "H100_80GBB")
        .replace("interactive", "interactiv")
    )
    box.write(text.replace("region: US", "region: EUROP"))
    said = box.fwctl("validate").out
    for meant in ("replicas", "NVIDIA_H100_80GB", "interactive", "EUROPE"):
        assert f"did you mean {meant}?" in said, said


PATH_TOOLS = '#!/bin/sh\nexec "{python}" -m fwctl "$@"\n'


def with_fwctl(box: Sandbox) -> dict[str, str]:
    """A folder on the PATH with `fwctl`, as an installation has."""
    tool = box.folder / "bin/fwctl"
    tool.parent.mkdir()
    tool.write_text(PATH_TOOLS.format(python=sys.executable))
    tool.chmod(0o755)
    return {"PATH": f"{tool.parent}:{box.environ['PATH']}"}


def shell(name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(shutil.which(name) is None, reason=f"{name} is not installed")


@shell("bash")
def test_bash_loads_the_script_and_completes(box: Sandbox) -> None:
    body = """
eval "$(fwctl completion bash)"
complete -p fwctl | grep -q _fwctl || exit 9
ask() { COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); _fwctl; echo "${COMPREPLY[*]}"; }
ask fwctl fit
ask fwctl plan --ta
ask fwctl plan --target c
ask fwctl plan --format j
"""
    done = box.run("bash", "--norc", "-c", body, **with_fwctl(box))
    assert done.code == 0, done.err
    assert done.out.splitlines() == ["fit-check", "--target", "chat", "json junit"[:4]]


@shell("zsh")
def test_zsh_loads_the_script_and_completes(box: Sandbox) -> None:
    body = """
autoload -Uz compinit && compinit -D -u
eval "$(fwctl completion zsh)"
[[ ${_comps[fwctl]} == _fwctl ]] || exit 9
_describe() { print -l -- "${(@P)2}"; }
words=(fwctl plan --target c); CURRENT=4; _fwctl
words=(fwctl fit); CURRENT=2; _fwctl
"""
    done = box.run("zsh", "-f", "-c", body, **with_fwctl(box))
    assert done.code == 0, done.err
    first, second = done.out.splitlines()
    assert first.split(":")[0] == "chat"
    assert second.split(":")[0] == "fit-check"


@shell("zsh")
def test_zsh_completes_at_the_first_tab_from_a_file_in_fpath(box: Sandbox) -> None:
    body = """
fwctl completion zsh > _fwctl
fpath=($PWD $fpath)
autoload -Uz compinit && compinit -D -u
_describe() { print -l -- "${(@P)2}"; }
words=(fwctl fit); CURRENT=2; _fwctl
"""
    done = box.run("zsh", "-f", "-c", body, **with_fwctl(box))
    assert done.code == 0, done.err
    assert done.out.startswith("fit-check:")


@shell("fish")
def test_fish_loads_the_script_and_completes(box: Sandbox) -> None:
    body = """
fwctl completion fish | source
complete -C 'fwctl plan --target c'
complete -C 'fwctl fit'
"""
    done = box.run("fish", "--no-config", "-c", body, XDG_CONFIG_HOME=str(box.folder), **with_fwctl(box))
    assert done.code == 0, done.err
    found = [line.split("\t")[0] for line in done.out.splitlines()]
    assert found == ["chat", "fit-check"]
