"""What an audit finds, what it costs, and what it leaves alone."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from fwctl.live.normalise import normalise_shape_version
from fwctl.live.reader import read_live
from fwctl.operate.audit import Audit, audit, diagnostics
from fwctl.spec.model import Spec
from tests.planning.support import ACCOUNT, CAPS, FAST, NOW, PRICES, SHAPES, V1, Platform, entry, row, spec

READY = {"replica_stats": {"ready_replica_count": 2}}
OLD = (NOW - timedelta(days=30)).isoformat()


def judged(
    *rows: dict[str, Any], specs: Spec | None = None, requests: dict[str, float] | None = None
) -> Audit:
    live = read_live(Platform(rows), None, CAPS, account=ACCOUNT)
    versions = {FAST: tuple(normalise_shape_version(version) for version in SHAPES[FAST])}
    live = replace(live, shapes=versions)
    return audit(live, specs, PRICES, now=NOW, days=7, requests=requests)


def kinds(found: Audit) -> list[tuple[str, str]]:
    return [(item.kind, item.deployment_id) for item in found.findings]


def test_a_marked_deployment_that_the_specs_list_is_fine() -> None:
    chat = entry("chat")
    pins = {"accelerator.type": "NVIDIA_H100_80GB", "precision": "FP8", "region": "US"}
    listed = spec(replace(chat, fields={**chat.fields, **pins}))
    assert judged(row("chat", description="[fwctl prod/chat]"), specs=listed).findings == ()


def test_pins_that_are_missing_are_named() -> None:
    found = judged(row("chat", description="[fwctl prod/chat]"), specs=spec(entry("chat")))
    assert ("unpinned", "chat") in kinds(found)


def test_an_orphan_may_be_removed_and_a_protected_one_not() -> None:
    rows = (
        row("old", description="[fwctl prod/old]"),
        row("safe", description="[fwctl prod/safe protect=1]"),
        row("theirs", description="[fwctl other/theirs]"),
    )
    found = judged(*rows, specs=spec(entry("chat")))
    assert kinds(found) == [("orphaned", "old"), ("protected-but-removed", "safe")]
    assert found.removable == ("old",)


def test_without_specs_nothing_is_an_orphan() -> None:
    assert kinds(judged(row("old", description="[fwctl prod/old]"))) == []


def test_two_ready_replicas_of_one_h100_at_8_dollars_cost_384_a_day() -> None:
    found = judged(row("x", **READY))
    assert [item.usd_per_day for item in found.findings] == [384.0]
    assert found.total_usd_per_day == 384.0


def test_an_unknown_price_is_unknown_and_not_zero() -> None:
    found = judged(row("x", accelerator_type="NVIDIA_GB900", **READY))
    assert found.findings[0].usd_per_day is None
    assert found.unpriced == ("x",)


@pytest.mark.parametrize(
    ("requests", "created", "idle"),
    [({}, OLD, True), ({"x": 3.0}, OLD, False), (None, OLD, False), ({}, NOW.isoformat(), False)],
)
def test_idle_needs_a_week_without_requests(requests: Any, created: str, idle: bool) -> None:
    found = judged(row("x", create_time=created, **READY), requests=requests)
    assert (("idle", "x") in kinds(found)) is idle


def test_a_parked_deployment_is_not_idle() -> None:
    found = judged(row("x", create_time=OLD, max_replica_count=0), requests={})
    assert ("idle", "x") not in kinds(found)


def test_failed_says_why() -> None:
    failed = row("x", state="FAILED", status={"code": "INTERNAL", "message": "out of memory"})
    assert judged(failed).findings[0].message == "x is FAILED: out of memory"


def test_a_shapeless_one_is_told_with_the_way_out() -> None:
    bare = {key: value for key, value in row("x").items() if key != "deployment_shape"}
    (shapeless,) = [item for item in judged(bare).findings if item.kind == "unshaped"]
    assert "fwctl shapes accounts/fireworks/models/llama-v3p1-8b-instruct" in shapeless.fix


def test_an_experiment_that_outlived_its_end_is_told() -> None:
    found = judged(row("x", description="[fwctl prod/x exp=20261101T0000Z]"), specs=spec(entry("x")))
    assert ("expired", "x") in kinds(found)
    assert found.removable == ()


def test_deleted_ones_are_not_looked_at() -> None:
    assert judged(row("x", state="DELETED")).findings == ()


def test_a_diagnostic_points_to_the_entry() -> None:
    listed = spec(entry("chat"))
    found = judged(row("chat", deployment_shape=V1), specs=listed)
    told = {item.code: item for item in diagnostics(found, listed)}
    assert told["unmanaged"].docs == "docs/audit.md#unmanaged"
    assert told["unpinned"].deployment == "chat"
