"""The prompts of an evaluation are read from their file when they are needed."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path

import pytest

from fwctl.errors import UsageError
from fwctl.measure.suite import load
from fwctl.quality.cases import load_cases
from tests.quality.support import means

ONE = '{"id": "one", "prompt": "Say 1.", "expected": "1"}'
TWO = '{"id": "zwei ✓", "type": "sum", "prompt": "Say 2.", "expected": "2", "grader": "contains"}'


@pytest.mark.parametrize("text", [f"{ONE}\n{TWO}\n", f"\n\r\n{ONE}\r\n\n{TWO}", f"\ufeff{ONE}\n{TWO}"])
def test_every_prompt_is_found_by_its_id(tmp_path: Path, text: str) -> None:
    (tmp_path / "s.jsonl").write_bytes(text.encode())
    cases = load_cases(load(tmp_path / "s.jsonl"), means(tmp_path))
    one, two = cases.find("one"), cases.find("zwei ✓")
    assert one is not None
    assert two is not None
    assert [one.spec and one.spec.kind, two.spec and two.spec.kind] == ["exact", "contains"]
    assert (one.prompt.expected, two.prompt.expected) == ("1", "2")
    assert cases.find("three") is None
    assert cases.by_type == {"other": 1, "sum": 1}
    assert [case.prompt.id for case in cases] == ["one", "zwei ✓"]


def test_a_file_that_changed_meanwhile_is_said(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    path.write_text(f"{ONE}\n{TWO}\n")
    cases = load_cases(load(path), means(tmp_path))
    path.write_text("\n" * 100)
    with pytest.raises(UsageError, match="has changed while it was read"):
        cases.find("one")


def test_memory_does_not_grow_with_the_prompts(tmp_path: Path) -> None:
    """2,000 prompts of 4 KB are 8 MB; what is held of each is 16 bytes."""
    with (tmp_path / "s.jsonl").open("w") as file:
        for number in range(2000):
            row = {"id": f"p{number}", "prompt": "x" * 4096, "expected": str(number)}
            file.write(json.dumps(row) + "\n")
    suite = load(tmp_path / "s.jsonl")
    tracemalloc.start()
    try:
        cases = load_cases(suite, means(tmp_path))
        assert cases.find("p1999") is not None
        assert tracemalloc.get_traced_memory()[1] < 1_000_000
    finally:
        tracemalloc.stop()
