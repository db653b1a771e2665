"""Runs the `console` blocks of a page in one shell and compares what is shown.

All blocks of a page are one session in a folder of its own, with the example specs in `configs/`, the
simulator behind `firectl`, and a model's `config.json`. `...` stands for lines that are left out; a
command below which nothing is shown may print what it likes. Lines that begin with `> ` behind a command
belong to it. A block is left out when `<!-- not run: why -->` stands above it; commands in
`<!-- first: ... -->` run before the next block and are not shown.
"""

from __future__ import annotations

import re
import shlex
import sys
from dataclasses import dataclass, field
from pathlib import Path

BLOCK = re.compile(
    r"(?:<!-- (?P<mark>not run|first): (?P<text>[^\n]*?) -->\n+)?```console\n(?P<body>.*?)```", re.DOTALL
)
# Exit codes that no documented command may have: wrong usage, a bug, not found by the shell.
NEVER = (64, 70, 126, 127)
ELISION = "..."


@dataclass
class Step:
    command: str
    shown: list[str] = field(default_factory=list)


def steps(text: str) -> list[Step]:
    """Commands of a page in order, with the lines printed below each."""
    found: list[Step] = []
    for block in BLOCK.finditer(text):
        if block["mark"] == "not run":
            continue
        if block["mark"] == "first":
            found.append(Step(block["text"]))
        found += _block(block["body"])
    return found


def _block(body: str) -> list[Step]:
    found: list[Step] = []
    for line in body.splitlines():
        if line.startswith("$ "):
            found.append(Step(line[2:]))
        elif line.startswith("> ") and found and not found[-1].shown:
            found[-1].command += "\n" + line[2:]
        elif found:
            found[-1].shown.append(line)
    return found


def script(commands: list[Step]) -> str:
    """One shell script; a line of its own ends the output of each command with its exit code.

    The commands are files, not functions of the shell: what runs in the background is then the process
    itself, and `kill %1` ends it.
    """
    lines = ['mkdir -p "$HOME/bin"; PATH="$HOME/bin:$PATH"']
    for name, module in (("fwctl", "fwctl"), ("firectl-sim", "fwctl.simulator")):
        text = f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m {module} "$@"\n'
        lines.append(f'printf %s {shlex.quote(text)} > "$HOME/bin/{name}"; chmod +x "$HOME/bin/{name}"')
    for step in commands:
        lines += [step.command, 'echo "<<$?>>"']
    return "\n".join(lines)


def problems(commands: list[Step], printed: str) -> list[str]:
    """What is not as the page says."""
    pieces = re.split(r"<<(\d+)>>\n", printed)
    outputs, codes = pieces[0::2], [int(code) for code in pieces[1::2]]
    if len(codes) != len(commands):
        return [f"the session ended at `{commands[len(codes)].command}`"]
    wrong = []
    for step, output, code in zip(commands, outputs, codes, strict=False):
        if code in NEVER:
            wrong.append(f"`{step.command}` ended with {code}")
        if step.shown and (why := difference(step.shown, output.splitlines())):
            wrong.append(f"`{step.command}`: {why}")
    return wrong


def difference(shown: list[str], real: list[str]) -> str:
    """Why the lines of a page are not what was printed; empty when they are."""
    at = 0
    free = False
    for line in shown:
        if line == ELISION:
            free = True
            continue
        where = next((i for i in range(at, len(real)) if real[i] == line), None)
        if where is None or (not free and where != at):
            found = real[at] if at < len(real) else "the end"
            return f"{line!r} is shown, {found!r} was printed"
        at, free = where + 1, False
    return "" if free or at == len(real) else f"{real[at]!r} was printed and is not shown"


def read(path: Path) -> list[Step]:
    return steps(path.read_text(encoding="utf-8"))
