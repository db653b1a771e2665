from fwctl.errors import Diagnostic, Position, RefusedError, Severity
from fwctl.report.diagnostics import count_line, write_diagnostic, write_error
from fwctl.report.layout import Page, Style
from fwctl.report.model import failure


def shown(item: Diagnostic, style: Style | None = None) -> str:
    page = Page(style or Style())
    write_diagnostic(page, item)
    return page.text()


def test_place_code_snippet_caret_fix_and_page() -> None:
    item = Diagnostic(
        Severity.ERROR,
        "FW302",
        "min 5 is more than max 2",
        deployment="chat",
        position=Position("configs/chat.yaml", 9, 22, 9, 23),
        suggestion="raise max to 5",
        docs="docs/rules/FW302.md",
        source_line="    replicas: {min: 5, max: 2}",
    )
    assert shown(item) == (
        "configs/chat.yaml:9:22: error FW302: min 5 is more than max 2\n"
        "  9 |     replicas: {min: 5, max: 2}\n"
        "    |                      ^\n"
        "  fix: raise max to 5\n"
        "  see: fwctl rules FW302\n"
    )


def test_the_caret_stands_under_its_character_after_wide_ones_and_tabs() -> None:
    item = Diagnostic(
        Severity.WARNING, "FW401", "m", position=Position("a.yaml", 1, 4, 1, 5), source_line="模\t型X"
    )
    lines = shown(item).splitlines()
    assert lines[1] == "  1 | 模 型X"
    assert lines[2] == "    |      ^"


def test_a_very_long_line_is_shown_around_the_caret() -> None:
    item = Diagnostic(
        Severity.ERROR,
        "FW101",
        "m",
        position=Position("a.yaml", 1, 5001, 1, 5004),
        source_line="a" * 5000 + "BAD" + "b" * 5000,
    )
    text = shown(item, Style(unicode=False))
    assert "BAD" in text
    assert max(len(line) for line in text.splitlines()) < 200


def test_a_position_outside_its_line_is_no_crash() -> None:
    item = Diagnostic(
        Severity.ERROR, "FW101", "m", position=Position("a.yaml", 7, 90, 9, 1), source_line="short"
    )
    assert "FW101" in shown(item)


def test_counts_are_told_by_severity() -> None:
    items = [
        Diagnostic(severity, "FW000", "m") for severity in (Severity.ERROR, Severity.ERROR, Severity.NOTE)
    ]
    assert count_line(items) == "2 errors, 1 note"


def test_a_failure_names_the_deployment_and_what_to_type_next() -> None:
    page = Page(Style())
    error = RefusedError("it is protected", deployment="chat", next_steps=["fwctl plan", "fwctl status"])
    write_error(page, failure("apply", error))
    assert page.text() == (
        "error: deployments/chat: it is protected\n  next: fwctl plan\n  next: fwctl status\n"
    )
