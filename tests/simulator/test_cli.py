"""firectl-sim as a whole, call by call in this process."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from fwctl.simulator import profiles
from fwctl.simulator.commands.registry import commands
from fwctl.simulator.platform import traffic
from fwctl.simulator.state import Store
from tests.simulator.support import ADAPTER, BF16, FAST, MODEL, NOW_S, Sim


@pytest.fixture
def sim(tmp_path: Path) -> Sim:
    return Sim(tmp_path)


def failure(result: object) -> str:
    code, _, stderr = result  # type: ignore[misc]
    assert code == 1
    lines = [line for line in stderr.splitlines() if "Failed to execute: " in line]
    assert len(lines) == 1, stderr
    return lines[0].split("Failed to execute: ", 1)[1]


class TestStart:
    def test_it_says_that_it_is_the_simulator(self, sim: Sim):
        sim.ok("version")

    def test_version_is_a_bare_number(self, sim: Sim):
        assert sim.ok("version").stdout == "1.8.9\n"
        assert sim.ok("version", FIRECTL_SIM_PROFILE="hostile").stdout.startswith("firectl version 1.8.9\n")
        assert sim.ok("version", "-l").stdout == "1.8.9\nBuild: firectl-sim\n"

    @pytest.mark.parametrize(
        "environ",
        [
            {"FIRECTL_SIM_SPEED": "x"},
            {"FIRECTL_SIM_PROFILE": "x"},
            {"FIRECTL_SIM_CATALOG": "none.json"},
            {"FIRECTL_SIM_FAULTS": "none.yaml"},
        ],
    )
    def test_bad_settings_are_one_line(self, sim: Sim, environ: dict[str, str]):
        result = sim("deployment", "list", **environ)
        assert result.code == 1
        assert result.stderr.startswith("firectl-sim: ")
        assert result.stderr.count("\n") == 1

    def test_the_homes_own_catalogue_is_read(self, sim: Sim):
        sim.home.mkdir()
        row = {"id": "m", "parameterCount": 10**9, "defaultPrecision": "BF16", "modelType": "x"}
        (sim.home / "catalogue.json").write_text(json.dumps({"models": [row]}))
        assert sim.ok("model", "get", "accounts/fireworks/models/m").stdout.startswith("Name: accounts/fire")


class TestSignIn:
    def test_nobody_needs_a_key(self, sim: Sim):
        assert sim.ok("whoami").stdout == "Account ID: acme\nEmail: user@example.com\nRole: admin\n"
        line = sim.ok("whoami", FIRECTL_SIM_PROFILE="latest,whoami_output=line").stdout
        assert line == "Signed in as user@example.com (account acme)\n"

    def test_signed_out_until_signin(self, sim: Sim):
        out = {"FIRECTL_SIM_AUTH": "signed_out"}
        assert failure(sim("deployment", "create", MODEL, **out)) == (
            "error creating deployment: error getting ID token: not signed in, run `firectl signin` first"
        )
        assert failure(sim("deployment", "list", **out)).startswith("error getting ID token: not signed in")
        assert sim("deployment", "list", "--api-key", "fw_test", **out).code == 0
        sim.ok("signin", **out)
        sim.ok("deployment", "list", **out)

    def test_an_unknown_key_is_refused(self, sim: Sim):
        text = "rpc error: code = Unauthenticated desc = API key not valid"
        assert failure(sim("deployment", "list", "--api-key", "fw_nope")) == text
        assert failure(sim("deployment", "list", FIREWORKS_API_KEY="fw_nope")) == text

    def test_the_variable_is_not_read_by_older_builds(self, sim: Sim):
        sim.ok("deployment", "list", FIREWORKS_API_KEY="fw_nope", FIRECTL_SIM_PROFILE="2026-07")

    def test_a_kept_key_is_used_and_the_users_files_are_left_alone(self, sim: Sim):
        sim.ok("set-api-key", "fw_readonly")
        assert "Role: readonly" in sim.ok("whoami").stdout
        assert not (sim.folder / "nobody").exists()
        assert (sim.home / "auth.ini").stat().st_mode & 0o777 == 0o600

    def test_a_known_key_in_the_users_auth_file_is_used_and_a_real_one_passed_over(self, sim: Sim):
        folder = sim.folder / "nobody" / ".fireworks"
        folder.mkdir(parents=True)
        (folder / "auth.ini").write_text("# mine\napi_key      = fw_readonly\naccount_id = x\n")
        assert "Role: readonly" in sim.ok("whoami").stdout
        (folder / "auth.ini").write_text("api_key = fw_a_real_one\n")
        assert "Role: admin" in sim.ok("whoami").stdout

    def test_keys_can_be_added_and_are_kept_as_digests(self, sim: Sim):
        sim.ok("sim", "key-add", "fw_canary", "--account", "other", "--role", "user")
        assert "Account ID: other" in sim.ok("whoami", "--api-key", "fw_canary").stdout
        assert b"fw_canary" not in b"".join(path.read_bytes() for path in sim.home.iterdir())
        assert "one of admin" in failure(sim("sim", "key-add", "k", "--role", "king"))

    def test_a_read_only_key_reads(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "get", "a", "--api-key", "fw_readonly")
        text = failure(sim("deployment", "delete", "a", "--api-key", "fw_readonly"))
        assert "code = PermissionDenied" in text

    def test_another_account_is_denied(self, sim: Sim):
        assert "code = PermissionDenied" in failure(sim("deployment", "list", "-a", "other"))
        assert "code = PermissionDenied" in failure(sim("whoami", "-a", "other"))

    def test_a_suspended_account(self, sim: Sim):
        for environ in ({"FIRECTL_SIM_SUSPENDED": "1"}, {}):
            if not environ:
                sim.ok("sim", "suspend")
            text = failure(sim("deployment", "create", MODEL, "--deployment-shape", FAST, **environ))
            assert "Account acme is suspended, possibly due to reaching the monthly spending limit" in text
        sim.ok("sim", "resume")
        sim.create("a")

    def test_the_guard_refuses_mutating_commands_dry_runs_too(self, sim: Sim):
        words = ["deployment", "create", MODEL, "--dry-run", "--api-key", "fw_test"]
        for environ in (
            {"FIRECTL_SIM_BLOCKED": "1"},
            {"FIRECTL_SIM_PROFILE": "latest,guard_env=AN_AGENT+OTHER", "OTHER": "1"},
        ):
            result = sim(*words, **environ)
            assert failure(result).startswith('BLOCKED: mutating command "firectl deployment create')
            assert "Run this command manually in your terminal:\n  firectl deployment create" in result.stderr
            assert "fw_test" not in result.stderr
            assert sim("deployment", "list", **environ).code == 0

    def test_errors_may_repeat_the_key(self, sim: Sim):
        result = sim(
            "deployment", "get", "x", "--api-key", "fw_test", FIRECTL_SIM_PROFILE="latest,api_key_echo=yes"
        )
        assert "fw_test" in result.stderr


class TestNotices:
    def test_the_update_notice(self, sim: Sim):
        assert "new version" in sim.ok("version", FIRECTL_SIM_PROFILE="latest,update_notice=stderr").stderr
        loud = "latest,update_notice=stdout"
        assert "new version" in sim.ok("version", FIRECTL_SIM_PROFILE=loud).stdout
        quiet = {"FIRECTL_NO_UPDATE_NOTICE": "1"}
        assert sim.ok("version", FIRECTL_SIM_PROFILE=loud, **quiet).stdout == "1.8.9\n"
        louder = f"{loud},update_notice_env=no"
        assert "new version" in sim.ok("version", FIRECTL_SIM_PROFILE=louder, **quiet).stdout

    @pytest.mark.parametrize("stream", ["stdout", "stderr"])
    def test_streams_of_deprecation_and_hint_are_switches(self, sim: Sim, stream: str):
        profile = f"2026-07,deprecation_stream={stream},hint_stream={stream}"
        result = sim.ok(
            *("create", "deployment", MODEL, "--accelerator-type", "NVIDIA_H100_80GB"),
            FIRECTL_SIM_PROFILE=profile,
        )
        text = getattr(result, stream)
        assert "DEPRECATION WARNING" in text
        assert "\x1b[32m  - accounts/fireworks/deploymentShapes/" in text

    def test_the_load_targets_warning_comes_even_with_default(self, sim: Sim):
        result = sim.ok(
            *("deployment", "create", MODEL, "--deployment-shape", FAST, "--load-targets", "default=0.8"),
            *("--deployment-id", "a"),
        )
        assert re.match(
            r'\d{4}/\d\d/\d\d \d\d:\d\d:\d\d WARNING: --load-targets set via firectl; "default"',
            result.stderr,
        )
        assert "WARNING" in sim.ok("deployment", "update", "a", "--load-targets", "default=0.5").stderr

    def test_the_hint_appears_on_creates_that_then_fail(self, sim: Sim):
        result = sim("deployment", "create", MODEL)
        assert result.code == 1
        assert "compatible deployment shapes" in result.stdout


class TestDeployments:
    def test_all_create_flags_reach_the_deployment(self, sim: Sim):
        sim.create(
            "a",
            *("--display-name", "Chat", "--description", "d", "--min-replica-count", "1"),
            *("--max-replica-count", "4", "--max-with-revocable-replica-count", "6", "--region", "us-iowa-1"),
            *("--scale-up-window", "1m", "--scale-down-window", "5m", "--scale-to-zero-window", "10m"),
            *("--load-targets", "default=0.5,concurrent_requests=3", "--max-concurrency-per-replica", "9"),
            *("--long-prompt", "--enable-session-affinity", "--preemptible", "--max-context-length", "4096"),
            *(
                "--direct-route-type",
                "INTERNET",
                "--direct-route-api-keys",
                "k1",
                "--direct-route-api-keys",
                "k2",
            ),
            *(
                "--draft-model",
                "accounts/fireworks/models/llama-v3p2-1b-instruct",
                "--draft-token-count",
                "4",
            ),
            *("--enable-hot-load", "--hot-load-bucket-type", "S3", "--hot-load-bucket-url", "s3://b"),
            *("--hot-load-transition-type", "SYNC", "--deployment-template", "t", "-c", "cl"),
            *("--scaling-schedules", '[{"schedule":"0 8 * * *","duration":"3600s","min_replica_count":2}]'),
        )
        row = sim.get("a")
        assert row["autoscaling_policy"] == {
            "scale_up_window": "60s",
            "scale_down_window": "300s",
            "scale_to_zero_window": "600s",
            "load_targets": {"default": 0.5, "concurrent_requests": 3.0},
        }
        assert row["placement"] == {"region": "US_IOWA_1"}
        assert row["auto_tune"] == {"long_prompt": True}
        assert row["direct_route_api_keys"] == ["k1", "k2"]
        assert row["scaling_schedules"][0]["min_replica_count"] == 2
        expected = {
            "display_name": "Chat",
            "description": "d",
            "min_replica_count": 1,
            "max_replica_count": 4,
            "max_with_revocable_replica_count": 6,
            "max_concurrency_per_replica": 9,
            "enable_session_affinity": True,
            "preemptible": True,
            "max_context_length": 4096,
            "direct_route_type": "INTERNET",
            "draft_token_count": 4,
            "enable_hot_load": True,
            "hot_load_bucket_type": "S3",
            "hot_load_bucket_url": "s3://b",
            "hot_load_transition_type": "SYNC",
            "deployment_template": "t",
            "cluster": "cl",
        }
        assert {key: row.get(key) for key in expected} == expected

    def test_an_explicitly_empty_region_is_global(self, sim: Sim):
        sim.create("a", "--region=")
        assert sim.get("a")["placement"] == {"multi_region": "GLOBAL"}

    def test_a_file_is_read_and_flags_win(self, sim: Sim):
        (sim.folder / "c.json").write_text('{"displayName": "file", "max_replica_count": 3}')
        sim.create("a", "--file", "c.json", "--display-name", "flag")
        row = sim.get("a")
        assert (row["display_name"], row["max_replica_count"]) == ("flag", 3)
        sim.ok("deployment", "update", "a", "--file", "c.json")
        assert sim.get("a")["display_name"] == "file"

    @pytest.mark.parametrize("content", [None, b"\xff\xfe", b"{"])
    def test_a_bad_file_is_refused(self, sim: Sim, content: bytes | None):
        if content is not None:
            (sim.folder / "c.json").write_bytes(content)
        assert failure(sim("deployment", "create", MODEL, "--deployment-shape", FAST, "--file", "c.json"))

    def test_bad_enum_flags_are_refused_by_the_client(self, sim: Sim):
        text = failure(sim("deployment", "create", MODEL, "--accelerator-type", "h200-141gb"))
        assert text.startswith(
            'invalid value "h200-141gb" for --accelerator-type, must be one of {NVIDIA_A100'
        )

    def test_dry_run_prints_the_request_and_sends_nothing(self, sim: Sim):
        text = sim.ok(
            *("deployment", "create", MODEL, "--deployment-shape", FAST, "--deployment-id", "a", "--dry-run"),
            *("--accept-shapeless-risk", "--enable-addons"),
        ).stdout
        assert text.startswith('create_deployment_request {\n  parent: "accounts/acme"\n')
        assert f'    base_model: "{MODEL}"\n' in text
        assert "    enable_addons: true\n" in text
        assert "  accept_shapeless_risk: true\n" in text
        for words in (["get", "a"], ["list"], ["delete", "a"], ["update", "a", "--display-name", "x"]):
            assert "_request {" in sim.ok("deployment", *words, "--dry-run").stdout
        assert sim.ok("deployment", "list", "-o", "json").json == []

    def test_validate_only_answers_and_keeps_nothing(self, sim: Sim):
        row = sim.create("a", "--validate-only", "-o", "json", "--wait").json
        assert row["name"] == "accounts/acme/deployments/a"
        assert sim.ok("deployment", "list", "-o", "json").json == []

    def test_wait_moves_a_fixed_clock_to_ready(self, sim: Sim):
        sim.create("a", "--wait")
        assert sim.get("a")["state"] == "READY"

    def test_wait_times_out_and_leaves_the_deployment_alone(self, sim: Sim):
        words = ["deployment", "create", MODEL, "--deployment-shape", FAST, "--deployment-id", "a", "--wait"]
        text = failure(sim(*words, "--wait-timeout", "30s"))
        assert (
            text == "timed out waiting for deployment accounts/acme/deployments/a: context deadline exceeded"
        )
        assert sim.get("a")["state"] == "CREATING"

    def test_wait_may_show_progress(self, sim: Sim):
        result = sim(
            *("deployment", "create", MODEL, "--deployment-shape", FAST, "--wait"),
            FIRECTL_SIM_PROFILE="latest,wait_output=progress",
        )
        assert "state CREATING" in result.stderr

    def test_wait_errors_on_failed(self, sim: Sim):
        sim.ok("faults", "add", "fails_later", "--match", "deployment create*", "--message", "no luck")
        words = ["deployment", "create", MODEL, "--deployment-shape", FAST, "--deployment-id", "b", "--wait"]
        assert failure(sim(*words)) == "deployment accounts/acme/deployments/b entered state FAILED: no luck"

    def test_a_failure_carries_code_and_message(self, sim: Sim):
        sim.create("a")
        sim.ok("sim", "fail", "a", "--message", "no capacity", "--code", "RESOURCE_EXHAUSTED")
        row = sim.get("a")
        assert (row["state"], row["status"]["message"]) == ("FAILED", "no capacity")
        assert "Status: RESOURCE_EXHAUSTED: no capacity" in sim.ok("deployment", "get", "a").stdout

    def test_delete_with_wait_ends_when_deleted(self, sim: Sim):
        sim.create("a")
        assert sim.ok("deployment", "delete", "a", "--wait").stdout == ""
        assert sim.get("a")["state"] == "DELETED"
        sim.ok("deployment", "delete", "a", "--hard", "--wait")
        assert "code = NotFound" in failure(sim("deployment", "get", "a"))

    def test_undelete_with_wait(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "delete", "a")
        assert "State: CREATING" in sim.ok("deployment", "undelete", "a", "--wait").stdout
        assert sim.get("a")["state"] == "READY"

    def test_a_deleted_record_has_its_times_after_the_create_time(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "delete", "a")
        text = sim.ok("deployment", "get", "a").stdout
        assert re.search(r"Create Time: .*\nPurge Time: .*\nDelete Time: .*\nCreated By: ", text)

    def test_scale_prints_nothing_and_needs_its_flag(self, sim: Sim):
        sim.create("a", "--max-replica-count", "2")
        assert sim.ok("deployment", "scale", "a", "--replica-count", "2").stdout == ""
        assert failure(sim("deployment", "scale", "a")) == 'required flag(s) "replica-count" not set'

    def test_an_update_without_fields_is_refused(self, sim: Sim):
        sim.create("a")
        assert failure(sim("deployment", "update", "a")) == "no fields to update were specified"

    def test_update_prints_the_record(self, sim: Sim):
        sim.create("a")
        text = sim.ok("deployment", "update", "a", "--scale-down-window", "5m", "--region", "us").stdout
        assert "  Scale Down Window: 5m0s\n" in text
        assert "  Multi Region: US\n" in text

    def test_calls_other_than_create_may_not_wrap_their_errors(self, sim: Sim):
        assert failure(sim("deployment", "get", "x")).startswith("error getting deployment: rpc error")
        bare = failure(sim("deployment", "get", "x", FIRECTL_SIM_PROFILE="latest,error_wrapper=no"))
        assert bare.startswith("rpc error: code = NotFound")

    def test_tags(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "tag", "set", "a", "--key", "env", "--value", "prod")
        text = sim.ok("deployment", "tag", "set", "a", "--tag", "team=search=x").stdout
        assert text == "KEY   VALUE\nenv   prod\nteam  search=x\n"
        sim.ok("deployment", "tag", "unset", "a", "--key", "env")
        assert sim.ok("deployment", "tag", "list", "a").stdout == "KEY   VALUE\nteam  search=x\n"
        for words in (
            ["set", "a"],
            ["set", "a", "--key", "k"],
            ["set", "a", "--tag", "x"],
            ["set", "a", "--tag", "x=y", "--key", "k", "--value", "v"],
            ["unset", "a"],
        ):
            assert failure(sim("deployment", "tag", *words))

    def test_expire_time_and_multi_region_of_2025(self, sim: Sim):
        old = {"FIRECTL_SIM_PROFILE": "2025"}
        sim.ok(
            *("deployment", "create", MODEL, "--deployment-id", "a", "--expire-time", "2027-01-01 10:00:00"),
            *("--multi-region", "europe", "--accelerator-type", "NVIDIA_H100_80GB"),
            **old,
        )
        row = sim.get("a")
        assert (row["expire_time"], row["placement"]) == ("2027-01-01T10:00:00Z", {"multi_region": "EUROPE"})


class TestLists:
    def test_pages_filters_and_order(self, sim: Sim):
        for letter in "abc":
            sim.create(letter, "--display-name", f"n{letter}", "--max-replica-count", "0")
            sim.later("1s")
        page = sim.ok("deployment", "list", "--page-size", "2").stdout
        token = re.search(r"Next page token: (\S+)", page)
        assert token
        assert "Page 1 of 2" in page
        second = sim.ok("deployment", "list", "--page-size", "2", "--page-token", token[1], "-o", "json").json
        assert [row["name"][-1] for row in second] == ["c"]
        found = sim.ok("deployment", "list", "--filter", "display_name=nb", "-o", "json").json
        assert [row["name"][-1] for row in found] == ["b"]
        found = sim.ok("deployment", "list", "--order-by", "create_time desc", "-o", "json").json
        assert [row["name"][-1] for row in found] == ["c", "b", "a"]
        assert "base_model is not supported" in failure(
            sim("deployment", "list", "--filter", f"base_model={MODEL}")
        )

    def test_the_wrapped_form_carries_the_token(self, sim: Sim):
        for letter in "ab":
            sim.create(letter)
        wrapped = {"FIRECTL_SIM_PROFILE": "latest,json_list=object"}
        page = sim.ok("deployment", "list", "--page-size", "1", "-o", "json", **wrapped).json
        assert set(page) == {"deployments", "next_page_token", "total_size"}
        camel = {"FIRECTL_SIM_PROFILE": "latest,json_list=object,json_case=camel"}
        page = sim.ok("deployment", "list", "--page-size", "1", "-o", "json", **camel).json
        assert set(page) == {"deployments", "nextPageToken", "totalSize"}
        assert page["deployments"][0]["baseModel"] == MODEL

    def test_deleted_ones_are_shown_on_request(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "delete", "a")
        sim.later("2m")
        assert sim.ok("deployment", "list", "-o", "json").json == []
        (row,) = sim.ok("deployment", "list", "--show-deleted", "-o", "json").json
        assert row["state"] == "DELETED"

    def test_an_empty_json_list_may_be_nothing_at_all(self, sim: Sim):
        profile = "latest,json_empty_list=nothing"
        assert sim.ok("deployment", "list", "-o", "json", FIRECTL_SIM_PROFILE=profile).stdout == ""

    def test_zeros_and_large_numbers_in_json(self, sim: Sim):
        sim.create("a", "--max-replica-count", "0")
        assert "max_replica_count" not in sim.get("a")
        full = sim.ok(
            "deployment", "get", "a", "-o", "json", FIRECTL_SIM_PROFILE="latest,json_zeros=present"
        ).json
        assert (full["max_replica_count"], full["hot_load_bucket_type"]) == (0, "BUCKET_TYPE_UNSPECIFIED")
        model = ["model", "get", MODEL, "-o", "json"]
        assert sim.ok(*model).json["base_model_details"]["parameter_count"] == "8030261248"
        numbers = {"FIRECTL_SIM_PROFILE": "latest,json_int64=number"}
        assert sim.ok(*model, **numbers).json["base_model_details"]["parameter_count"] == 8030261248

    def test_flag_output_or_its_refusal(self, sim: Sim):
        sim.create("a")
        assert "--state=CREATING" in sim.ok("deployment", "get", "a", "-o", "flag").stdout
        assert "--state=CREATING" in sim.ok("deployment", "list", "-o", "flag").stdout
        for words in (["get", "a"], ["list"]):
            refused = sim("deployment", *words, "-o", "flag", FIRECTL_SIM_PROFILE="latest,output_flag=refuse")
            assert "invalid output format" in failure(refused)

    def test_text_zeros_are_a_switch(self, sim: Sim):
        sim.create("a", "--max-replica-count", "0")
        assert "Max Replica Count: 0\n" in sim.ok("deployment", "get", "a").stdout
        dropped = sim.ok("deployment", "get", "a", FIRECTL_SIM_PROFILE="latest,text_zeros=dropped").stdout
        assert "Replica Count: 0" not in dropped


class TestShapes:
    def test_versions_of_one_shape_or_the_latest_of_all(self, sim: Sim):
        own = sim.ok("deployment-shape-version", "list", "llama-v3p1-70b-instruct-fast", "-o", "json").json
        assert len(own) == 4
        every = sim.ok("deployment-shape-version", "list", "-", "-o", "json", "--no-paginate").json
        assert all(row["latest_validated"] for row in every)
        assert "Page 1 of 4" in sim.ok("deployment-shape-version", "list").stdout

    def test_get_and_match(self, sim: Sim):
        row = sim.ok("deployment-shape-version", "get", f"{FAST}/versions/latest", "-o", "json").json
        assert row["snapshot"]["preset_type"] == "FAST"
        rows = sim.ok("deployment-shape-version", "match", "--model", ADAPTER, "-o", "json").json
        assert {r["snapshot"]["base_model"] for r in rows} == {MODEL}
        assert failure(sim("deployment-shape-version", "match")) == 'required flag(s) "model" not set'
        assert "invalid deployment shape version name" in failure(
            sim("deployment-shape-version", "get", FAST)
        )

    def test_a_short_slug_of_a_base_model_finds_nothing(self, sim: Sim):
        result = sim.ok("deployment-shape-version", "list", "--base-model", "gpt-oss-120b")
        assert result.stdout.count("\n") == 1

    def test_shapes(self, sim: Sim):
        assert "Preset Type: FAST" in sim.ok("deployment-shape", "get", "llama-v3p1-8b-instruct-fast").stdout
        assert len(sim.ok("ds", "list", "--page-size", "5", "-o", "json").json) == 5
        assert sim.ok("ds", "list", "-a", "acme").stdout.count("\n") == 1


class TestModelsAndAdapters:
    def test_a_model_from_upload_to_deletion(self, sim: Sim):
        sim.ok(
            "model",
            "create",
            "mine",
            "/dir",
            "https://huggingface.co/meta-llama/Llama-3.1-70B-Instruct",
            "--public",
        )
        row = sim.ok("model", "get", "mine", "-o", "json").json
        assert row["base_model_details"]["parameter_count"] == "70553706496"
        sim.ok("model", "upload", "mine", "/dir")
        assert sim.ok("model", "update", "mine", "--public=false", "-o", "json").json.get("public") is None
        assert failure(sim("model", "update", "mine")) == "no fields to update were specified"
        sim.ok("model", "prepare", "mine")
        assert "invalid value" in failure(sim("model", "prepare", "mine", "--precision", "int3"))
        assert "holds no weights" in failure(sim("model", "download", "mine", "/x"))
        listed = sim.ok("model", "list").stdout
        assert re.search(r"^mine \(mine\)  +2026-11-30 12:00:00  CUSTOM_MODEL$", listed, re.MULTILINE)
        sim.ok("model", "delete", "mine")
        assert "create_model_request" in sim.ok("model", "create", "m", "/d", "--dry-run").stdout

    def test_the_architecture_is_guessed_from_the_id(self, sim: Sim):
        row = sim.ok("model", "create", "my-qwen3-32b-tuned", "/d", "-o", "json").json
        assert row["base_model_details"]["parameter_count"] == "32762123264"
        assert (
            sim.ok("model", "create", "emb", "/d", "--embedding", "-o", "json").json["kind"]
            == "EMBEDDING_MODEL"
        )

    def test_a_lora_is_loaded_listed_and_unloaded(self, sim: Sim):
        sim.ok("model", "create", "lora", "/d", "--base-model", MODEL)
        sim.create("a", shape=BF16)
        sim.ok("load-lora", "lora", "--deployment", "a", "--wait")
        row = sim.ok("deployed-model", "list", "-o", "json").json[0]
        assert (row["state"], row["deployment"]) == ("DEPLOYED", "accounts/acme/deployments/a")
        text = sim.ok("list", "deployed-models").stdout
        assert re.match(r"NAME +MODEL +DEPLOYMENT ID +STATE +DEFAULT +PUBLIC +CREATE TIME\n", text)
        name = row["name"]
        assert "Model: accounts/acme/models/lora" in sim.ok("deployed-model", "get", name).stdout
        sim.ok("deployed-model", "update", name, "--public")
        assert sim.ok("model", "get", "lora", "-o", "json").json["deployed_model_refs"][0]["name"] == name
        assert "cannot delete model" in failure(sim("model", "delete", "lora"))
        sim.ok("unload-lora", "lora")
        assert "is not deployed" in failure(sim("unload-lora", "lora", "--deployment", "a"))
        assert failure(sim("load-lora", "lora")) == 'required flag(s) "deployment" not set'

    def test_waiting_for_an_adapter_times_out(self, sim: Sim):
        sim.create("a", shape=BF16)
        text = failure(
            sim("load-lora", "support-lora", "--deployment", "a", "--wait", "--wait-timeout", "10s")
        )
        assert "timed out waiting for deployed model" in text


class TestTheRest:
    def test_quotas(self, sim: Sim):
        sim.create("a", "--max-replica-count", "3")
        row = sim.ok("quota", "get", "global--h100-count", "-o", "json").json
        assert (row["value"], row["max_value"], row["usage"]) == (64, 64, 3)
        assert re.search(r"global--h100-count +64 +64 +3\n", sim.ok("list", "quotas").stdout)
        sim.ok("quota", "update", "monthly-spend-usd", "--value", "50")
        assert "invalid value" in failure(sim("quota", "update", "monthly-spend-usd", "--value", "much"))
        sim.ok("sim", "quota-set", "global--h100-count", "2")
        assert "code = ResourceExhausted" in failure(
            sim("deployment", "create", MODEL, "--deployment-shape", FAST)
        )
        assert "VALUE is a number" in failure(sim("sim", "quota-set", "x", "y"))

    def test_accounts(self, sim: Sim):
        assert "Balance: USD 1000.00" in sim.ok("account", "get").stdout
        assert "Balance" not in sim.ok("account", "get", "fireworks").stdout
        assert sim.ok("account", "list", "-o", "json").json[0]["name"] == "accounts/acme"
        sim.ok("sim", "account-add", "other")
        assert "code = AlreadyExists" in failure(sim("sim", "account-add", "other"))
        assert "part of fwctl" in failure(sim("upgrade"))

    def test_routers(self, sim: Sim):
        sim.create("a")
        words = ["router", "create", "--router-id", "r", "--deployments", "a"]
        assert "create_router_request" in sim.ok(*words, "--dry-run").stdout
        sim.ok(*words, "--strategy", "even-load", "--model", MODEL)
        assert sim.ok("router", "get", "r", "-o", "json").json["strategy"] == "EVEN_LOAD"
        assert "update_router_request" in sim.ok("router", "update", "r", "--dry-run").stdout
        row = sim.ok("router", "update", "r", "--session-affinity", "-o", "json").json
        assert (row["strategy"], row["session_affinity"]) == ("WEIGHTED_RANDOM", True)
        assert re.search(r"^r +a +WEIGHTED_RANDOM ", sim.ok("router", "list").stdout, re.MULTILINE)
        sim.ok("router", "delete", "r")
        assert failure(sim("router", "create")) == 'required flag(s) "deployments" not set'
        assert "invalid strategy" in failure(sim(*words, "--strategy", "best"))

    def test_reservations(self, sim: Sim):
        sim.ok("sim", "reservation-add", "r1", "--accelerator-count", "12")
        (row,) = sim.ok("reservation", "list", "-o", "json").json
        assert (row["accelerator_type"], row["accelerator_count"]) == ("NVIDIA_H100_80GB", 12)
        assert "State: ACTIVE" in sim.ok("reservation", "get", "r1").stdout

    def test_jobs_and_secrets(self, sim: Sim):
        sim.ok("sftj", "create", "--base-model", MODEL, "--dataset", "d", "--job-id", "j", "--epochs", "2")
        row = sim.ok("sftj", "get", "j", "-o", "json").json
        assert (row["epochs"], row["dataset"]) == (2, "accounts/acme/datasets/d")
        sim.ok("sftj", "cancel", "j")
        sim.ok("sftj", "delete", "j")
        assert "_request" in sim.ok("sftj", "create", "--dry-run").stdout
        sim.ok("secret", "create", "s", "--value", "canary-value")
        sim.ok("secret", "update", "s", "--value", "canary-value")
        assert sim.ok("secret", "get", "s", "-o", "json").json["key_name"] == "s"
        assert b"canary-value" not in b"".join(path.read_bytes() for path in sim.home.iterdir())
        sim.ok("user", "create", "--user-id", "u", "--email", "u@example.com")
        assert "u " in sim.ok("user", "list").stdout

    def test_residency(self, sim: Sim):
        assert sim.ok("policy", "residency", "get").stdout == "Residency: none\n"
        sim.ok("policy", "residency", "set", "eu")
        assert sim.ok("policy", "residency", "get").stdout == "Residency: EU\n"
        assert "residency area EU" in failure(sim("deployment", "create", MODEL, "--deployment-shape", FAST))
        sim.ok("policy", "residency", "clear")
        assert "must be one of {US, EU}" in failure(sim("policy", "residency", "set", "mars"))

    def test_billing(self, sim: Sim):
        sim.create("a", "--min-replica-count", "1")
        sim.later("1h")
        assert (
            sim.ok("billing", "export-metrics").stdout == "Billing metrics exported to billing_metrics.csv\n"
        )
        header, row = (sim.folder / "billing_metrics.csv").read_text().splitlines()
        assert header.startswith(
            "email,start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,"
            "model_bucket,parameter_count,prompt_tokens,completion_tokens"
        )
        assert ",NVIDIA_H100_80GB,3535," in row
        usage = sim.ok("billing", "get-usage", "-o", "json").json
        assert usage["total_cost"]["units"] == "7"
        assert sim.ok("billing", "get-usage", "--usage-type", "training", "-o", "json").json == {
            "total_cost": {"currency_code": "USD", "units": "0"}
        }
        assert "invalid value" in failure(sim("billing", "get-usage", "--usage-type", "x"))
        assert "error exporting" in failure(sim("billing", "export-metrics", "--filename", "no/such/dir.csv"))
        assert "time range" in failure(sim("billing", "export-metrics", "--start-time", "2020-01-01"))
        assert sim.ok("billing", "list-invoices").stdout.startswith("NAME")

    def test_deployment_metrics(self, sim: Sim):
        sim.create("a")
        sim.ok("sim", "traffic", "a", "--concurrency", "3")
        words = ["deployment-metrics", "list", "--metric", "load"]
        assert sim.ok(*words, "-o", "json").json == {"series": []}
        assert sim.ok(*words).stdout == "DEPLOYMENT  TIME  VALUE\n"
        with Store(sim.home) as store, store.write() as tx:
            usage = dict.fromkeys(traffic.Usage._fields, 0) | {"requests": 2, "generated_tokens": 86_400}
            row = {"deployment": "accounts/acme/deployments/a", "hourS": int(NOW_S) - 7200, **usage}
            tx.put(traffic.KIND, "a", row)
        words = ["deployment-metrics", "list", "--metric", "tokens-per-second", "--group-by", "deployment"]
        words += ["--start", "2026-11-29", "--end", "2026-12-01", "--interval", "24h"]
        # 86,400 tokens within the second day: one a second.
        assert sim.ok(*words, "-o", "json").json["series"] == [
            {
                "labels": {"deployment": "accounts/acme/deployments/a"},
                "values": [{"timestamp": int(NOW_S) - 43_200, "value": "1"}],
            }
        ]
        assert sim.ok(*words).stdout.splitlines()[1].split() == ["a", "2026-11-30", "1"]
        for bad in (
            ["--metric", "x"],
            ["--metric", "load", "--group-by", "model"],
            ["--metric", "load", "--start", "soon"],
            ["--metric", "load", "--start", "2026-02-31"],
            ["--metric", "load", "--start", "2026-02-03", "--end", "2026-02-02"],
            ["--metric", "load", "--interval", "0s"],
        ):
            assert "invalid" in failure(sim("deployment-metrics", "list", *bad))

    def test_every_command_has_a_help_page_in_every_build(self, sim: Sim):
        for profile in profiles.NAMES:
            for path, command in commands().items():
                if not command.since or profiles.load(profile).version >= command.since:
                    page = sim.ok(*path.split(), "--help", FIRECTL_SIM_PROFILE=profile).stdout
                    assert f"Usage:\n  firectl {path} [flags]" in page
                    assert "Global Flags:\n  -a, --account-id string" in page

    def test_pages_of_nouns_list_their_verbs(self, sim: Sim):
        page = sim.ok("deployment", "--help").stdout
        assert "Usage:\n  firectl deployment [command]\n" in page
        verbs = {"create", "delete", "get", "list", "scale", "tag", "undelete", "update"}
        assert set(re.findall(r"^  (\w+)  ", page, re.MULTILINE)) == verbs
        deeper = sim.ok("deployment", "tag", "--help").stdout
        assert set(re.findall(r"^  (\w+)  ", deeper, re.MULTILINE)) == {"list", "set", "unset"}
        assert "  tag " not in sim.ok("deployment", "--help", FIRECTL_SIM_PROFILE="2026-07").stdout

    def test_the_root_page_names_the_nouns(self, sim: Sim):
        page = sim.ok().stdout
        assert {"deployment", "model", "quota", "router", "whoami"} <= set(
            re.findall(r"^  (\S+) ", page, re.MULTILINE)
        )


class TestControl:
    def test_status_profile_and_reset(self, sim: Sim):
        sim.create("a")
        row = sim.ok("sim", "status", "-o", "json").json
        assert (row["resources"]["deployments"], row["calls"]) == (1, 1)
        assert "resources" in sim.ok("sim", "status").stdout
        assert sim.ok("sim", "profile", "-o", "json").json["json_list"] == "array"
        assert "json_list" in sim.ok("sim", "profile").stdout
        sim.ok("sim", "reset")
        assert sim.ok("deployment", "list", "-o", "json").json == []

    def test_the_clock_goes_forward_only(self, sim: Sim):
        assert "does not go back" in failure(sim("sim", "clock-advance", "--", "-1h"))
        assert "missing unit" in failure(sim("sim", "clock-advance", "5"))

    def test_a_deployment_can_be_held_where_it_is(self, sim: Sim):
        sim.create("a")
        sim.ok("sim", "stall", "a")
        sim.later("1h")
        row = sim.get("a")
        assert (row["state"], row["replica_stats"]) == ("CREATING", {"pending_scheduling_replica_count": 1})
        sim.ok("sim", "unstall", "a")
        assert sim.get("a")["state"] == "READY"

    def test_somebody_else_changes_and_removes_things(self, sim: Sim):
        sim.create("a")
        sim.ok("sim", "set-field", "a", "autoscalingPolicy.scaleUpWindow", '"77s"')
        sim.ok("sim", "set-field", "a", "displayName", "plain text")
        row = sim.get("a")
        assert (row["autoscaling_policy"]["scale_up_window"], row["display_name"]) == ("77s", "plain text")
        sim.ok("sim", "vanish", "a")
        assert "code = NotFound" in failure(sim("deployment", "get", "a"))
        for words in (["vanish", "a"], ["set-field", "a", "x", "1"], ["fail", "a"]):
            assert "not found" in failure(sim("sim", *words))

    def test_a_shape_moves_on(self, sim: Sim):
        sim.create("old")
        sim.ok("sim", "shape-publish", "llama-v3p1-8b-instruct-fast", "precision=BF16", "--version-id", "v2")
        sim.create("new")
        assert sim.get("new")["deployment_shape"].endswith("/v2")
        assert (sim.get("new")["precision"], sim.get("old")["precision"]) == ("BF16", "FP8")
        sim.ok("sim", "shape-publish", "llama-v3p1-8b-instruct-fast", "--version-id", "v3", "--unvalidated")
        sim.create("newer")
        assert sim.get("newer")["deployment_shape"].endswith("/v2")
        sim.ok("sim", "shape-retire", f"{FAST}/versions/v2")
        sim.create("after")
        assert sim.get("after")["deployment_shape"] == sim.get("old")["deployment_shape"]
        sim.ok("sim", "shape-retire", f"{FAST}/versions/v3")
        assert "not found" in failure(sim("sim", "shape-publish", "none"))

    def test_traffic_protects_from_deletion_and_scales(self, sim: Sim):
        sim.create("a", "--max-replica-count", "3", "--wait")
        sim.ok("sim", "traffic", "a", "--concurrency", "60")
        sim.later("1m")
        assert sim.get("a")["replica_count"] == 3
        assert "received inference requests in the last hour" in failure(sim("deployment", "delete", "a"))
        sim.ok("deployment", "delete", "a", "--ignore-checks")
        assert "is a number" in failure(sim("sim", "traffic", "a", "--rps", "x"))

    def test_calls_are_counted(self, sim: Sim):
        sim.create("a")
        sim.ok("deployment", "list")
        sim("login")
        sim.ok("deployment", "create", "--help")
        assert sim.ok("calls", "count").stdout == "4\n"
        assert sim.ok("calls", "count", "--mutating").stdout == "1\n"
        assert sim.ok("calls", "count", "--match", "deployment *").stdout == "3\n"
        rows = sim.ok("calls", "list", "-o", "json").json
        assert [row["exit_code"] for row in rows] == [0, 0, 1, 0]
        assert "deployment list" in sim.ok("calls", "list").stdout
        sim.ok("calls", "clear")
        assert sim.ok("calls", "count").stdout == "0\n"


class _Terminal:
    """A terminal on stdin that answers once."""

    def __init__(self, answer: str) -> None:
        self.answer = answer

    def isatty(self) -> bool:
        return True

    def readline(self) -> str:
        return self.answer


class TestTerminal:
    def call(self, sim: Sim, answer: str, *argv: str, **environ: str) -> tuple[int, str]:
        import io

        from fwctl.simulator.commands.app import run

        out, err = io.StringIO(), io.StringIO()
        streams = (_Terminal(answer), out, err)
        code = run(argv, {**sim.environ, **environ}, sim.folder, streams)  # type: ignore[arg-type]
        return code, err.getvalue()

    def test_a_create_without_a_shape_opens_a_picker(self, sim: Sim):
        words = ["deployment", "create", MODEL, "--deployment-id", "a"]
        code, text = self.call(sim, "2\n", *words)
        assert (code, "Select a deployment shape: " in text) == (0, True)
        assert sim.get("a")["deployment_shape"].startswith(FAST)
        assert self.call(sim, "0\n", *words)[0] == 1
        for answer in ("", "99\n", "x\n"):
            code, text = self.call(sim, answer, *words)
            assert (code, "no deployment shape selected" in text) == (1, True)

    def test_delete_may_ask(self, sim: Sim):
        ask = {"FIRECTL_SIM_PROFILE": "latest,delete_prompt=tty"}
        sim.create("a")
        code, text = self.call(sim, "n\n", "deployment", "delete", "a", **ask)
        assert (code, "aborted" in text) == (1, True)
        assert self.call(sim, "y\n", "deployment", "delete", "a", **ask)[0] == 0
