"""Files of kind Targets: what they say, and where a mistake is said to be."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.errors import FwctlError, InvalidSpecError, UsageError
from fwctl.measure.target import Target
from fwctl.measure.targets_file import Resolved, check_targets, load_targets
from fwctl.spec.files import Given

HEAD = "apiVersion: fwctl/v1\nkind: Targets\naccount: acme\n"
KEY = "FIREWORKS_API_KEY"
FIREWORKS = "https://api.fireworks.ai/inference/v1"


def resolve(name: str, account: str | None) -> Resolved:
    base = f"accounts/{account}/deployments/{name}"
    return Resolved(f"m#{base}", base, 8.0)


def read(folder: Path, text: str, *names: str, head: str = HEAD, **environ: str) -> list[Target]:
    (folder / "targets.yaml").write_text(head + text)
    return load_targets(Path("targets.yaml"), names, {KEY: "fw_key", **environ}, folder, resolve)


def problems(folder: Path, text: str, head: str = HEAD, **environ: str) -> list[tuple[str, int | None, str]]:
    with pytest.raises(InvalidSpecError) as caught:
        read(folder, text, head=head, **environ)
    return [
        (item.code, item.position.line if item.position else None, item.message)
        for item in caught.value.diagnostics
    ]


def test_a_deployment_is_resolved_and_asked_at_fireworks(tmp_path: Path) -> None:
    (target,) = read(tmp_path, "targets: {fast: {deployment: chat}}\n", FIREWORKS_API_KEY="fw_key")
    base = "accounts/acme/deployments/chat"
    assert (target.url, target.model, target.deployment) == (FIREWORKS, f"m#{base}", base)
    assert (target.api_key, target.api_key_env, target.usd_per_hour) == ("fw_key", "FIREWORKS_API_KEY", 8.0)


def test_the_fireworks_key_stays_with_fireworks(tmp_path: Path) -> None:
    text = "targets: {other: {model: m, base_url: 'https://fireworks.ai.example/v1/'}}\n"
    (target,) = read(tmp_path, text, FIREWORKS_API_KEY="fw_key")
    assert (target.api_key, target.url) == (None, "https://fireworks.ai.example/v1")
    text = (
        "targets:\n  a: {model: m, base_url: 'https://x.example/v1', api_key: '${env:FIREWORKS_API_KEY}'}\n"
    )
    ((code, line, message),) = problems(tmp_path, text, FIREWORKS_API_KEY="fw_key")
    assert (code, line) == ("FW207", 5)
    assert "sent to Fireworks only" in message


def test_every_field_arrives_and_defaults_lie_below(tmp_path: Path) -> None:
    text = """\
defaults:
  predictions: false
  timeouts: {total: 5m, idle: 10s}
targets:
  a:
    model: m#accounts/acme/deployments/d
    base_url: http://127.0.0.1:8080/v1
    api_key: ${env:LOCAL_KEY}
    response_format: {type: json_schema, json_schema: {name: x, strict: true}}
    schema_in_prompt: false
    extra: {top_p: 0.9, n: 1, stop: ["a"], seed: null, user: "7"}
    headers: {x-team: search}
    timeouts: {idle: 2s}
    price: {input: 0.2, output: 0.8}
    slo: {ttft_p95_ms: 800, tpot_p95_ms: 25}
