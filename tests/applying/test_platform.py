"""Apply's view of firectl: calls become results, lists become live state, nothing secret is shown."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fwctl.applying.model import ApplyOptions
from fwctl.applying.platform import FirectlPlatform
from fwctl.applying.run import apply, wait
from fwctl.env import Env
from fwctl.errors import AuthError, FirectlMissingError, FwctlError, RefusedError
from fwctl.exitcodes import Exit
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from fwctl.firectl.runner import Runner
from fwctl.planning.model import Change, Plan, Step
from fwctl.records.folderlock import folder_lock
from tests.applying.fakes import FakeClock, creating, deployment, entry, plan, spec, values

Make = Callable[..., tuple[FirectlPlatform, Firectl, Env]]

# A firectl that answers from a folder: `out` is printed, `err` goes to stderr and fails the call.
SCRIPT = """
import pathlib, sys
here = pathlib.Path(__file__).parent
name = "-".join(word for word in sys.argv[1:3])
out, err = here / (name + ".out"), here / (name + ".err")
if err.exists():
    sys.exit("2026/12/01 08:00:00 Failed to execute: " + err.read_text())
print(out.read_text() if out.exists() else "")
"""


@pytest.fixture
def make(tmp_path: Path) -> Iterator[Make]:
    made: list[Firectl] = []
    script = tmp_path / "firectl.py"
    script.write_text(SCRIPT)

    def platform(
        answers: dict[str, Any] | None = None,
        failures: dict[str, str] | None = None,
        command: list[str] | None = None,
        **reads: bool,
    ) -> tuple[FirectlPlatform, Firectl, Env]:
        for name, value in (answers or {}).items():
            (tmp_path / f"{name}.out").write_text(json.dumps(value))
        for name, text in (failures or {}).items():
            (tmp_path / f"{name}.err").write_text(text)
        stream = io.StringIO()
        env = Env({"TMPDIR": str(tmp_path)}, tmp_path, stream, stream, stream, FakeClock())
        runner = Runner(command or [sys.executable, str(script)], "acme", env, 20.0)
        firectl = Firectl(runner, Capabilities("1.8.9"))
        made.append(firectl)
        return FirectlPlatform(firectl, env, **{"addons": False, "routers": False, **reads}), firectl, env

    yield platform
    for firectl in made:
        firectl.close()


def row(name: str, account: str = "acme", **extra: Any) -> dict[str, Any]:
    stats = {"ready_replica_count": 1}
    base = {"name": f"accounts/{account}/deployments/{name}", "state": "READY", "replica_stats": stats}
    return {**base, "min_replica_count": 1, "max_replica_count": 2, **extra}


def test_a_call_that_succeeds_carries_its_words(make: Make) -> None:
    platform, _, _ = make()
    result = platform.call(Step("deployment delete", "chat"))
    assert result.ok
    assert result.argv[:3] == ("deployment", "delete", "chat")
    assert platform.argv(Step("deployment delete", "chat"))[:4] == ("firectl", "deployment", "delete", "chat")


def test_a_call_that_fails_carries_its_class_and_the_next_steps(make: Make) -> None:
    text = "error deleting: rpc error: code = FailedPrecondition desc = deployment has received inference "
    platform, _, _ = make(failures={"deployment-delete": text + "requests in the last hour"})
    result = platform.call(Step("deployment delete", "chat"))
    assert result.error_class == "recent_traffic"
    assert any("--allow-traffic-loss" in step for step in result.next_steps)


def test_a_call_that_cannot_be_built_is_shown_by_its_verb_and_said_when_made(make: Make) -> None:
    platform, _, _ = make()
    step = Step("deployment tag set", "chat", {"nonsense": 1})
    assert platform.argv(step) == ("firectl", "deployment", "tag", "set", "chat")
    with pytest.raises(FwctlError):
        platform.call(step)


def test_a_missing_firectl_is_said_as_such_and_exits_6(make: Make, tmp_path: Path) -> None:
    _, firectl, env = make(command=[str(tmp_path / "nowhere")])
    with pytest.raises(FirectlMissingError):
        FirectlPlatform(firectl, env, addons=False, routers=False).call(Step("deployment delete", "chat"))
    options = ApplyOptions(folder=tmp_path / ".fwctl")
    ignore: Any = lambda event: None  # noqa: E731
    result = apply(
        plan(creating("a")), spec=spec(entry("a")), firectl=firectl, env=env, options=options, on_event=ignore
    )
    assert (result.exit_code, result.changed) == (Exit.FIRECTL, False)
    assert result.results[0].problem is not None
    assert result.results[0].problem.code == "firectl_missing"


def test_a_read_keeps_the_living_one_of_two_with_one_id(make: Make) -> None:
    rows = [row("a", state="DELETED"), row("a"), row("b"), row("b", state="DELETED")]
    platform, _, _ = make({"deployment-list": rows})
    live = platform.read()
    assert {key: item.state for key, item in live.deployments.items()} == {"a": "READY", "b": "READY"}
    assert (live.loaded_addons, live.routers) == ({}, {})


def test_adapters_and_routers_are_read_when_the_run_is_about_them(make: Make) -> None:
    models = [
        {"model": "accounts/acme/models/l", "deployment": "accounts/acme/deployments/a", "state": "DEPLOYED"},
        {
            "model": "accounts/acme/models/m",
            "deployment": "accounts/acme/deployments/a",
            "state": "UNDEPLOYING",
        },
    ]
    routers = [{"name": "accounts/acme/routers/front", "deployments": []}]
    answers = {"deployment-list": [row("a")], "deployed-model-list": models, "router-list": routers}
    platform, _, _ = make(answers, addons=True, routers=True)
    live = platform.read()
    assert live.loaded_addons == {"a": ("accounts/acme/models/l",)}
    assert list(live.routers) == ["front"]


def test_an_answer_from_another_account_stops_everything(make: Make) -> None:
    platform, _, _ = make({"deployment-list": [row("a", account="other")]})
    with pytest.raises(AuthError, match="asked for account 'acme'"):
        platform.read()


def test_an_answer_needs_a_key(make: Make) -> None:
    platform, _, _ = make()
    assert not platform.ask("accounts/acme/deployments/a").ok


def test_waiting_changes_nothing_and_needs_no_lock(make: Make, tmp_path: Path) -> None:
    _, firectl, env = make({"deployment-list": [row("a")]})
    options = ApplyOptions(folder=tmp_path / ".fwctl")
    events: list[Any] = []
    with folder_lock(options.folder / "apply.lock", env.clock, "fwctl apply"):
        result = wait(
            {"chat": "a"}, spec=spec(), firectl=firectl, env=env, options=options, on_event=events.append
        )
    assert [(item.name, item.deployment_id, item.outcome.value) for item in result.results] == [
        ("chat", "a", "done")
    ]
    assert (result.changed, result.exit_code, firectl.runner.calls) == (False, Exit.OK, 1)
    assert events[0]["command"] == "wait"


def test_a_second_apply_in_one_folder_is_refused(make: Make, tmp_path: Path) -> None:
    _, firectl, env = make()
    options = ApplyOptions(folder=tmp_path / ".fwctl")
    empty = Plan("acme", "prod", (), "")
    ignore: Any = lambda event: None  # noqa: E731
    with (
        folder_lock(options.folder / "apply.lock", env.clock, "fwctl apply"),
        pytest.raises(RefusedError, match="`fwctl apply` cannot begin while another works in this folder"),
    ):
        apply(empty, spec=spec(), firectl=firectl, env=env, options=options, on_event=ignore)


@pytest.mark.parametrize(("before", "says"), [(None, None), ("deployments: {}", "cannot be written")])
def test_the_model_strings_are_kept_in_a_file(
    make: Make, tmp_path: Path, before: str | None, says: str | None
) -> None:
    _, firectl, env = make()
    path = tmp_path / "models.json"
    if before:
        path.write_text(before)
    wanted = replace(spec(entry("a")), settings={"outputs": "models.json"})
    idle = Change("a", "a-x7q2", ("no-op",), live=deployment("a-x7q2", values()))
    options = ApplyOptions(folder=tmp_path / ".fwctl")
    ignore: Any = lambda event: None  # noqa: E731
    result = apply(plan(idle), spec=wanted, firectl=firectl, env=env, options=options, on_event=ignore)
    base = "accounts/acme/deployments/a-x7q2"
    if says is None:
        assert json.loads(path.read_text())["models"]["a"]["base"] == base
        assert result.notes == ()
    else:
        assert path.read_text() == before
        assert says in result.notes[0]
    assert result.exit_code is Exit.OK
