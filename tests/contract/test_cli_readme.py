"""The README is true: its tour is run again, its tables are those of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwctl.cli import registry
from tests.cli import readme_tour
from tests.contract.cli_support import ROOT, Sandbox

README = (ROOT / "README.md").read_text()


def between(name: str) -> str:
    found = re.search(rf"<!-- {name} -->\n(.*?)<!-- /{name} -->", README, re.DOTALL)
    assert found
    return found[1]


def test_the_tour_shows_what_is_really_printed(tmp_path: Path) -> None:
    tour = readme_tour.read(ROOT / "README.md")
    box = Sandbox(tmp_path)
    del box.environ["FIRECTL_SIM_HOME"], box.environ["FIRECTL_SIM_SPEED"], box.environ["FWCTL_FIRECTL"]
    done = box.run("bash", "-c", readme_tour.script(tour), timeout=120)
    real = readme_tour.outputs(done.out, len(tour))
    assert len(real) == len(tour), done.err
    wrong = {
        step.command: why
        for step, lines in zip(tour, real, strict=True)
        if (why := readme_tour.difference(step.shown, lines))
    }
    assert not wrong, done.err


def test_the_table_of_commands_is_complete() -> None:
    rows = [f"| `fwctl {entry.name}` | {entry.summary} |" for entry in registry.COMMANDS]
    assert between("commands").splitlines() == ["| command | what it does |", "|---|---|", *rows]


def test_the_exit_codes_are_those_of_their_page() -> None:
    page = (ROOT / "docs/exit-codes.md").read_text()
    table = [line for line in page.splitlines() if line.startswith("|")]
    assert between("exit codes").splitlines() == table


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!http)([^)#]+)", README))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
