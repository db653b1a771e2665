"""Files of kind Routes: every problem with its place, and what a good one means."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import InvalidSpecError
from fwctl.routing.model import BreakerPolicy, HedgePolicy, RetryPolicy, Routes, Timeouts, Trace
from fwctl.routing.reading import load_routes, read_given
from fwctl.spec.files import Given

HEAD = "apiVersion: fwctl/v1\nkind: Routes\naccount: acme\n"
ENVIRON = {"FIREWORKS_API_KEY": "fw_own", "OTHER_KEY": "other-key", "ROUTER_KEY": "client-key"}
EXAMPLE = (
    HEAD
    + """\
settings:
  client_keys: ["${env:ROUTER_KEY}"]
  trace: {file: traces.jsonl, share: 5%}
  drain: {delay: 1s, limit: 10s}
  max_body_mib: 2
  keep_headers: [X-Team]
routes:
  chat:
    targets:
      - {deployment: chat-prod}
      - {deployment: chat-eu, weight: 0, region: EUROPE, lacks: [prediction], context_length: 8192}
      - {model: accounts/fireworks/models/llama-v3p1-70b-instruct, timeouts: {first_token: 3s}}
      - {base_url: "https://other.example/v1/", model: m, api_key: "${env:OTHER_KEY}"}
    timeouts: {connect: 1s, first_token: 5s, idle: 7s, total: 60s}
    retry: {max_attempts: 2, budget: 20%, floor: 30/min}
    breaker: {window: 60s, min_requests: 5, failure_ratio: 0.25, open_for: 2s, max_open_for: 1m, probes: 1}
    hedge: {after: p95, budget: 2%}
    report_model: route
