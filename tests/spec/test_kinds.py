"""Files of a kind of their own: the kind, the rows they need, and the error that names both."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.catalog.field import Field, Kind
from fwctl.errors import Diagnostic, InvalidSpecError
from fwctl.spec.files import Given
from fwctl.spec.groups import group_of
from fwctl.spec.kinds import load_kind, parse_kind, require_rows
from fwctl.spec.parse import parse_all
from fwctl.spec.reader import Reader, Run
from fwctl.spec.report import Report
from fwctl.spec.sources import Sources

ROWS = (
    Field("account", Kind.TEXT, "Account."),
    Field("suite", Kind.TEXT, "Prompts.", required=True, example="chat.jsonl"),
    Field("note", Kind.TEXT, "Free text."),
)


def given(text: str) -> Given:
    return Given("a.yaml", text.encode())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "apiVersion: fwctl/v1\nkind: Deployments\n",
            "tests stand in a file of kind Tests, not 'Deployments'",
        ),
        ("apiVersion: fwctl/v1\n", "tests stand in a file of kind Tests, and this file names no kind"),
    ],
)
def test_another_kind_is_told_at_its_place(text: str, said: str) -> None:
    report = Report(Sources())
    parse_kind(given(text), "Tests", "tests stand", report, {})
    assert [(item.code, item.message) for item in report.finish(strict=False)] == [("FW205", said)]


def test_each_row_that_is_missing_is_told_with_its_example() -> None:
    report = Report(Sources())
    (file,) = parse_all([given("note: x\n")], None, report)
    assert file.root is not None
    reader = Reader(Run(report, {}))
    reader.read(group_of(ROWS), file.root)
    require_rows(ROWS, reader, file)
    found = report.finish(strict=False)
    assert [item.message for item in found] == ["the file needs account", "the file needs suite"]
    assert found[1].suggestion == "for example suite: chat.jsonl"


def test_a_file_without_a_value_is_one_error_that_counts_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.yaml"
    path.write_text("x\n")

    def check(one: Given) -> tuple[str | None, tuple[Diagnostic, ...]]:
        return (None if one.data == b"x\n" else "read"), ()

    with pytest.raises(InvalidSpecError, match="a is no valid test: 0 errors"):
        load_kind(path, "a", check, what="test", page="docs/t.md")
    path.write_text("y\n")
    assert load_kind(path, None, check, what="test", page="docs/t.md") == "read"
