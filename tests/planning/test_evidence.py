"""Which records of earlier measurements speak for a deployment, and what the gates make of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fwctl.live.model import LiveDeployment
from fwctl.planning.context import Context
from fwctl.planning.evidence import (
    gate_of,
    measured_pool_bytes,
    offline_settings,
    setting_of_live,
    settings_of,
    weigh,
)
from fwctl.planning.locked import wanted_of
from fwctl.planning.model import Change
from fwctl.planning.options import PlanOptions
from fwctl.records.evidence import EvidenceRecord, Stored
from fwctl.records.freshness import Around, Setting
from fwctl.records.lockfile import LockedModel, LockedShape, LockFile
from fwctl.records.resolve import Wanted
from fwctl.spec.model import Evidence, Spec
from tests.planning.support import (
    CAPS,
    FAST,
    MODEL,
    NOW,
    OTHER_MODEL,
    PRICES,
    V1,
    V2,
    Platform,
    check_of,
    codes,
    entry,
    live_of,
    marked_row,
    only,
    plan_of,
    shape_row,
    spec,
)

SETTING = Setting(MODEL, "FP8", V1, "NVIDIA_H100_80GB", 1)
EVAL = EvidenceRecord(
    "eval", MODEL, datetime(2026, 11, 29, tzinfo=UTC), "FP8", V1, "NVIDIA_H100_80GB", 1, passed=True
)
BENCH = replace(EVAL, kind="bench", replicas=2, passed=None)


def stored(*records: EvidenceRecord) -> list[Stored]:
    return [Stored(f"evidence/{item.kind}-{at}.json", item) for at, item in enumerate(records)]


def said_by(*records: EvidenceRecord, setting: Setting = SETTING, **around: Any) -> Evidence:
    return weigh(stored(*records), {"chat": setting}, {"chat": Around(NOW, **around)})


def test_a_passing_evaluation_counts_with_its_file_and_date() -> None:
    found = said_by(EVAL)
    assert found.evaluated == {"chat": True}
    assert found.evaluated_by == {"chat": "evidence/eval-0.json of 2026-11-29"}
    assert found.tested_replicas == {}


def test_a_load_test_counts_up_to_its_replicas() -> None:
    found = said_by(BENCH, replace(BENCH, replicas=4, kind="capacity"), replace(BENCH, replicas=3))
    assert found.tested_replicas == {"chat": 4}
    assert found.tested_by == {"chat": "evidence/capacity-1.json of 2026-11-29"}
    assert found.evaluated == {}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"model": OTHER_MODEL}, None),
        ({"precision": "BF16"}, "the precision was FP8, it is BF16 now"),
        ({"shape_version": V2}, f"the shape version was {V1}, it is {V2} now"),
    ],
)
def test_each_key_makes_both_kinds_stale_with_its_reason(change: dict[str, Any], why: str | None) -> None:
    found = said_by(EVAL, BENCH, setting=replace(SETTING, **change))
    assert (found.evaluated, found.tested_replicas) == ({}, {})
    if why is None:
        assert found.not_evaluated == {}
    else:
        assert found.not_evaluated == {"chat": f"evidence/eval-0.json of 2026-11-29 is stale: {why}"}
        assert found.not_tested == {"chat": f"evidence/bench-1.json of 2026-11-29 is stale: {why}"}


def test_a_record_of_the_same_name_on_another_model_is_told_as_stale() -> None:
    found = said_by(replace(EVAL, deployment="chat"), setting=replace(SETTING, model=OTHER_MODEL))
    assert "the model was" in found.not_evaluated["chat"]


def test_another_prompt_set_or_a_great_age_make_it_stale() -> None:
    suited = replace(BENCH, suite_digest="sha256:a", suite_file="prompts.jsonl")
    assert said_by(suited, suite_digest="sha256:a").tested_replicas == {"chat": 2}
    assert said_by(suited, suite_digest="sha256:b").tested_replicas == {}
    assert said_by(suited, suites={"prompts.jsonl": "sha256:b"}).tested_replicas == {}
    assert said_by(EVAL, max_age=timedelta(hours=35)).evaluated == {}
    assert said_by(EVAL, max_age=timedelta(hours=36)).evaluated == {"chat": True}


def test_the_newest_verdict_on_a_prompt_set_replaces_the_older_ones() -> None:
    failed = replace(EVAL, passed=False)
    assert said_by(failed, EVAL).evaluated == {"chat": True}
    found = said_by(EVAL, failed)
    assert found.evaluated == {"chat": False}
    assert found.not_evaluated == {"chat": "evidence/eval-1.json of 2026-11-29 says that it does not pass"}


def test_an_easy_prompt_set_does_not_hide_that_another_one_failed() -> None:
    failed = replace(EVAL, passed=False, suite_digest="sha256:hard")
    assert said_by(failed, replace(EVAL, suite_digest="sha256:easy")).evaluated == {"chat": False}


def test_an_evaluation_without_a_verdict_says_nothing() -> None:
    assert said_by(replace(EVAL, passed=None)) == said_by()


def test_a_load_test_that_missed_its_objectives_does_not_cover_its_count() -> None:
    found = said_by(BENCH, replace(BENCH, replicas=4, passed=False))
    assert found.tested_replicas == {"chat": 2}
    assert found.not_tested == {
        "chat": "evidence/bench-1.json of 2026-11-29 missed its objectives at 4 replicas"
    }


def test_a_load_test_without_a_count_covers_nothing() -> None:
    assert said_by(replace(BENCH, replicas=None)).tested_replicas == {}


def test_an_experiment_speaks_for_quality_and_load() -> None:
    found = said_by(replace(BENCH, kind="experiment", passed=True, replicas=1))
    assert (found.evaluated, found.tested_replicas) == ({"chat": True}, {"chat": 1})


def test_the_version_of_a_shape_decides_what_a_record_does_not_repeat() -> None:
    bare = replace(EVAL, precision=None, accelerator=None, accelerator_count=None)
    assert said_by(bare).evaluated == {"chat": True}
    assert said_by(bare, setting=replace(SETTING, shape_version=None)).evaluated == {}


LOCK = LockFile(
    shapes={
        FAST: LockedShape(
            V1,
            MODEL,
            "FP8",
            {"precision": "FP8", "accelerator.type": "NVIDIA_H100_80GB", "accelerator.count": 1},
        )
    }
)


def test_offline_the_lock_says_what_a_shape_stands_for() -> None:
    assert offline_settings(spec(entry()), LOCK) == {"chat": SETTING}


def test_offline_without_a_lock_what_the_shape_decides_is_not_known() -> None:
    found = offline_settings(spec(entry(precision="FP8")), None)["chat"]
    assert (found.model, found.precision) == (MODEL, "FP8")
    assert found.unknown == {"shape_version", "accelerator", "accelerator_count"}
    pinned = offline_settings(spec(entry(shape=V2)), None)["chat"]
    assert pinned.shape_version == V2
    assert "shape_version" not in pinned.unknown


def test_offline_without_a_shape_the_spec_says_it_all() -> None:
    bare = entry(without=("shape",), precision="BF16", accelerator__type="NVIDIA_A100_80GB")
    assert offline_settings(spec(bare), None) == {
        "chat": Setting(MODEL, "BF16", None, "NVIDIA_A100_80GB", None)
    }


def context(
    rows: list[dict[str, Any]] | None = None,
    *,
    lock: LockFile | None = None,
    wanted: Spec | None = None,
    **options: Any,
) -> Context:
    wanted = wanted or spec(entry())
    platform = Platform(rows or [], shapes={FAST: [shape_row(V2), shape_row(V1, latest=False)]})
    return Context(wanted, live_of(platform, wanted), CAPS, PlanOptions(**options), PRICES, NOW, lock=lock)


def test_a_deployment_that_runs_is_judged_by_its_version_until_it_moves() -> None:
    running = [marked_row()]
    assert settings_of(context(running))["chat"].shape_version == V1
    assert settings_of(context(running, upgrade_shapes=True))["chat"].shape_version == V2


def test_a_create_is_judged_by_the_locked_or_the_newest_version() -> None:
    assert settings_of(context(lock=LOCK))["chat"] == SETTING
    assert settings_of(context())["chat"] == replace(SETTING, shape_version=V2)


def test_a_create_without_a_shape_is_judged_by_what_the_spec_says() -> None:
    bare = entry(without=("shape",), precision="BF16", accelerator__type="NVIDIA_A100_80GB")
    assert settings_of(context(wanted=spec(bare)))["chat"] == Setting(
        MODEL, "BF16", None, "NVIDIA_A100_80GB", None
    )


def test_what_runs_is_a_setting_too() -> None:
    fields = {
        "model": MODEL,
        "shape": V1,
        "precision": "FP8",
        "accelerator.type": "NVIDIA_H100_80GB",
        "accelerator.count": 1,
    }
    live = LiveDeployment("accounts/acme/deployments/chat", "chat", "acme", "READY", fields)
    assert setting_of_live(live) == SETTING


def test_the_newest_fresh_capacity_test_says_how_large_the_pool_is() -> None:
    first = replace(BENCH, kind="capacity", results={"kv_pool_bytes_per_gpu": 3e10})
    rows = stored(first, replace(first, results={"kv_pool_bytes_per_gpu": 4e10}), replace(first, results={}))
    assert measured_pool_bytes(rows, SETTING, Around(NOW)) == 4e10
    assert measured_pool_bytes(rows, replace(SETTING, precision="BF16"), Around(NOW)) is None


@pytest.mark.parametrize("value", [True, -1, "many", 2**61])
def test_a_pool_that_makes_no_sense_is_not_used(value: object) -> None:
    rows = stored(replace(BENCH, kind="capacity", results={"kv_pool_bytes_per_gpu": value}))
    assert measured_pool_bytes(rows, SETTING, Around(NOW)) is None


BLOCK: Mapping[str, str] = {"gates.eval": "block", "gates.bench": "block"}


TESTED = "evidence/bench-1.json of 2026-11-29"


def test_gates_pass_with_the_file_and_date_that_let_them() -> None:
    plan = plan_of(entry(own=BLOCK), evidence=said_by(EVAL, BENCH))
    assert only(plan).actions == ("create",)
    assert check_of(plan, "gate_eval") == [
        (
            "pass",
            "chat has passing, fresh evaluation evidence: evidence/eval-0.json of 2026-11-29",
        )
    ]
    assert check_of(plan, "gate_bench") == [
        ("pass", f"chat has fresh bench evidence at 2 replicas (highest tested: 2): {TESTED}")
    ]


def test_gates_block_with_the_record_that_is_stale_and_the_command_to_run() -> None:
    change = only(
        plan_of(entry(own=BLOCK), evidence=said_by(EVAL, BENCH, setting=replace(SETTING, precision="FP4")))
    )
    assert codes(change) == ["gate_eval", "gate_bench"]
    first, second = change.blocked_by
    assert "is stale: the precision was FP8, it is FP4 now" in first.message
    assert "`fwctl eval compare BASE CANDIDATE --deployment chat`" in str(first.suggestion)
    assert "`fwctl bench capacity chat`" in str(second.suggestion)


def live_row(**fields: Any) -> LiveDeployment:
    return LiveDeployment("accounts/acme/deployments/chat-2", "chat-2", "acme", "READY", fields)


CHANGE = Change(
    "chat", "chat", ("create", "delete"), desired={"model": MODEL, "shape": V1, "precision": "FP8"}
)
GATED = spec(entry(own={"gates.eval": "block"}))


def test_the_new_one_of_a_replacement_takes_over_when_the_evaluation_is_of_what_it_runs() -> None:
    gate = gate_of(GATED, said_by(EVAL))
    assert gate(CHANGE, live_row(model=MODEL, shape=V1, precision="FP8")) == ()
    assert gate(CHANGE, live_row(model=MODEL, shape=V1, precision="FP4")) == (
        "the evaluation is of precision FP8, it runs FP4",
    )
    assert gate(CHANGE, live_row(model=MODEL, shape=V2)) == (
        f"the evaluation is of shape {V1}, it runs {V2}",
    )


def test_the_new_one_does_not_take_over_without_an_evaluation_where_the_gate_blocks() -> None:
    live = live_row(model=MODEL, shape=V1)
    assert gate_of(GATED, Evidence())(CHANGE, live) == ("no fresh evaluation passes",)
    stale = gate_of(GATED, said_by(EVAL, setting=replace(SETTING, precision="FP4")))
    assert "is stale: the precision" in stale(CHANGE, live)[0]
    assert gate_of(spec(entry()), Evidence())(CHANGE, live) == ()
    assert gate_of(spec(entry("other")), Evidence())(CHANGE, live) == ()


def test_a_silent_change_upstream_is_a_difference_of_the_plan() -> None:
    shapes = {FAST: [shape_row(V1, precision="FP4")]}
    models = {MODEL: {"name": MODEL, "kind": "HF_BASE_MODEL", "context_length": 65536}}
    snapshot = {**LOCK.shapes[FAST].snapshot, "max_context_length": 131072}
    lock = replace(
        LOCK,
        shapes={FAST: replace(LOCK.shapes[FAST], snapshot=snapshot)},
        models={MODEL: LockedModel(context_length=131072)},
    )
    plan = plan_of(entry(), Platform(shapes=shapes, models=models), lock=lock)
    assert check_of(plan, "upstream") == [
        ("warn", f"{MODEL} has changed (context_length: 131072 -> 65536)"),
        ("warn", f"{V1} has changed (precision: FP8 -> FP4)"),
    ]
    same = plan_of(entry(), Platform(shapes=shapes, models=models), lock=lock, no_lock=True)
    assert check_of(same, "upstream") == []


def test_the_draft_model_of_a_spec_is_wanted_in_the_lock_too() -> None:
    wanted = spec(entry(speculation__draft_model="own-draft"))
    assert wanted_of(wanted) == [
        Wanted("chat", FAST, MODEL),
        Wanted("chat", "none", "accounts/acme/models/own-draft"),
    ]
