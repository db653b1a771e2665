"""What every list call does with its rows: filter, order, page."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from typing import Any, NamedTuple

from fwctl.simulator.platform import filters, schema
from fwctl.simulator.platform.errors import invalid

Doc = dict[str, Any]

DEFAULT_PAGE_SIZE = 50
MAX_PAGE_SIZE = 200


class Page(NamedTuple):
    """number counts from 1; next_token is empty on the last page."""

    items: list[Doc]
    next_token: str
    total: int
    number: int
    pages: int


class Query(NamedTuple):
    """The common parameters of list calls. page_size 0: the default. everything: all in one page."""

    filter: str = ""
    order_by: str = ""
    page_size: int = 0
    page_token: str = ""
    everything: bool = False


def _key(doc: Doc, path: list[str]) -> tuple[int, Any]:
    value: Any = doc
    for part in path:
        value = value.get(schema.camel(part)) if isinstance(value, dict) else None
    if value is None:
        return (0, 0)
    return (1, value) if isinstance(value, int | float) else (2, str(value))


def _ordered(docs: list[Doc], order_by: str) -> list[Doc]:
    for part in reversed([part.split() for part in order_by.split(",") if part.strip()]):
        if len(part) > 2 or (len(part) == 2 and part[1].lower() not in {"asc", "desc"}):
            raise invalid(f'invalid order_by "{order_by}"')
        path = part[0].split(".")
        descending = part[1:] and part[1].lower() == "desc"
        docs = sorted(docs, key=lambda doc: _key(doc, path), reverse=bool(descending))
    return docs


def _offset(token: str) -> int:
    try:
        return int(base64.urlsafe_b64decode(token.encode()).decode()) if token else 0
    except ValueError:
        raise invalid("invalid page token") from None


def page(docs: Iterable[Doc], query: Query, *, base_model_filter: bool = True) -> Page:
    """One page of the rows that pass the filter. Raises InvalidArgument."""
    if not base_model_filter and ("base_model" in query.filter or "baseModel" in query.filter):
        raise invalid("invalid filter: filtering on base_model is not supported")
    keep = filters.parse(query.filter)
    rows = _ordered([doc for doc in docs if keep(doc)], query.order_by)
    if query.page_size < 0:
        raise invalid("page_size must not be negative")
    if query.everything:
        return Page(rows, "", len(rows), 1, 1)
    size = min(query.page_size or DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE)
    start = _offset(query.page_token)
    end = start + size
    token = base64.urlsafe_b64encode(str(end).encode()).decode() if end < len(rows) else ""
    return Page(rows[start:end], token, len(rows), start // size + 1, max(1, -(-len(rows) // size)))
