import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.report.layout import Page, Span, Style, columns, safe

NARROW = Style(width=40)


def test_a_word_longer_than_the_terminal_stays_whole() -> None:
    name = "accounts/fireworks/deploymentShapes/llama-v3p1-70b-instruct-fast"
    page = Page(NARROW)
    page.line("shape: ", name, " is what will run", indent=6)
    assert name in page.text()


def test_lines_are_never_wrapped_without_a_terminal() -> None:
    page = Page(Style(width=None))
    page.line("word " * 100)
    assert page.text().count("\n") == 1


@settings(max_examples=60)
@given(
    st.lists(
        st.text(st.characters(codec="ascii", min_codepoint=33, max_codepoint=126), min_size=1),
        min_size=1,
        max_size=12,
    )
)
def test_wrapping_keeps_every_word_in_order(words: list[str]) -> None:
    page = Page(Style(width=20))
    page.line(" ".join(words), indent=2)
    assert page.text().split() == words


def test_wrapped_lines_fit_when_their_words_do() -> None:
    page = Page(Style(width=20))
    page.line("aaa bbb ccc ddd eee fff ggg", indent=2, hang=4)
    assert page.text() == "  aaa bbb ccc ddd\n      eee fff ggg\n"


def test_a_table_that_is_too_wide_becomes_blocks_without_losing_a_cell() -> None:
    model = "accounts/acme/deployments/chat-production-europe"
    page = Page(NARROW)
    page.table(("name", "state", "model"), [("chat", "READY", model), ("eval", "", "x")])
    assert page.text() == f"name: chat\nstate: READY\nmodel:\n  {model}\n\nname: eval\nmodel: x\n"


def test_a_column_without_a_title_gets_none_in_a_block() -> None:
    page = Page(NARROW)
    page.table(("", "floor"), [("total", "$40.00/h, which is more than this line has room for")])
    assert page.text().startswith("total\nfloor:")


def test_numbers_stand_right() -> None:
    page = Page(Style())
    page.table(("name", "cost"), [("a", "$8.00/h"), ("bb", "$128.00/h")], right="cost")
    assert page.text() == "name       cost\na       $8.00/h\nbb    $128.00/h\n"


@pytest.mark.parametrize(
    ("hostile", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("two\nlines", "two\\nlines"),
        ("a\rb", "a\\rb"),
        ("bell\x07", "bell\\x07"),
        ("\u202egnp.exe", "\\u202egnp.exe"),
        ("\u2028", "\\u2028"),
        ("\x9b31m", "\\x9b31m"),
        ("[bold]x[/bold] [/etc/passwd]", "[bold]x[/bold] [/etc/passwd]"),
    ],
)
def test_what_others_wrote_is_shown_and_never_obeyed(hostile: str, shown: str) -> None:
    assert safe(hostile) == shown
    page = Page(Style())
    page.line(hostile)
    assert page.text() == shown + "\n"


def test_colour_only_when_the_style_says_so() -> None:
    plain, painted = Page(Style()), Page(Style(color=True))
    for page in (plain, painted):
        page.line(Span("error", "bold red"), ": no")
    assert plain.text() == "error: no\n"
    assert painted.text() == "\x1b[1;31merror\x1b[0m: no\n"


def test_wide_characters_take_two_columns() -> None:
    assert columns("模型") == 4
    assert columns("chat") == 4


def test_glyphs_have_ascii_stand_ins() -> None:
    assert Style(unicode=False).glyph("→") == "->"
    assert Style().glyph("→") == "→"
