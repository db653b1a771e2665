"""Runs the `console` blocks of the README and compares what is shown."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ELISION = "..."


@dataclass
class Step:
    command: str
    shown: list[str]


def steps(text: str) -> Iterator[Step]:
    """Every command of the console blocks, with the lines printed below it."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        current: Step | None = None
        for line in block.splitlines():
            if line.startswith("$ "):
                if current:
                    yield current
                current = Step(line[2:], [])
            elif current:
                current.shown.append(line)
        if current:
            yield current


def script(step_list: list[Step]) -> str:
    """One shell script; a line of its own ends the output of each command."""
    python = shlex.quote(sys.executable)
    lines = [
        f'fwctl() {{ {python} -m fwctl "$@"; }}',
        f'firectl-sim() {{ {python} -m fwctl.simulator "$@"; }}',
    ]
    for number, step in enumerate(step_list):
        lines += [step.command, f"echo '<<{number}>>'"]
    return "\n".join(lines)


def outputs(printed: str, count: int) -> list[list[str]]:
    parts = re.split(r"<<\d+>>\n", printed)
    return [part.splitlines() for part in parts[:count]]


def difference(shown: list[str], real: list[str]) -> str:
    """Why the lines of the README are not what was printed; empty when they are."""
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
    return list(steps(path.read_text()))
