"""Plan and apply against the simulator; where processes matter, each call is a real child."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fwctl.applying.model import ApplyResult, Outcome, Verify
from fwctl.exitcodes import Exit
from fwctl.planning.model import Plan
from fwctl.redact import Secret
from fwctl.spec.model import Spec
from tests.contract.apply_support import (
    BF16,
    MODEL,
    OTHER_MODEL,
    OTHER_SHAPE,
    Cell,
    entry,
    serving,
    spec,
    values,
)


@pytest.fixture
def cell(tmp_path: Path) -> Cell:
    return Cell(tmp_path / "cell")


def actions(planned: Plan) -> list[tuple[str, ...]]:
    return [change.actions for change in planned.changes]


def outcomes(result: ApplyResult) -> list[Outcome]:
    return [item.outcome for item in result.results]


@pytest.mark.parametrize(
    ("profile", "children"), [("2025", False), ("2026-07", False), ("latest", True), ("hostile", True)]
)
def test_after_an_apply_the_plan_is_empty_and_a_second_apply_makes_no_call(
    cell: Cell, profile: str, children: bool
) -> None:
    cell.children = children
    cell.environ["FIRECTL_SIM_PROFILE"] = profile
    wanted = spec(entry("a"), entry("b", values(replicas__max=3, display_name="Chat, b")))
    result = cell.apply(wanted)
    assert outcomes(result) == [Outcome.DONE, Outcome.DONE], result
    assert actions(cell.plan(wanted)) == [("no-op",), ("no-op",)]
    again = cell.apply(wanted)
    assert (again.results, again.exit_code, again.changed) == ((), Exit.OK, False)


def test_an_update_changes_what_the_spec_changes(cell: Cell) -> None:
    cell.apply(spec(entry("a", values(tags={"team": "search"}))))
    wanted = spec(
        entry("a", values(replicas__max=2, autoscaling__scale_down_window="5m0s", tags={"team": "ads"}))
    )
    assert outcomes(cell.apply(wanted)) == [Outcome.DONE]
    assert actions(cell.plan(wanted)) == [("no-op",)]
    row = cell.state()["a"]
    assert row["max_replica_count"] == 2
    assert row["annotations"]["custom/team"] == "ads"


def test_what_left_the_spec_is_deleted_when_pruning(cell: Cell) -> None:
    cell.apply(spec(entry("a"), entry("b")))
    left = spec(entry("a"))
    result = cell.apply(left, plan_options={"prune": True, "allow_delete": ("b",)})
    assert [(r.name, r.outcome) for r in result.results] == [("b", Outcome.DONE)]
    assert list(cell.state()) == ["a"]


def test_a_recreate_replaces_the_model_under_the_same_id(cell: Cell) -> None:
    cell.apply(spec(entry("a")))
    own = {"lifecycle.on_immutable_change": "recreate"}
    wanted = spec(entry("a", values(model=OTHER_MODEL, shape=OTHER_SHAPE), **own))
    assert outcomes(cell.apply(wanted)) == [Outcome.DONE]
    assert cell.state()["a"]["base_model"] == OTHER_MODEL
    assert actions(cell.plan(wanted)) == [("no-op",)]


def test_adapters_are_loaded_and_taken_off(cell: Cell) -> None:
    lora = "accounts/acme/models/support-lora"
    fields = values(shape=BF16, addons__mode="multi_lora", region=None)
    wanted = spec(entry("a", {**fields, "addons.load": [lora]}))
    result = cell.apply(wanted)
    assert outcomes(result) == [Outcome.DONE], result
    assert result.model_strings["a"]["addons"] == {lora: f"{lora}#accounts/acme/deployments/a"}
    assert actions(cell.plan(wanted)) == [("no-op",)]
    without = spec(entry("a", {**fields, "addons.load": []}))
    assert outcomes(cell.apply(without)) == [Outcome.DONE]
    assert actions(cell.plan(without)) == [("no-op",)]


def test_deployments_stand_behind_their_router(cell: Cell) -> None:
    wanted = spec(entry("a", values(router="front")), entry("b", values(router="front")))
    result = cell.apply(wanted)
    assert outcomes(result) == [Outcome.DONE] * 3, result
    (row,) = json.loads(cell.sim("router", "list", "-a", "acme", "-o", "json"))
    assert sorted(row["deployments"]) == [f"accounts/acme/deployments/{name}" for name in ("a", "b")]
    assert actions(cell.plan(wanted)) == [("no-op",), ("no-op",)]


@pytest.fixture
def endpoint() -> Iterator[str]:
    with serving(refusals=2) as address:
        yield address


def test_verification_asks_until_an_endpoint_answers(cell: Cell, endpoint: str) -> None:
    cell.environ["FIREWORKS_BASE_URL"] = endpoint
    assert outcomes(cell.apply(spec(entry("a")), verify=Verify.REQUEST)) == [Outcome.DONE]


def test_a_blue_green_replacement_ends_with_one_deployment(cell: Cell, endpoint: str) -> None:
    cell.environ["FIREWORKS_BASE_URL"] = endpoint
    cell.apply(spec(entry("a")))
    own = {"lifecycle.on_immutable_change": "blue_green"}
    wanted = spec(entry("a", values(model=OTHER_MODEL, shape=OTHER_SHAPE), **own))
    result = cell.apply(wanted)
    assert outcomes(result) == [Outcome.DONE], result
    (key,) = cell.state()
    assert key.startswith("a-")
    assert result.model_strings["a"]["base"] == f"accounts/acme/deployments/{key}"
    assert actions(cell.plan(wanted)) == [("no-op",)]


def test_an_id_that_a_deleted_deployment_holds_is_purged_only_on_purpose(cell: Cell) -> None:
    wanted = spec(entry("a"))
    cell.apply(wanted)
    cell.sim("deployment", "delete", "a", "-a", "acme")
    assert cell.state() == {}
    result = cell.apply(wanted)
    assert (outcomes(result), result.exit_code) == ([Outcome.SKIPPED], Exit.REFUSED)
    result = cell.apply(spec(entry("a", lifecycle__reuse_deleted_id="hard_delete")))
    assert outcomes(result) == [Outcome.DONE], result
    assert cell.state()["a"]["base_model"] == MODEL


def test_two_machines_that_apply_at_once_make_one_of_each(cell: Cell, tmp_path: Path) -> None:
    other = Cell(tmp_path / "other", {"FIRECTL_SIM_HOME": cell.environ["FIRECTL_SIM_HOME"]}, children=True)
    cell.children = True
    wanted = spec(entry("a"), entry("b"), entry("c"))
    plans = [cell.plan(wanted), other.plan(wanted)]
    with ThreadPoolExecutor(2) as pool:
        runs = [pool.submit(one.apply, wanted, made) for one, made in zip((cell, other), plans, strict=True)]
        results = [run.result() for run in runs]
    assert [outcomes(result) for result in results] == [[Outcome.DONE] * 3] * 2, results
    notes = [item.note for result in results for item in result.results]
    assert notes.count("done by another run") == 3
    assert sorted(cell.state()) == ["a", "b", "c"]
    assert actions(cell.plan(wanted)) == [("no-op",)] * 3


def test_an_update_planned_on_another_machine_is_refused_when_it_is_stale(cell: Cell, tmp_path: Path) -> None:
    other = Cell(tmp_path / "other", {"FIRECTL_SIM_HOME": cell.environ["FIRECTL_SIM_HOME"]})
    cell.apply(spec(entry("a")))
    ours, theirs = spec(entry("a", values(replicas__max=2))), spec(entry("a", values(replicas__max=3)))
    stale = other.plan(theirs)
    cell.apply(ours)
    result = other.apply(theirs, stale)
    assert (result.exit_code, result.changed) == (Exit.STALE_PLAN, False)
    assert cell.state()["a"]["max_replica_count"] == 2


def test_a_secret_reaches_the_platform_and_nothing_else(cell: Cell) -> None:
    def keyed(value: str) -> Spec:
        keys = [Secret("${env:KEY}", value)]
        fields = {"direct_route.type": "INTERNET", "direct_route.api_keys": keys}
        return spec(entry("a", {**values(region="US_IOWA_1"), **fields}))

    cell.children = True
    assert outcomes(cell.apply(keyed("canary-key-one"))) == [Outcome.DONE]
    assert actions(cell.plan(keyed("canary-key-one"))) == [("no-op",)]
    result = cell.apply(keyed("canary-key-two"))
    assert outcomes(result) == [Outcome.DONE]
    assert len(cell.state()["a"]["direct_route_api_keys"]) == 1
    told = json.dumps([result.to_json(), [dict(event) for event in cell.events]])
    files = [path for path in cell.folder.rglob("*") if path.is_file() and "state.db" not in path.name]
    assert "canary" not in told
    assert [path for path in files if b"canary" in path.read_bytes()] == []
