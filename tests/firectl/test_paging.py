from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from fwctl.firectl.output import UnreadableError
from fwctl.firectl.paging import PAGE_SIZE, Page, read_all


def numbered(first: int, last: int) -> list[dict[str, Any]]:
    return [{"name": f"d{n}"} for n in range(first, last + 1)]


class Server:
    """Answers with the given pages in turn and remembers what was asked."""

    def __init__(self, *pages: Page, total_by_text: int | None = None) -> None:
        self.pages = list(pages)
        self.asked: list[Mapping[str, Any]] = []
        self.text_total = total_by_text
        self.texts = 0

    def fetch(self, options: Mapping[str, Any]) -> Page:
        self.asked.append(options)
        return self.pages.pop(0)

    def total(self) -> int | None:
        self.texts += 1
        return self.text_total

    def read(self, *, paged: bool = True) -> list[dict[str, Any]]:
        return read_all(self.fetch, self.total, paged=paged)


def test_one_answer_without_a_token_is_everything():
    server = Server(Page(numbered(1, 3)))
    assert server.read() == numbered(1, 3)
    assert server.asked == [{"no_paginate": True}]
    assert server.texts == 0


def test_every_page_is_followed():
    server = Server(Page(numbered(1, 2), "t1", 5), Page(numbered(3, 4), "t2", 5), Page(numbered(5, 5), "", 5))
    assert server.read() == numbered(1, 5)
    assert server.asked[1:] == [
        {"page_size": PAGE_SIZE, "page_token": "t1"},
        {"page_size": PAGE_SIZE, "page_token": "t2"},
    ]


@pytest.mark.parametrize(
    "pages",
    [
        [Page(numbered(1, 2), "t1", 3), Page([])],
        [Page(numbered(1, 2), "", 3)],
        [Page(numbered(1, 2), "t1", 4), Page(numbered(3, 3), "", 4)],
        [Page(numbered(1, 2), "t1", 4), Page(numbered(3, 5), "", 5)],
        [Page(numbered(1, 2), "t1"), Page(numbered(2, 3))],
        [Page([], "", 2)],
    ],
    ids=["empty page", "total of one page", "missing row", "two totals", "a row twice", "nothing of two"],
)
def test_rows_that_do_not_add_up_are_an_error_after_a_second_reading(pages):
    server = Server(*pages, *pages)
    with pytest.raises(UnreadableError):
        server.read()
    assert len(server.asked) == 2 * len(pages)


def test_a_deployment_that_appears_between_two_pages_is_read_again():
    server = Server(Page(numbered(1, 2), "t", 3), Page(numbered(3, 4), "", 4), Page(numbered(1, 4), "", 4))
    assert server.read() == numbered(1, 4)


def test_a_page_that_names_itself_as_the_next_ends_in_an_error():
    server = Server(Page(numbered(1, 1), "t"), Page(numbered(2, 2), "t"))
    with pytest.raises(UnreadableError, match="never ends"):
        server.read()


@pytest.mark.parametrize("count", [50, 100, 200])
def test_a_bare_array_that_ends_at_a_page_border_is_checked_against_the_text_form(count):
    server = Server(Page(numbered(1, count)), total_by_text=count)
    assert len(server.read()) == count
    assert server.texts == 1


def test_a_bare_array_that_is_only_the_first_page_is_an_error():
    pages = [Page(numbered(1, 50)), Page(numbered(1, 50))]
    with pytest.raises(UnreadableError, match="50 rows, but it tells of 73"):
        Server(*pages, total_by_text=73).read()


def test_a_bare_array_whose_completeness_nobody_tells_is_an_error():
    with pytest.raises(UnreadableError, match="does not tell"):
        Server(Page(numbered(1, 50))).read()


def test_a_command_without_pages_is_asked_for_none():
    server = Server(Page(numbered(1, 50)))
    assert len(server.read(paged=False)) == 50
    assert server.asked == [{}]


def test_one_page_may_hold_an_id_twice():
    """A deleted deployment and its successor share a name."""
    assert len(Server(Page([{"name": "a"}, {"name": "a"}])).read()) == 2


def test_a_blank_answer_is_an_empty_list_only_when_the_text_form_agrees():
    assert Server(Page([], blank=True), total_by_text=0).read() == []
    with pytest.raises(UnreadableError, match="nothing and does not tell"):
        Server(Page([], blank=True)).read()


def test_a_blank_answer_that_was_a_slip_is_read_again():
    assert Server(Page([], blank=True), Page(numbered(1, 2)), total_by_text=2).read() == numbered(1, 2)
