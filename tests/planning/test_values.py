"""When a wanted value and a live one are the same, and what a plan signs."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog.fields import BY_PATH
from fwctl.planning.digest import canonical_json, digest
from fwctl.planning.document import plan_to_json, summary
from fwctl.planning.model import Change, Plan
from fwctl.planning.values import forms, same
from fwctl.redact import Secret
from tests.planning.support import MODEL, V1, entry, marked_row, only, plan_of, spec


@pytest.mark.parametrize(
    ("path", "wanted", "live", "equal"),
    [
        ("replicas.max_concurrency", 0, None, True),
        ("replicas.max_concurrency", 4, None, False),
        ("long_prompt", False, None, True),
        ("display_name", "", None, True),
        ("autoscaling.scale_to_zero_window", "0s", None, True),
        ("autoscaling.scale_up_window", "5m0s", "5m0s", True),
        ("tags", {}, None, True),
        ("autoscaling.load_targets", {"default": 0.8}, {"default": 0.8}, True),
        ("autoscaling.load_targets", {"default": 0.8}, {"default": 0.8, "requests_per_second": 3.0}, False),
        ("shape", "a/s", "a/s/versions/v1", True),
        ("shape", "a/s/versions/latest", "a/s/versions/v1", True),
        ("shape", "a/s/versions/v2", "a/s/versions/v1", False),
        ("shape", "a/s", "a/sx/versions/v1", False),
        ("precision", "FP8", "FP8_MM_V2", True),
        ("precision", "FP4", "FP4_MX_MOE", True),
        ("precision", "FP8_MM", "FP8_MM_V2", False),
        ("precision", "FP8_MM_V2", "FP8", False),
        ("region", "GLOBAL", None, True),
        ("region", "US", "US_IOWA_1", True),
        ("region", "CANADA", "NA_BRITISHCOLUMBIA_1", True),
        ("region", "US", "EU_PARIS_1", False),
        ("region", "US", "US_IOWA_1,US_UTAH_1", True),
        ("region", "US", "EU_PARIS_1,US_UTAH_1", False),
        ("region", "GLOBAL", "EU_PARIS_1,US_UTAH_1", True),
        ("region", "GLOBAL", "MOON_1", True),
        ("region", "GLOBAL", "US", False),
        ("addons.mode", "live_merge", None, True),
        ("addons.mode", "live_merge", "multi_lora", False),
        ("addons.mode", "multi_lora", None, False),
    ],
)
def test_equality_under_the_servers_habits(path: str, wanted: Any, live: Any, equal: bool) -> None:
    assert same(BY_PATH[path], wanted, live) is equal


def test_secrets_are_equal_in_any_order() -> None:
    row = BY_PATH["direct_route.api_keys"]
    assert same(row, [Secret("a", "1111"), Secret("b", "2222")], [Secret("***", "2222"), "1111"])
    assert not same(row, [Secret("a", "1111")], [Secret("***", "3333")])


def test_forms_begin_with_the_live_value() -> None:
    assert forms(BY_PATH["region"], "US_IOWA_1") == ["US_IOWA_1", "US", "GLOBAL"]
    assert forms(BY_PATH["replicas.max"], 4) == [4]


def test_canonical_json_is_the_same_for_the_same_values() -> None:
    assert canonical_json({"b": 1.0, "a": [0.5, (1, "é")], "s": Secret("x", "y")}) == (
        r'{"a":[0.5,[1,"\u00e9"]],"b":1,"s":"***"}'
    )


def test_the_digest_of_an_empty_plan_is_the_documented_hash() -> None:
    """SHA-256 of `["acme","prod",[]]`, by sha256sum."""
    actual = digest(Plan("acme", "prod", (), ""))
    assert actual == "01e877f3095389927d904c36a61473965c0655410c8bb60374d0b0deb6fddcb4"
    assert actual == digest(plan_of(entry(), [marked_row()]))


def test_the_digest_changes_with_an_action_and_with_nothing_else() -> None:
    base = digest(plan_of(entry(), [marked_row(max_replica_count=3)]))
    assert digest(plan_of(entry(replicas__max=4), [marked_row(max_replica_count=3)])) != base
    assert digest(plan_of(spec(entry(), entry("b")), [marked_row(max_replica_count=3)])) != base
    same_change = plan_of(
        spec(entry(own={"traffic": "batch"})),
        [marked_row(max_replica_count=3, replica_count=2, create_time="2026-01-01T00:00:00Z")],
    )
    assert digest(same_change) == base


def test_every_change_counts_once_in_the_summary() -> None:
    plan = plan_of(
        spec(entry("a"), entry("b"), entry("c", replicas__max=3), entry("d", region="EUROPE")),
        [marked_row("b"), marked_row("c"), marked_row("d", placement={"region": "US_IOWA_1"})],
    )
    counts = summary(plan)
    assert {key: value for key, value in counts.items() if value} == {
        "create": 1,
        "update": 1,
        "blocked": 1,
        "unchanged": 1,
    }
    assert list(counts) == [
        "create",
        "update",
        "replace",
        "delete",
        "adopt",
        "park",
        "unpark",
        "mark",
        "undelete",
        "wait",
        "blocked",
        "unchanged",
    ]


def test_the_json_of_a_plan_has_the_promised_fields() -> None:
    document = plan_to_json(plan_of(entry(replicas__max=3), [marked_row()]))
    assert list(document) == [
        "account",
        "stack",
        "digest",
        "live_fingerprint",
        "summary",
        "changes",
        "cost",
        "checks",
        "drift",
        "notes",
    ]
    (change,) = document["changes"]
    assert (change["address"], change["deployment_id"]) == ("deployments/chat", "chat")
    assert change["fields"] == [
        {
            "path": "replicas.max",
            "before": 2,
            "after": 3,
            "effect": "in_place",
            "output_changing": False,
            "sensitive": False,
            "reason": "changes the running deployment",
            "source": {"file": "configs/chat.yaml", "line": 8},
        }
    ]
    assert set(change["cost"]) == {
        "floor_usd_per_hour",
        "ceiling_usd_per_hour",
        "floor_change",
        "ceiling_change",
    }
    assert {"name", "status", "message", "deployment"} == set(document["checks"][0])


def test_a_change_without_cost_or_source_is_written_as_null() -> None:
    bare = plan_to_json(Plan("acme", "prod", (Change("x", "x", ("wait",)),), ""))
    assert bare["changes"][0]["cost"] is None
    created = plan_to_json(plan_of(entry()))["changes"][0]["fields"][0]
    assert created["source"] == {"file": "configs/chat.yaml", "line": 5}
    marked = plan_to_json(plan_of(entry(own={"lifecycle.prevent_destroy": True}), [marked_row()]))
    assert marked["changes"][0]["fields"][0]["path"] == "marker.protect"


def test_the_fingerprint_follows_managed_facts_and_ignores_counts() -> None:
    base = plan_of(entry(), [marked_row()]).live_fingerprint
    assert plan_of(entry(), [marked_row(desired_replica_count=9)]).live_fingerprint == base
    assert plan_of(entry(), [marked_row(max_replica_count=3)]).live_fingerprint != base
    assert plan_of(entry(), [marked_row(marker="[fwctl prod/chat protect]")]).live_fingerprint != base
    assert plan_of(entry(), [marked_row(), marked_row("other")]).live_fingerprint == base


def test_a_change_knows_what_it_will_leave_behind() -> None:
    change = only(plan_of(entry()))
    assert change.desired == {"model": MODEL, "shape": V1, "replicas.min": 1, "replicas.max": 2}
    assert change.address == "deployments/chat"
