"""What a plan decides for one deployment."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from fwctl.catalog.field import Effect
from fwctl.errors import FirectlTooOldError, UsageError
from tests.planning.support import (
    ACCOUNT,
    B200,
    CAPS,
    FAST,
    MINIMAL,
    MODEL,
    NOW,
    OLD_CAPS,
    OTHER_MODEL,
    SHAPES,
    V1,
    V2,
    Platform,
    codes,
    entry,
    marked_row,
    moves,
    only,
    plan_of,
    row,
    secret,
    shape_row,
    spec,
    user_text,
    words,
)


def test_an_entry_without_a_deployment_is_created_with_its_marker_in_the_create_call() -> None:
    change = only(plan_of(entry()))
    assert change.actions == ("create",)
    assert words(change).startswith(f"firectl deployment create {MODEL} --deployment-id chat")
    assert f"--deployment-shape {V1}" in words(change)
    assert "[fwctl prod/chat tags d=" in words(change)
    assert words(change, 1).startswith("firectl deployment tag set chat")
    assert "--tag fwctl.owner=prod/chat" in words(change, 1)
    assert all(command[-2:] == ("-a", ACCOUNT) for command in change.commands)


def test_a_create_shows_every_field_and_the_line_that_asks_for_it() -> None:
    change = only(plan_of(entry(region="US")))
    assert moves(change) == {
        "model": (None, MODEL),
        "shape": (None, V1),
        "replicas.min": (None, 1),
        "replicas.max": (None, 2),
        "region": (None, "US"),
    }
    shape = next(item for item in change.fields if item.path == "shape")
    assert shape.output_changing
    assert (shape.source.file, shape.source.line) == ("configs/chat.yaml", 6)


def test_an_old_firectl_gets_no_tag_call_and_the_marker_does_not_promise_tags() -> None:
    change = only(plan_of(entry(), caps=OLD_CAPS))
    assert len(change.commands) == 1
    assert "[fwctl prod/chat d=" in words(change)


def test_nothing_is_planned_after_everything_was_applied() -> None:
    platform = Platform()
    wanted = spec(entry(), entry("batch", shape=MINIMAL))
    platform.obey(plan_of(wanted, platform))
    again = plan_of(wanted, platform)
    assert [change.actions for change in again.changes] == [("no-op",), ("no-op",)]
    assert not any(change.steps for change in again.changes)


def test_only_what_changed_is_sent_with_the_marker_in_the_same_call() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(), platform))
    change = only(plan_of(entry(replicas__max=5, display_name="Chat"), platform))
    assert change.actions == ("update",)
    assert moves(change) == {"replicas.max": (2, 5), "display_name": ("", "Chat")}
    assert [item.effect for item in change.fields] == [Effect.IN_PLACE, Effect.IN_PLACE]
    assert set(change.steps[0].fields) == {"replicas.max", "display_name", "description"}
    assert change.reason == "in place: replicas.max, display_name"


def test_a_rolling_restart_is_announced() -> None:
    change = only(plan_of(entry(long_prompt=True), [marked_row()]))
    assert change.reason == "rolling restart: long_prompt"


def test_a_users_own_description_is_kept_when_the_spec_does_not_manage_it() -> None:
    rows = [row(description="hands off [really] [fwctl prod/chat]")]
    change = only(plan_of(entry(replicas__max=3), rows))
    assert str(change.steps[0].fields["description"]).startswith("hands off [really] [fwctl prod/chat tags")


def test_counts_moved_by_the_autoscaler_are_no_difference() -> None:
    rows = [marked_row(desired_replica_count=2, replica_stats={"ready_replica_count": 2}, region="US_IOWA_1")]
    assert only(plan_of(entry(), rows)).actions == ("no-op",)


def test_parking_and_unparking_have_their_own_words() -> None:
    park = only(plan_of(entry(replicas__min=0, replicas__max=0), [marked_row()], traffic={"chat": 0}))
    assert park.actions == ("park",)
    rows = [marked_row(min_replica_count=0, max_replica_count=0)]
    assert only(plan_of(entry(), rows)).actions == ("unpark",)


def test_an_unmarked_deployment_that_equals_the_spec_stays_and_is_only_noted() -> None:
    change = only(plan_of(entry(), [row()]))
    assert change.actions == ("no-op",)
    assert "not marked as this stack's yet" in change.notes[0]


def test_an_unmarked_deployment_that_differs_is_a_collision_until_it_is_adopted() -> None:
    wanted = entry(replicas__max=3)
    change = only(plan_of(wanted, [row()]))
    assert codes(change) == ["collision"]
    assert "--adopt chat" in str(change.blocked_by[0].suggestion)
    assert change.steps == ()
    adopted = only(plan_of(wanted, [row()], adopt=("chat",)))
    assert adopted.actions == ("adopt", "update")
    assert adopted.reason == "taken over by this stack"


def test_adopting_what_is_equal_writes_the_marker_alone() -> None:
    change = only(plan_of(entry(), [row()], adopt=("chat",)))
    assert change.actions == ("adopt",)
    assert moves(change) == {"marker.owner": (None, "prod/chat")}
    assert set(change.steps[0].fields) == {"description"}


def test_adopting_something_that_must_be_replaced_goes_through_the_replacement_rules() -> None:
    change = only(plan_of(entry(model=OTHER_MODEL, shape="none"), [row()], adopt=("chat",)))
    assert codes(change) == ["replace_refused"]


def test_a_foreign_stacks_deployment_is_always_blocked() -> None:
    change = only(plan_of(entry(), [marked_row(marker="[fwctl staging/chat]")], adopt=("chat",)))
    assert codes(change) == ["foreign_stack"]
    assert "staging" in change.reason


def test_the_marker_decides_before_the_id() -> None:
    rows = [row(), marked_row("chat-x1y2", "[fwctl prod/chat]")]
    change = only(plan_of(entry(replicas__max=3), rows))
    assert change.deployment_id == "chat-x1y2"
    assert change.notes == ()


def test_a_deployment_found_under_another_id_says_so() -> None:
    change = only(plan_of(entry(id="talk"), [marked_row("chat")]))
    assert change.notes == ("runs as chat; `id: talk` is for a new deployment only",)


def test_two_deployments_with_one_marker_are_both_named() -> None:
    rows = [marked_row("a", "[fwctl prod/chat]"), marked_row("b", "[fwctl prod/chat]")]
    change = only(plan_of(entry(), rows))
    assert codes(change) == ["two_candidates"]
    assert "a and b" in change.reason


def test_an_id_that_belongs_to_another_entry_is_a_collision() -> None:
    rows = [marked_row("chat")]
    plan = plan_of(spec(entry("chat"), entry("talk", id="chat")), rows)
    talk = next(change for change in plan.changes if change.name == "talk")
    assert codes(talk) == ["collision"]


def test_a_new_name_with_the_old_id_takes_the_deployment_along() -> None:
    change = only(plan_of(entry("talk", id="chat"), [marked_row("chat")]))
    assert change.actions == ("mark",)
    assert moves(change) == {"marker.owner": ("prod/chat", "prod/talk")}


def test_a_new_name_beside_an_equal_orphan_is_refused_with_both_ways_out() -> None:
    plan = plan_of(entry("talk"), [marked_row("chat")])
    change = only(plan)
    assert codes(change) == ["rename"]
    assert "`id: chat`" in str(change.blocked_by[0].suggestion)
    assert "`fwctl forget chat`" in str(change.blocked_by[0].suggestion)


def test_an_orphan_of_another_model_is_no_rename() -> None:
    rows = [marked_row("old", base_model=OTHER_MODEL)]
    assert only(plan_of(entry("talk"), rows)).actions == ("create",)


def test_a_deployment_that_has_left_the_spec_stays_and_is_noted() -> None:
    plan = plan_of(entry(), [marked_row(), marked_row("old", "x [fwctl prod/old protect]")])
    assert [change.name for change in plan.changes] == ["chat"]
    assert plan.notes == (
        (
            "old (old, protected) is marked as this stack's but has left the spec; it stays until --prune "
            "--allow-delete old, or `fwctl forget old`"
        ),
    )


def test_prune_deletes_what_was_named_and_only_this_stacks() -> None:
    rows = [marked_row(), marked_row("old"), row("manual"), marked_row("theirs", "[fwctl dev/theirs]")]
    plan = plan_of(entry(), rows, prune=True, allow_delete=("old",), traffic={"old": 0})
    assert [(change.name, change.actions) for change in plan.changes] == [
        ("chat", ("no-op",)),
        ("old", ("delete",)),
    ]
    assert words(plan.changes[1]) == "firectl deployment delete old -a acme"


@pytest.mark.parametrize(
    ("members", "way_out"),
    [
        (["old"], "`firectl router delete talk`"),
        (
            ["x", "accounts/acme/deployments/old"],
            "`firectl router update talk --deployments=x --strategy=even-load`",
        ),
    ],
)
def test_a_delete_says_which_router_it_leaves_behind(members: list[str], way_out: str) -> None:
    platform = Platform([marked_row(), marked_row("old")])
    platform.routers = [
        {"name": "accounts/acme/routers/talk", "deployments": members, "strategy": "STRATEGY_EVEN_LOAD"}
    ]
    plan = plan_of(entry(), platform, prune=True, allow_delete=("old",), traffic={"old": 0})
    assert plan.changes[1].notes[0].endswith(way_out)


def test_prune_deletes_nothing_when_no_spec_was_found() -> None:
    assert plan_of(spec(), [marked_row("old")], prune=True).changes == ()


def test_prune_leaves_excluded_names_alone() -> None:
    plan = plan_of(entry(), [marked_row(), marked_row("old")], prune=True, excludes=("old",))
    assert [change.name for change in plan.changes] == ["chat"]


def test_an_orphan_without_a_marker_flag_is_noted_without_the_word_protected() -> None:
    plan = plan_of(entry(), [marked_row(), marked_row("old")])
    assert plan.notes[0].startswith("old (old) is marked")


def test_a_deleted_deployment_that_holds_the_id_blocks_with_three_ways_out() -> None:
    rows = [marked_row(state="DELETED", purge_time="2026-12-05T08:30:00Z")]
    change = only(plan_of(entry(), rows))
    assert codes(change) == ["id_held"]
    assert "until 2026-12-05 08:30 UTC" in change.reason
    suggestion = str(change.blocked_by[0].suggestion)
    assert "fwctl undo chat" in suggestion
    assert "id:" in suggestion
    assert "hard_delete" in suggestion


def test_a_deleted_deployment_without_a_purge_time_blocks_too() -> None:
    assert "for 7 days" in only(plan_of(entry(), [row(state="DELETED")])).reason


def test_a_deleted_deployments_id_is_freed_when_the_spec_says_so() -> None:
    wanted = entry(own={"lifecycle.reuse_deleted_id": "hard_delete"})
    change = only(plan_of(wanted, [row(state="DELETED")]))
    assert change.actions == ("create",)
    assert words(change) == "firectl deployment delete chat --hard -a acme"


@pytest.mark.parametrize("marker", ["", "[fwctl prod/chat]"])
def test_a_deployment_that_is_being_deleted_is_waited_for(marker: str) -> None:
    change = only(plan_of(entry(), [row(state="DELETING", description=marker)]))
    assert change.actions == ("wait",)
    assert not change.steps


def test_an_operation_in_flight_is_waited_for_when_nothing_differs() -> None:
    change = only(plan_of(entry(), [marked_row(state="CREATING")]))
    assert (change.actions, change.reason) == (("wait",), "an operation is in flight (CREATING)")


def test_an_unknown_state_is_carried_through() -> None:
    assert only(plan_of(entry(), [marked_row(state="MIGRATING")])).actions == ("no-op",)


def test_protection_alone_is_a_change_of_the_marker() -> None:
    wanted = entry(own={"lifecycle.prevent_destroy": True})
    change = only(plan_of(wanted, [marked_row()]))
    assert change.actions == ("mark",)
    assert moves(change) == {"marker.protect": (False, True)}
    assert "protect" in words(change)


def test_an_apply_that_died_before_its_tags_is_finished() -> None:
    platform = Platform()
    plan = plan_of(entry(), platform)
    platform.perform(only(plan).steps[0])
    change = only(plan_of(entry(), platform))
    assert change.actions == ("mark",)
    assert change.reason == "an earlier apply ended before the tags were written"
    platform.obey(plan_of(entry(), platform))
    assert only(plan_of(entry(), platform)).actions == ("no-op",)


def test_a_newer_firectl_does_not_make_changes_by_itself() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(), platform, caps=OLD_CAPS))
    assert only(plan_of(entry(), platform, caps=CAPS)).actions == ("no-op",)


def test_a_hold_of_the_spec_suspends_changes_and_says_until_when() -> None:
    wanted = entry(replicas__max=9, own={"lifecycle.hold_until": "2026-12-01T08:00Z"})
    change = only(plan_of(wanted, [marked_row()]))
    assert change.actions == ("no-op",)
    assert change.reason == "held until 2026-12-01T08:00Z; replicas.max would change"
    assert change.fields == ()


def test_a_hold_of_the_marker_suspends_changes_until_it_ends() -> None:
    rows = [marked_row(marker="[fwctl prod/chat hold=20261130T1300Z]")]
    assert only(plan_of(entry(replicas__max=9), rows)).reason.startswith("held until 2026-11-30T13:00Z")
    later = only(plan_of(entry(replicas__max=9), rows, now=NOW + timedelta(hours=2)))
    assert later.actions == ("update",)
    assert "hold=" not in words(later)


def test_a_hold_that_is_still_running_is_kept_in_the_marker_and_needs_a_zone_only_once() -> None:
    wanted = entry(own={"lifecycle.hold_until": "2026-11-01T08:00", "lifecycle.prevent_destroy": True})
    rows = [marked_row(marker="[fwctl prod/chat hold=20261201T0800Z]")]
    change = only(plan_of(wanted, rows))
    assert change.actions == ("mark",)
    assert "hold=20261201T0800Z" in words(change)


def test_a_failed_deployment_on_hold_is_left_alone() -> None:
    rows = [marked_row(marker="[fwctl prod/chat hold=20261201T0800Z]", state="FAILED")]
    assert only(plan_of(entry(), rows)).reason == "held until 2026-12-01T08:00Z"


def test_an_output_changing_field_is_marked() -> None:
    change = only(
        plan_of(entry(max_context_length=32768, own={"overrides": ["max_context_length"]}), [marked_row()])
    )
    assert [item.output_changing for item in change.fields] == [True]


def test_a_field_without_a_flag_is_blocked_where_the_help_page_shows_no_file_option() -> None:
    change = only(plan_of(entry(replicas__max_concurrency=8), [marked_row()]))
    assert codes(change) == ["no_way"]
    assert "replicas.max_concurrency cannot be changed from 0 to 8" in change.reason


def test_a_field_without_a_flag_travels_in_a_file_where_the_help_page_shows_one() -> None:
    flags = {"deployment update": frozenset({"--file", "--description"})}
    caps = type(CAPS)("1.8.9", flags)
    change = only(plan_of(entry(replicas__max_concurrency=8), [marked_row()], caps=caps))
    assert change.actions == ("update",)
    assert "--file" in words(change)


def test_a_flag_that_the_installed_firectl_lacks_blocks_one_deployment() -> None:
    caps = type(CAPS)("1.8.9", {"deployment create": frozenset({"--deployment-id", "--deployment-shape"})})
    plan = plan_of(entry(), caps=caps)
    assert set(codes(only(plan))) == {"FW508"}
    said = "the installed firectl (1.8.9) has no `deployment create` --min-replica-count"
    assert only(plan).reason == f"{said}, which replicas.min needs"
    assert plan.diagnostics == only(plan).blocked_by


def test_tags_need_a_firectl_that_has_them() -> None:
    change = only(plan_of(entry(tags={"team": "search"}), caps=OLD_CAPS))
    assert codes(change) == ["FW508"]
    assert "has no `deployment tag set`, which tags needs" in change.reason


def test_the_required_firectl_is_checked_before_anything_is_planned() -> None:
    with pytest.raises(FirectlTooOldError, match=r"requires firectl >=1\.9"):
        plan_of(spec(entry(), settings={"require_firectl": ">=1.9"}))


def test_tags_of_the_user_are_complete_and_fwctls_own_are_not_touched_by_that() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(tags={"team": "search", "tier": "gold"}), platform))
    change = only(plan_of(entry(tags={"team": "infra"}), platform))
    assert moves(change) == {"tags": ({"team": "search", "tier": "gold"}, {"team": "infra"})}
    platform.obey(plan_of(entry(tags={"team": "infra"}), platform))
    tags = platform.row("chat")["annotations"]
    assert tags["custom/team"] == "infra"
    assert "custom/tier" not in tags
    assert tags["custom/fwctl.owner"] == "prod/chat"


def test_unmanaged_tags_survive_an_update() -> None:
    platform = Platform([marked_row(annotations={"custom/owner": "hand"})])
    platform.obey(plan_of(entry(replicas__max=3), platform))
    assert platform.row("chat")["annotations"]["custom/owner"] == "hand"


def test_addons_are_loaded_and_unloaded_to_match_the_declared_list() -> None:
    loras = ["accounts/acme/models/a", "accounts/acme/models/b"]
    models = {MODEL: {"name": MODEL}, **{name: {"name": name} for name in loras}}
    platform = Platform(models=models)
    wanted = entry(shape=MINIMAL, addons__mode="multi_lora", addons__load=loras[:1])
    platform.obey(plan_of(wanted, platform))
    assert [item["model"] for item in platform.deployed] == loras[:1]
    other = entry(shape=MINIMAL, addons__mode="multi_lora", addons__load=loras[1:])
    change = only(plan_of(other, platform))
    assert moves(change) == {"addons.load": (loras[:1], loras[1:])}
    assert (
        words(change, len(change.commands) - 2) == f"firectl unload-lora {loras[0]} --deployment chat -a acme"
    )
    platform.obey(plan_of(other, platform))
    assert [item["model"] for item in platform.deployed] == loras[1:]


def test_addons_that_cannot_be_read_block_instead_of_being_loaded_twice() -> None:
    platform = Platform([marked_row()])
    platform.failing["list_deployed_models"] = FirectlTooOldError("no deployed-model list")
    change = only(plan_of(entry(addons__load=["accounts/acme/models/a"]), platform))
    assert "unreadable" in codes(change)
    created = only(plan_of(entry("new", addons__load=["accounts/acme/models/a"]), platform))
    assert "unreadable" in codes(created)


def test_a_deployment_joins_its_router_and_the_others_stay_behind_it() -> None:
    platform = Platform()
    wanted = spec(entry("a", router="talk"), entry("b", router="talk"), entry("c"))
    plan = plan_of(wanted, platform)
    assert "router create --router-id talk --deployments accounts/acme/deployments/a" in words(
        plan.changes[0], 2
    )
    assert (
        "router update talk --deployments accounts/acme/deployments/a,accounts/acme/deployments/b"
        in words(plan.changes[1], 2)
    )
    assert plan.changes[1].after == ("a",)
    platform.obey(plan)
    assert {change.actions for change in plan_of(wanted, platform).changes} == {("no-op",)}


def test_nobody_waits_behind_a_router_for_an_entry_that_is_blocked() -> None:
    plan = plan_of(spec(entry("a", router="talk", precision="BF16"), entry("b", router="talk")))
    assert plan.changes[0].blocked
    assert plan.changes[1].after == ()
    assert "router create --router-id talk --deployments accounts/acme/deployments/b" in words(
        plan.changes[1], 2
    )


def test_nobody_waits_behind_a_router_for_an_entry_that_is_held_or_in_flight() -> None:
    held = entry("a", router="talk", own={"lifecycle.hold_until": "2026-12-24T00:00Z"})
    for rows in ([marked_row("a")], [marked_row("a", state="DELETING")]):
        plan = plan_of(spec(held, entry("b", router="talk")), rows)
        assert not plan.changes[0].steps
        assert plan.changes[1].after == ()
        assert "router create --router-id talk --deployments accounts/acme/deployments/b " in words(
            plan.changes[1], 2
        )


def test_a_router_keeps_its_strategy_and_members_of_other_hands() -> None:
    platform = Platform([marked_row()])
    platform.routers = [
        {
            "name": "accounts/acme/routers/talk",
            "deployments": ["accounts/acme/deployments/x"],
            "strategy": "EVEN_LOAD",
        }
    ]
    change = only(plan_of(entry(router="talk"), platform))
    assert moves(change) == {"router": (None, "talk")}
    last = words(change, len(change.commands) - 1)
    assert "accounts/acme/deployments/chat,accounts/acme/deployments/x" in last
    assert "--strategy even-load" in last


def test_a_deployment_behind_two_routers_is_compared_with_the_one_the_spec_names() -> None:
    platform = Platform([marked_row()])
    members = ["accounts/acme/deployments/chat"]
    platform.routers = [
        {"name": "accounts/acme/routers/a", "deployments": members},
        {"name": "accounts/acme/routers/talk", "deployments": members},
    ]
    assert only(plan_of(entry(router="talk"), platform)).actions == ("no-op",)
    change = only(plan_of(entry(router="new"), platform))
    assert moves(change) == {"router": ("a", "new")}
    assert "stays behind the router a too" in change.notes[0]


def test_secrets_are_compared_by_a_salted_digest_and_never_shown() -> None:
    platform = Platform()
    first = entry(direct_route__type="INTERNET", direct_route__api_keys=[secret("sk-first-key")])
    change = only(plan_of(first, platform))
    assert moves(change)["direct_route.api_keys"] == (None, "***")
    assert "sk-first-key" not in repr(plan_of(first, platform))
    platform.obey(plan_of(first, platform))
    assert only(plan_of(first, platform)).actions == ("no-op",)
    second = entry(direct_route__type="INTERNET", direct_route__api_keys=[secret("sk-second-key")])
    rotated = only(plan_of(second, platform))
    assert moves(rotated) == {"direct_route.api_keys": ("***", "***")}
    assert "sk-second-key" not in " ".join(" ".join(command) for command in rotated.commands)


def test_secrets_that_nobody_can_compare_are_noted() -> None:
    wanted = entry(direct_route__api_keys=[secret("sk-first-key")])
    change = only(plan_of(wanted, [marked_row(direct_route_api_keys=["***"])]))
    assert change.actions == ("no-op",)
    assert "cannot be compared" in change.notes[0]


def test_an_ignored_field_is_neither_compared_nor_written() -> None:
    wanted = entry(
        description="new",
        replicas__max=3,
        own={"lifecycle.ignore": ["description", "autoscaling"]},
        autoscaling__scale_up_window="1m0s",
    )
    platform = Platform([row(description="old [fwctl prod/chat]")])
    change = only(plan_of(wanted, platform))
    assert set(moves(change)) == {"replicas.max"}
    platform.obey(plan_of(wanted, platform))
    assert user_text(platform.row("chat")) == "old"


def test_a_dropped_key_is_noted_and_keeps_its_value() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(display_name="Chat"), platform))
    change = only(plan_of(entry(), platform))
    assert change.actions == ("no-op",)
    assert change.notes == ("display_name is no longer managed; it keeps its value",)


def test_drift_is_told_from_intent_by_the_digest_of_the_value_applied_last() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(), platform))
    assert plan_of(entry(replicas__max=4), platform).drift == ()
    platform.row("chat")["max_replica_count"] = 9
    drifted = plan_of(entry(), platform)
    assert drifted.drift == (
        {
            "address": "deployments/chat",
            "deployment_id": "chat",
            "path": "replicas.max",
            "live": 9,
            "wanted": 2,
            "spec_changed_too": False,
        },
    )
    assert plan_of(entry(replicas__max=4), platform).drift[0]["spec_changed_too"] is True


def test_without_tags_an_unchanged_spec_still_tells_that_all_differences_are_drift() -> None:
    platform = Platform()
    platform.obey(plan_of(entry(), platform, caps=OLD_CAPS))
    platform.row("chat")["max_replica_count"] = 9
    assert [item["path"] for item in plan_of(entry(), platform, caps=OLD_CAPS).drift] == ["replicas.max"]
    changed = plan_of(entry(replicas__max=4), platform, caps=OLD_CAPS)
    assert changed.drift == ()
    assert "is not known" in only(changed).notes[0]


def test_a_newer_shape_version_is_a_note_until_upgrades_are_asked_for() -> None:
    shapes = {FAST: [shape_row(V1, latest=False), shape_row(V2, accelerator_count=2)]}
    platform = Platform([marked_row()], shapes=shapes)
    change = only(plan_of(entry(), platform))
    assert change.actions == ("no-op",)
    assert V2 in change.notes[0]
    assert "accelerator.count: 1 -> 2" in change.notes[0]
    moved = only(plan_of(entry(), platform, upgrade_shapes=True))
    assert moves(moved) == {"shape": (V1, V2)}
    assert moved.fields[0].effect is Effect.ROLLING_RESTART


def test_a_pinned_version_is_never_moved() -> None:
    shapes = {FAST: [shape_row(V1, latest=False), shape_row(V2)]}
    platform = Platform([marked_row()], shapes=shapes)
    change = only(plan_of(entry(shape=V1), platform, upgrade_shapes=True))
    assert (change.actions, change.notes) == (("no-op",), ())


def test_a_newer_version_with_the_same_snapshot_says_so() -> None:
    shapes = {FAST: [shape_row(V1, latest=False), shape_row(V2)]}
    assert "same snapshot" in only(plan_of(entry(), Platform([marked_row()], shapes=shapes))).notes[0]


def test_a_shape_on_other_gpus_is_a_replacement() -> None:
    change = only(plan_of(entry(shape=B200), [marked_row()]))
    assert codes(change) == ["replace_refused"]
    assert "NVIDIA_B200_180GB" in change.reason


def test_targets_excludes_and_unknown_names() -> None:
    both = spec(entry("a"), entry("b"))
    assert [change.name for change in plan_of(both, targets=("a",)).changes] == ["a"]
    assert [change.name for change in plan_of(both, excludes=("a",)).changes] == ["b"]
    with pytest.raises(UsageError, match=r"--target names 'bb'") as caught:
        plan_of(both, targets=("bb",))
    assert caught.value.next_steps == ("known: a, b",)
    with pytest.raises(
        UsageError, match=r"--adopt names 'zzzzzz', which neither the spec nor this stack has$"
    ):
        plan_of(both, adopt=("zzzzzz",))


def test_what_if_values_take_the_place_of_the_specs() -> None:
    wanted = entry()
    change = only(plan_of(wanted, [marked_row()], sets={"chat": {"replicas.max": 7, "gates.fit": "block"}}))
    assert moves(change) == {"replicas.max": (2, 7)}
    with pytest.raises(UsageError, match="--set names 'other'"):
        plan_of(wanted, sets={"other": {"replicas.max": 7}})


def test_every_shape_of_the_example_account_is_read_once() -> None:
    platform = Platform()
    plan_of(spec(*(entry(f"d{n}", shape=shape) for n, shape in enumerate([*SHAPES, *SHAPES]))), platform)
    assert len([call for call in platform.calls if call[0] == "list_shape_versions"]) == len(SHAPES)


def deleted_reason(**fields: Any) -> str:
    """Why the entry of a deleted deployment is blocked."""
    times = {"create_time": "2026-11-01T00:00:00Z", "delete_time": "2026-11-29T07:30:00Z"}
    return only(plan_of(entry(), [row(state="DELETED", **{**times, **fields})])).reason


def test_a_deployment_that_keeps_replicas_was_deleted_by_somebody() -> None:
    assert "somebody deleted it on 2026-11-29 07:30 UTC" in deleted_reason(min_replica_count=1)


def test_a_deployment_with_min_0_may_have_been_deleted_for_idleness() -> None:
    assert "the platform after 7 idle days (min 0), or somebody" in deleted_reason(min_replica_count=0)


def test_a_deployment_younger_than_the_idle_life_was_not_deleted_for_idleness() -> None:
    told = deleted_reason(min_replica_count=0, create_time="2026-11-25T00:00:00Z")
    assert "; somebody deleted it" in told
