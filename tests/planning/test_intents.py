"""Commands about named deployments, planned like an apply."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest

from fwctl.errors import FirectlFailedError, RefusedError, UsageError
from fwctl.planning.model import Plan
from fwctl.planning.options import Intent
from tests.planning.support import (
    OLD_CAPS,
    Platform,
    codes,
    entry,
    marked_row,
    moves,
    only,
    plan_of,
    row,
    spec,
    user_text,
    words,
)

UNTIL = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)


def wish(intent: Intent, *names: str, wanted: Any = None, rows: Any = None, **options: Any) -> Plan:
    return plan_of(
        entry() if wanted is None else wanted,
        [marked_row()] if rows is None else rows,
        intent=intent,
        intent_names=names or ("chat",),
        **options,
    )


def test_hold_writes_its_end_into_the_marker_and_release_takes_it_out() -> None:
    platform = Platform([marked_row()])
    held = wish(Intent.HOLD, rows=platform, hold_until=UNTIL)
    assert only(held).actions == ("mark",)
    assert moves(only(held)) == {"marker.hold_until": (None, "2026-12-01T08:00Z")}
    platform.obey(held)
    assert only(plan_of(entry(replicas__max=9), platform)).reason.startswith("held until 2026-12-01T08:00Z")
    again = only(wish(Intent.HOLD, rows=platform, hold_until=UNTIL))
    assert (again.actions, again.reason) == (("no-op",), "is so already")
    released = wish(Intent.RELEASE, rows=platform)
    assert moves(only(released)) == {"marker.hold_until": ("2026-12-01T08:00Z", None)}
    platform.obey(released)
    assert only(plan_of(entry(replicas__max=9), platform)).actions == ("update",)


@pytest.mark.parametrize("intent", [Intent.HOLD, Intent.FORGET, Intent.PARK])
def test_only_the_own_stacks_deployments_are_touched(intent: Intent) -> None:
    foreign = only(wish(intent, rows=[marked_row(marker="[fwctl dev/chat]")], hold_until=UNTIL))
    assert codes(foreign) == ["ownership"]
    assert "belongs to stack 'dev'" in foreign.reason
    unmarked = only(wish(intent, rows=[row()], hold_until=UNTIL))
    assert "not marked as this stack's" in unmarked.reason
    assert "fwctl adopt chat" in str(unmarked.blocked_by[0].suggestion)


def test_forget_takes_the_marker_away_and_leaves_the_deployment_running() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(description="mine", tags={"team": "search"}), platform))
    forgotten = wish(Intent.FORGET, rows=platform)
    assert moves(only(forgotten)) == {"marker.owner": ("prod/chat", None)}
    platform.obey(forgotten)
    left = platform.row("chat")
    assert (left["state"], left["description"]) == ("READY", "mine")
    assert left["annotations"] == {"custom/team": "search"}


def test_forgetting_an_orphan_lets_the_new_name_be_created() -> None:
    platform = Platform([marked_row("chat")])
    wanted = entry("talk")
    platform.obey(wish(Intent.FORGET, "chat", wanted=wanted, rows=platform))
    assert only(plan_of(wanted, platform)).actions == ("create",)


def test_forgetting_without_tags_needs_one_call() -> None:
    plan = wish(Intent.FORGET, caps=OLD_CAPS)
    assert len(only(plan).commands) == 1
    assert words(only(plan)).endswith("--description  -a acme")


def test_park_and_unpark_by_name() -> None:
    parked = only(wish(Intent.PARK, traffic={"chat": 0}))
    assert parked.actions == ("park",)
    assert moves(parked) == {"replicas.min": (1, 0), "replicas.max": (2, 0)}
    assert words(parked) == (
        "firectl deployment update chat --min-replica-count 0 --max-replica-count 0 -a acme"
    )
    sleeping = [marked_row(min_replica_count=0, max_replica_count=0)]
    assert only(wish(Intent.PARK, rows=sleeping)).actions == ("no-op",)
    assert moves(only(wish(Intent.UNPARK, rows=sleeping))) == {"replicas.min": (0, 1), "replicas.max": (0, 2)}


def test_parking_by_name_is_guarded_like_any_scale_down() -> None:
    busy = [marked_row(replica_stats={"ready_replica_count": 1})]
    assert codes(only(wish(Intent.PARK, rows=busy, traffic={"chat": 5}))) == ["scale_down"]
    assert only(wish(Intent.PARK, rows=busy, allow_scale_down=("chat",))).actions == ("park",)


def test_unpark_needs_the_spec_to_say_how_many() -> None:
    with pytest.raises(UsageError, match="nobody says how many replicas"):
        wish(Intent.UNPARK, "old", rows=[marked_row("old")])


def test_a_parked_deployment_costs_nothing_afterwards() -> None:
    plan = wish(Intent.PARK, traffic={"chat": 0})
    assert plan.cost["ceiling_usd_per_hour"] == 0.0
    assert plan.cost["ceiling_change"] == -16.0


def test_destroy_names_what_it_deletes() -> None:
    change = only(wish(Intent.DESTROY, traffic={"chat": 0}))
    assert change.actions == ("delete",)
    assert words(change) == "firectl deployment delete chat -a acme"


def test_destroy_respects_protection_foreign_stacks_and_traffic() -> None:
    protected = [marked_row(marker="[fwctl prod/chat protect]")]
    assert codes(only(wish(Intent.DESTROY, rows=protected, traffic={"chat": 0}))) == ["delete_protection"]
    foreign = [marked_row(marker="[fwctl dev/chat]")]
    assert codes(only(wish(Intent.DESTROY, rows=foreign))) == ["ownership"]
    assert codes(only(wish(Intent.DESTROY, traffic={"chat": 2}))) == ["traffic"]
    lost = only(wish(Intent.DESTROY, traffic={"chat": 2}, allow_traffic_loss=("chat",)))
    assert words(lost) == "firectl deployment delete chat --ignore-checks -a acme"


def test_destroy_by_id_reaches_what_nobody_manages() -> None:
    assert only(wish(Intent.DESTROY, "manual", rows=[row("manual")])).actions == ("delete",)


def test_a_deployment_that_is_being_deleted_already_is_not_there_for_a_command() -> None:
    with pytest.raises(UsageError, match="there is no deployment 'chat' in stack 'prod' of account 'acme'"):
        wish(Intent.DESTROY, rows=[marked_row(state="DELETING")])


def test_undo_brings_a_deleted_deployment_back() -> None:
    platform = Platform([marked_row(state="DELETED", purge_time="2026-12-05T00:00:00Z")])
    plan = wish(Intent.UNDELETE, rows=platform)
    assert only(plan).actions == ("undelete",)
    assert words(only(plan)) == "firectl deployment undelete chat -a acme"
    platform.obey(plan)
    assert only(plan_of(entry(), platform)).actions == ("no-op",)


def test_undo_finds_a_deleted_deployment_by_its_marker() -> None:
    rows = [marked_row("chat-ab12", "[fwctl prod/chat]", state="DELETED")]
    assert only(wish(Intent.UNDELETE, rows=rows)).deployment_id == "chat-ab12"


def test_undo_waits_for_a_delete_in_flight_and_refuses_what_is_not_deleted() -> None:
    assert only(wish(Intent.UNDELETE, rows=[marked_row(state="DELETING")])).actions == ("wait",)
    with pytest.raises(UsageError, match="no deleted deployment 'chat'"):
        wish(Intent.UNDELETE)


def test_adopt_takes_over_the_named_ones_and_leaves_the_rest_alone() -> None:
    wanted = spec(entry("a"), entry("b"))
    plan = wish(Intent.ADOPT, "a", wanted=wanted, rows=[row("a"), row("b")])
    assert [(change.name, change.actions) for change in plan.changes] == [("a", ("adopt",))]


def test_a_name_with_two_candidates_is_refused() -> None:
    rows = [marked_row("a", "[fwctl prod/chat]"), marked_row("b", "[fwctl prod/chat]")]
    with pytest.raises(RefusedError, match="chat could mean a or b"):
        wish(Intent.PARK, rows=rows)


def test_a_name_given_twice_is_one_change() -> None:
    assert len(wish(Intent.PARK, "chat", "chat", traffic={"chat": 0}).changes) == 1


BLUE_GREEN = {"lifecycle.on_immutable_change": "blue_green"}


def half_replaced(steps: int, **fields: Any) -> tuple[Platform, Any]:
    platform = Platform([marked_row(placement={"region": "US_IOWA_1"})])
    wanted = entry(region="EUROPE", own=BLUE_GREEN, **fields)
    for step in only(plan_of(wanted, platform, allow_delete=("chat",))).steps[:steps]:
        platform.perform(step)
    return platform, wanted


def test_a_rollback_deletes_the_new_half_and_the_next_attempt_takes_another_id() -> None:
    platform, wanted = half_replaced(2)
    first = only(plan_of(wanted, platform, allow_delete=("chat",))).next_id
    plan = wish(Intent.ROLLBACK, wanted=wanted, rows=platform)
    assert only(plan).actions == ("delete",)
    platform.obey(plan)
    assert platform.row("chat")["state"] == "READY"
    again = only(plan_of(wanted, platform, allow_delete=("chat",)))
    assert again.next_id not in (None, first)


@pytest.mark.parametrize("steps", [2, 3, 4])
def test_a_rollback_works_before_and_after_the_switch_with_a_router(steps: int) -> None:
    platform, wanted = half_replaced(steps, router="talk")
    platform.obey(wish(Intent.ROLLBACK, wanted=wanted, rows=platform))
    serving = [item for item in platform.rows if item["state"] == "READY"]
    assert [item["name"] for item in serving] == ["accounts/acme/deployments/chat"]
    assert user_text(serving[0]) == ""
    if platform.routers:
        assert platform.routers[0]["deployments"] == ["accounts/acme/deployments/chat"]


def test_a_rollback_behind_a_router_that_cannot_be_read_is_blocked() -> None:
    platform, wanted = half_replaced(3, router="talk")
    platform.failing["list_routers"] = FirectlFailedError("unavailable")
    assert codes(only(wish(Intent.ROLLBACK, wanted=wanted, rows=platform))) == ["unreadable"]


def test_a_rollback_with_nothing_in_progress_does_nothing() -> None:
    change = only(wish(Intent.ROLLBACK))
    assert (change.actions, change.reason) == (("no-op",), "no replacement is in progress")
    orphan = only(wish(Intent.ROLLBACK, "old", rows=[marked_row(), marked_row("old")]))
    assert orphan.actions == ("no-op",)
