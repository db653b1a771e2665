"""`python -m fwctl.cli.generate DOCS` writes what is made from the commands:
docs/commands.md, the exit codes of the README, and words.json for completion.
"""

from __future__ import annotations

import io
import sys
from contextlib import redirect_stdout
from pathlib import Path

from fwctl.cli import registry
from fwctl.cli import words as completion
from fwctl.cli.main import run
from fwctl.env import Env

INTRODUCTION = """\
# Commands

Generated from the commands themselves by `python -m fwctl.cli.generate docs`; a test keeps it equal.
Options that every command takes stand under [fwctl](#fwctl); the exit codes have [a page](exit-codes.md).
"""


def help_of(*words: str) -> str:
    """What `fwctl WORDS --help` prints in a pipe."""
    env = Env({}, Path.cwd(), io.StringIO(), io.StringIO(), io.StringIO())
    shown = io.StringIO()
    with redirect_stdout(shown):
        run([*words, "--help"], env)
    return shown.getvalue().rstrip("\n")


def commands_page() -> str:
    """docs/commands.md."""
    lines = [INTRODUCTION, "| command | what it does |", "|---|---|"]
    for entry in registry.COMMANDS:
        anchor = f"fwctl-{entry.name.replace(' ', '-')}"
        lines.append(f"| [`fwctl {entry.name}`](#{anchor}) | {entry.summary} |")
    for words in ([], *(entry.name.split() for entry in registry.COMMANDS)):
        lines += ["", f"## {' '.join(['fwctl', *words])}", "", "```text", help_of(*words), "```"]
    return "\n".join([*lines, ""])


def with_codes(readme: str, exit_codes: str) -> str:
    """The README with the table of exit codes that docs/exit-codes.md has."""
    codes = next(block for block in exit_codes.split("\n\n") if block.startswith("|"))
    codes = codes.replace("](#", "](docs/exit-codes.md#")
    before, start, rest = readme.partition("<!-- exit codes -->\n")
    _, end, after = rest.partition("<!-- /exit codes -->")
    return f"{before}{start}{codes}\n{end}{after}"


def main(docs: Path) -> None:
    (docs / "commands.md").write_text(commands_page(), encoding="utf-8")
    readme = docs.parent / "README.md"
    codes = (docs / "exit-codes.md").read_text(encoding="utf-8")
    readme.write_text(with_codes(readme.read_text(encoding="utf-8"), codes), encoding="utf-8")
    completion.FILE.write_text(completion.dumps(completion.declared()), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
