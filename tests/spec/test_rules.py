"""Rules across fields and advice: what each reports, where, and what it leaves alone."""

from __future__ import annotations

import pytest

from fwctl.errors import Severity
from fwctl.spec.model import Evidence
from tests.spec.support import ADDED, FIELDS, HEAD, chat, codes, found, load_text, only, spec

LORA = "accounts/acme/models/support-lora"
BF16 = "precision: BF16"
SCHEDULE = "{{cron: '{cron}', timezone: '{zone}', duration: {duration}, min_replicas: {floor}}}"


def schedules(
    cron: str = "0 8 * * *", zone: str = "UTC", duration: str = "1h", floor: int = 1, count: int = 1
) -> str:
    rows = [SCHEDULE.format(cron=cron, zone=zone, duration=duration, floor=floor)] * count
    return f"autoscaling: {{schedules: [{', '.join(rows)}]}}"


# What is written, code, line.
ERRORS: list[tuple[str, str, int]] = [
    (spec("accept_shapeless_risk: true"), "FW301", ADDED),
    (spec(shape="shape: none", extra="accept_shapeless_risk: false"), "FW301", 6),
    (spec(shape="", extra="accept_shapeless_risk: true"), "FW301", 4),
    (spec(replicas="replicas: {min: 1, max: 3, max_with_revocable: 2}"), "FW302", 10),
    (spec("autoscaling: {scale_to_zero_window: 1s}"), "FW303", ADDED),
    (spec("autoscaling: {scale_to_zero_window: 4m59s}"), "FW303", ADDED),
    (spec("autoscaling: {scale_down_window: 1h1s}"), "FW303", ADDED),
    (spec("speculation: {mode: draft}"), "FW304", ADDED),
    (spec("speculation: {mode: draft, draft_tokens: 4}"), "FW304", ADDED),
    (spec("speculation: {mode: ngram, draft_tokens: 4}"), "FW304", ADDED),
    (spec("speculation: {mode: ngram, ngram_length: 3}"), "FW304", ADDED),
    (spec("speculation: {ngram_length: 3}"), "FW304", ADDED),
    (spec("speculation: {draft_tokens: 4}"), "FW304", ADDED),
    (spec("speculation: {mode: disabled, draft_tokens: 4}"), "FW304", ADDED),
    (spec("speculation: {mode: inherit, ngram_length: 4}"), "FW304", ADDED),
    (spec("speculation: {mode: ngram, draft_model: m, ngram_length: 3, draft_tokens: 1}"), "FW304", ADDED),
    (spec(f"addons: {{load: [{LORA}]}}"), "FW305", ADDED),
    (spec("addons: {mode: multi_lora}", precision="precision: FP8_KV"), "FW305", ADDED),
    (spec("addons: {mode: multi_lora}\nspeculation: {draft_model: accounts/a/models/m-fp8, draft_tokens: 4}",
          precision=BF16), "FW305", 12),
    (spec("direct_route: {type: INTERNET}", region="region: GLOBAL"), "FW306", ADDED),
    (spec("direct_route: {type: INTERNET}", region=""), "FW306", 10),
    (spec("autoscaling: {load_targets: {default: 0}}"), "FW307", ADDED),
    (spec("autoscaling: {load_targets: {default: 1.01}}"), "FW307", ADDED),
    (spec("autoscaling: {load_targets: {default: 1, requests_per_second: -1}}"), "FW307", ADDED),
    (spec("autoscaling: {load_targets: {default: 1, request_per_second: 1}}"), "FW307", ADDED),
    (spec(schedules(zone="Europe/Londn")), "FW308", ADDED),
    (spec(schedules(zone="+01:00")), "FW308", ADDED),
    (spec(schedules(duration="299s")), "FW308", ADDED),
    (spec(schedules(duration="169h")), "FW308", ADDED),
    (spec(schedules(duration="300.5s")), "FW308", ADDED),
    (spec(schedules(floor=3)), "FW308", ADDED),
    (spec(schedules(count=6)), "FW308", ADDED),
    (spec(precision="precision: FP8_MM", accelerator="accelerator: {type: NVIDIA_A10G_24GB}"), "FW309", 8),
    (spec(precision="precision: FP4_BLOCKSCALED_MM"), "FW309", 8),
    (spec("id: Chat"), "FW310", ADDED),
    (spec("id: '---'"), "FW310", ADDED),
    (spec("router: chat_1"), "FW310", ADDED),
    (spec(shape="shape: Fast"), "FW310", 6),
    (spec(shape="shape: accounts/fireworks/models/llama"), "FW310", 6),
    (spec(model="model: fireworks/llama"), "FW310", 5),
    (spec(model="model: accounts/a/models/m#accounts/a/deployments/d"), "FW310", 5),
    (spec(model="model: accounts/a/deploymentShapes/m"), "FW310", 5),
    (spec(model="model: 'accounts/a/models/'"), "FW310", 5),
    (spec("speculation: {draft_model: a/b, draft_tokens: 1}"), "FW310", ADDED),
    (spec("template: a/b"), "FW310", ADDED),
    (spec("cluster: ''"), "FW310", ADDED),
    (spec("hot_load: {bucket_url: s3//bucket}"), "FW310", ADDED),
    (spec("description: " + "x" * 800), "FW310", ADDED),
    (spec('display_name: "a\\x07b"'), "FW310", ADDED),
    (spec('display_name: "a\\nb"'), "FW310", ADDED),
    (spec("display_name: \u202eabc"), "FW310", ADDED),
    (spec("tags: {fwctl.x: y}"), "FW310", ADDED),
    (spec("tags: {-a: y}"), "FW310", ADDED),
    (spec("tags: {" + "k" * 122 + ": y}"), "FW310", ADDED),
    (spec("tags: {a: ''}"), "FW310", ADDED),
    (spec("tags: {a: ' b'}"), "FW310", ADDED),
    (spec("tags: {a: " + "x" * 129 + "}"), "FW310", ADDED),
    (spec('tags: {a: "x\\ny"}'), "FW310", ADDED),
    (spec("tags: {" + ", ".join(f"k{at}: v" for at in range(59)) + "}"), "FW310", ADDED),
    (spec("overrides: [replicas]"), "FW310", ADDED),
    (spec("overrides: [speculations]"), "FW310", ADDED),
    (spec("lifecycle: {ignore: [traffic]}"), "FW310", ADDED),
    (spec("lifecycle: {on_immutable_change: blue_green}").replace("chat:", "a" * 59 + ":"), "FW310", 4),
    (spec("lifecycle: {on_immutable_change: blue_green}\nid: " + "a" * 59), "FW310", 12),
    (spec(head=HEAD.replace("acme", "Acme")), "FW310", 2),
    (spec(head=HEAD.replace("account", "stack: Prod_1\naccount")), "FW310", 2),
    (spec("router: chat", region="region: US_IOWA_1"), "FW313", ADDED),
    (spec("lifecycle: {after: [nobody]}"), "FW313", ADDED),
    (spec("lifecycle: {after: [chat]}"), "FW313", ADDED),
    (spec("traffic: interactive\npreemptible: true"), "FW314", 12),
]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "code", "line"), ERRORS, ids=[f"{row[1]}-{at}" for at, row in enumerate(ERRORS)]
)
def test_rule_reports_an_error_at_its_line(text: str, code: str, line: int) -> None:
    assert set(found(load_text(text))) == {(code, line)}


