from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.errors import FirectlFailedError, FirectlTooOldError
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from fwctl.redact import Secret
from tests.firectl.support import KEY, STEADY, FakeClock, calls_of, make_client, make_env, make_runner, script

LOGGED = 'echo "$*" >> $LOG\n'
ROW = {"name": "accounts/acme/deployments/chat", "baseModel": "m"}
KNOWN = Capabilities("1.8.9")


def client(tmp_path: Path, body: str, caps: Capabilities | None = KNOWN) -> Firectl:
    return Firectl(make_runner(tmp_path, LOGGED + body), caps, retry=STEADY)


def prints(tmp_path: Path, value: object, caps: Capabilities | None = KNOWN) -> Firectl:
    (tmp_path / "answer").write_text(value if isinstance(value, str) else json.dumps(value))
    return client(tmp_path, f"cat {tmp_path}/answer", caps)


@pytest.mark.parametrize(
    ("method", "arguments", "key", "words"),
    [
        ("list_deployments", (), "deployments", "deployment list --show-deleted --no-paginate"),
        ("list_deployments", (False,), "deployments", "deployment list --no-paginate"),
        (
            "list_shape_versions",
            ("s",),
            "deploymentShapeVersions",
            "deployment-shape-version list s --no-paginate",
        ),
        (
            "list_shape_versions",
            (None, "m"),
            "deploymentShapeVersions",
            "deployment-shape-version list --base-model m --no-paginate",
        ),
        ("match_shapes", ("m",), "deploymentShapeVersions", "deployment-shape-version match --model m"),
        ("list_models", (), "models", "model list --no-paginate"),
        ("list_quotas", (), "quotas", "quota list --no-paginate"),
        ("list_routers", (), "routers", "router list --no-paginate"),
        ("list_reservations", (), "reservations", "reservation list --no-paginate"),
        ("list_deployed_models", (), "deployedModels", "deployed-model list --no-paginate"),
    ],
)
@pytest.mark.parametrize("wrapped", [True, False])
def test_each_list_asks_once_and_reads_both_wrappings(
    *, tmp_path: Path, method, arguments, key, words, wrapped
):
    firectl = prints(tmp_path, {key: [ROW]} if wrapped else [ROW])
    assert getattr(firectl, method)(*arguments) == [{"name": ROW["name"], "base_model": "m"}]
    assert calls_of(tmp_path) == [f"{words} -o json -a acme"]


@pytest.mark.parametrize(
    ("method", "argument", "words"),
    [
        ("get_deployment", "chat", "deployment get chat"),
        ("get_model", "accounts/fireworks/models/m", "model get accounts/fireworks/models/m"),
        ("get_dataset", "traffic", "dataset get traffic"),
        ("get_tuning_job", "tuned", "supervised-fine-tuning-job get tuned"),
    ],
)
def test_each_get_returns_the_object(tmp_path: Path, method, argument, words):
    firectl = prints(tmp_path, ROW)
    assert getattr(firectl, method)(argument)["base_model"] == "m"
    assert calls_of(tmp_path) == [f"{words} -o json -a acme"]


def test_metrics_come_as_series(tmp_path: Path):
    series = {"labels": {"deployment": "d"}, "values": [{"timestamp": 1, "value": "2"}]}
    found = prints(tmp_path, {"series": [series]}).deployment_metrics(
        "load", start="2026-11-01", end="2026-11-02"
    )
    assert found[0]["labels"] == {"deployment": "d"}
    words = "deployment-metrics list --metric load --group-by deployment --start 2026-11-01 --end 2026-11-02"
    assert calls_of(tmp_path) == [f"{words} --interval 24h -o json -a acme"]


def test_billing_is_exported_into_a_file(tmp_path: Path):
    prints(tmp_path, {}).export_billing(tmp_path / "b.csv", start="2026-11-01", end="2026-11-30")
    words = "billing export-metrics --start-time 2026-11-01 --end-time 2026-11-30 --filename"
    assert calls_of(tmp_path) == [f"{words} {tmp_path / 'b.csv'} -a acme"]


