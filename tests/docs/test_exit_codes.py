"""docs/exit-codes.md has every code, and every command that exits 1 or 4 by its own judgement."""

from __future__ import annotations

import inspect
import re
import sys

from fwctl.cli import registry
from fwctl.cli.build import load
from fwctl.exitcodes import Exit
from tests.contract.cli_support import ROOT

PAGE = (ROOT / "docs/exit-codes.md").read_text()
CODES, _, JUDGES = PAGE.partition("## Commands that judge")
# These exit 1 because something did not work, not because of what they found.
WORKERS = {"import", "demo", "sim serve"}


def test_every_code_has_a_row_and_every_row_a_code() -> None:
    rows = re.findall(r"^\| (\d+(?: / \d+)?) \|", CODES, re.MULTILINE)
    assert sorted(int(code) for row in rows for code in row.split(" / ")) == sorted(map(int, Exit))


def test_every_module_that_judges_has_a_command_with_a_row() -> None:
    named = WORKERS | {name.split(" --")[0] for name in re.findall(r"`([a-z][\w -]*)`", JUDGES)}
    modules: dict[str, set[str]] = {}
    for entry in registry.COMMANDS:
        modules.setdefault(load(entry).function.__module__, set()).add(entry.name)
    judging = re.compile(r"Exit\.(REFUSED|FAILED)")
    silent = {
        module
        for module, commands in modules.items()
        if judging.search(inspect.getsource(sys.modules[module])) and not commands & named
    }
    assert silent == set()
