"""Docs that come from the tables are equal to what the tables say now."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.spec.generate import generated, main

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.parametrize("name", sorted(generated()))
def test_checked_copy_is_current(name: str) -> None:
    current = (DOCS / name).read_text(encoding="utf-8")
    assert current == generated()[name], "run `python -m fwctl.spec.generate docs`"


def test_no_page_of_a_code_that_is_gone() -> None:
    assert {f"rules/{path.name}" for path in (DOCS / "rules").iterdir()} == {
        name for name in generated() if name.startswith("rules/")
    }


def test_writes_every_file(tmp_path: Path) -> None:
    main(tmp_path)
    assert (
        (tmp_path / "rules" / "FW301.md")
        .read_text(encoding="utf-8")
        .startswith("# FW301: No deployment shape")
    )
    assert (tmp_path / "fwctl.schema.json").stat().st_size > 1000
