"""All rows of a list, over all pages, or an error: absent rows must never look like absent objects.

`--no-paginate` asks for everything in one answer, as the vendor's own tools do. Answers in a wrapper
name the next page and often the total. A bare array names neither, so one that ends exactly at a page
border (the server's pages are 50 to 200 rows long), or that is no array but nothing at all, is checked
against the `Total size:` line of the text form.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.firectl.output import UnreadableError

PAGE_SIZE = 200  # the server's maximum (OpenAPI "Gateway REST API" 5.10.0)
_BORDER = 50  # its default; every page size that a server would choose is a multiple
_MOST_PAGES = 10_000


@dataclass(frozen=True, slots=True)
class Page:
    """One answer. token: of the next page, empty on the last; total: rows of all pages, if told; blank:
    nothing was printed, as some builds do for an empty result."""

    rows: list[dict[str, Any]]
    token: str = ""
    total: int | None = None
    blank: bool = False


def read_all(
    fetch: Callable[[Mapping[str, Any]], Page], total_by_text: Callable[[], int | None], *, paged: bool = True
) -> list[dict[str, Any]]:
    """Every row. `fetch` reads one page with these further options. A total that does not fit is read
    again once, because somebody may have created a deployment in between. Raises UnreadableError."""
    try:
        return _read_once(fetch, total_by_text, paged=paged)
    except _MovedError:
        return _read_once(fetch, total_by_text, paged=paged)


class _MovedError(UnreadableError):
    """The pages do not fit together."""


def _read_once(
    fetch: Callable[[Mapping[str, Any]], Page], total_by_text: Callable[[], int | None], *, paged: bool
) -> list[dict[str, Any]]:
    page = fetch({"no_paginate": True} if paged else {})
    rows = list(page.rows)
    totals = {page.total} - {None}
    seen: set[str] = set()
    bare = page.total is None and not page.token
    while page.token:
        if page.token in seen or len(seen) >= _MOST_PAGES:
            raise UnreadableError("firectl's list never ends: it names the same page again", "")
        seen.add(page.token)
        page = fetch({"page_size": PAGE_SIZE, "page_token": page.token})
        if not page.rows:
            raise _MovedError("a page of firectl's list is missing", "")
        rows += page.rows
        totals |= {page.total} - {None}
    if paged and bare and (page.blank or (rows and len(rows) % _BORDER == 0)):
        total = total_by_text()
        if total is None:
            what = f"{len(rows)} rows" if rows else "nothing"
            raise UnreadableError(f"firectl printed {what} and does not tell whether that is all", "")
        totals.add(total)
    _check(rows, totals, several=bool(seen))
    return rows


def _check(rows: list[dict[str, Any]], totals: set[int | None], *, several: bool) -> None:
    if len(totals) > 1 or (totals and totals != {len(rows)}):
        told = " and ".join(str(total) for total in sorted(t for t in totals if t is not None))
        raise _MovedError(f"firectl's list is incomplete: {len(rows)} rows, but it tells of {told}", "")
    names = [row["name"] for row in rows if isinstance(row.get("name"), str)]
    if several and len(set(names)) != len(names):
        raise _MovedError("two pages of firectl's list name the same object", "")