VALID = [
    spec(replicas="replicas: {min: 1, max: 0}"),
    spec(replicas="replicas: {min: 1, max: 2, max_with_revocable: 0}"),
    spec("autoscaling: {scale_to_zero_window: 5m}"),
    spec("autoscaling: {scale_to_zero_window: 7d}"),
    spec("autoscaling: {scale_up_window: 1h, scale_down_window: 0s}"),
    spec("speculation: {mode: disabled}"),
    spec("speculation: {mode: inherit, draft_tokens: 4}"),
    spec("speculation: {ngram_length: 3, draft_tokens: 4}"),
    spec(f"speculation: {{draft_model: {LORA}, draft_tokens: 4}}"),
    spec("speculation: {}"),
    spec(f"addons: {{mode: live_merge, load: [{LORA}]}}"),
    spec(f"addons: {{mode: multi_lora, load: [{LORA}]}}", precision="precision: FP16"),
    spec("addons: {load: []}"),
    spec("direct_route: {type: INTERNET}", region="region: us-iowa-1"),
    spec(
        "autoscaling: {load_targets: {default: 1, tokens_generated_per_second: 900, "
        "generation_latency_per_token_ms: 5}}"
    ),
    spec(schedules(count=5, duration="7d", floor=2)),
    spec(schedules(duration="300s"), replicas="replicas: {min: 0, max: 0}"),
    spec(precision="precision: FP8_KV", accelerator="accelerator: {type: NVIDIA_A100_80GB, count: 1}"),
    spec(accelerator="accelerator: {type: NVIDIA_L4_24GB, count: 1}"),
    spec(precision="precision: FP4"),
    spec(
        precision="precision: FP4_BLOCKSCALED_MM",
        accelerator="accelerator: {type: NVIDIA_B200_180GB, count: 1}",
    ),
    spec(shape="shape: throughput"),
    spec("description: " + "x" * 799),
    spec('description: "two\\nlines"'),
    spec("display_name: a family 👨\u200d👩\u200d👧 at\u00a0home"),
    spec("tags: {Team.x/y-z_1: é, a: " + "x" * 128 + "}"),
    spec("tags: {" + ", ".join(f"k{at}: v" for at in range(58)) + "}"),
    spec("overrides: [speculation, accelerator, accelerator.count]"),
    spec("lifecycle: {ignore: [description, autoscaling, tags]}"),
    spec("lifecycle: {on_immutable_change: blue_green}").replace("chat:", "a" * 58 + ":"),
    spec("router: chat"),
    spec("hot_load: {enabled: true, bucket_type: S3, bucket_url: s3://bucket/path, transition: ASYNC}"),
    spec("template: accounts/acme/deploymentTemplates/t\ncluster: my-cluster"),
    spec("id: '123'"),
    spec("preemptible: true\ntraffic: batch"),
]


