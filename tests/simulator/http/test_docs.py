"""docs/simulator-http.md says what the tables of the server say."""

from __future__ import annotations

import re
from pathlib import Path

from fwctl.simulator.http.control.routes import ROUTES
from fwctl.simulator.http.knobs import KNOBS
from fwctl.simulator.httpfaults import KINDS

ROOT = Path(__file__).parents[3]
TEXT = (ROOT / "docs" / "simulator-http.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """The tables of a section: first cell without ticks -> the other cells."""
    section = TEXT.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| `")]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0].strip("`"): row[1:] for row in cells}


def test_every_knob_is_documented_with_its_default() -> None:
    documented = rows("Knobs")
    assert {name: row[2] for name, row in documented.items()} == {n: knob.what for n, knob in KNOBS.items()}
    for name, knob in KNOBS.items():
        shown = "–" if knob.default is None else "no" if knob.default is False else str(knob.default)
        assert documented[name][1] == shown


def test_every_fault_is_documented() -> None:
    assert rows("Faults") == {kind: [text] for kind, text in KINDS.items()}


def test_every_collection_of_the_control_plane_is_documented() -> None:
    table = TEXT.split("\n## Control plane\n", 1)[1].split("\n## ", 1)[0]
    collections = {
        match[1] for route in ROUTES if (match := re.search(r"\{account[^}]*\}/([A-Za-z]+)", route.path))
    }
    assert [name for name in collections if f"`{name}`" not in table and f"{name}:match" not in table] == []
