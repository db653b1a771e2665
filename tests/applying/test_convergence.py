"""A run that dies anywhere, or gets no answer anywhere, is made good by the next one.

Every crash point of every kind of change, with and without `.fwctl/`: the platform ends up as after an
undisturbed run, with no duplicate.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from fwctl.applying.model import Outcome
from fwctl.spec.model import Deployment, Spec
from tests.applying import world as w
from tests.applying.world import World, entry, spec, values

LORA = "accounts/acme/models/support-lora"
RECREATE: dict[str, Any] = {"lifecycle__on_immutable_change": "recreate"}
BESIDE: dict[str, Any] = {"lifecycle__on_immutable_change": "blue_green"}


@dataclass(frozen=True)
class Story:
    """From one set of specs to another."""

    before: tuple[Deployment, ...]
    after: tuple[Deployment, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    has_tags: bool = True


STORIES = {
    "create": Story((), (entry("a"), entry("b", values(tags={"team": "x"}, description="Chat")))),
    "create without tags": Story((), (entry("a"), entry("b")), has_tags=False),
    "update": Story(
        (entry("a", values(tags={"team": "x", "old": "1"})),),
        (entry("a", values(replicas__max=4, display_name="A", tags={"team": "y"})),),
    ),
    "update without tags": Story((entry("a"),), (entry("a", values(replicas__max=4)),), has_tags=False),
    "park": Story(
        (entry("a"),),
        (entry("a", values(replicas__min=0, replicas__max=0)),),
        {"allow_scale_down": ("a",)},
    ),
    "protect": Story((entry("a"),), (entry("a", lifecycle__prevent_destroy=True),)),
    "prune": Story((entry("a"), entry("b")), (entry("a"),), {"prune": True, "allow_delete": ("b",)}),
    "adapters": Story(
        (entry("a", values(addons__mode="multi_lora", addons__load=["accounts/acme/models/old"])),),
        (entry("a", values(addons__mode="multi_lora", addons__load=[LORA])),),
    ),
    "router": Story((), (entry("a", values(router="front")), entry("b", values(router="front")))),
    "recreate": Story((entry("a", **RECREATE),), (entry("a", values(1), **RECREATE),)),
    "blue-green": Story((entry("a", **BESIDE),), (entry("a", values(1), **BESIDE),)),
    "blue-green without tags": Story(
        (entry("a", **BESIDE),), (entry("a", values(1), **BESIDE),), has_tags=False
    ),
    "blue-green behind a router": Story(
        (entry("a", values(router="front"), **BESIDE), entry("b", values(router="front"))),
        (entry("a", values(1, router="front"), **BESIDE), entry("b", values(router="front"))),
    ),
}


class KilledError(Exception):
    """The run ends here."""


class KillAt:
    """Lets points pass until the nth."""

    def __init__(self, nth: int) -> None:
        self.left = nth
        self.points: list[str] = []

    def __call__(self, point: str) -> None:
        self.points.append(point)
        self.left -= 1
        if self.left == 0:
            raise KilledError(point)


def started(story: Story, folder: Path) -> tuple[World, Spec]:
    world, first = World(has_tags=story.has_tags), spec(*story.before)
    if story.before:
        w.apply(world, w.plan(world, first), first, folder)
    return world, spec(*story.after)


def carry_on(world: World, wanted: Spec, story: Story, folder: Path) -> int:
    """Plans and applies until there is nothing to do; how many runs it took."""
    for runs in range(4):
        planned = w.plan(world, wanted, **story.options)
        if all(change.actions == ("no-op",) for change in planned.changes):
            return runs
        assert not any("blocked" in change.actions for change in planned.changes), planned.changes
        w.apply(world, planned, wanted, folder)
    raise AssertionError(f"no end: {[change.actions for change in planned.changes]}")


def undisturbed(story: Story, folder: Path) -> tuple[World, Spec, dict[str, Any], int, int]:
    """Start, wanted specs, end state, crash points and calls of a run that nothing disturbs."""
    world, wanted = started(story, folder)
    start = world.copy()
    counter = KillAt(0)
    result = w.apply(world, w.plan(world, wanted, **story.options), wanted, folder, counter, parallelism=1)
    assert {item.outcome for item in result.results} == {Outcome.DONE}, result
    end = world.state()
    assert carry_on(world, wanted, story, folder) == 0
    return start, wanted, end, len(counter.points), len(world.calls) - len(start.calls)


@pytest.mark.parametrize("name", STORIES)
def test_a_run_killed_at_any_point_is_made_good_by_the_next(tmp_path: Path, name: str) -> None:
    story = STORIES[name]
    start, wanted, end, points, _ = undisturbed(story, tmp_path)
    assert points > 0
    for nth in range(1, points + 1):
        for keeps_files in (True, False):
            world, folder = start.copy(), tmp_path / f"{nth}-{keeps_files}"
            kill = KillAt(nth)
            with pytest.raises(KilledError):
                w.apply(world, w.plan(world, wanted, **story.options), wanted, folder, kill, parallelism=1)
            if not keeps_files:
                shutil.rmtree(folder / ".fwctl", ignore_errors=True)
            carry_on(world, wanted, story, folder)
            assert world.state() == end, f"{name}: killed at {kill.points[-1]}, files kept: {keeps_files}"


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("error_class", ["timeout", "unavailable", "unknown", "quota"])
def test_a_call_without_an_answer_or_refused_is_made_good(
    tmp_path: Path, name: str, error_class: str
) -> None:
    story = STORIES[name]
    start, wanted, end, _, calls = undisturbed(story, tmp_path)
    for nth in range(1, calls + 1):
        for with_effect in (False, True):
            if error_class == "quota" and with_effect:
                continue  # a clear refusal has no effect
            world = start.copy()
            world.faults = {nth: (error_class, with_effect)}
            planned = w.plan(world, wanted, **story.options)
            w.apply(world, planned, wanted, tmp_path / f"{nth}-{with_effect}", parallelism=1)
            world.faults = {}
            carry_on(world, wanted, story, tmp_path)
            assert world.state() == end, f"{name}: call {nth} ended as {error_class}, effect: {with_effect}"


def test_two_runs_of_one_plan_create_nothing_twice(tmp_path: Path) -> None:
    world, wanted = World(), spec(entry("a"), entry("b"))
    planned = w.plan(world, wanted)
    first = w.apply(world, planned, wanted, tmp_path / "one")
    second = w.apply(world, planned, wanted, tmp_path / "two")
    assert {item.outcome for item in first.results} == {Outcome.DONE}
    assert [(item.outcome, item.note) for item in second.results] == [
        (Outcome.DONE, "done by another run"),
        (Outcome.DONE, "done by another run"),
    ]
    assert sorted(world.rows) == ["a", "b"]
    assert carry_on(world, wanted, STORIES["create"], tmp_path) == 0
