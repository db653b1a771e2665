"""The table of rules and its pages; every example is really reported, every fix is really one."""

from __future__ import annotations

import re

import pytest

from fwctl.errors import Severity, UsageError
from fwctl.spec.model import Evidence
from fwctl.spec.rulebook import index, is_code, page, rule, rules, sections
from fwctl.spec.rules.registry import Rule
from tests.spec.support import FIELDS, HEAD, codes, load_text

MODEL = FIELDS["model"].removeprefix("model: ")
EVIDENCE = {
    "FW404": Evidence(tested_replicas={"chat": 9}, model_precision={MODEL: "BF16"}),
    "FW410": Evidence(tested_replicas={"chat": 9}, conversations={"chat": 20.0}),
}
WITH_EXAMPLE = [found for found in rules() if is_code(found, "Example")]
WITH_FIX = [found for found in rules() if is_code(found, "Use instead")]


def as_file(text: str) -> str:
    """A page's snippet as a whole file: its keys replace those of a valid deployment."""
    if text.startswith(("apiVersion", "#")):
        return text
    written = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    kept = [row for key, row in FIELDS.items() if key not in written]
    if text.startswith("<<"):
        kept = [row for row in kept if not row.startswith("precision")]
    if text.startswith("model: ") and text.count("\n") > 1:
        kept = []
    return HEAD + "".join(f"    {line}\n" for line in [*kept, *text.split("\n")])


def reported(found: Rule, label: str) -> list[str]:
    text = sections(found)[label].replace("\\t", "\t")
    environ = {"DIRECT_ROUTE_KEY": "value"}
    return codes(load_text(as_file(text), environ=environ, evidence=EVIDENCE.get(found.code)))


@pytest.mark.parametrize("found", WITH_EXAMPLE, ids=lambda found: found.code)
def test_the_example_is_reported(found: Rule) -> None:
    assert found.code in reported(found, "Example")


@pytest.mark.parametrize("found", WITH_FIX, ids=lambda found: found.code)
def test_the_fix_is_one(found: Rule) -> None:
    left = [code for code in reported(found, "Use instead") if code not in ("FW402", "FW108")]
    assert left == []


@pytest.mark.parametrize("found", rules(), ids=lambda found: found.code)
def test_every_page_has_all_parts(found: Rule) -> None:
    parts = sections(found)
    assert set(parts) == {"title", "What it checks", "Why it is bad", "Example", "Use instead"}
    assert all(parts.values())
    assert page(found).startswith(f"# {found.code}: {found.title}\n")


def test_the_codes_of_the_contract_are_all_there() -> None:
    there = {found.code for found in rules()}
    assert {f"FW{number}" for number in (108, *range(301, 316), *range(401, 411), *range(501, 509))} <= there
    assert all(found.severity is Severity.WARNING for found in rules() if found.code.startswith("FW4"))
    errors = [found for found in rules() if not found.code.startswith(("FW4", "FW6"))]
    assert all(found.severity is Severity.ERROR for found in errors)


def test_the_index_links_every_page() -> None:
    assert set(re.findall(r"\((FW\d+)\.md\)", index())) == {found.code for found in rules()}


def test_a_rule_is_found_by_its_code_in_any_case() -> None:
    assert rule("fw301").code == "FW301"


@pytest.mark.parametrize(
    ("code", "near"), [("F301", "did you mean FW301?"), ("nonsense", "`fwctl rules` lists all")]
)
def test_an_unknown_code_is_a_usage_error(code: str, near: str) -> None:
    with pytest.raises(UsageError) as caught:
        rule(code)
    assert caught.value.next_steps[0] == near
