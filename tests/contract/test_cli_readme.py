"""The README is true: its tour is run again, its table is that of the program."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from fwctl.cli.generate import with_codes
from tests.contract.cli_support import ROOT, Sandbox
from tests.docs import console

README = (ROOT / "README.md").read_text()


def test_the_tour_shows_what_is_really_printed(tmp_path: Path) -> None:
    tour = console.read(ROOT / "README.md")
    box = Sandbox(tmp_path)
    del box.environ["FIRECTL_SIM_HOME"], box.environ["FIRECTL_SIM_SPEED"], box.environ["FWCTL_FIRECTL"]
    done = box.run("bash", "-c", console.script(tour), timeout=120)
    assert console.problems(tour, done.out) == [], done.err


def test_the_table_of_exit_codes_is_true() -> None:
    codes = (ROOT / "docs/exit-codes.md").read_text()
    assert with_codes(README, codes) == README, "run: .venv/bin/python -m fwctl.cli.generate docs"
    assert "| 8 |" in README


@pytest.mark.parametrize("link", sorted(set(re.findall(r"\]\((?!http)([^)#]+)", README))))
def test_every_link_leads_somewhere(link: str) -> None:
    assert (ROOT / link).exists()
