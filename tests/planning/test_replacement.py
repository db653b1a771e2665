"""Replacements: what no running deployment can take."""

from __future__ import annotations

import hashlib

import pytest

from fwctl.catalog.field import Effect
from tests.planning.support import (
    B200,
    CAPS,
    FAST,
    MODEL,
    V1,
    V2,
    Platform,
    check_of,
    codes,
    entry,
    marked_row,
    moves,
    only,
    plan_of,
    row,
    shape_row,
    words,
)

RECREATE = {"lifecycle.on_immutable_change": "recreate"}
BLUE_GREEN = {"lifecycle.on_immutable_change": "blue_green"}
IN_IOWA = {"placement": {"region": "US_IOWA_1"}}


def test_a_replacement_is_refused_unless_the_spec_says_how() -> None:
    change = only(plan_of(entry(region="EUROPE"), [marked_row(**IN_IOWA)]))
    assert codes(change) == ["replace_refused"]
    assert "region cannot change on a running deployment" in change.reason
    assert moves(change) == {"region": ("US_IOWA_1", "EUROPE")}
    assert change.fields[0].effect is Effect.REPLACE


def test_a_firectl_that_can_move_a_deployment_needs_no_replacement() -> None:
    caps = type(CAPS)("1.8.9", {"deployment update": frozenset({"--region", "--description"})})
    change = only(plan_of(entry(region="EUROPE"), [marked_row(**IN_IOWA)], caps=caps))
    assert change.actions == ("update",)
    assert change.fields[0].effect is Effect.ROLLING_RESTART


def test_a_region_inside_the_wanted_area_is_no_difference() -> None:
    for area in ("US", "GLOBAL", "US_IOWA_1"):
        assert only(plan_of(entry(region=area), [marked_row(**IN_IOWA)])).actions == ("no-op",)


def test_recreate_frees_the_id_and_creates_anew() -> None:
    change = only(
        plan_of(entry(region="EUROPE", own=RECREATE), [marked_row(**IN_IOWA)], allow_delete=("chat",))
    )
    assert change.actions == ("delete", "create")
    assert words(change) == "firectl deployment delete chat --hard -a acme"
    assert words(change, 1).startswith("firectl deployment create")
    assert "--region europe" in words(change, 1)
    assert "downtime" in change.notes[0]


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        ((), "not known"),
        ((90.0,), "about 1m30s (median of one earlier start"),
        ((60.0, 300.0, 120.0), "about 2m (median of 3 earlier starts"),
    ],
)
def test_the_downtime_is_what_earlier_starts_took(seconds: tuple[float, ...], words: str) -> None:
    rows, starts = [marked_row(**IN_IOWA)], {MODEL: seconds}
    plan = plan_of(entry(region="EUROPE", own=RECREATE), rows, allow_delete=("chat",), starts=starts)
    assert words in only(plan).notes[0]


def test_a_replacement_takes_the_shape_version_that_a_create_would_take() -> None:
    shapes = {FAST: [shape_row(V1, latest=False), shape_row(V2)]}
    platform = Platform([marked_row(**IN_IOWA)], shapes=shapes)
    change = only(plan_of(entry(region="EUROPE", own=RECREATE), platform, allow_delete=("chat",)))
    assert moves(change)["shape"] == (V1, V2)
    assert f"--deployment-shape {V2}" in words(change, 1)


def test_a_replacement_must_be_named() -> None:
    change = only(plan_of(entry(region="EUROPE", own=RECREATE), [marked_row(**IN_IOWA)]))
    assert codes(change) == ["delete"]
    assert change.blocked_by[0].suggestion == "--allow-delete chat"
    assert change.steps == ()


def test_protection_is_taken_off_by_a_plan_of_its_own() -> None:
    wanted = entry(region="EUROPE", own=RECREATE)
    platform = Platform([marked_row(marker="[fwctl prod/chat protect]", **IN_IOWA)])
    change = only(plan_of(wanted, platform))
    assert change.actions == ("mark",)
    assert moves(change) == {"marker.protect": (True, False)}
    assert "the replacement comes with the next plan" in change.reason
    platform.obey(plan_of(wanted, platform))
    assert only(plan_of(wanted, platform, allow_delete=("chat",))).actions == ("delete", "create")


def test_a_protected_deployment_is_not_replaced_even_when_named() -> None:
    wanted = entry(region="EUROPE", own={**RECREATE, "lifecycle.prevent_destroy": True})
    rows = [marked_row(marker="[fwctl prod/chat protect]", **IN_IOWA)]
    assert codes(only(plan_of(wanted, rows, allow_delete=("chat",)))) == ["delete_protection"]


