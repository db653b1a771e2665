"""Files of kind Watch: what they set, and how mistakes are told with their place."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.errors import InvalidSpecError, Severity
from fwctl.operate.rules import RULES
from fwctl.operate.rules_model import Hit
from fwctl.operate.watch import Look, judge
from fwctl.operate.watch_config import WatchConfig, load_config, secrets
from fwctl.operate.watch_state import State
from tests.operate.support import ACCOUNT, NOW, PRICES, live

HEAD = "apiVersion: fwctl/v1\nkind: Watch\n"
ENVIRON = {"HOOK": "https://hooks.example/T0/secret", "BAD": "ftp://x"}


def read(folder: Path, text: str) -> WatchConfig:
    (folder / "watch.yaml").write_text(HEAD + text)
    return load_config(Path("watch.yaml"), ENVIRON, folder)


def problems(folder: Path, text: str) -> list[tuple[int, str, str]]:
    with pytest.raises(InvalidSpecError) as caught:
        read(folder, text)
    found = caught.value.diagnostics
    assert all(item.position is not None for item in found)
    return [(item.position.line if item.position else 0, item.code, item.message) for item in found]


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert read(tmp_path, "account: acme\n") == WatchConfig(RULES, account="acme")


def test_thresholds_times_and_severity_can_be_set_and_rules_switched_off(tmp_path: Path) -> None:
    text = """\
rules:
  kv-nearly-full: {limit: 0.8, hold: 10m, resolve: 1m30s, severity: critical}
  over-budget: {usd_per_hour: 40}
  slow-first-token: {limit: 900}
  failed: {enabled: false}
  stuck: {enabled: true}
records: [runs/today/records.jsonl]
"""
    config = read(tmp_path, text)
    rules = {rule.name: rule for rule in config.rules}
    kv = rules["kv-nearly-full"]
    assert (kv.limits, kv.hold_s, kv.resolve_s, kv.severity) == ({"limit": 0.8}, 600, 90, Severity.ERROR)
    assert rules["over-budget"].limits == {"usd_per_hour": 40}
    assert rules["slow-first-token"].limits == {"limit": 900}
    assert "failed" not in rules
    assert len(rules) == len(RULES) - 1
    assert config.records == ("runs/today/records.jsonl",)


def test_sinks_take_their_addresses_from_the_environment(tmp_path: Path) -> None:
    text = """\
