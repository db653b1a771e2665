"""Which live deployment a spec entry means."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.live.identity import Match, match
from fwctl.live.model import LiveDeployment
from fwctl.live.normalise import normalise_deployment
from fwctl.spec.model import Deployment


def live(key: str, marker: str = "", **raw: Any) -> LiveDeployment:
    return normalise_deployment({"name": f"accounts/acme/deployments/{key}", "description": marker, **raw})


def found(*items: LiveDeployment, name: str = "chat", key: str | None = None) -> Match:
    entry = Deployment(name, key or name, {})
    return match([entry], {item.deployment_id: item for item in items}, "prod").by_name[name]


def test_the_marker_comes_before_the_id() -> None:
    by_id, by_marker = live("chat"), live("other", "[fwctl prod/chat]")
    assert found(by_id, by_marker).current is by_marker
    assert found(by_id).current is by_id
    assert found().current is None


def test_an_explicit_id_is_the_second_way() -> None:
    item = live("talk")
    assert found(item, key="talk").current is item


def test_a_marker_of_another_stack_or_of_a_deleted_deployment_does_not_count() -> None:
    assert found(live("x", "[fwctl dev/chat]")).current is None
    assert found(live("x", "[fwctl prod/chat]", state="DELETED")).current is None


def test_a_deleted_deployment_holds_the_id() -> None:
    gone = live("chat", state="DELETED")
    assert found(gone) == Match(holder=gone)
    going = live("chat", "[fwctl prod/chat]", state="DELETING")
    assert found(going) == Match(holder=going)


def test_a_replacement_has_a_role_of_its_own() -> None:
    old, new = live("chat", "[fwctl prod/chat]"), live("chat-ab12", "[fwctl prod/chat role=next]")
    assert found(old, new) == Match(current=old, next=new)


def test_once_the_old_one_is_gone_or_going_the_new_one_serves() -> None:
    new = live("chat-ab12", "[fwctl prod/chat role=next]")
    assert found(new).current is new
    going = live("chat", "[fwctl prod/chat]", state="DELETING")
    assert found(going, new) == Match(current=new, holder=going)


def test_an_unmarked_old_deployment_is_the_current_one_beside_its_replacement() -> None:
    old, new = live("chat"), live("chat-ab12", "[fwctl prod/chat role=next]")
    assert found(old, new) == Match(current=old, next=new)


def test_after_the_switch_the_old_one_retires() -> None:
    old = live("chat", "[fwctl prod/chat]")
    new = live("chat-ab12", "[fwctl prod/chat role=next step=switched]")
    assert found(old, new) == Match(current=new, retiring=old)


def test_two_candidates_for_one_role_are_rivals() -> None:
    for role in ("", " role=next"):
        pair = live("a", f"[fwctl prod/chat{role}]"), live("b", f"[fwctl prod/chat{role}]")
        assert found(*pair).rivals == pair
        assert found(*pair).current is None


def test_orphans_are_this_stacks_and_nobodys_entry() -> None:
    items = [
        live("a", "[fwctl prod/a]"),
        live("b", "[fwctl prod/old]"),
        live("c", "[fwctl dev/c]"),
        live("d"),
    ]
    items.append(live("e", "[fwctl prod/was]"))
    entries = [Deployment("a", "a", {}), Deployment("now", "e", {})]
    matches = match(entries, {item.deployment_id: item for item in items}, "prod")
    assert {name: [i.deployment_id for i in left] for name, left in matches.orphans.items()} == {"old": ["b"]}
    assert matches.by_name["now"].current is items[-1]
    assert {item.deployment_id for item in matches.managed} == {"a", "b", "e"}


@settings(max_examples=30, deadline=None)
@given(st.permutations(["a", "b", "c", "d"]))
def test_the_servers_order_means_nothing(order: list[str]) -> None:
    markers = {"a": "[fwctl prod/chat]", "b": "[fwctl prod/chat role=next]", "c": "[fwctl prod/old]", "d": ""}
    items = {key: live(key, markers[key]) for key in order}
    result = match([Deployment("chat", "chat", {})], items, "prod")
    assert result == match([Deployment("chat", "chat", {})], dict(sorted(items.items())), "prod")