def test_a_replacement_waits_for_an_operation_in_flight() -> None:
    change = only(plan_of(entry(region="EUROPE"), [marked_row(state="UPDATING", **IN_IOWA)]))
    assert change.actions == ("wait",)
    assert "UPDATING" in change.reason


def test_a_failed_deployment_is_a_reason_to_replace() -> None:
    rows = [marked_row(state="FAILED", status={"code": "RESOURCE_EXHAUSTED", "message": "no capacity"})]
    change = only(plan_of(entry(), rows))
    assert codes(change) == ["replace_refused"]
    assert "FAILED (RESOURCE_EXHAUSTED: no capacity)" in change.reason
    assert "FAILED (OK)" in only(plan_of(entry(), [marked_row(state="FAILED")])).reason
    again = only(plan_of(entry(own=RECREATE), rows, allow_delete=("chat",)))
    assert again.actions == ("delete", "create")


def test_traffic_may_be_lost_only_when_named() -> None:
    wanted = entry(region="EUROPE", own=RECREATE)
    rows = [marked_row(**IN_IOWA)]
    refused = only(plan_of(wanted, rows, allow_delete=("chat",), traffic={"chat": 12}))
    assert codes(refused) == ["traffic"]
    change = only(
        plan_of(wanted, rows, allow_delete=("chat",), allow_traffic_loss=("chat",), traffic={"chat": 12})
    )
    assert words(change) == "firectl deployment delete chat --hard --ignore-checks -a acme"


def test_blue_green_builds_beside_and_every_runner_picks_the_same_id() -> None:
    wanted = entry(region="EUROPE", own=BLUE_GREEN)
    plan = plan_of(wanted, [marked_row(**IN_IOWA)], allow_delete=("chat",))
    change = only(plan)
    assert change.actions == ("create", "delete")
    assert change.primary == "replace"
    assert change.next_id is not None
    assert change.next_id == only(plan_of(wanted, [marked_row(**IN_IOWA)], allow_delete=("chat",))).next_id
    base, dash, digits = change.next_id.rpartition("-")
    assert (base, dash, len(digits)) == ("chat", "-", 4)
    assert set(digits) <= set("abcdefghijklmnopqrstuvwxyz234567")
    assert f"--deployment-id {change.next_id}" in words(change)
    assert "role=next" in words(change)
    assert any("clients must follow" in note for note in change.notes)


def test_another_attempt_or_other_values_give_another_id() -> None:
    def next_id(marker: str, region: str = "EUROPE") -> str | None:
        rows = [marked_row(marker=marker, **IN_IOWA)]
        return only(plan_of(entry(region=region, own=BLUE_GREEN), rows, allow_delete=("chat",))).next_id

    first = next_id("[fwctl prod/chat]")
    assert next_id("[fwctl prod/chat n=1]") != first
    assert next_id("[fwctl prod/chat]", "APAC") != first


def test_blue_green_deletes_the_old_one_last_and_clears_the_role() -> None:
    change = only(
        plan_of(entry(region="EUROPE", own=BLUE_GREEN), [marked_row(**IN_IOWA)], allow_delete=("chat",))
    )
    verbs = [(step.verb, step.target) for step in change.steps]
    assert verbs[0] == ("deployment create", change.next_id)
    assert ("deployment delete", "chat") in verbs
    after_delete = verbs[verbs.index(("deployment delete", "chat")) + 1 :]
    assert ("deployment update", change.next_id) in after_delete


def test_blue_green_with_traffic_only_warns_because_traffic_moves_first() -> None:
    plan = plan_of(
        entry(region="EUROPE", own=BLUE_GREEN),
        [marked_row(**IN_IOWA)],
        allow_delete=("chat",),
        traffic={"chat": 99},
    )
    assert only(plan).actions == ("create", "delete")
    assert check_of(plan, "traffic")[0][0] == "warn"


def test_a_replacement_in_progress_is_resumed_without_a_second_create() -> None:
    wanted = entry(region="EUROPE", own=BLUE_GREEN)
    platform = Platform([marked_row(**IN_IOWA)])
    first = only(plan_of(wanted, platform, allow_delete=("chat",)))
    platform.perform(first.steps[0])
    again = only(plan_of(wanted, platform, allow_delete=("chat",)))
    assert again.next_id == first.next_id
    assert "deployment create" not in [step.verb for step in again.steps]
    assert any("earlier run created" in note for note in again.notes)


