"""The firectl room against the simulator: every call a real child, under every profile and fault."""

from __future__ import annotations

import functools
import io
import os
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fwctl.env import Env
from fwctl.errors import FwctlError
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from fwctl.firectl.retry import RetryPolicy
from fwctl.process import Graces, run
from fwctl.redact import Secret
from tests.contract import near_simulator

ROOT = Path(__file__).parents[2]
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
FAST = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
BF16 = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-bf16"
LORA = "accounts/acme/models/support-lora"
FIELDS = {"model": MODEL, "shape": FAST, "region": "US", "replicas.min": 1, "replicas.max": 1}
PROFILES = ["2025", "2026-07", "latest", "hostile"]
GRACES = Graces(0.3, 0.3, 0.2)


@dataclass
class Bench:
    """One simulator state and a client for it."""

    environ: dict[str, str]
    firectl: Firectl

    def sim(self, *words: str) -> str:
        done = run(
            [sys.executable, "-m", "fwctl.simulator", *words], env=self.environ, deadline_s=30, cwd=ROOT
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def create(self, deployment_id: str = "chat", **extra: Any) -> None:
        outcome = self.firectl.perform("deployment create", deployment_id, {**FIELDS, **extra})
        assert outcome.ok, outcome.message

    def row(self, deployment_id: str = "chat") -> dict[str, Any]:
        found = [row for row in self.firectl.list_deployments() if row["name"].endswith(f"/{deployment_id}")]
        assert len(found) == 1
        return found[0]


def bench(tmp_path: Path, *, auth: str = "env", timeout_s: float = 30.0, **variables: str) -> Bench:
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_RUNTIME_DIR": str(tmp_path),
        "FIREWORKS_API_KEY": "fw_test",
        "FIRECTL_SIM_HOME": str(tmp_path / "sim"),
        **variables,
    }
    profile = environ.get("FIRECTL_SIM_PROFILE", "latest")
    env = Env(environ, ROOT, io.StringIO(), io.StringIO(), io.StringIO())
    firectl = Firectl.open(env, account="acme", option="sim", auth=auth, timeout_s=timeout_s)
    firectl.runner.graces = GRACES
    quick = RetryPolicy(first_s=0.01, longest_s=0.01)
    return Bench(environ, Firectl(firectl.runner, capabilities_of(profile), retry=quick))


@functools.cache
def capabilities_of(profile: str) -> Capabilities:
    """What the simulator's build of a profile can do; asked once a run, because it is six calls."""
    with tempfile.TemporaryDirectory() as folder:
        environ = {
            "PATH": os.environ.get("PATH", ""),
            "FIRECTL_SIM_HOME": folder,
            "FIRECTL_SIM_PROFILE": profile,
            "XDG_RUNTIME_DIR": folder,
        }
        env = Env(environ, ROOT, io.StringIO(), io.StringIO(), io.StringIO())
        return Firectl.open(env, account="acme", option="sim").capabilities


@pytest.fixture(params=PROFILES)
def any_profile(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Bench]:
    made = bench(tmp_path, auth="file", FIRECTL_SIM_PROFILE=request.param)
    yield made
    made.firectl.close()
    left = [path for path in tmp_path.glob(f"fwctl-{os.getuid()}/**/*") if path.is_file()]
    assert left == []


@pytest.fixture
def latest(tmp_path: Path) -> Bench:
    return bench(tmp_path)


def test_a_deployment_goes_through_its_life_under_every_profile(any_profile: Bench):
    firectl = any_profile.firectl
    assert firectl.list_deployments() == []
    any_profile.create(
        description="a 'b' \"c\" $d\nsecond line",
        **{"autoscaling.load_targets": {"default": 0.8}, "autoscaling.scale_down_window": "5m0s"},
    )
    row = any_profile.row()
    assert row["base_model"] == MODEL
    assert row["deployment_shape"].startswith(f"{FAST}/versions/")
    assert row["description"] == "a 'b' \"c\" $d\nsecond line"
    assert row["autoscaling_policy"]["load_targets"] == {"default": 0.8}
    assert row["autoscaling_policy"]["scale_down_window"] == "300s"
    assert row["placement"]["multi_region"] == "US"
    again = firectl.perform("deployment create", "chat", FIELDS)
    assert again.error_class == "already_exists"
    assert firectl.perform("deployment delete", "chat", {"ignore_checks": True}).ok
    assert any_profile.row()["state"] in ("DELETING", "DELETED")
    assert firectl.perform("deployment create", "chat", FIELDS).error_class == "already_exists"


