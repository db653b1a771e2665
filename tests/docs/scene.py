"""The change that docs/ci.md and its picture show: one update and one create, under a budget.

`python -m tests.docs.scene` writes the comment into docs/ci.md and the page beside it.
"""

from __future__ import annotations

import re
import sys
import tempfile
from pathlib import Path

from tests.contract.cli_support import ROOT, Sandbox

PAGE = ROOT / "docs/ci.md"
BLOCK = re.compile(r"(?<=<!-- comment -->\n````markdown\n).*?(?=````\n<!-- /comment -->)", re.DOTALL)


def set_scene(folder: Path) -> Sandbox:
    """The example specs applied but for one, then edited."""
    box = Sandbox(folder)
    box.copy_examples()
    done = box.fwctl("apply", "--yes", "--target", "chat", "--target", "support", "--poll-interval", "1s")
    assert done.code == 0, done.err
    path = folder / "configs/chat.yaml"
    text = path.read_text().replace("max: 3", "max: 4").replace("default: 0.8", "default: 0.7")
    path.write_text(text.replace("stack: demo\n", "stack: demo\nbudget: {ceiling_usd_per_hour: 200}\n"))
    return box


def comment(folder: Path) -> str:
    """The comment of that pull request."""
    return set_scene(folder).fwctl("plan", "--format", "markdown").out


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        box = set_scene(Path(name))
        text = box.fwctl("plan", "--format", "markdown").out
        page = BLOCK.sub(lambda _: text, PAGE.read_text())
        PAGE.write_text(page)
        Path(sys.argv[1]).write_text(box.fwctl("plan", "--format", "html").out)
