"""docs/simulator.md says what the tables of the simulator say."""

from __future__ import annotations

import re
from pathlib import Path

from fwctl.simulator.commands.sim_table import COMMANDS
from fwctl.simulator.faults import KINDS
from fwctl.simulator.profiles import SWITCHES

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "docs" / "simulator.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """The first table of a section: first cell without ticks -> the other cells."""
    section = TEXT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [re.split(r"(?<!\\) *\| *", line.strip().strip("|")) for line in lines]
    return {
        row[0].strip().strip("`"): [cell.strip().replace("\\|", "|") for cell in row[1:]] for row in cells
    }


def test_every_switch_is_documented_with_its_answers():
    expected = {
        name: [
            row.question,
            ", ".join(row.answers) or "any text",
            *(answer or "(none)" for answer in row.by_profile),
        ]
        for name, row in SWITCHES.items()
    }
    assert rows("Open questions and profiles") == expected


def test_every_fault_and_control_verb_is_documented():
    assert rows("Faults") == {kind: [text] for kind, text in KINDS.items()}
    assert rows("Control") == {row.path: [row.summary] for row in COMMANDS}


def test_every_variable_is_documented():
    source = "".join(path.read_text() for path in (ROOT / "fwctl" / "simulator").glob("*.py"))
    used = set(re.findall(r'"(FIRECTL_SIM_[A-Z]+)"', source))
    assert used <= set(rows("Variables"))
