"""What one plan reads, how often, and what happens when a read fails."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from fwctl.errors import AuthError, FirectlFailedError
from fwctl.live.reader import read_live
from tests.planning.support import (
    CAPS,
    FAST,
    MINIMAL,
    MODEL,
    OLD_CAPS,
    OTHER_MODEL,
    V1,
    V2,
    Platform,
    entry,
    live_of,
    marked_row,
    name_of,
    row,
    shape_row,
    spec,
)

FIXED = ["list_quotas", "list_reservations", "list_routers", "whoami"]


def calls(platform: Platform) -> list[str]:
    return sorted(call[0] for call in platform.calls)


def test_a_plan_reads_each_thing_once_however_many_deployments_share_it() -> None:
    platform = Platform([marked_row(f"d{n}") for n in range(30)])
    live_of(platform, spec(*(entry(f"d{n}") for n in range(30))))
    assert calls(platform) == sorted(["list_deployments", "list_shape_versions", "get_model", *FIXED])


def test_shapes_models_and_presets_are_read_once_each() -> None:
    platform = Platform()
    wanted = spec(
        entry("a"),
        entry("b", shape=V1),
        entry("c", shape="fast"),
        entry("d", shape="minimal"),
        entry("e", shape="default", model=OTHER_MODEL),
        entry("f", shape="none"),
        entry("g", shape=MINIMAL, speculation__draft_model=OTHER_MODEL),
    )
    live = live_of(platform, wanted)
    counts = Counter(calls(platform))
    assert (counts["list_shape_versions"], counts["get_model"], counts["match_shapes"]) == (2, 2, 2)
    assert set(live.shapes) == {FAST, V1, MINIMAL}
    assert set(live.matches) == {MODEL, OTHER_MODEL}
    assert set(live.models) == {MODEL, OTHER_MODEL}


def test_the_shape_of_what_runs_is_read_too() -> None:
    platform = Platform([marked_row(deployment_shape=f"{MINIMAL}/versions/m1")])
    assert set(live_of(platform, spec(entry())).shapes) == {FAST, MINIMAL}


def test_deployed_models_are_read_only_when_somebody_has_addons() -> None:
    platform = Platform([row(enable_addons=True)])
    live_of(platform, spec(entry()))
    assert "list_deployed_models" in calls(platform)
    for fields in ({"addons__mode": "multi_lora"}, {"addons__load": [MODEL]}):
        platform = Platform()
        live_of(platform, spec(entry(**fields)))
        assert "list_deployed_models" in calls(platform)


def test_deleted_deployments_that_hold_their_id_are_asked_for() -> None:
    platform = Platform()
    live_of(platform, spec(entry()))
    assert ("list_deployments", "True") in platform.calls


def test_a_living_deployment_wins_over_a_deleted_one_of_the_same_id() -> None:
    rows = [row(state="DELETED"), row(state="READY"), row(state="DELETED")]
    assert live_of(Platform(rows), spec(entry())).deployments["chat"].state == "READY"


def test_without_a_spec_only_the_account_is_read() -> None:
    platform = Platform([row()])
    live = read_live(platform, None, CAPS)
    assert calls(platform) == sorted(["list_deployments", *FIXED])
    assert (live.account, live.signed_in_as) == ("acme", "acme")
    assert read_live(Platform(), None, CAPS, account="acme").account == "acme"
    assert read_live(Platform(), None, CAPS).account == ""


def test_names_of_another_account_end_the_run_with_the_account_error() -> None:
    platform = Platform([{"name": name_of("chat", "other")}])
    with pytest.raises(AuthError, match="asked for account 'acme', but firectl answered with"):
        live_of(platform, spec(entry()))


@pytest.mark.parametrize("read", ["list_deployments", "list_shape_versions", "get_model", "match_shapes"])
def test_a_failed_read_of_what_a_plan_needs_fails_the_plan(read: str) -> None:
    platform = Platform()
    platform.failing[read] = FirectlFailedError("unavailable")
    with pytest.raises(FirectlFailedError, match="unavailable"):
        live_of(platform, spec(entry(), entry("b", shape="fast")))


@pytest.mark.parametrize("read", FIXED)
def test_a_failed_optional_read_is_remembered_with_its_reason(read: str) -> None:
    platform = Platform()
    platform.failing[read] = FirectlFailedError("no such command")
    assert live_of(platform, spec(entry())).unread == {read.removeprefix("list_"): "no such command"}


@pytest.mark.parametrize("read", FIXED)
def test_not_being_signed_in_ends_the_run_wherever_it_shows(read: str) -> None:
    platform = Platform()
    platform.failing[read] = AuthError("API key not valid")
    with pytest.raises(AuthError):
        live_of(platform, spec(entry()))


def test_what_does_not_exist_is_none_and_no_failure() -> None:
    class Nothing(Platform):
        def match_shapes(self, model: str) -> Any:
            self.failing["get"] = FirectlFailedError("")
            return super().get_model("missing")

    live = live_of(Nothing(shapes={}, models={}), spec(entry(), entry("b", shape="fast")))
    assert live.shapes == {FAST: None}
    assert live.models == {MODEL: None}
    assert live.matches == {MODEL: ()}


def test_a_shape_without_versions_counts_as_missing() -> None:
    assert live_of(Platform(shapes={FAST: []}), spec(entry())).shapes == {FAST: None}


def test_a_firectl_without_match_lists_the_validated_versions_of_the_model() -> None:
    platform = Platform()
    live = live_of(platform, spec(entry(shape="fast")), OLD_CAPS)
    assert [version.preset for version in live.matches[MODEL]] == ["MINIMAL", "THROUGHPUT", "FAST"]
    assert "match_shapes" not in calls(platform)


def test_versions_are_ordered_by_what_they_are_and_not_by_the_servers_order() -> None:
    rows = [
        shape_row(f"{FAST}/versions/z", validated=False, latest=False),
        shape_row(V1, latest=False),
        shape_row(V2),
    ]
    for order in (rows, rows[::-1]):
        versions = live_of(Platform(shapes={FAST: order}), spec(entry())).shapes[FAST]
        assert versions is not None
        assert [version.version for version in versions] == ["v2", "v1", "z"]


def test_adapters_are_listed_by_deployment_without_the_base_and_without_what_is_leaving() -> None:
    platform = Platform([row(enable_addons=True)])
    platform.deployed = [
        {"deployment": name_of("chat"), "model": MODEL, "state": "DEPLOYED"},
        {"deployment": name_of("chat"), "model": "accounts/acme/models/b", "state": "DEPLOYED"},
        {"deployment": name_of("chat"), "model": "accounts/acme/models/a", "state": "DEPLOYING"},
        {"deployment": name_of("chat"), "model": "accounts/acme/models/gone", "state": "UNDEPLOYING"},
        {"deployment": name_of("other"), "model": MODEL},
    ]
    assert live_of(platform, spec(entry())).loaded_addons == {
        "chat": ("accounts/acme/models/a", "accounts/acme/models/b"),
        "other": (MODEL,),
    }


@pytest.mark.parametrize("parallelism", [1, 4])
def test_reading_in_parallel_gives_the_same_state(parallelism: int) -> None:
    wanted = spec(entry("a"), entry("b", shape=MINIMAL), entry("c", shape="fast"))
    platform = Platform([marked_row("a")])
    state = read_live(platform, wanted, CAPS, parallelism=parallelism)
    assert state == read_live(platform, wanted, CAPS, parallelism=1)


def test_a_failure_in_parallel_reading_is_raised() -> None:
    platform = Platform()
    platform.failing["get_model"] = FirectlFailedError("unavailable")
    with pytest.raises(FirectlFailedError, match="unavailable"):
        read_live(platform, spec(entry()), CAPS, parallelism=4)
