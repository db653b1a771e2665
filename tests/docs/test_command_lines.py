"""Every `fwctl` line of the documentation names a command that exists, with options that exist."""

from __future__ import annotations

import pytest

from tests.contract.cli_support import ROOT
from tests.docs import command_lines

PAGES = [
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted((ROOT / "docs").rglob("*.md")),
    *sorted((ROOT / "docs/ci").rglob("*.yml")),
]


def test_commands_and_options_of_the_pages_exist() -> None:
    assert {page.name: wrong for page in PAGES if (wrong := command_lines.problems(page))} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        (
            "A=1 fwctl validate && fwctl plan --out plan.json # why",
            [["validate"], ["plan", "--out", "plan.json"]],
        ),
        ("fwctl sim serve --port 0 > url 2> log &", [["sim", "serve", "--port", "0"]]),
        ("fwctl bench run --target-url $(cat url)/v1", [["bench", "run", "--target-url", "X/v1"]]),
        ("curl -s https://example.com | fwctl import --from-script -", []),
        ("fwctl plan ...", []),
    ],
)
def test_a_line_of_a_shell_is_taken_apart(line: str, found: list[list[str]]) -> None:
    assert list(command_lines.arguments(line)) == found


def test_what_does_not_exist_is_found() -> None:
    assert "No such command" in command_lines.refusal(["plna"])
    assert "No such option" in command_lines.refusal(["plan", "--nosuch"])
    assert command_lines.refusal(["--account", "acme", "plan", "--help"]) == ""