def test_every_read_answers_under_every_profile(any_profile: Bench):
    firectl = any_profile.firectl
    assert firectl.whoami()["account_id"] == "acme"
    assert firectl.get_model(MODEL)["name"] == MODEL
    assert {row["snapshot"]["base_model"] for row in firectl.list_shape_versions(FAST)} == {MODEL}
    assert firectl.list_quotas()
    for read in (firectl.list_routers, firectl.list_reservations, firectl.list_deployed_models):
        assert read() == []
    if firectl.capabilities.has_match:
        assert FAST in {row["snapshot"]["name"] for row in firectl.match_shapes(MODEL)}


@pytest.mark.parametrize(
    ("profile", "version", "abilities"),
    [
        ("2025", "1.7.16", (False, False, True, False)),
        ("2026-07", "1.7.25", (False, False, True, False)),
        ("latest", "1.8.9", (True, True, True, True)),
        ("hostile", "1.8.9", (True, True, False, True)),
    ],
)
def test_the_abilities_of_each_build_are_read_off_its_help_pages(profile, version, abilities):
    caps = capabilities_of(profile)
    assert caps.version == version
    assert (caps.has_tags, caps.has_match, caps.update_file, caps.update_region) == abilities


def test_what_does_not_exist_is_not_found_under_every_profile(any_profile: Bench):
    with pytest.raises(FwctlError) as caught:
        any_profile.firectl.get_model("accounts/fireworks/models/no-such-model")
    assert caught.value.error_class == "not_found"
    with pytest.raises(FwctlError) as caught:
        any_profile.firectl.get_deployment("no-such-deployment")
    assert caught.value.error_class == "not_found"
    outcome = any_profile.firectl.perform("deployment update", "no-such-deployment", {"replicas.min": 1})
    assert outcome.error_class == "not_found"


def test_a_secret_travels_by_file_and_comes_back_masked(latest: Bench):
    latest.create(
        **{
            "region": "US_VIRGINIA_1",
            "direct_route.type": "INTERNET",
            "direct_route.api_keys": [Secret("${env:K}", "hunter22-key")],
        }
    )
    assert latest.row()["direct_route_api_keys"] == ["***"]


def test_updates_change_what_they_name_and_nothing_else(latest: Bench):
    latest.create(display_name="before", description="stays")
    outcome = latest.firectl.perform(
        "deployment update", "chat", {"display_name": "after", "replicas.max": 2}
    )
    assert outcome.ok, outcome.message
    row = latest.row()
    assert (row["display_name"], row["description"], row["max_replica_count"]) == ("after", "stays", 2)


def test_fields_without_a_flag_are_updated_by_file_where_the_build_can(latest: Bench):
    latest.create()
    assert latest.firectl.capabilities.update_file
    schedule = {"cron": "0 8 * * 1-5", "timezone": "UTC", "duration": "1h0m0s", "min_replicas": 1}
    outcome = latest.firectl.perform(
        "deployment update", "chat", {"replicas.max_concurrency": 8, "autoscaling.schedules": [schedule]}
    )
    assert outcome.ok, outcome.message
    row = latest.row()
    assert row["max_concurrency_per_replica"] == 8
    assert row["scaling_schedules"][0]["duration"] == "3600s"