"""
)


def read(
    text: str, folder: Path = Path(), environ: dict[str, str] = ENVIRON
) -> tuple[Routes | None, list[str]]:
    found = read_given(Given("routes.yaml", text.encode()), environ, folder)
    problems = []
    for item in found.diagnostics:
        assert item.position is not None
        problems.append(f"{item.position.line}:{item.position.column} {item.code} {item.message}")
    return found.routes, problems


def route(fields: str) -> str:
    return HEAD + "routes:\n  chat:\n" + "".join(f"    {line}\n" for line in fields.splitlines())


def test_every_key_of_the_example_arrives() -> None:
    routes, problems = read(EXAMPLE, Path("/etc/fwctl"))
    assert problems == []
    assert routes is not None
    chat = routes.routes["chat"]
    first, eu, serverless, other = chat.targets
    limits = Timeouts(connect_s=1, first_token_s=5, idle_s=7, total_s=60)
    assert (first.name, first.model) == ("chat-prod", "accounts/acme/deployments/chat-prod")
    assert (first.api_key, first.account, first.deployment) == ("fw_own", "acme", "chat-prod")
    assert first.timeouts == limits
    assert (eu.weight, eu.region, eu.lacks, eu.context_length) == (0, "EUROPE", {"prediction"}, 8192)
    assert serverless.timeouts.first_token_s == 3
    assert serverless.deployment is None
    assert (other.url, other.api_key, other.account) == ("https://other.example/v1", "other-key", None)
    assert chat.total_s == 60
    assert chat.retry == RetryPolicy(2, 0.2, 0.5)
    assert chat.breaker == BreakerPolicy(60, 5, 0.25, 2, 60, 1)
    assert chat.hedge == HedgePolicy(0.02, 0.95, None)
    assert chat.report_model == "route"
    own = routes.settings
    assert (own.client_keys, own.trace) == (("client-key",), Trace(Path("/etc/fwctl/traces.jsonl"), 0.05))
    assert (own.drain_delay_s, own.drain_s, own.max_body_bytes) == (1, 10, 2 * 2**20)
    assert own.keep_headers == ("x-team",)
    assert set(routes.secrets) == {"fw_own", "other-key", "client-key"}
    assert first.position is not None
    assert first.position.line == 13


def test_defaults_are_those_of_the_documentation() -> None:
    routes, problems = read(route("targets: [{deployment: a}]"))
    assert problems == []
    assert routes is not None
    chat = routes.routes["chat"]
    assert (chat.total_s, chat.hedge, chat.report_model) == (120, None, "target")
    assert chat.targets[0].timeouts == Timeouts(2, 10, 15, 120)
    assert chat.retry == RetryPolicy(3, 0.1, 10)
    assert chat.breaker == BreakerPolicy(30, 20, 0.5, 10, 300, 3)
    assert routes.settings.client_keys == ()
    assert routes.settings.trace is None


@pytest.mark.parametrize(
    ("fields", "wanted"),
    [
        ("target: []", "6:5 FW201 unknown key 'target'"),
        ("targets: []", "6:5 FW202 targets takes a list of 1 to 64 targets, first choice first"),
        ("targets: [chat-prod]", "6:15 FW202 a target must be a mapping, not the text 'chat-prod'"),
        ("targets: [{}]", "6:15 FW204 a target needs either deployment or model"),
        ("targets: [{deployment: a, model: b}]", "FW204 a target needs either deployment or model"),
        ("targets: [{deployment: a, region: 1}]", "FW202"),
        ("targets: [{deployment: a, weight: -1}]", "6:39 FW203 weight must be at least 0, not '-1'"),
        ("targets: [{deployment: a, lacks: [tool]}]", "6:39 FW205 lacks does not know 'tool'"),
        ('targets: [{base_url: "ftp://x", model: m}]', "FW203 base_url must begin with http:// or https://"),
        (
            'targets: [{base_url: "https://u:p@x", model: m}]',
            "FW203 base_url must not hold a user or password",
        ),
        ("targets: [{model: m, api_key: fw_abcdef}]", "FW207 api_key takes a reference to an environment"),
        ('targets: [{model: m, api_key: "x${env:OTHER_KEY}"}]', "FW207 api_key takes a reference"),
        ('targets: [{model: m, api_key: "${env:NOPE}"}]', "FW108 environment variable NOPE is not set"),
        (
            'targets: [{base_url: "https://x.example/v1", model: m, api_key: "${env:FIREWORKS_API_KEY}"}]',
            "FW207 FIREWORKS_API_KEY is sent to Fireworks only",
        ),
        ("targets: [{deployment: a}, {deployment: a}]", "6:5 FW203 two targets are the same"),
        ("targets: [{deployment: a}]\ntimeouts: {total: 0s}", "7:23 FW203 timeouts.total must be above 0"),
        ("targets: [{deployment: a}]\ntimeouts: {total: 10}", "7:23 FW2"),
        ("targets: [{deployment: a}]\ntimeouts: 10s", "7:15 FW202 timeouts must be a mapping"),
        ("targets: [{deployment: a}]\nretry: {budget: 0.1}", "7:21 FW105"),
        (
            "targets: [{deployment: a}]\nretry: {budget: 200%}",
            "7:21 FW208 retry.budget: '200%' is not a share",
        ),
        ("targets: [{deployment: a}]\nretry: {floor: 10}", "7:20 FW202"),
        ("targets: [{deployment: a}]\nretry: {floor: 10/h}", "7:20 FW208 retry.floor: '10/h' is not a rate"),
        (
            "targets: [{deployment: a}]\nretry: {max_attempts: 0}",
            "7:27 FW203 retry.max_attempts must be between",
        ),
        (
            "targets: [{deployment: a}]\nbreaker: {failure_ratio: 2}",
            "7:30 FW203 breaker.failure_ratio must be",
        ),
        (
            "targets: [{deployment: a}]\nbreaker: {open_for: 10m}",
            "FW203 breaker.max_open_for is shorter than breaker.open_for",
        ),
        ("targets: [{deployment: a}]\nhedge: {after: soon}", "7:20 FW208 hedge.after: 'soon' is neither"),
        ("targets: [{deployment: a}]\nreport_model: both", "7:19 FW205 report_model does not know 'both'"),
    ],
)
def test_each_mistake_is_named_with_its_place(fields: str, wanted: str) -> None:
    routes, problems = read(route(fields))
    assert routes is None
    assert any(wanted in problem for problem in problems), problems


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("kind: Deployments\nroutes: {}\n", "FW205 routes stand in a file of kind Routes, not 'Deployments'"),
        ("apiVersion: fwctl/v1\nroutes: {}\n", "FW205 routes stand in a file of kind Routes, and this file"),
        (HEAD, "FW204 the file needs routes"),
        (HEAD + "routes: {}\n", "FW204 routes is empty"),
        (HEAD + "routes: []\n", "FW202 routes takes a mapping, not a list"),
        (HEAD + "routes: {chat: 5}\n", "FW202 route 'chat' must be a mapping, not the number '5'"),
        (HEAD + "routes: {chat: {}}\n", "FW204 route 'chat' needs targets"),
        (
            HEAD + "settings: {port: 1}\nroutes: {chat: {targets: [{deployment: a}]}}\n",
            "FW201 unknown key 'port'",
        ),
        (HEAD + "settings: {client_keys: [abc]}\nroutes: {chat: {targets: [{deployment: a}]}}\n", "FW207"),
        (HEAD + "settings: {outputs: no.json}\nroutes: {chat: {targets: [{deployment: a}]}}\n", "FW112"),
        (
            "apiVersion: fwctl/v1\nkind: Routes\nroutes: {c: {targets: [{deployment: a}]}}\n",
            "needs an account",
        ),
        ("", "FW111 the file is empty"),
        ("routes: [", "FW101"),
    ],
)
def test_a_file_that_is_wrong_as_a_whole_says_so(text: str, wanted: str) -> None:
    routes, problems = read(text)
    assert routes is None
    assert any(wanted in problem for problem in problems), problems


def test_names_come_from_the_outputs_of_an_apply(tmp_path: Path) -> None:
    models = {
        "chat": {"base": "accounts/acme/deployments/chat-v2", "router": None, "addons": {}},
        "ab": {"base": "accounts/acme/deployments/ab", "router": "accounts/acme/routers/ab", "addons": {}},
    }
    (tmp_path / "models.json").write_text(json.dumps({"format_version": 1, "models": models}))
    text = (
        HEAD
        + "settings: {outputs: models.json}\nroutes: {c: {targets: [{deployment: %s}, {deployment: ab}]}}\n"
    )
    routes, problems = read(text % "chat", tmp_path)
    assert problems == []
    assert routes is not None
    strings = [target.model for target in routes.routes["c"].targets]
    assert strings == ["accounts/acme/deployments/chat-v2", "accounts/acme/routers/ab"]
    _, problems = read(text % "chta", tmp_path)
    assert any("settings.outputs has no deployment 'chta'" in problem for problem in problems)


def test_no_secret_is_in_a_message_or_a_representation(tmp_path: Path) -> None:
    routes, _ = read(EXAMPLE)
    assert "other-key" not in repr(routes)
    assert "client-key" not in repr(routes)
    (tmp_path / "routes.yaml").write_text(route("targets: [{model: m, api_key: sk-written-out}]"))
    with pytest.raises(InvalidSpecError) as caught:
        load_routes(Path("routes.yaml"), ENVIRON, tmp_path)
    assert "sk-written-out" not in str([item.to_json() for item in caught.value.diagnostics])
    assert all(item.source_line is None for item in caught.value.diagnostics)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200), st.integers(0, len(EXAMPLE)))
def test_no_bytes_make_it_raise(junk: bytes, at: int) -> None:
    data = EXAMPLE.encode()
    found = read_given(Given("routes.yaml", data[:at] + junk + data[at:]), ENVIRON, Path())
    assert found.routes is not None or found.diagnostics
