"""Laws of apply over random specs, random changes and random trouble, on a platform in memory."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from fwctl.planning.model import Plan
from fwctl.spec.model import Deployment, Spec
from tests.applying import world as w
from tests.applying.world import World, entry, spec, values

NAMES = ("a", "b", "c")
CALM = settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.too_slow])
MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None

OPTIONAL = st.fixed_dictionaries(
    {},
    optional={
        "display_name": st.sampled_from(["Chat", "Chat, production"]),
        "description": st.sampled_from(["Serves chat", "[not a marker]"]),
        "tags": st.dictionaries(
            st.sampled_from(["team", "cost", "env"]), st.sampled_from(["x", "y"]), max_size=3
        ),
        "autoscaling.scale_down_window": st.sampled_from(["5m0s", "10m0s"]),
        "autoscaling.load_targets": st.sampled_from([{"default": 0.8}, {"concurrent_requests": 8.0}]),
        "long_prompt": st.booleans(),
        "router": st.sampled_from(["front", "back"]),
    },
)
ADAPTERS = st.sampled_from(
    [
        {},
        {"addons.mode": "multi_lora"},
        {"addons.mode": "multi_lora", "addons.load": ["accounts/acme/models/l"]},
    ]
)
OWN = st.fixed_dictionaries(
    {"lifecycle__on_immutable_change": st.sampled_from(["recreate", "blue_green"])},
)


@st.composite
def deployments(draw: st.DrawFn, name: str) -> Deployment:
    low, more = draw(st.integers(0, 2)), draw(st.integers(0, 2))
    fields = values(draw(st.integers(0, 1)), replicas__min=low, replicas__max=max(1, low + more))
    return entry(name, {**fields, **draw(OPTIONAL), **draw(ADAPTERS)}, **draw(OWN))


@st.composite
def specs(draw: st.DrawFn) -> Spec:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    return spec(*(draw(deployments(name)) for name in sorted(names)))


CHOICES: Mapping[str, Any] = {
    "prune": True,
    "allow_delete": NAMES,
    "allow_scale_down": NAMES,
    "max_deletes": 100,
}


def planned(world: World, wanted: Spec) -> Plan:
    return w.plan(world, wanted, **CHOICES)


def idle(plan: Plan) -> bool:
    return all(change.actions == ("no-op",) for change in plan.changes)


def settled(world: World, wanted: Spec, folder: Path) -> bool:
    """Applies until nothing is left to do; False when the plan is blocked (some changes have no way)."""
    for _ in range(5):
        plan = planned(world, wanted)
        if idle(plan):
            return True
        if any("blocked" in change.actions for change in plan.changes):
            return False
        w.apply(world, plan, wanted, folder)
    raise AssertionError([(change.name, change.actions, change.reason) for change in plan.changes])


@given(wanted=specs(), has_tags=st.booleans())
@CALM
def test_after_an_apply_the_plan_is_empty_and_a_second_apply_makes_no_call(
    wanted: Spec, has_tags: bool
) -> None:
    assume(has_tags or not any("tags" in item.fields for item in wanted.deployments.values()))
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        world = World(has_tags=has_tags)
        plan = planned(world, wanted)
        result = w.apply(world, plan, wanted, Path(folder))
        assert {item.outcome.value for item in result.results} == {"done"}, result
        again = planned(world, wanted)
        assert idle(again), [(c.name, c.actions, c.reason) for c in again.changes]
        calls = list(world.calls)
        w.apply(world, again, wanted, Path(folder))
        assert world.calls == calls


@given(
    before=specs(),
    after=specs(),
    has_tags=st.booleans(),
    troubles=st.dictionaries(
        st.integers(1, 12),
        st.tuples(
            st.sampled_from(["timeout", "unavailable", "unknown", "quota", "already_exists"]), st.booleans()
        ),
        max_size=3,
    ),
    parallelism=st.integers(1, 4),
)
@CALM
def test_trouble_on_the_way_changes_nothing_about_the_end(
    before: Spec,
    after: Spec,
    has_tags: bool,
    troubles: dict[int, tuple[str, bool]],
    parallelism: int,
) -> None:
    with tempfile.TemporaryDirectory(dir=MEMORY) as name:
        folder, start = Path(name), World(has_tags=has_tags)
        if not settled(start, before, folder):
            return
        undisturbed = start.copy()
        if not settled(undisturbed, after, folder):
            return
        world = start.copy()
        world.faults = {
            nth: (kind, effect and kind not in ("quota", "already_exists"))
            for nth, (kind, effect) in troubles.items()
        }
        w.apply(world, planned(world, after), after, folder, parallelism=parallelism)
        world.faults = {}
        assert settled(world, after, folder)
        assert world.state() == undisturbed.state()
