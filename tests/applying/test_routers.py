"""Native routers: membership is read before it is written, and never emptied."""

from __future__ import annotations

from dataclasses import replace

from fwctl.applying.model import Outcome
from fwctl.exitcodes import Exit
from fwctl.planning.model import Change, Step
from tests.applying.fakes import Bench, Fault, creating, entry, error, plan, spec, values

ROUTED = values(router="front")


def joining(name: str, verb: str = "router update") -> Change:
    change = creating(name, ROUTED)
    step = Step(verb, "front", {"deployments": [f"accounts/acme/deployments/{name}"]})
    return replace(change, steps=(*change.steps, step))


def behind(bench: Bench, *names: str, strategy: str = "EVEN_LOAD") -> None:
    bench.platform.routers["front"] = {
        "name": "accounts/acme/routers/front",
        "deployments": [f"accounts/acme/deployments/{name}" for name in names],
        "strategy": strategy,
    }


def front(bench: Bench) -> list[str]:
    return [name.rsplit("/", 1)[-1] for name in bench.platform.routers["front"]["deployments"]]


def test_a_router_is_made_once_for_all_deployments_that_want_to_stand_behind_it(bench: Bench) -> None:
    changes = plan(joining("a", "router create"), joining("b"))
    result = bench.apply(changes, spec(entry("a", ROUTED), entry("b", ROUTED)))
    assert bench.called()[-1] == "router create front"
    assert front(bench) == ["a", "b"]
    assert bench.platform.routers["front"]["strategy"] == "weighted-random"
    assert [r.address for r in result.results] == ["deployments/a", "deployments/b", "routers/front"]
    assert result.model_strings["a"]["router"] == "accounts/acme/routers/front"


def test_members_and_strategy_of_a_router_survive(bench: Bench) -> None:
    behind(bench, "other")
    bench.apply(plan(joining("a")), spec(entry("a", ROUTED)))
    assert front(bench) == ["a", "other"]
    assert bench.platform.routers["front"]["strategy"] == "even-load"


def test_a_deployment_that_was_not_created_does_not_stand_behind_the_router(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("quota"))]
    bench.apply(
        plan(joining("a", "router create"), joining("b")),
        spec(entry("a", ROUTED), entry("b", ROUTED)),
        parallelism=1,
    )
    assert front(bench) == ["b"]


def test_a_router_without_any_deployment_is_not_made(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("quota"))]
    result = bench.apply(plan(joining("a", "router create")), spec(entry("a", ROUTED)))
    assert bench.platform.routers == {}
    assert result.results[-1].outcome is Outcome.SKIPPED


def test_a_router_change_without_an_answer_is_read_before_it_is_repeated(bench: Bench) -> None:
    behind(bench, "other", strategy="STRATEGY_UNSPECIFIED")
    bench.platform.faults = [Fault("router update", 1, error("timeout"), effect=True)]
    result = bench.apply(plan(joining("a")), spec(entry("a", ROUTED)))
    assert result.exit_code is Exit.OK
    assert bench.called().count("router update front") == 1
    assert bench.platform.routers["front"]["strategy"] == "weighted-random"
