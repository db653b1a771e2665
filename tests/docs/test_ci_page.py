"""docs/ci.md shows the real comment, and names files, outputs and formats that exist."""

from __future__ import annotations

import re
from pathlib import Path

from fwctl.cli import registry
from fwctl.cli.build import load
from fwctl.report import github
from tests.docs import scene
from tests.report import samples

TEXT = scene.PAGE.read_text()


def test_the_comment_on_the_page_is_what_fwctl_writes(tmp_path: Path) -> None:
    shown = scene.BLOCK.search(TEXT)
    assert shown
    assert shown[0] == scene.comment(tmp_path), "run: .venv/bin/python -m tests.docs.scene plan.html"


def test_the_picture_is_small() -> None:
    assert (scene.ROOT / "docs/images/plan.png").stat().st_size <= 300_000


def test_linked_files_exist() -> None:
    for link in re.findall(r"\]\((?!http)([^)#]+)", TEXT):
        assert (scene.PAGE.parent / link).exists()


def test_the_table_of_formats_is_the_one_of_the_commands() -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \| ([^|]+) \|", TEXT, re.MULTILINE))
    for name in ("github", "sarif", "junit", "markdown", "html"):
        having = {entry.name for entry in registry.COMMANDS if name in load(entry).formats}
        assert set(rows[name].strip().split(", ")) <= having


def test_every_output_is_named() -> None:
    plan = github.outputs(samples.plan(samples.change("chat", "update")))
    fit = github.outputs(samples.fit(*(samples.fit_result(word, word) for word in ("fits", "tight"))))
    unnamed = {"adopt", "park", "unpark", "mark", "undelete", "wait"}  # "and the other counts"
    for name in {*plan, *fit} - unnamed:
        assert f"`{name}`" in TEXT, name