@pytest.mark.parametrize("text", VALID, ids=range(len(VALID)))
def test_rule_leaves_a_good_spec_alone(text: str) -> None:
    loaded = load_text(text)
    assert found(loaded) == []
    assert loaded.spec is not None


ADVICE: list[tuple[str, str, int]] = [
    (spec(shape="shape: none", extra="accept_shapeless_risk: true"), "FW301", 6),
    (spec("autoscaling: {load_targets: {}}"), "FW307", ADDED),
    (
        spec(precision="precision: FP4", accelerator="accelerator: {type: NVIDIA_A100_80GB, count: 1}"),
        "FW309",
        8,
    ),
    (
        spec(precision="precision: FP4", accelerator="accelerator: {type: AMD_MI300X_192GB, count: 1}"),
        "FW309",
        8,
    ),
    (spec(precision="precision: NF4"), "FW309", 8),
    (spec(replicas="replicas: {min: 0, max: 2}"), "FW401", 10),
    (spec("traffic: evaluation", replicas="replicas: {min: 0, max: 2}"), "FW401", 10),
    (spec(region=""), "FW402", 4),
    (spec(precision="", accelerator="accelerator: {count: 1}"), "FW402", 4),
    (spec("traffic: interactive", replicas="replicas: {min: 2, max: 2}"), "FW403", 10),
    (spec(shape="shape: accounts/fireworks/deploymentShapes/llama/versions/latest"), "FW405", 6),
    (spec("traffic: interactive", region="region: global"), "FW406", 9),
    (spec(model="model: llama"), "FW409", 5),
    (spec("speculation: {draft_model: tiny, draft_tokens: 4}"), "FW409", ADDED),
    (spec(f"addons:\n  load:\n    - {LORA}\n    - mine", precision=BF16), "FW409", 14),
]


@pytest.mark.parametrize(
    ("text", "code", "line"), ADVICE, ids=[f"{row[1]}-{at}" for at, row in enumerate(ADVICE)]
)
def test_advice_is_a_warning_and_an_error_when_strict(text: str, code: str, line: int) -> None:
    advice = only(load_text(text))
    assert (advice.code, advice.severity) == (code, Severity.WARNING)
    assert advice.position is not None
    assert advice.position.line == line
    assert found(load_text(text, strict=True)) == [(code, line)]


QUIET = [
    spec("traffic: interactive", replicas="replicas: {min: 0, max: 0}", region="region: EUROPE"),
    spec("traffic: batch", region="region: GLOBAL"),
    spec("traffic: batch", replicas="replicas: {min: 2, max: 2}"),
]


@pytest.mark.parametrize("text", QUIET, ids=range(len(QUIET)))
def test_advice_is_silent_where_it_does_not_apply(text: str) -> None:
    assert codes(load_text(text)) == []


def test_several_pins_are_one_message() -> None:
    loaded = load_text(spec(accelerator="", precision="", region="", extra="traffic: interactive"))
    assert codes(loaded) == ["FW402", "FW406"]
    assert loaded.diagnostics[0].message == "not pinned: accelerator, precision, region"


def test_a_wrong_value_is_not_a_missing_one() -> None:
    loaded = load_text(
        spec("direct_route: {type: INTERNET}\nspeculation: {mode: turbo}", region="region: mars")
    )
    assert [code for code, _ in found(loaded)] == ["FW205", "FW205"]
    assert codes(load_text(spec(shape="shape: [a]"))) == ["FW202"]


