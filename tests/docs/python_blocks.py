"""The `python` blocks of a page as one program, and what the `text` block below each says it prints.

`python -m tests.docs.python_blocks FOLDER` writes the programs, for the type checker.
"""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(
    r"(?P<mark><!-- not run: [^\n]*? -->\n+)?^```python\n(?P<code>.*?)^```\n"
    r"(?:\n```text\n(?P<shown>.*?)^```$)?",
    re.DOTALL | re.MULTILINE,
)
ADDRESS = "http://127.0.0.1:8080"
END = "<<end of block>>"


@dataclass(frozen=True)
class Block:
    """shown: the lines it prints, None where the page does not say."""

    code: str
    shown: list[str] | None


def blocks(text: str) -> list[Block]:
    """The blocks that are run, in order."""
    return [
        Block(found["code"], None if found["shown"] is None else found["shown"].splitlines())
        for found in BLOCK.finditer(text)
        if not found["mark"]
    ]


def program(found: list[Block], address: str = ADDRESS) -> str:
    """One program; a line of its own ends the output of each block. address: where the simulator listens."""
    code = "\n".join(f"{block.code}\nprint({END!r})" for block in found)
    return code.replace(ADDRESS, address)


def pages() -> dict[str, list[Block]]:
    """Blocks by the name of their page, without pages that have none."""
    found = {path.stem: blocks(path.read_text(encoding="utf-8")) for path in sorted(DOCS.glob("*.md"))}
    return {name: rows for name, rows in found.items() if rows}


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, rows in pages().items():
        (folder / f"{name.replace('-', '_')}_page.py").write_text(program(rows))