def test_pages_are_followed_and_put_together(tmp_path: Path):
    body = """
case "$*" in
*--page-token*) echo '{"deployments": [{"name": "b"}], "total_size": 2}';;
*) echo '{"deployments": [{"name": "a"}], "next_page_token": "t1", "total_size": 2}';;
esac"""
    firectl = client(tmp_path, body)
    assert [row["name"] for row in firectl.list_deployments()] == ["a", "b"]
    assert calls_of(tmp_path)[1] == (
        "deployment list --show-deleted --page-size 200 --page-token t1 -o json -a acme"
    )


def test_a_lost_page_is_an_error_and_never_fewer_deployments(tmp_path: Path):
    firectl = prints(tmp_path, {"deployments": [ROW], "total_size": 2})
    with pytest.raises(FirectlFailedError, match="incomplete: 1 rows, but it tells of 2"):
        firectl.list_deployments()


@pytest.mark.parametrize(("total", "complete"), [(50, True), (51, False)])
def test_a_full_page_without_a_token_is_checked_against_the_table(tmp_path: Path, total: int, complete: bool):
    (tmp_path / "rows").write_text(json.dumps([{"name": f"d{n}"} for n in range(50)]))
    body = f'case "$*" in *json*) cat {tmp_path}/rows;; *) echo NAME; echo "Total size: {total}";; esac'
    firectl = client(tmp_path, body)
    if complete:
        assert len(firectl.list_deployments()) == 50
        assert calls_of(tmp_path)[-1] == "deployment list --show-deleted --page-size 1 -a acme"
    else:
        with pytest.raises(FirectlFailedError, match="incomplete"):
            firectl.list_deployments()


@pytest.mark.parametrize(
    "table",
    ["NAME  BASE MODEL  STATE", "NAME  STATE\n\nTotal size: 0", "NAME  STATE\nPage 1 of 1\nTotal size: 0"],
)
def test_a_blank_answer_is_believed_when_the_table_is_empty_too(tmp_path: Path, table: str):
    (tmp_path / "table").write_text(table)
    firectl = client(tmp_path, f'case "$*" in *json*) ;; *) cat {tmp_path}/table;; esac')
    assert firectl.list_deployments() == []


def test_a_blank_answer_beside_a_table_with_rows_is_an_error(tmp_path: Path):
    firectl = client(
        tmp_path, 'case "$*" in *json*) ;; *) echo "NAME"; echo "a"; echo "Total size: 1";; esac'
    )
    with pytest.raises(FirectlFailedError, match="incomplete: 0 rows, but it tells of 1"):
        firectl.list_deployments()


def test_a_build_without_no_paginate_is_asked_without_it(tmp_path: Path):
    body = """
case "$*" in
*--no-paginate*) echo 'Failed to execute: unknown flag: --no-paginate' >&2; exit 1;;
*) echo '[]';;
esac"""
    firectl = client(tmp_path, body)
    assert firectl.list_quotas() == []
    assert calls_of(tmp_path)[-1] == "quota list -o json -a acme"


def test_a_build_without_show_deleted_is_asked_without_it(tmp_path: Path):
    caps = Capabilities("1.7.0", {"deployment list": frozenset({"--no-paginate"})})
    assert prints(tmp_path, [], caps).list_deployments() == []
    assert "--show-deleted" not in calls_of(tmp_path)[0]


def test_a_read_is_tried_again_when_the_platform_stumbles(tmp_path: Path):
    body = (
        'if [ "$(wc -l < $LOG)" -lt 3 ]; then\n'
        "  echo 'Failed to execute: rpc error: code = Unavailable desc = busy' >&2; exit 1\nfi\necho '[]'"
    )
    firectl = client(tmp_path, body)
    assert firectl.list_quotas() == []
    clock = firectl.runner.env.clock
    assert isinstance(clock, FakeClock)
    assert clock.slept == [0.5, 1.0]