def test_a_replacement_begun_for_other_values_is_named_with_the_way_back() -> None:
    platform = Platform([marked_row(**IN_IOWA)])
    platform.perform(
        only(plan_of(entry(region="APAC", own=BLUE_GREEN), platform, allow_delete=("chat",))).steps[0]
    )
    other = only(plan_of(entry(region="EUROPE", own=BLUE_GREEN), platform, allow_delete=("chat",)))
    assert codes(other) == ["replacement_in_progress"]
    assert "--rollback chat" in str(other.blocked_by[0].suggestion)
    back = only(plan_of(entry(own=BLUE_GREEN), platform))
    assert codes(back) == ["replacement_in_progress"]


def test_a_finished_replacement_leaves_an_empty_plan() -> None:
    wanted = entry(region="EUROPE", own=BLUE_GREEN)
    platform = Platform([marked_row(**IN_IOWA)])
    platform.obey(plan_of(wanted, platform, allow_delete=("chat",)))
    plan = plan_of(wanted, platform)
    assert [change.actions for change in plan.changes] == [("no-op",)]
    assert only(plan).deployment_id.startswith("chat-")


@pytest.mark.parametrize("done", range(1, 9))
def test_a_replacement_that_stops_anywhere_is_ended_by_the_next_run(done: int) -> None:
    wanted = entry(region="EUROPE", router="talk", own=BLUE_GREEN)
    platform = Platform([marked_row(**IN_IOWA)])
    platform.routers = [
        {"name": "accounts/acme/routers/talk", "deployments": ["accounts/acme/deployments/chat"]}
    ]
    for step in only(plan_of(wanted, platform, allow_delete=("chat",))).steps[:done]:
        platform.perform(step)
    for _ in range(3):
        platform.obey(plan_of(wanted, platform, allow_delete=("chat",)))
    assert only(plan_of(wanted, platform)).actions == ("no-op",)
    assert [item["name"].rpartition("/")[2][:5] for item in platform.rows if item["state"] == "READY"] == [
        "chat-"
    ]
    assert len(platform.routers[0]["deployments"]) == 1


def test_traffic_moves_behind_the_router_where_there_is_one() -> None:
    platform = Platform([marked_row(**IN_IOWA)])
    platform.routers = [
        {"name": "accounts/acme/routers/talk", "deployments": ["accounts/acme/deployments/chat"]}
    ]
    wanted = entry(region="EUROPE", router="talk", own=BLUE_GREEN)
    change = only(plan_of(wanted, platform, allow_delete=("chat",)))
    assert any("traffic moves behind the router talk" in note for note in change.notes)


def test_the_overlap_of_a_replacement_counts_against_the_quota() -> None:
    rows = [marked_row(max_replica_count=40, **IN_IOWA)]
    wanted = entry(region="EUROPE", replicas__max=40, own=BLUE_GREEN)
    change = only(plan_of(wanted, rows, allow_delete=("chat",)))
    assert codes(change) == ["FW507"]
    assert "80 GPUs" in change.reason
    recreated = entry(region="EUROPE", replicas__max=40, own=RECREATE)
    assert only(plan_of(recreated, rows, allow_delete=("chat",))).actions == ("delete", "create")


def test_a_replacement_by_a_shape_that_is_missing_is_blocked() -> None:
    change = only(plan_of(entry(region="EUROPE", shape=V2, own=RECREATE), [marked_row(**IN_IOWA)]))
    assert "FW502" in codes(change)


def test_replacing_by_another_shape_on_other_gpus() -> None:
    change = only(plan_of(entry(shape=B200, own=RECREATE), [marked_row()], allow_delete=("chat",)))
    assert change.actions == ("delete", "create")
    assert "NVIDIA_B200_180GB" in change.reason


def test_adopting_and_replacing_an_unmarked_deployment() -> None:
    wanted = entry(region="EUROPE", own=BLUE_GREEN)
    change = only(plan_of(wanted, [row(**IN_IOWA)], adopt=("chat",), allow_delete=("chat",)))
    assert change.actions == ("create", "delete")


def test_the_next_id_is_the_documented_hash() -> None:
    """Recomputed by hand from the page on identity: SHA-256 over stack, name, new values, attempt."""
    change = only(
        plan_of(entry(region="EUROPE", own=BLUE_GREEN), [marked_row(**IN_IOWA)], allow_delete=("chat",))
    )
    marker = str(change.steps[0].fields["description"])
    values = marker.partition("d=")[2].rstrip("]")
    text = f'["prod","chat","{values}",0]'
    number = int.from_bytes(hashlib.sha256(text.encode()).digest()[:3], "big") >> 4
    alphabet = "abcdefghijklmnopqrstuvwxyz234567"
    digits = "".join(alphabet[(number >> shift) & 31] for shift in (15, 10, 5, 0))
    assert change.next_id == f"chat-{digits}"
