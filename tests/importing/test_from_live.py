"""Which live deployments are imported, and what is said about the others."""

from __future__ import annotations

from typing import Any

from fwctl.importing.check import AnyVariable, finish
from fwctl.importing.from_live import draft_of
from fwctl.importing.model import Draft
from fwctl.live.reader import read_live
from tests.planning.support import ACCOUNT, CAPS, Platform, row


def draft(*rows: dict[str, Any], ids: list[str] | None = None, stack: str | None = None) -> Draft:
    return draft_of(read_live(Platform(rows), None, CAPS, account=ACCOUNT), ids, stack)


def codes(found: Draft) -> list[str]:
    return [item.code for item in found.remarks]


def test_only_the_named_ones_are_taken_and_an_unknown_one_is_told() -> None:
    found = draft(row("a"), row("b"), ids=["accounts/acme/deployments/b", "gone"])
    assert [entry.name for entry in found.entries] == ["b"]
    assert "not_found" in codes(found)


def test_a_marker_gives_name_id_stack_and_protection() -> None:
    found = draft(row("chat-2", description="[fwctl prod/chat protect=1]"))
    (entry,) = found.entries
    assert found.stack == "prod"
    assert (entry.name, entry.values["id"]) == ("chat", "chat-2")
    assert entry.values["lifecycle.prevent_destroy"] is True


def test_another_stack_is_left_for_an_import_of_its_own() -> None:
    rows = (row("a", description="[fwctl prod/a]"), row("b", description="[fwctl test/b]"))
    assert [entry.name for entry in draft(*rows).entries] == ["a"]
    assert "other_stack" in codes(draft(*rows))
    assert [entry.name for entry in draft(*rows, stack="test").entries] == ["b"]


def test_deleted_and_nameless_ones_are_told() -> None:
    assert codes(draft(row("a", state="DELETED"), ids=["a"])) == ["deleted"]
    assert codes(draft(row("a", base_model=""))) == ["no_model"]


def test_keys_are_a_comment_and_never_a_value() -> None:
    found = draft(row("a", direct_route_api_keys=["sk-canary"]))
    text = finish(found, AnyVariable(), prune=True).spec
    assert "secret" in codes(found)
    assert "${env:A_KEY}" in text
    assert "sk-canary" not in text


def test_text_that_looks_like_a_reference_is_left_out() -> None:
    found = draft(row("a", description="uses ${env:HOME}"))
    assert "description" not in found.entries[0].values
    assert "left_out" in codes(found)


def test_a_router_is_written_where_a_spec_can_name_it() -> None:
    platform = Platform([row("a"), row("b"), row("c", placement={"region": "US_IOWA_1"})])
    platform.routers = [
        {"name": "accounts/acme/routers/talk", "deployments": ["accounts/acme/deployments/a", "b", "c"]},
        {"name": "accounts/acme/routers/all", "deployments": ["b"]},
    ]
    found = draft_of(read_live(platform, None, CAPS, account=ACCOUNT), None, None)
    assert [entry.values.get("router") for entry in found.entries] == ["talk", None, None]
    left_out = [item.message for item in found.remarks if "router" in item.message]
    assert left_out == [
        "b: router is left out: it stands behind all and talk",
        "c: router is left out: it stands behind talk",
    ]


def test_one_that_is_not_ready_is_imported_with_a_remark() -> None:
    assert "not_ready" in codes(draft(row("a", state="FAILED")))