sinks:
  - {type: slack, url: "${env:HOOK}"}
  - {type: alertmanager, url: http://localhost:9093}
"""
    config = read(tmp_path, text)
    assert [(sink.kind, sink.name) for sink in config.sinks] == [
        ("slack", "slack 1"),
        ("alertmanager", "alertmanager 2"),
    ]
    assert secrets(config) == ["https://hooks.example/T0/secret"]


@pytest.mark.parametrize(
    ("text", "line", "code", "why"),
    [
        ("rule: {}", 3, "FW201", "a file of kind Watch has no 'rule'"),
        ("rules: [a]", 3, "FW202", "rules takes a mapping"),
        ("rules:\n  hot: {}", 4, "FW201", "the table of rules has no 'hot'"),
        ("rules:\n  failed: 3", 4, "FW202", "failed takes a mapping"),
        ("rules:\n  failed: {limit: 3}", 4, "FW201", "failed has no 'limit'"),
        ("rules:\n  failed: {hold: soon}", 4, "FW202", "'soon' is not a duration"),
        ("rules:\n  failed: {severity: bad}", 4, "FW202", "severity is one of"),
        ("rules:\n  failed: {enabled: 7}", 4, "FW202", "enabled is true or false"),
        ("rules:\n  queueing: {limit: -1}", 4, "FW202", "limit is a number from 0"),
        ("rules:\n  idle-deletion: {days_before: 1e7}", 4, "FW202", "is a number from 0 to 1,000,000"),
        ("stack: prod", 3, "FW201", "a file of kind Watch has no 'stack'"),
        ("rules:\n  queueing: {limit: [1]}", 4, "FW202", "limit is a number from 0"),
        ("sinks: {}", 3, "FW202", "sinks takes a list"),
        ("sinks: [x]", 3, "FW202", "a sink takes a mapping"),
        ("sinks: [{type: mail, url: x}]", 3, "FW202", "the type of a sink is one of"),
        ("sinks: [{type: slack}]", 3, "FW202", "a sink needs a url"),
        ("sinks: [{type: slack, url: '${env:NONE}'}]", 3, "FW202", "NONE is not set"),
        ("sinks: [{type: slack, url: '${env:BAD}'}]", 3, "FW202", "no address"),
        ("sinks: [{type: alertmanager, url: 'http://a:b@am'}]", 3, "FW207", "is a secret"),
        ("sinks: [{type: slack, url: 'https://x/y', to: z}]", 3, "FW201", "a sink has no 'to'"),
        (
            "sinks:\n  - {type: slack, url: '${env:HOOK}'}\n  - {type: slack, url: '${env:HOOK}'}",
            *(5, "FW202", "another sink has the same type and address"),
        ),
        ("records: [{}]", 3, "FW202", "records takes texts"),
    ],
)
def test_a_mistake_has_a_place_and_a_reason(
    tmp_path: Path, text: str, line: int, code: str, why: str
) -> None:
    found = problems(tmp_path, text)
    assert any(item[:2] == (line, code) and why in item[2] for item in found), found


def test_a_plain_webhook_address_is_refused_and_shown_nowhere(tmp_path: Path) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        read(tmp_path, "sinks: [{type: slack, url: 'https://hooks.slack.com/services/T0/B0/xyz'}]")
    (item,) = caught.value.diagnostics
    assert item.code == "FW207"
    assert item.suggestion == "url: ${env:WEBHOOK_URL}"
    assert "xyz" not in f"{item.message} {item.source_line} {item.suggestion}"


def test_the_example_of_the_page_is_one(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "watch.md").read_text()
    example = page.partition("```yaml\n")[2].partition("```")[0]
    (tmp_path / "w.yaml").write_text(example)
    environ = {"SLACK_URL": "https://slack.example/x", "HOOK_URL": "https://hook.example/y"}
    config = load_config(Path("w.yaml"), environ, tmp_path)
    assert [sink.kind for sink in config.sinks] == ["slack", "webhook", "alertmanager"]
    assert len(config.rules) == len(RULES) - 1


def test_another_kind_of_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.yaml").write_text("apiVersion: fwctl/v1\nkind: Targets\n")
    with pytest.raises(InvalidSpecError) as caught:
        load_config(Path("x.yaml"), {}, tmp_path)
    assert caught.value.diagnostics[0].message == "`kind` of this file is Watch"


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"- a\n", b"a: [", b""])
def test_bytes_that_are_no_such_file_are_told(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.yaml").write_bytes(data)
    with pytest.raises(InvalidSpecError) as caught:
        load_config(Path("x.yaml"), {}, tmp_path)
    assert caught.value.diagnostics


def test_the_highest_thresholds_can_be_judged(tmp_path: Path) -> None:
    text = "rules:\n" + "".join(
        f"  {rule.name}: {{{', '.join(f'{name}: 1e6' for name in rule.limits)}}}\n"
        for rule in RULES
        if rule.limits
    )
    quiet = live(min=0, ready=0, desired=0)
    state = State(requests={"chat": NOW})
    look = Look(NOW, ACCOUNT, {"chat": quiet, "new": live("new", "CREATING")}, None, PRICES)
    told = judge(look, state, read(tmp_path, text).rules)
    (deletion,) = [item for item in told if item.key == ("idle-deletion", "chat")]
    assert isinstance(deletion.answer, Hit)
    assert "the platform deletes it at about 4764-08-28" in deletion.answer.evidence