def test_schedules_can_be_created(latest: Bench):
    schedule = {"cron": "0 8 * * 1-5", "timezone": "UTC", "duration": "1h0m0s", "min_replicas": 1}
    latest.create(**{"autoscaling.schedules": [schedule]})
    assert latest.row()["scaling_schedules"][0]["schedule"] == "0 8 * * 1-5"


def test_tags_are_set_and_unset(latest: Bench):
    latest.create()
    firectl = latest.firectl
    assert firectl.perform("deployment tag set", "chat", {"tags": {"team": "search", "note": "a=b c"}}).ok
    assert latest.row()["annotations"] == {"custom/team": "search", "custom/note": "a=b c"}
    assert firectl.perform("deployment tag unset", "chat", {"tags": ["team", "note"]}).ok
    assert not latest.row().get("annotations")


def test_replicas_are_scaled_and_a_deleted_deployment_comes_back(latest: Bench):
    latest.create()
    firectl = latest.firectl
    assert firectl.perform("deployment scale", "chat", {"replica_count": 1}).ok
    assert firectl.perform("deployment delete", "chat", {"ignore_checks": True}).ok
    assert firectl.perform("deployment undelete", "chat", {}).ok
    assert latest.row()["state"] not in ("DELETING", "DELETED")
    assert firectl.perform("deployment delete", "chat", {"ignore_checks": True, "hard": True}).ok


def test_adapters_are_loaded_and_unloaded(latest: Bench):
    latest.create("lora", **{"shape": BF16, "addons.mode": "multi_lora"})
    assert latest.firectl.perform("load-lora", "lora", {"addons.load": [LORA]}).ok
    assert [row["model"] for row in latest.firectl.list_deployed_models()] == [LORA]
    assert latest.firectl.perform("unload-lora", "lora", {"addons.load": [LORA]}).ok
    assert latest.firectl.list_deployed_models() == []


def test_routers_are_created_changed_and_deleted(latest: Bench):
    latest.create("one")
    latest.create("two")
    firectl = latest.firectl
    made = firectl.perform("router create", "chat", {"deployments": ["one"], "strategy": "weighted-random"})
    assert made.ok, made.message
    changed = firectl.perform(
        "router update", "chat", {"deployments": ["one", "two"], "strategy": "even-load"}
    )
    assert changed.ok, changed.message
    (router,) = firectl.list_routers()
    assert router["name"] == "accounts/acme/routers/chat"
    assert firectl.perform("router delete", "chat", {}).ok
    assert firectl.list_routers() == []


@pytest.mark.parametrize("json_list", ["array", "object"])
def test_more_than_a_page_of_deployments_comes_back_whole(tmp_path: Path, json_list: str):
    made = bench(tmp_path, FIRECTL_SIM_PROFILE=f"latest,json_list={json_list}")
    names = [f"d{number:02}" for number in range(52)]
    fields = {**FIELDS, "replicas.min": 0, "replicas.max": 0}
    made.firectl.runner.env.start_firectl = near_simulator.start  # what is read is asked for, not how it came
    with ThreadPoolExecutor(4) as pool:
        outcomes = list(pool.map(lambda name: made.firectl.perform("deployment create", name, fields), names))
    assert [outcome.message for outcome in outcomes if not outcome.ok] == []
    assert made.firectl.runner.calls == len(names)
    made.firectl.runner.env.start_firectl = None
    rows = made.firectl.list_deployments()
    assert sorted(row["name"].rsplit("/", 1)[1] for row in rows) == names


@pytest.mark.parametrize(
    ("variables", "error_class", "exit_code"),
    [
        ({"FIRECTL_SIM_AUTH": "signed_out", "FIREWORKS_API_KEY": ""}, "auth", 5),
        ({"FIREWORKS_API_KEY": "fw_wrong_key"}, "auth", 5),
        ({"FIREWORKS_API_KEY": "fw_readonly"}, "permission", 5),
        ({"FIRECTL_SIM_SUSPENDED": "1"}, "suspended", 5),
        ({"FIRECTL_SIM_BLOCKED": "1"}, "blocked", 6),
    ],
)
def test_who_may_not_write_is_told_why(
    tmp_path: Path, variables: dict[str, str], error_class: str, exit_code: int
):
    firectl = bench(tmp_path, **variables).firectl
    outcome = firectl.perform("deployment create", "chat", FIELDS)
    assert outcome.error_class == error_class
    assert not outcome.ambiguous
    assert int(outcome.error().exit_code) == exit_code
    assert "fw_wrong_key" not in repr(outcome) + outcome.stderr