def test_a_write_is_made_once_whatever_happens(tmp_path: Path):
    firectl = client(
        tmp_path, "echo 'Failed to execute: rpc error: code = Unavailable desc = busy' >&2; exit 1"
    )
    outcome = firectl.perform("deployment delete", "chat", {"hard": True})
    assert outcome.ambiguous
    assert calls_of(tmp_path) == ["deployment delete chat --hard -a acme"]


def test_a_failed_read_carries_its_class_and_next_steps(tmp_path: Path):
    firectl = client(
        tmp_path, "echo 'Failed to execute: rpc error: code = NotFound desc = no model' >&2; exit 1"
    )
    with pytest.raises(FirectlFailedError) as caught:
        firectl.get_model("accounts/acme/models/x")
    assert caught.value.error_class == "not_found"
    assert caught.value.next_steps


def test_output_that_is_no_answer_is_quoted_with_secrets_masked(tmp_path: Path):
    firectl = prints(tmp_path, f"hello {KEY} this is no JSON")
    with pytest.raises(FirectlFailedError) as caught:
        firectl.list_deployments()
    assert "hello *** this is no JSON" in caught.value.message
    assert "API_KEY" not in caught.value.message


def test_keys_of_live_deployments_are_masked(tmp_path: Path):
    firectl = prints(tmp_path, {**ROW, "directRouteApiKeys": ["hunter22"]})
    assert firectl.get_deployment("chat")["direct_route_api_keys"] == ["***"]


def test_a_write_with_secrets_sends_them_by_file(tmp_path: Path):
    firectl = client(tmp_path, 'while [ "$1" != --file ]; do shift; done; cat "$2" > $LOG.file')
    fields = {"direct_route.api_keys": [Secret("${env:K}", "hunter22")], "display_name": "x"}
    assert firectl.perform("deployment update", "chat", fields).ok
    assert json.loads((tmp_path / "log.file").read_text()) == {"direct_route_api_keys": ["hunter22"]}
    assert "hunter22" not in calls_of(tmp_path)[0]


def test_words_that_were_built_before_can_be_run(tmp_path: Path):
    firectl = client(tmp_path, "true")
    words = firectl.argv("deployment scale", "chat", {"replica_count": 0})
    assert firectl.run(words).ok
    assert calls_of(tmp_path) == ["deployment scale chat --replica-count 0 -a acme"]


def test_capabilities_are_asked_on_first_use_and_once(tmp_path: Path):
    firectl = client(tmp_path, 'test "$1" = version && echo 1.8.9 || exit 1', caps=None)
    assert calls_of(tmp_path) == []
    assert firectl.capabilities.version == "1.8.9"
    count = len(calls_of(tmp_path))
    assert firectl.capabilities.version == firectl.version() == "1.8.9"
    assert len(calls_of(tmp_path)) == count


def test_the_version_can_be_asked_alone(tmp_path: Path):
    firectl = client(tmp_path, "echo 1.8.9", caps=None)
    assert firectl.version() == "1.8.9"
    assert calls_of(tmp_path) == ["version"]


def test_a_required_version_is_checked_and_none_asks_nothing(tmp_path: Path):
    firectl = client(tmp_path, "echo 1.8.1", caps=None)
    firectl.require(None)
    assert calls_of(tmp_path) == []
    with pytest.raises(FirectlTooOldError):
        firectl.require(">=1.8.2")


@pytest.mark.parametrize("stream", [1, 2])
def test_whoami_is_read_from_either_stream(tmp_path: Path, stream: int):
    assert client(tmp_path, f"echo 'Account ID: acme' >&{stream}").whoami() == {"account_id": "acme"}


def test_open_finds_the_program_and_starts_nothing(tmp_path: Path):
    program = script(tmp_path, LOGGED)
    firectl = Firectl.open(make_env(tmp_path), account="acme", option=str(program), profile="work")
    assert (firectl.account, firectl.runner.profile) == ("acme", "work")
    assert calls_of(tmp_path) == []
    firectl.close()


def test_an_unasked_client_probes_through_its_own_runner(tmp_path: Path):
    assert make_client(tmp_path, "echo 1.8.9").capabilities.version == "1.8.9"
