"""docs/fit-check.md shows what the arithmetic gives."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fwctl.catalog import architectures
from fwctl.fit.result import FitResult
from tests.fit.builders import ask, config

PAGE = (Path(__file__).parents[2] / "docs" / "fit-check.md").read_text()


def answer(precision: str, count: int, **options: Any) -> FitResult:
    found = architectures.find("llama-v3p1-70b-instruct")
    assert found is not None
    return ask(
        dict(found), precision=precision, count=count, context_tokens=32768, kv_precision="fp16", **options
    )


@pytest.mark.parametrize("precision", ["FP16", "FP8"])
def test_the_table_with_real_overheads_is_what_the_check_says(precision: str) -> None:
    _, shown = (line for line in PAGE.splitlines() if line.startswith(f"| {precision} |"))
    cells = [cell.strip() for cell in shown.strip("|").split("|")][1:]
    for cell, count in zip(cells, (1, 2, 4, 8), strict=True):
        band = answer(precision, count).max_concurrency
        assert band is not None
        numbers = [float(number) for number in re.findall(r"\d+\.\d", cell)]
        assert [round(value, 1) for value in band] == (numbers or [0.0, 0.0, 0.0])


def test_every_field_of_the_document_is_on_the_page() -> None:
    for field in ask(config()).to_json():
        assert f"`{field}`" in PAGE, field