def test_a_blocked_call_shows_firectls_line_and_the_command_to_run(tmp_path: Path):
    outcome = bench(tmp_path, FIRECTL_SIM_BLOCKED="1").firectl.perform("deployment create", "chat", FIELDS)
    assert outcome.message.startswith("BLOCKED: ")
    assert "firectl" in outcome.next_steps[0]
    assert "deployment create" in outcome.next_steps[0]


def test_a_build_that_ignores_the_environment_says_that_nobody_is_signed_in(tmp_path: Path):
    made = bench(tmp_path, FIRECTL_SIM_PROFILE="latest,env_api_key=no", FIRECTL_SIM_AUTH="signed_out")
    outcome = made.firectl.perform("deployment create", "chat", FIELDS)
    assert outcome.error_class == "auth"
    assert any("--auth file" in step for step in outcome.next_steps)
    by_file = bench(
        tmp_path, auth="file", FIRECTL_SIM_PROFILE="latest,env_api_key=no", FIRECTL_SIM_AUTH="signed_out"
    )
    by_file.create()


@pytest.mark.parametrize(
    ("fault", "error_part"),
    [
        (("truncate", "--bytes", "200"), "cut off"),
        (("noise", "--bytes", "5000000"), None),
        (("noise", "--bytes", "5000000", "--stream", "stderr"), None),
        (("garbage",), None),
        (("hold_pipe",), None),
        (("empty",), None),
        (("slow", "--seconds", "0.2"), None),
        (("error", "--code", "Unavailable", "--message", "try later"), None),
        (("error", "--code", "PermissionDenied", "--message", "no"), "PermissionDenied"),
        (("exit", "--exit-code", "1"), "exited with code 1"),
        (("crash",), "killed by signal 9"),
    ],
    ids=lambda value: value[0] if isinstance(value, tuple) else None,
)
def test_a_read_under_a_fault_gives_every_row_or_an_error(latest: Bench, fault: tuple[str, ...], error_part):
    latest.create("one")
    latest.create("two")
    latest.sim("faults", "add", fault[0], "--match", "deployment list*", *fault[1:])
    if error_part is None:
        assert len(latest.firectl.list_deployments()) == 2
        return
    with pytest.raises(FwctlError, match=error_part):
        latest.firectl.list_deployments()


def test_a_lost_page_of_a_wrapped_list_is_noticed_and_read_again(tmp_path: Path):
    made = bench(tmp_path, FIRECTL_SIM_PROFILE="latest,json_list=object")
    made.create("one")
    made.create("two")
    made.sim("faults", "add", "lose_page", "--match", "deployment list*")
    assert len(made.firectl.list_deployments()) == 2
    made.sim("faults", "add", "lose_page", "--match", "deployment list*", "--times", "0")
    with pytest.raises(FwctlError, match="incomplete"):
        made.firectl.list_deployments()


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("kind", ["hang", "crash", "exit", "error"])
def test_a_write_under_a_fault_is_ambiguous_and_says_nothing_of_success(latest: Bench, kind: str, when: str):
    extra = ["--code", "Unavailable"] if kind == "error" else []
    latest.sim("faults", "add", kind, "--match", "deployment create*", "--when", when, *extra)
    outcome = latest.firectl.perform("deployment create", "chat", FIELDS, timeout_s=1.5)
    assert not outcome.ok
    assert outcome.ambiguous
    assert outcome.timed_out is (kind == "hang")
    assert len(latest.firectl.list_deployments()) == (1 if when == "after" else 0)
