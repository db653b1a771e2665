"""What stands between a change and the platform, with the number that tripped and the way out."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.planning.guards.quota import gpu_of
from fwctl.records.lockfile import LockFile
from fwctl.spec.model import Evidence
from tests.planning.support import (
    FAST,
    MODEL,
    OTHER_MODEL,
    Platform,
    check_of,
    codes,
    entry,
    marked_row,
    only,
    plan_of,
    row,
    shape_row,
    spec,
)


def deletes(total: int, count: int, **options: Any) -> Any:
    """`count` of the `total` deployments of the stack leave the spec and are named one by one."""
    rows = [marked_row(f"d{n}") for n in range(total)]
    kept = [entry(f"d{n}") for n in range(count, total)]
    names = tuple(f"d{n}" for n in range(count))
    quiet = dict.fromkeys(names, 0)
    return plan_of(spec(*kept), rows, prune=True, allow_delete=names, traffic=quiet, **options)


def blocked(plan: Any) -> list[str]:
    return [change.name for change in plan.changes if change.blocked]


def test_below_five_deployments_there_is_no_threshold() -> None:
    assert blocked(deletes(4, 3)) == []


def test_more_than_thirty_percent_of_a_stack_is_refused() -> None:
    assert blocked(deletes(10, 3)) == []
    plan = deletes(10, 4)
    assert blocked(plan) == ["d0", "d1", "d2", "d3"]
    assert codes(plan.changes[0]) == ["deletes"]
    assert "4 of the 10 deployments" in plan.changes[0].reason
    assert "limit 3" in plan.changes[0].reason
    assert plan.changes[0].blocked_by[0].suggestion == "--max-deletes 4"


def test_more_than_five_deletes_are_refused_in_a_large_stack() -> None:
    assert blocked(deletes(40, 5)) == []
    assert len(blocked(deletes(40, 6))) == 6


def test_a_given_limit_takes_the_place_of_the_thresholds() -> None:
    assert blocked(deletes(10, 4, max_deletes=4)) == []
    assert len(blocked(deletes(4, 2, max_deletes=1))) == 2


def test_a_delete_that_nobody_named_is_refused_with_the_flag() -> None:
    plan = plan_of(entry(), [marked_row(), marked_row("old")], prune=True, traffic={"old": 0})
    assert codes(plan.changes[1]) == ["delete"]
    assert plan.changes[1].blocked_by[0].suggestion == "--allow-delete old"


def test_a_protected_deployment_is_never_deleted() -> None:
    rows = [marked_row(), marked_row("old", "[fwctl prod/old protect]")]
    plan = plan_of(entry(), rows, prune=True, allow_delete=("old",), traffic={"old": 0})
    assert codes(plan.changes[1]) == ["delete_protection"]
    assert "prevent_destroy: false" in str(plan.changes[1].blocked_by[0].suggestion)


def test_recent_traffic_stops_a_delete_before_the_platform_does() -> None:
    rows = [marked_row(), marked_row("old")]
    plan = plan_of(entry(), rows, prune=True, allow_delete=("old",), traffic={"old": 17})
    assert codes(plan.changes[1]) == ["traffic"]
    assert "17 requests in the last hour" in plan.changes[1].reason
    unknown = plan_of(entry(), rows, prune=True, allow_delete=("old",))
    assert check_of(unknown, "traffic")[0][0] == "unknown"
    assert unknown.changes[1].actions == ("delete",)


def test_a_ceiling_below_what_is_in_use_needs_to_be_allowed() -> None:
    rows = [
        marked_row(max_replica_count=8, replica_stats={"ready_replica_count": 5}, desired_replica_count=4)
    ]
    change = only(plan_of(entry(replicas__max=4), rows))
    assert codes(change) == ["scale_down"]
    assert "max replicas would be 4, 5 are in use" in change.reason
    assert change.blocked_by[0].suggestion == "--allow-scale-down chat"
    assert only(plan_of(entry(replicas__max=5), rows)).actions == ("update",)
    assert only(plan_of(entry(replicas__max=4), rows, allow_scale_down=("chat",))).actions == ("update",)


def test_parking_with_traffic_needs_to_be_allowed() -> None:
    wanted = entry(replicas__min=0, replicas__max=0)
    busy = [marked_row(replica_stats={"ready_replica_count": 1})]
    assert codes(only(plan_of(wanted, busy, traffic={"chat": 3}))) == ["scale_down"]
    assert codes(only(plan_of(wanted, busy))) == ["scale_down"]
    assert only(plan_of(wanted, busy, traffic={"chat": 0})).actions == ("park",)
    idle = plan_of(wanted, [marked_row()])
    assert only(idle).actions == ("park",)
    assert check_of(idle, "scale_down")[0][0] == "unknown"


def fit_result(verdict: str, **more: Any) -> dict[str, dict[str, Any]]:
    return {"chat": {"verdict": verdict, "evidence": "config", "reasons": ["too small"], **more}}


def fit_status(plan: Any) -> str:
    return check_of(plan, "fit")[0][0]


def test_what_fits_passes_and_is_shown_in_the_change() -> None:
    plan = plan_of(entry(), fit=fit_result("fits"))
    assert fit_status(plan) == "pass"
    assert only(plan).fit == fit_result("fits")["chat"]


def test_an_estimated_shortage_on_a_validated_shape_warns_unless_told_to_block() -> None:
    plan = plan_of(entry(), fit=fit_result("does-not-fit"))
    assert fit_status(plan) == "warn"
    assert only(plan).actions == ("create",)
    assert "too small" in check_of(plan, "fit")[0][1]
    assert codes(only(plan_of(entry(own={"gates.fit": "block"}), fit=fit_result("does-not-fit")))) == ["fit"]
    assert codes(only(plan_of(entry(), fit=fit_result("does-not-fit"), require_fit=True))) == ["fit"]


@pytest.mark.parametrize(("verdict", "status"), [("tight", "warn"), ("unknown", "unknown")])
def test_tight_and_unknown_block_only_when_told_to(verdict: str, status: str) -> None:
    plan = plan_of(entry(), fit=fit_result(verdict))
    assert fit_status(plan) == status
    assert only(plan).actions == ("create",)
    assert codes(only(plan_of(entry(), fit=fit_result(verdict), require_fit=True))) == ["fit"]


def test_an_ignored_gate_says_nothing() -> None:
    assert fit_status(plan_of(entry(own={"gates.fit": "ignore"}), fit=fit_result("tight"))) == "pass"


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"weights_bytes_per_gpu": 100, "usable_bytes_per_gpu": 90}, "weights alone"),
        ({"evidence": "measured"}, "measured"),
    ],
)
def test_a_certain_shortage_always_blocks(more: dict[str, Any], why: str) -> None:
    wanted = entry(own={"gates.fit": "ignore"})
    change = only(plan_of(wanted, fit=fit_result("does-not-fit", **more)))
    assert codes(change) == ["fit"]
    assert why in change.reason


def test_a_shortage_without_a_shape_or_with_own_weights_always_blocks() -> None:
    shapeless = entry(without=["shape"], accept_shapeless_risk=True)
    assert "no validated shape" in only(plan_of(shapeless, fit=fit_result("does-not-fit"))).reason
    own = "accounts/acme/models/mine"
    platform = Platform(
        models={own: {"name": own}}, shapes={FAST: [shape_row(f"{FAST}/versions/v1", base_model=own)]}
    )
    change = only(plan_of(entry(model="mine"), platform, fit=fit_result("does-not-fit")))
    assert "the weights are your own" in change.reason


def test_a_shortage_of_an_unchanged_deployment_is_reported_but_blocks_nothing() -> None:
    plan = plan_of(entry(own={"gates.fit": "block"}), [marked_row()], fit=fit_result("does-not-fit"))
    assert only(plan).actions == ("no-op",)
    assert fit_status(plan) == "fail"


def test_a_context_beyond_what_shape_or_model_admits_is_refused() -> None:
    change = only(plan_of(entry(own={"workload.context_tokens": 200_000})))
    assert codes(change) == ["context"]
    assert "200000 tokens, the shape admits 131072" in change.reason
    small = Platform(shapes={FAST: [shape_row(f"{FAST}/versions/v1", max_context_length=0)]})
    change = only(plan_of(entry(own={"workload.context_tokens": 200_000}), small))
    assert "the model admits 131072" in change.reason


def test_input_and_output_lengths_add_up_to_the_context() -> None:
    own = {"workload.input_tokens.p95": 130_000, "workload.output_tokens.p95": 1_500}
    assert "131500 tokens" in only(plan_of(entry(own=own))).reason
    assert only(plan_of(entry(own={"workload.input_tokens.p95": 130_000}))).actions == ("create",)


def test_an_own_limit_below_the_workload_is_refused() -> None:
    own = {"workload.context_tokens": 40_000, "overrides": ["max_context_length"]}
    change = only(plan_of(entry(max_context_length=32_768, own=own)))
    assert "max_context_length admits 32768" in change.reason


def test_a_context_is_not_judged_when_nobody_knows_the_limit() -> None:
    shapes = {FAST: [shape_row(f"{FAST}/versions/v1", max_context_length=0)]}
    platform = Platform(shapes=shapes, models={MODEL: {"name": MODEL}})
    assert only(plan_of(entry(own={"workload.context_tokens": 10**6}), platform)).actions == ("create",)


def test_a_missing_model_is_fw501_for_what_would_bring_it_in() -> None:
    assert codes(only(plan_of(entry(), Platform(models={})))) == ["FW501"]
    platform = Platform([marked_row()], models={})
    assert only(plan_of(entry(replicas__max=3), platform)).actions == ("update",)
    addon = only(plan_of(entry(addons__load=["accounts/acme/models/gone"]), Platform([marked_row()])))
    assert codes(addon) == ["FW501"]
    assert "accounts/acme/models/gone" in addon.reason


def test_a_region_without_the_accelerator_is_fw506_with_the_regions_that_have_it() -> None:
    change = only(plan_of(entry(region="US_UTAH_1")))
    assert codes(change) == ["FW506"]
    assert "US_UTAH_1 has no NVIDIA_H100_80GB" in change.reason
    assert "US_IOWA_1" in str(change.blocked_by[0].suggestion)


@pytest.mark.parametrize("region", ["US_IOWA_1", "US", "US_SOMEWHERE_9"])
def test_other_regions_are_not_judged(region: str) -> None:
    assert only(plan_of(entry(region=region))).actions == ("create",)


def test_a_quota_for_the_region_is_better_evidence_than_the_page() -> None:
    quotas = [{"name": "accounts/acme/quotas/h100-us-utah-1", "value": 8}]
    plan = plan_of(entry(region="US_UTAH_1"), Platform(quotas=quotas))
    assert only(plan).actions == ("create",)
    assert check_of(plan, "quota") == [
        (
            "pass",
            (
                "H100 in US_UTAH_1: 2 GPUs at max replicas of everything on the account, "
                "quota h100-us-utah-1 is 8"
            ),
        )
    ]


def test_a_change_of_the_region_alone_is_judged_too() -> None:
    rows = [marked_row(placement={"region": "US_IOWA_1"})]
    own = {"lifecycle.on_immutable_change": "recreate"}
    assert "FW506" in codes(only(plan_of(entry(region="US_UTAH_1", own=own), rows, allow_delete=("chat",))))


def test_quota_counts_everything_on_the_account_running_or_not() -> None:
    others = [row("manual", max_replica_count=60, replica_count=0), row("gone", state="DELETED")]
    change = only(plan_of(entry(replicas__max=5), others))
    assert codes(change) == ["FW507"]
    assert "H100: 65 GPUs at max replicas" in change.reason
    assert "quota global--h100-count is 64" in change.reason
    assert only(plan_of(entry(replicas__max=4), others)).actions == ("create",)


def test_quota_is_not_asked_when_nothing_grows() -> None:
    rows = [marked_row(max_replica_count=90)]
    plan = plan_of(entry(replicas__max=80), rows)
    assert only(plan).actions == ("update",)
    assert check_of(plan, "quota") == []


def test_quota_that_is_not_known_is_said() -> None:
    training = [
        {"name": "accounts/acme/quotas/training-h100-count", "value": 1},
        {"name": "accounts/acme/quotas/monthly-spend-usd", "value": 1},
        {"name": "accounts/acme/quotas/global--h100-count", "value": "many"},
    ]
    assert check_of(plan_of(entry(), Platform(quotas=training)), "quota") == [
        ("unknown", "H100: 2 GPUs at max replicas, quota not known")
    ]
    platform = Platform()
    platform.failing["list_quotas"] = _failure("no permission")
    assert check_of(plan_of(entry(), platform), "quota") == [
        ("unknown", "quotas cannot be read: no permission")
    ]


def _failure(message: str) -> Exception:
    from fwctl.errors import FirectlFailedError

    return FirectlFailedError(message)


@pytest.mark.parametrize(
    ("name", "short"),
    [
        ("NVIDIA_H100_80GB", "h100"),
        ("AMD_MI300X_192GB", "mi300x"),
        ("NVIDIA_GB300", "gb300"),
        ("TPU_V9", "tpu_v9"),
    ],
)
def test_short_names_of_accelerators(name: str, short: str) -> None:
    assert gpu_of(name) == short


def test_a_parked_deployment_frees_its_quota() -> None:
    rows = [row("manual", max_replica_count=64), marked_row(max_replica_count=0, min_replica_count=0)]
    plan = plan_of(entry(replicas__min=0, replicas__max=0), rows)
    assert check_of(plan, "quota") == []


# $8.00 a GPU-hour: 2 deployments x 1 GPU x 1..2 replicas = floor 16, ceiling 32.
TWO = (entry("a"), entry("b"))


@pytest.mark.parametrize(
    ("budget", "expected"),
    [
        ({"floor_usd_per_hour": 16}, ("pass", "floor: $16.00/h, budget $16.00/h")),
        ({"floor_usd_per_hour": 15}, ("fail", "floor: $16.00/h, budget $15.00/h")),
        ({"ceiling_usd_per_hour": 31}, ("fail", "ceiling: $32.00/h, budget $31.00/h")),
        ({"change_usd_per_hour": 31}, ("fail", "change: $32.00/h, budget $31.00/h")),
        ({"change_usd_per_hour": 32}, ("pass", "change: $32.00/h, budget $32.00/h")),
    ],
)
def test_the_budget_limits_floor_ceiling_and_change(
    budget: dict[str, float], expected: tuple[str, str]
) -> None:
    plan = plan_of(spec(*TWO, budget=budget))
    assert check_of(plan, "budget") == [expected]
    assert all(change.blocked == (expected[0] == "fail") for change in plan.changes)


def test_only_what_raises_the_cost_is_blocked() -> None:
    wanted = spec(
        entry("a", replicas__max=9), entry("b", replicas__max=2), budget={"ceiling_usd_per_hour": 50}
    )
    rows = [marked_row("a"), marked_row("b", max_replica_count=3)]
    plan = plan_of(wanted, rows)
    assert blocked(plan) == ["a"]
    assert "budget.ceiling_usd_per_hour" in str(plan.changes[0].blocked_by[0].suggestion)


def test_a_plan_that_lowers_the_cost_passes_above_the_budget() -> None:
    wanted = spec(entry(replicas__max=5), budget={"ceiling_usd_per_hour": 8})
    plan = plan_of(wanted, [marked_row(max_replica_count=9)])
    assert check_of(plan, "budget") == [("pass", "ceiling: $40.00/h, budget $8.00/h")]


def test_an_unknown_price_makes_the_budget_unknown_and_never_zero() -> None:
    shapes = {FAST: [shape_row(f"{FAST}/versions/v1", accelerator_type="NVIDIA_GB999")]}
    wanted = spec(entry(), budget={"ceiling_usd_per_hour": 8, "change_usd_per_hour": 1})
    plan = plan_of(wanted, Platform(shapes=shapes))
    assert check_of(plan, "budget") == [
        ("unknown", "ceiling: a price is not known (chat)"),
        ("unknown", "change: a price is not known (chat)"),
    ]
    assert only(plan).actions == ("create",)


def test_the_evaluation_gate_asks_for_evidence_of_what_changes_the_answers() -> None:
    gate = {"gates.eval": "block"}
    change = only(plan_of(entry(own=gate)))
    assert codes(change) == ["gate_eval"]
    assert "fwctl eval" in str(change.blocked_by[0].suggestion)
    good = Evidence(evaluated={"chat": True})
    assert only(plan_of(entry(own=gate), evidence=good)).actions == ("create",)
    warned = plan_of(entry(own={"gates.eval": "warn"}))
    assert check_of(warned, "gate_eval")[0][0] == "warn"
    assert only(plan_of(entry(replicas__max=3, own=gate), [marked_row()])).actions == ("update",)
    assert check_of(plan_of(entry(own={"gates.eval": "ignore"})), "gate_eval") == []


def test_the_bench_gate_asks_for_a_load_test_at_the_ceiling() -> None:
    gate = {"gates.bench": "block"}
    few = Evidence(tested_replicas={"chat": 2})
    change = only(plan_of(entry(replicas__max=4, own=gate), evidence=few))
    assert codes(change) == ["gate_bench"]
    assert "at 4 replicas (highest tested: 2)" in change.reason
    assert only(plan_of(entry(own=gate), evidence=few)).actions == ("create",)
    assert only(plan_of(entry(display_name="x", own=gate), [marked_row()])).actions == ("update",)
    assert codes(only(plan_of(entry(replicas__max=3, own=gate), [marked_row()]))) == ["gate_bench"]


def test_without_a_lock_file_a_create_says_so_once() -> None:
    plan = plan_of(spec(*TWO))
    assert check_of(plan, "lock") == [
        ("warn", "there is no fwctl.lock: `fwctl lock` records the shape versions")
    ]
    assert check_of(plan_of(spec(*TWO), no_lock=True), "lock") == []
    assert check_of(plan_of(entry(), [marked_row()], lock=LockFile()), "lock") == []


def test_what_could_not_be_read_is_said_as_unknown() -> None:
    platform = Platform()
    platform.failing["list_reservations"] = _failure("no such command")
    assert check_of(plan_of(entry(), platform), "reservations") == [
        ("unknown", "reservations cannot be read: no such command")
    ]


def test_the_account_is_said_and_a_foreign_sign_in_noted() -> None:
    platform = Platform([marked_row()])
    assert check_of(plan_of(entry(), platform), "account") == [
        ("pass", "1 deployment read, all of account acme")
    ]
    platform.whoami = lambda: {"account_id": "personal"}  # type: ignore[method-assign]
    assert check_of(plan_of(entry(), platform), "account")[0][0] == "warn"


def test_a_model_change_is_judged_as_what_it_brings_in() -> None:
    own = {"lifecycle.on_immutable_change": "recreate"}
    wanted = entry(model="accounts/fireworks/models/nothing", without=["shape"], own=own)
    assert "FW501" in codes(only(plan_of(wanted, [marked_row()], allow_delete=("chat",))))
    assert OTHER_MODEL != MODEL