"""
    (target,) = read(tmp_path, text, LOCAL_KEY="k")
    assert target.api_key == "k"
    assert "'k'" not in repr(target)
    assert not target.predictions
    assert (target.timeouts.total_s, target.timeouts.idle_s, target.timeouts.connect_s) == (300.0, 2.0, 10.0)
    assert target.extra == {"top_p": 0.9, "n": 1, "stop": ["a"], "seed": None, "user": "7"}
    assert target.response_format == {"type": "json_schema", "json_schema": {"name": "x", "strict": True}}
    assert (target.headers, target.token_prices) == ({"x-team": "search"}, {"input": 0.2, "output": 0.8})
    assert target.slo_s == {"ttft_s": 0.8, "tpot_s": 0.025}
    assert not target.schema_in_prompt


def test_names_choose_and_order(tmp_path: Path) -> None:
    text = "targets: {a: {model: x}, b: {model: y}, broken: {modle: z}}\n"
    assert [target.name for target in read(tmp_path, text, "b", "a")] == ["b", "a"]
    with pytest.raises(UsageError) as caught:
        read(tmp_path, text, "brken")
    assert "no target 'brken'" in str(caught.value)
    assert caught.value.next_steps == ("did you mean broken?",)
    with pytest.raises(UsageError, match="named twice"):
        read(tmp_path, text, "a", "a")


@pytest.mark.parametrize(
    ("fields", "code", "part"),
    [
        ("{}", "FW204", "needs either deployment or model"),
        ("{model: a, deployment: b}", "FW204", "needs either deployment or model"),
        ("{model: ''}", "FW203", "model is empty"),
        ("{model: a, colour: b}", "FW201", "unknown key 'colour'"),
        ("{model: 7}", "FW202", "model takes text, not the number '7'"),
        ("{model: a, api_key: sk-hello}", "FW207", "api_key takes a reference"),
        ("{model: a, api_key: ['${env:A}']}", "FW207", "api_key takes a reference"),
        ("{model: a, api_key: '${env:NOT_SET}'}", "FW108", "variable NOT_SET is not set"),
        ("{model: a, api_key: '${env:TORN}'}", "FW108", "variable TORN holds characters that no key has"),
        ("{model: a, headers: {Authorization: Bearer abc}}", "FW207", "takes no secret"),
        ("{model: a, headers: {x-trace: '${env:SOME}'}}", "FW207", "takes no secret"),
        ("{model: a, base_url: 'ftp://x'}", "FW203", "must begin with http"),
        ("{model: a, base_url: 'http://['}", "FW203", "not a valid URL"),
        ("{model: a, base_url: 'http://u:p@x/v1'}", "FW203", "user or password"),
        ("{model: a, base_url: 'http://x/v1?key=1'}", "FW203", "query"),
        ("{model: a, base_url: 'http://x y/v1'}", "FW203", "spaces"),
        ("{model: a, base_url: 'http://x/v1/chat/completions'}", "FW203", "must end before"),
        ("{model: a, timeouts: {ttft: 5}}", "FW202", "duration"),
        ("{model: a, timeouts: {ttft: 0s}}", "FW203", "timeouts.ttft must be above 0"),
        ("{model: a, usd_per_hour: -1}", "FW203", "at least 0"),
        ("{model: a, predictions: off}", "FW105", "boolean"),
        ("{model: a, extra: [1]}", "FW202", "extra takes a mapping"),
        ("[]", "FW202", "must be a mapping of fields"),
    ],
)
def test_a_mistake_is_named_at_its_line(tmp_path: Path, fields: str, code: str, part: str) -> None:
    found = problems(tmp_path, f"targets:\n  one: {fields}\n", SOME="x", TORN="a\nb")
    assert [(item[0], item[1]) for item in found] == [(code, 5)]
    assert part in found[0][2]


def test_fireworks_without_a_key_is_refused_before_any_request_with_both_ways_out(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        read(tmp_path, "targets:\n  a: {model: m}\n  b: {model: m, base_url: 'http://x/v1'}\n", **{KEY: ""})
    (found,) = caught.value.diagnostics
    assert (found.code, found.position and found.position.line) == ("FW108", 5)
    assert found.message == "environment variable FIREWORKS_API_KEY is not set"
    assert "base_url" in str(found.suggestion)


@pytest.mark.parametrize(
    ("head", "text", "code", "line"),
    [
        ("apiVersion: fwctl/v1\n", "targets: {a: {model: m}}\n", "FW205", 1),
        ("apiVersion: fwctl/v1\nkind: Target\n", "targets: {a: {model: m}}\n", "FW205", 2),
        ("kind: Targets\n", "targets: {a: {model: m}}\n", "FW204", 1),
        (HEAD, "", "FW204", 1),
        (HEAD, "targets: [a]\n", "FW202", 4),
        (HEAD, "targets: {a: {model: m}}\ndefaults: 7\n", "FW202", 5),
        (HEAD, "targets: {a: {model: m}}\ntarget: {}\n", "FW201", 5),
        (HEAD, "targets: {a: {model: m}, a: {model: n}}\n", "FW104", 4),
        (HEAD, "targets: {a: {model: m\n", "FW101", 4),
        (HEAD, "targets: {a: *b}\n", "FW109", 4),
    ],
)
def test_the_frame_of_the_file_is_checked(tmp_path: Path, head: str, text: str, code: str, line: int) -> None:
    assert (code, line) in {item[:2] for item in problems(tmp_path, text, head=head)}


def test_secrets_are_not_shown_below_a_message(tmp_path: Path) -> None:
    (tmp_path / "targets.yaml").write_text(HEAD + "targets:\n  a: {model: m, api_key: sk-hello-12345}\n")
    with pytest.raises(InvalidSpecError) as caught:
        load_targets(Path("targets.yaml"), [], {}, tmp_path)
    assert "hello" not in repr(caught.value.diagnostics)


def test_what_cannot_be_read_is_said(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        load_targets(Path("none.yaml"), [], {}, tmp_path)
    assert caught.value.diagnostics[0].code == "FW112"
    with pytest.raises(UsageError, match="has no targets"):
        read(tmp_path, "targets: {}\n")
    (tmp_path / "targets.yaml").write_text(HEAD + "targets: {a: {deployment: chat}}\n")
    with pytest.raises(FwctlError, match="no specs were read"):
        load_targets(Path("targets.yaml"), [], {KEY: "fw_key"}, tmp_path)


@pytest.mark.parametrize(
    ("fields", "code", "message"),
    [
        ('headers: {x-a: "b\\r\\nx-evil: 1"}', "FW203", "the header x-a must be one line"),
        ("headers: {'x a': b}", "FW203", "'x a' is no name of a header"),
        ("headers: {Content-Length: '5'}", "FW203", "follows from the request"),
        ("extra: {response_format: text}", "FW203", "stands in extra"),
    ],
)
def test_what_cannot_be_sent_is_said_before_a_run(
    tmp_path: Path, fields: str, code: str, message: str
) -> None:
    ((found, line, said),) = problems(tmp_path, f"targets:\n  a: {{model: m, {fields}}}\n")
    assert (found, line) == (code, 5)
    assert message in said


def test_a_target_has_a_name(tmp_path: Path) -> None:
    ((code, line, said),) = problems(tmp_path, "targets:\n  '': {model: m}\n")
    assert (code, line, said) == ("FW203", 5, "the name of a target is empty")


def test_a_file_is_checked_without_its_keys() -> None:
    text = "targets:\n  a: {model: m, api_key: '${env:NOT_SET}'}\n  b: {headers: {'x a': b}, model: m}\n"
    text += "  c: {}\n"
    found = check_targets(Given("t.yaml", (HEAD + text).encode()), {})
    assert [(item.code, item.position and item.position.line) for item in found] == [
        ("FW203", 6),
        ("FW204", 7),
    ]
    assert check_targets(Given("t.yaml", (HEAD + "targets: [a]\n").encode()), {}) == ()
