"""Links, commands and file names of the pages at the root of the project lead somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:)([^)\s]+)\)")
# Names in backquotes that are files of the project: they have a folder of it in front.
FILE = re.compile(r"`((?:fwctl|docs|tests|configs|benchmarks|\.ci|\.github)/[\w./-]*)`")


def words(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def anchors(path: Path) -> set[str]:
    """Anchors of the headings, as GitHub makes them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES)
def test_links_lead_somewhere(page: str) -> None:
    for link in LINK.findall(words(page)):
        name, _, anchor = link.partition("#")
        target = ROOT / (name or page)
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@pytest.mark.parametrize("page", PAGES)
def test_named_files_exist(page: str) -> None:
    for name in FILE.findall(words(page)):
        assert (ROOT / name).exists(), name


@pytest.mark.parametrize("page", [*PAGES, "docs/getting-started.md", "docs/index.md", "docs/performance.md"])
def test_targets_of_make_exist(page: str) -> None:
    targets = set(re.findall(r"^([\w-]+):", words("Makefile"), re.MULTILINE))
    assert set(re.findall(r"(?:^|`)make ([\w-]+)", words(page), re.MULTILINE)) <= targets
