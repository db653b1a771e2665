from pathlib import Path

import pytest

from fwctl.cli import registry, words
from fwctl.cli.build import load
from fwctl.cli.generate import commands_page, help_of

ROOT = Path(__file__).parents[2]


def test_the_page_of_commands_shows_the_real_help() -> None:
    written = (ROOT / "docs/commands.md").read_text()
    assert written == commands_page(), "run: .venv/bin/python -m fwctl.cli.generate docs"


@pytest.mark.parametrize("entry", registry.COMMANDS, ids=lambda entry: entry.name)
def test_every_command_has_an_example_a_text_and_plain_ascii_help(entry: registry.Entry) -> None:
    shown = help_of(*entry.name.split())
    assert f"  fwctl {entry.name}" in shown.partition("Examples:")[2] or "Examples:" in shown
    assert load(entry).function.__doc__
    assert shown.isascii()
    assert "\\n" not in shown


def test_examples_use_options_that_exist() -> None:
    for entry in registry.COMMANDS:
        shown = help_of(*entry.name.split())
        everything = help_of() + shown.partition("Examples:")[0]
        for example in load(entry).examples:
            for word in example.split():
                if word.startswith("--"):
                    assert word.partition("=")[0] in everything, (entry.name, word)


def test_completion_knows_the_commands_as_they_are() -> None:
    assert words.read() == words.declared(), "run: .venv/bin/python -m fwctl.cli.generate docs"