def test_a_siblings_type_error_hides_nothing() -> None:
    loaded = load_text(
        spec(
            "speculation: {draft_model: 5, ngram_length: 3, draft_tokens: 1}\ntraffic: interactive",
            replicas="replicas: {min: 0, max: '2'}",
            accelerator="accelerator: {type: NVIDIA_A100_80GB, count: -1}",
        )
    )
    assert {code for code, _ in found(loaded)} == {"FW202", "FW203", "FW304", "FW309", "FW312"}


def test_a_short_cut_for_no_shape_names_the_model() -> None:
    suggestion = only(load_text(spec(shape="shape: none"))).suggestion
    assert suggestion is not None
    assert "`fwctl shapes accounts/fireworks/models/llama-v3p1-8b-instruct`" in suggestion
    assert "accept_shapeless_risk: true" in suggestion


@pytest.mark.parametrize(
    ("name", "near"), [("Chat_Prod", "chat-prod"), ("a.b", "a-b"), ("-a", "a"), ("qwen2.5-7B", "qwen2-5-7b")]
)
def test_a_bad_name_comes_with_a_good_one(name: str, near: str) -> None:
    problem = next(d for d in load_text(spec().replace("chat:", f"{name}:")).diagnostics if d.code == "FW310")
    assert problem.suggestion == f"for example {near}"


def test_a_wrong_id_is_not_compared_with_others() -> None:
    assert codes(
        load_text(spec("id: 5") + "  other:\n" + "".join(f"    {row}\n" for row in FIELDS.values()))
    ) == ["FW202"]


QWEN = FIELDS["model"].removeprefix("model: ")
EVIDENCE = Evidence(
    tested_replicas={"chat": 2},
    evaluated={"chat": True},
    model_precision={QWEN: "BF16", "accounts/a/models/d": "FP8", "accounts/a/models/e-fp8": "BF16"},
    conversations={"chat": 8.5},
)


@pytest.mark.parametrize(
    ("text", "evidence", "expected"),
    [
        (spec(), EVIDENCE, []),
        (spec(replicas="replicas: {min: 1, max: 3}"), EVIDENCE, ["FW403"]),
        (spec(replicas="replicas: {min: 1, max: 3}"), None, []),
        (spec(), Evidence(), ["FW403"]),
        (spec(replicas="replicas: {min: 1, max: 1}"), Evidence(), []),
        (spec(), Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "BF16"}), ["FW404"]),
        (spec(), Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "FP8"}), []),
        (spec(), Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "NEW"}), []),
        (
            spec("gates: {eval: ignore}"),
            Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "BF16"}),
            [],
        ),
        (
            spec(precision=""),
            Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "BF16"}),
            ["FW402"],
        ),
        (spec(replicas="replicas: {min: 1, max: 2, max_concurrency: 9}"), EVIDENCE, ["FW410"]),
        (spec(replicas="replicas: {min: 1, max: 2, max_concurrency: 8}"), EVIDENCE, []),
        (spec("autoscaling: {load_targets: {default: 1, concurrent_requests: 8.6}}"), EVIDENCE, ["FW410"]),
        (spec("autoscaling: {load_targets: {default: 1, concurrent_requests: 8.6}}"), None, []),
    ],
)
def test_rules_with_evidence(text: str, evidence: Evidence | None, expected: list[str]) -> None:
    loaded = load_text(text, evidence=evidence)
    assert codes(loaded) == expected
    assert loaded.spec is not None


def test_a_missing_evaluation_is_an_error_where_the_gate_blocks() -> None:
    evidence = Evidence(tested_replicas={"chat": 2}, model_precision={QWEN: "BF16"})
    assert found(load_text(spec("gates: {eval: block}"), evidence=evidence)) == [("FW404", 8)]


@pytest.mark.parametrize(
    ("drafter", "refused"), [("accounts/a/models/d", True), ("accounts/a/models/e-fp8", False)]
)
def test_a_drafters_recorded_precision_beats_its_name(drafter: str, refused: bool) -> None:
    text = spec(
        f"addons: {{mode: multi_lora}}\nspeculation: {{draft_model: {drafter}, draft_tokens: 4}}",
        precision=BF16,
    )
    assert ("FW305" in codes(load_text(text, evidence=EVIDENCE))) is refused


def test_values_accepted_as_unknown_are_not_judged() -> None:
    head = HEAD.replace("account", "settings: {accept_unknown: [FP6]}\naccount")
    assert codes(load_text(spec("addons: {mode: multi_lora}", head=head, precision="precision: FP6"))) == []


def test_a_parked_deployment_keeps_its_schedule() -> None:
    assert (
        chat(load_text(spec(schedules(floor=5), replicas="replicas: {min: 0, max: 0}"))).fields[
            "replicas.max"
        ]
        == 0
    )
