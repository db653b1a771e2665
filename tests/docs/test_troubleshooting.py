"""Every word that fwctl prints has its entry, and every text quoted there is one that fwctl prints."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from fwctl.errors import FwctlError
from fwctl.firectl.errors import ErrorClass

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/troubleshooting.md").read_text()
ENTRIES = re.findall(r"^## (\w+)$", PAGE, re.MULTILINE)
QUOTES = re.findall(r'^> "(.+)"$', PAGE, re.MULTILINE)
GATES = ("gate_eval", "gate_bench")  # their names are put together from the names of the gates


def trees() -> Iterator[ast.Module]:
    for path in (ROOT / "fwctl").rglob("*.py"):
        if "simulator" not in path.parts:
            yield ast.parse(path.read_text())


def printed() -> str:
    """Every piece of text in the code; what is put in at run time separates pieces."""
    pieces = [
        node.value
        for tree in trees()
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return "\0".join(pieces)


def words_of_plans() -> set[str]:
    """First arguments of every finding of a guard and every cause of a block, but for FW codes."""
    found = set(GATES)
    for path in (ROOT / "fwctl/planning").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("Finding", "problem", "Check"):
                first = node.args[0] if node.args else None
                if isinstance(first, ast.Constant) and not str(first.value).startswith("FW"):
                    found.add(str(first.value))
    return found


def codes(kind: type[FwctlError]) -> Iterator[str]:
    yield kind.code
    for below in kind.__subclasses__():
        yield from codes(below)


def test_every_error_class_code_guard_and_cause_has_an_entry() -> None:
    import fwctl.cli.failure  # noqa: F401 - declares the bug error

    wanted = {*codes(FwctlError), *ErrorClass, *words_of_plans()}
    assert wanted - set(ENTRIES) == set()


def test_entries_are_unique_and_in_order() -> None:
    assert sorted(set(ENTRIES)) == ENTRIES


@pytest.fixture(scope="module")
def everything() -> str:
    return printed()


@pytest.mark.parametrize("quote", QUOTES)
def test_quoted_texts_are_printed_by_fwctl(everything: str, quote: str) -> None:
    """`…` stands for what is put in at run time."""
    for piece in quote.split("…"):
        assert piece.strip() in everything
