"""The index names every page once, and every link of the documentation leads somewhere."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
LINK = re.compile(r"(?<!\!)\[[^\]]*\]\((?!https?:)([^)\s]+)\)")


def anchors(path: Path) -> set[str]:
    """Anchors of the headings, as GitHub and MyST make them."""
    heads = re.findall(r"^#+ (.+)$", path.read_text(encoding="utf-8"), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).strip().replace(" ", "-") for head in heads}


def test_the_index_names_every_page_once() -> None:
    named = re.findall(r"^- \[.*?\]\((.*?)\)", (DOCS / "index.md").read_text(), re.MULTILINE)
    assert sorted(named) == sorted(
        {*(path.name for path in DOCS.glob("*.md")), "rules/README.md"} - {"index.md"}
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"(`{3,}).*?\1", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for link in LINK.findall(re.sub(r"`[^`\n]*`", "code", text)):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link
