"""From live facts to a lock and back to what no longer holds."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fwctl.live.model import LiveModel, LiveState, ShapeVersion
from fwctl.records.lockfile import LockedModel, LockFile
from fwctl.records.resolve import Wanted, check, current_version, find_version, resolve, upstream

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"


def version(name: str, *, validated: bool = True, latest: bool = False, count: int = 1) -> ShapeVersion:
    return ShapeVersion(
        name=f"{SHAPE}/versions/{name}",
        shape=SHAPE,
        version=name,
        validated=validated,
        latest_validated=latest,
        base_model=MODEL,
        preset="FAST",
        snapshot={"accelerator.count": count, "precision": "FP8"},
    )


OLD, NEW = version("old"), version("new", latest=True, count=2)
WANTED = Wanted("chat", SHAPE, MODEL)


def live(*versions: ShapeVersion, **extra: object) -> LiveState:
    model = LiveModel(MODEL, "HF_BASE_MODEL", parameter_count=8_030_261_248, context_length=131072)
    state = LiveState("acme", shapes={SHAPE: versions or None}, models={MODEL: model, "gone": None})
    return replace(state, **extra)  # type: ignore[arg-type]


def locked(*versions: ShapeVersion) -> LockFile:
    lock, _ = resolve([WANTED], live(*versions), old=None, upgrade=False, prices_date=None)
    return lock


def test_the_latest_validated_version_is_locked_with_its_snapshot() -> None:
    lock, problems = resolve([WANTED], live(OLD, NEW), old=None, upgrade=False, prices_date="2026-11-30")
    assert problems == ()
    entry = lock.shapes[SHAPE]
    assert (entry.version, entry.model, entry.precision) == (NEW.name, MODEL, "FP8")
    assert entry.snapshot == {"accelerator.count": 2, "precision": "FP8"}
    assert lock.models == {MODEL: LockedModel(None, 8_030_261_248, 131072, None)}
    assert lock.prices_date == "2026-11-30"


def test_an_entry_stays_until_an_upgrade_is_asked_for() -> None:
    before = locked(replace(OLD, latest_validated=True))
    kept, _ = resolve([WANTED], live(OLD, NEW), old=before, upgrade=False, prices_date=None)
    assert kept.shapes[SHAPE].version == OLD.name
    moved, _ = resolve([WANTED], live(OLD, NEW), old=before, upgrade=True, prices_date=None)
    assert moved.shapes[SHAPE].version == NEW.name


@pytest.mark.parametrize("state", [live(NEW), live(replace(OLD, validated=False), NEW)])
def test_an_entry_that_no_longer_holds_is_resolved_anew(state: LiveState) -> None:
    lock, problems = resolve([WANTED], state, old=locked(OLD), upgrade=False, prices_date=None)
    assert (lock.shapes[SHAPE].version, problems) == (NEW.name, ())


def test_a_shape_without_a_validated_version_is_named() -> None:
    lock, problems = resolve(
        [WANTED], live(replace(OLD, validated=False)), old=None, upgrade=False, prices_date=None
    )
    assert lock.shapes == {}
    assert [(p.deployment, p.code) for p in problems] == [("chat", "unresolved")]


def test_a_preset_resolves_through_match_and_a_pinned_version_to_itself() -> None:
    slow = replace(version("slow"), preset="THROUGHPUT")
    state = live(OLD, NEW, matches={MODEL: (slow, NEW)})
    assert current_version("fast", MODEL, state) is NEW
    assert current_version("throughput", MODEL, state) is slow
    assert current_version("minimal", MODEL, state) is None
    assert current_version("default", MODEL, state) is NEW
    assert current_version(OLD.name, MODEL, live(OLD, shapes={OLD.name: (OLD,)})) is OLD
    assert current_version(OLD.name, MODEL, live()) is None


def test_a_version_is_found_wherever_it_was_read() -> None:
    assert find_version(NEW.name, live(OLD, matches={MODEL: (NEW,)})) is NEW
    assert find_version("nowhere", live(OLD)) is None


def test_no_shape_and_an_unknown_model_leave_no_entry() -> None:
    lock, problems = resolve(
        [Wanted("raw", "none", "gone")], live(OLD), old=None, upgrade=False, prices_date=None
    )
    assert (lock.shapes, lock.models, problems) == ({}, {}, ())


def test_a_lock_that_holds_has_no_problem() -> None:
    assert check(locked(NEW), [WANTED, Wanted("raw", "none", MODEL)], live(OLD, NEW)) == ()


@pytest.mark.parametrize(
    ("lock", "state", "code", "says"),
    [
        (None, live(NEW), "missing", "not in the lock"),
        (LockFile(), live(NEW), "missing", "not in the lock"),
        (locked(OLD), live(NEW), "gone", "no longer exists"),
        (locked(OLD), live(replace(OLD, validated=False), NEW), "not_validated", "no longer validated"),
        (locked(OLD), live(OLD, NEW), "moved", "accelerator.count: 1 -> 2"),
        (locked(OLD), live(OLD, version("twin", latest=True)), "moved", "the same snapshot"),
    ],
)
def test_what_no_longer_holds_is_said(lock: LockFile | None, state: LiveState, code: str, says: str) -> None:
    (problem,) = check(lock, [WANTED], state)
    assert problem.code == code
    assert says in problem.message


def test_a_lock_whose_shape_has_no_current_version_any_more_still_holds() -> None:
    only_match = live(shapes={}, matches={MODEL: (OLD,)})
    assert check(locked(OLD), [WANTED], only_match) == ()


def test_a_version_that_changed_under_its_name_is_told_with_both_values() -> None:
    quiet = replace(NEW, snapshot={**NEW.snapshot, "precision": "FP4"})
    (found,) = check(locked(NEW), [WANTED], live(quiet))
    assert (found.deployment, found.code) == ("chat", "changed")
    assert found.message == f"{NEW.name} has changed (precision: FP8 -> FP4)"


def test_a_list_in_a_snapshot_is_equal_to_the_same_tuple() -> None:
    listed = replace(NEW, snapshot={**NEW.snapshot, "tags": ["a"]})
    tupled = replace(NEW, snapshot={**NEW.snapshot, "tags": ("a",)})
    assert check(locked(listed), [WANTED], live(tupled)) == ()


def test_a_model_that_changed_upstream_is_told_and_new_facts_about_it_are_not() -> None:
    said = LiveModel(MODEL, "HF_BASE_MODEL", 8_030_261_248, 65_536, default_precision="FP8")
    (found,) = check(locked(NEW), [WANTED], live(NEW, models={MODEL: said}))
    assert found.code == "changed"
    assert found.message == f"{MODEL} has changed (context_length: 131072 -> 65536)"
    assert check(None, [replace(WANTED, shape="none")], live(NEW)) == ()


def test_only_what_others_did_counts_as_upstream() -> None:
    assert [found.code for found in upstream(locked(OLD), [WANTED], live(OLD, NEW))] == ["moved"]
    assert upstream(locked(OLD), [WANTED], live(NEW)) == ()  # gone: the shape check blocks that
