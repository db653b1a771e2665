"""Filters, order and pages of list calls."""

from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.simulator.platform import filters, listing
from fwctl.simulator.platform.errors import PlatformError

DOCS: list[dict[str, Any]] = [
    {
        "name": "accounts/acme/deployments/a",
        "displayName": "Chat prod",
        "state": "READY",
        "minReplicaCount": 0,
        "placement": {"multiRegion": "US"},
        "annotations": {"custom/team": "x"},
        "enableAddons": True,
    },
    {
        "name": "accounts/acme/deployments/b",
        "displayName": "batch",
        "state": "FAILED",
        "minReplicaCount": 2,
        "tags": ["red", "blue"],
    },
    {"name": "accounts/acme/deployments/c", "state": "READY", "minReplicaCount": 10},
]


def names(text: str) -> str:
    keep = filters.parse(text)
    return "".join(doc["name"][-1] for doc in DOCS if keep(doc))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "abc"),
        ("state = READY", "ac"),
        ('state="READY"', "ac"),
        ("state!=READY", "b"),
        ("NOT state=READY", "b"),
        ("state=READY AND min_replica_count > 5", "c"),
        ("state=READY min_replica_count<=0", "a"),
        ("minReplicaCount>=2", "bc"),
        ("min_replica_count<10", "ab"),
        ("state=FAILED OR min_replica_count=0", "ab"),
        ("(state=FAILED OR min_replica_count=0) AND NOT display_name:chat", "b"),
        ("display_name:chat", "a"),
        ("display_name:'Chat prod'", "a"),
        ('display_name="Chat*"', "a"),
        ('name != "*/b"', "ac"),
        ("placement.multi_region=US", "a"),
        ("placement.multiRegion:*", "a"),
        ("annotations:custom/team", "a"),
        ("tags:red", "b"),
        ("enable_addons=true", "a"),
        ("enable_addons=false", "bc"),
        ("enable_addons!=true", "bc"),
        ("prod", "a"),
        ("display_name > 'a'", "b"),
        ("min_replica_count=x", ""),
        ("min_replica_count!=x", "abc"),
        ("placement=US", ""),
        (r'display_name="Chat\ prod"', "a"),
    ],
)
def test_filters(text: str, expected: str):
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    ["(", "state=", "state==READY", ")", "state=READY)", "(a", 'x="unclosed', "(" * 60 + "a", "x" * 10_001],
)
def test_bad_filters_are_refused(text: str):
    with pytest.raises(PlatformError, match="invalid filter"):
        filters.parse(text)


@given(st.text(max_size=40))
@settings(max_examples=150)
def test_any_text_is_a_filter_or_refused(text: str):
    with contextlib.suppress(PlatformError):
        keep = filters.parse(text)
        assert all(isinstance(keep(doc), bool) for doc in DOCS)


def order(text: str) -> str:
    return "".join(doc["name"][-1] for doc in listing.page(DOCS, listing.Query(order_by=text)).items)


def test_orders():
    assert order("") == "abc"
    assert order("name desc") == "cba"
    assert order("min_replica_count desc") == "cba"
    assert order("state, min_replica_count desc") == "bca"
    assert order("display_name") == "cab"
    assert order("placement.multi_region desc") == "abc"
    with pytest.raises(PlatformError, match="invalid order_by"):
        order("name up")


def test_pages_cover_everything_once():
    docs = [{"name": f"{i:03}"} for i in range(120)]
    token, seen, pages = "", [], []
    while True:
        page = listing.page(docs, listing.Query(page_token=token))
        seen += [doc["name"] for doc in page.items]
        pages.append((page.number, page.pages, len(page.items), page.total))
        token = page.next_token
        if not token:
            break
    assert seen == [f"{i:03}" for i in range(120)]
    assert pages == [(1, 3, 50, 120), (2, 3, 50, 120), (3, 3, 20, 120)]


def test_pages_hold_200_at_most_unless_all_are_asked_for():
    docs = [{"name": str(i)} for i in range(300)]
    assert len(listing.page(docs, listing.Query(page_size=1000)).items) == 200
    assert len(listing.page(docs, listing.Query(everything=True)).items) == 300


@pytest.mark.parametrize(
    "query", [listing.Query(page_token="***"), listing.Query(page_size=-1), listing.Query(page_token="eHg=")]
)
def test_bad_pages_are_refused(query: listing.Query):
    with pytest.raises(PlatformError, match="page"):
        listing.page([], query)


def test_filtering_on_the_base_model_does_not_work():
    with pytest.raises(PlatformError, match="base_model is not supported"):
        listing.page(DOCS, listing.Query(filter="base_model=x"), base_model_filter=False)
    assert listing.page(DOCS, listing.Query(filter="base_model=x")).items == []
