"""The words that firectl gets, checked by hand and against the published flag list."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.catalog.fields import PLATFORM_FIELDS
from fwctl.errors import FirectlTooOldError, UsageError
from fwctl.firectl.argv import CREATE, FILE_PLACEHOLDER, UPDATE, build, file_content, missing_flags
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.verbs import VERBS
from fwctl.redact import Secret

PUBLISHED = json.loads((Path(__file__).parent.parent / "data" / "published_flags.json").read_text())
ANY = Capabilities()
NEWEST = Capabilities("1.8.9", {UPDATE: frozenset({"--file", "--region", "--min-replica-count"})})
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"


def flags_of_era(command: str, era: str) -> frozenset[str]:
    return frozenset(
        flag for flag, row in PUBLISHED["commands"][command]["flags"].items() if era in row["eras"]
    )


def era(name: str) -> Capabilities:
    return Capabilities("", {command: flags_of_era(command, name) for command in (CREATE, UPDATE)})


def create(fields: dict[str, Any], caps: Capabilities = ANY) -> list[str]:
    words = build(CREATE, "chat", {"model": MODEL, **fields}, caps, account="acme")
    assert words[:5] == ["deployment", "create", MODEL, "--deployment-id", "chat"]
    assert words[-2:] == ["-a", "acme"]
    return words[5:-2]


def update(fields: dict[str, Any], caps: Capabilities = ANY) -> list[str]:
    words = build(UPDATE, "chat", fields, caps, account="acme")
    assert words[:3] == ["deployment", "update", "chat"]
    assert words[-2:] == ["-a", "acme"]
    return words[3:-2]


# One value and the words it becomes, on create and on update (None: cannot be updated by a flag).
FIELD_WORDS: dict[str, tuple[Any, list[str], list[str] | None]] = {
    "shape": (SHAPE, ["--deployment-shape", SHAPE], ["--deployment-shape", SHAPE]),
    "accelerator.type": (
        "NVIDIA_H100_80GB",
        ["--accelerator-type", "NVIDIA_H100_80GB"],
        ["--accelerator-type", "NVIDIA_H100_80GB"],
    ),
    "accelerator.count": (4, ["--accelerator-count", "4"], ["--accelerator-count", "4"]),
    "precision": ("FP8_MM_V2", ["--precision", "FP8_MM_V2"], ["--precision", "FP8_MM_V2"]),
    "region": ("US_IOWA_1", ["--region", "us-iowa-1"], ["--region", "us-iowa-1"]),
    "replicas.min": (0, ["--min-replica-count", "0"], ["--min-replica-count", "0"]),
    "replicas.max": (3, ["--max-replica-count", "3"], ["--max-replica-count", "3"]),
    "replicas.max_with_revocable": (
        5,
        ["--max-with-revocable-replica-count", "5"],
        ["--max-with-revocable-replica-count", "5"],
    ),
    "replicas.max_concurrency": (8, ["--max-concurrency-per-replica", "8"], None),
    "autoscaling.scale_up_window": ("30s", ["--scale-up-window", "30s"], ["--scale-up-window", "30s"]),
    "autoscaling.scale_down_window": ("5m", ["--scale-down-window", "5m0s"], ["--scale-down-window", "5m0s"]),
    "autoscaling.scale_to_zero_window": (
        "1h0m0s",
        ["--scale-to-zero-window", "1h0m0s"],
        ["--scale-to-zero-window", "1h0m0s"],
    ),
    "autoscaling.load_targets": (
        {"tokens_generated_per_second": 200.0, "default": 0.8},
        ["--load-targets", "default=0.8,tokens_generated_per_second=200"],
        ["--load-targets", "default=0.8,tokens_generated_per_second=200"],
    ),
    "autoscaling.schedules": (
        [{"cron": "0 8 * * 1-5", "timezone": "Europe/London", "duration": "10h0m0s", "min_replicas": 2}],
        [
            "--scaling-schedules",
            (
                '[{"schedule":"0 8 * * 1-5","timezone":"Europe/London",'
                '"duration":"36000s","min_replica_count":2}]'
            ),
        ],
        None,
    ),
    "max_context_length": (32768, ["--max-context-length", "32768"], ["--max-context-length", "32768"]),
    "speculation.mode": ("disabled", ["--disable-speculative-decoding"], []),
    "speculation.draft_model": (MODEL, ["--draft-model", MODEL], ["--draft-model", MODEL]),
    "speculation.draft_tokens": (4, ["--draft-token-count", "4"], ["--draft-token-count", "4"]),
    "speculation.ngram_length": (3, ["--ngram-speculation-length", "3"], ["--ngram-speculation-length", "3"]),
    "addons.mode": ("multi_lora", ["--enable-addons"], ["--enable-addons"]),
    "addons.load": (["accounts/acme/models/l"], [], []),
    "long_prompt": (True, ["--long-prompt"], ["--long-prompt"]),
    "session_affinity": (True, ["--enable-session-affinity"], ["--enable-session-affinity"]),
    "preemptible": (True, ["--preemptible"], None),
    "direct_route.type": (
        "INTERNET",
        ["--direct-route-type", "INTERNET"],
        ["--direct-route-type", "INTERNET"],
    ),
    "direct_route.api_keys": (
        [Secret("${env:K}", "hunter22")],
        ["--file", FILE_PLACEHOLDER],
        ["--file", FILE_PLACEHOLDER],
    ),
    "hot_load.enabled": (True, ["--enable-hot-load"], None),
    "hot_load.bucket_type": ("S3", ["--hot-load-bucket-type", "S3"], None),
    "hot_load.bucket_url": ("s3://b/p", ["--hot-load-bucket-url", "s3://b/p"], None),
    "hot_load.transition": ("SYNC", ["--hot-load-transition-type", "SYNC"], None),
    "template": ("tmpl", ["--deployment-template", "tmpl"], None),
    "cluster": ("byoc", ["--cluster-id", "byoc"], None),
    "display_name": ("Chat, -prod", ["--display-name", "Chat, -prod"], ["--display-name", "Chat, -prod"]),
    "description": (
        "-a \"b\" 'c'\n$d",
        ["--description", "-a \"b\" 'c'\n$d"],
        ["--description", "-a \"b\" 'c'\n$d"],
    ),
    "tags": ({"team": "search"}, [], []),
    "router": ("chat", [], []),
}


def test_every_platform_field_has_a_row_here():
    assert set(FIELD_WORDS) | {"model", "id", "accept_shapeless_risk"} == {
        row.path for row in PLATFORM_FIELDS
    }


@pytest.mark.parametrize("path", FIELD_WORDS)
def test_each_field_becomes_its_words_on_create(path):
    value, words, _ = FIELD_WORDS[path]
    assert create({path: value}) == words


@pytest.mark.parametrize("path", [path for path, row in FIELD_WORDS.items() if row[2] is not None])
def test_each_field_becomes_its_words_on_update(path):
    value, _, words = FIELD_WORDS[path]
    caps = NEWEST if path == "region" else ANY
    assert update({path: value}, caps) == words


@pytest.mark.parametrize("path", [path for path, row in FIELD_WORDS.items() if row[2] is None])
def test_a_field_without_an_update_flag_goes_through_a_file_or_is_refused(path):
    value = FIELD_WORDS[path][0]
    with pytest.raises(FirectlTooOldError) as caught:
        update({path: value})
    assert path in caught.value.message
    assert update({path: value}, NEWEST) == ["--file", FILE_PLACEHOLDER]


def test_a_whole_deployment_keeps_the_order_of_the_field_table():
    words = create({path: row[0] for path, row in reversed(FIELD_WORDS.items())})
    expected = [
        word for path, row in FIELD_WORDS.items() if path != "direct_route.api_keys" for word in row[1]
    ]
    assert words == [*expected, "--file", FILE_PLACEHOLDER]


@pytest.mark.parametrize("command", [CREATE, UPDATE])
@pytest.mark.parametrize("name", ["2025", "2026-07", "latest"])
def test_every_flag_that_is_sent_is_published_for_that_era(command, name):
    """Whatever the installed build does not have is named by missing_flags, never sent."""
    caps = era(name)
    published = flags_of_era(command, name) | set(PUBLISHED["global_flags"])
    for path, row in FIELD_WORDS.items():
        fields = {"model": MODEL, path: row[0]} if command == CREATE else {path: row[0]}
        if missing_flags(command, fields, caps):
            continue
        words = build(command, "chat", fields, caps, account="acme")
        sent = {word.split("=")[0] for word in words if word.startswith("--")}
        assert sent <= published, path


def test_what_a_build_lacks_is_named_with_field_and_flag():
    fields = {"model": MODEL, "preemptible": True, "replicas.min": 1}
    assert missing_flags(CREATE, fields, era("2026-07")) == (("preemptible", "--preemptible"),)
    with pytest.raises(FirectlTooOldError, match="preemptible"):
        create({"preemptible": True}, era("2026-07"))


def test_a_region_cannot_be_updated_unless_the_help_page_shows_the_flag():
    assert missing_flags(UPDATE, {"region": "US"}, ANY) == (("region", "--region"),)
    assert missing_flags(UPDATE, {"region": "US"}, NEWEST) == ()


def test_keys_cannot_travel_when_the_build_has_no_file_flag():
    caps = Capabilities("1", {UPDATE: frozenset({"--description"})})
    keys = {"direct_route.api_keys": [Secret("${env:K}", "hunter22")]}
    assert missing_flags(UPDATE, keys, caps) == (("direct_route.api_keys", "--file"),)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"speculation.mode": "inherit"}, []),
        ({"speculation.mode": "draft", "speculation.draft_model": MODEL}, ["--draft-model", MODEL]),
        ({"addons.mode": "live_merge"}, []),
        ({"long_prompt": False}, []),
        ({"preemptible": False}, []),
        ({"session_affinity": False}, ["--enable-session-affinity=false"]),
        ({"shape": "default"}, ["--deployment-shape", "default"]),
        ({"shape": "fast"}, ["--deployment-shape", "fast"]),
        ({"shape": "none", "accept_shapeless_risk": True}, ["--accept-shapeless-risk"]),
        ({"accept_shapeless_risk": True}, ["--accept-shapeless-risk"]),
        ({"shape": SHAPE, "accept_shapeless_risk": True}, ["--deployment-shape", SHAPE]),
        ({"shape": "none", "accept_shapeless_risk": False}, []),
        ({"region": "GLOBAL"}, ["--region", "global"]),
        ({"validate_only": True}, ["--validate-only"]),
        ({"dry_run": False}, []),
        (
            {"autoscaling.load_targets": {"default": 1.0, "a": 0.0000001}},
            ["--load-targets", "a=0.0000001,default=1"],
        ),
    ],
)
def test_special_values_on_create(fields, words):
    assert create(fields) == words


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"speculation.mode": "draft"}, ["--ngram-speculation-length", "0"]),
        ({"speculation.mode": "ngram"}, ["--draft-model", ""]),
        ({"speculation.mode": "inherit"}, []),
        ({"addons.mode": "live_merge"}, ["--enable-addons=false"]),
        ({"long_prompt": False}, ["--long-prompt=false"]),
        ({"shape": "none"}, []),
        ({"dry_run": True}, ["--dry-run"]),
        ({"model": MODEL, "id": "x"}, []),
    ],
)
def test_special_values_on_update(fields, words):
    assert update(fields) == words


def test_builds_of_2025_have_a_flag_for_areas_and_want_the_enums_spelling():
    assert create({"region": "GLOBAL"}, era("2025")) == ["--multi-region", "GLOBAL"]
    assert create({"region": "US_IOWA_1"}, era("2025")) == ["--region", "US_IOWA_1"]


def test_the_id_of_the_spec_serves_when_no_target_is_given():
    words = build(CREATE, None, {"model": MODEL, "id": "chat-prod"}, ANY, account="acme")
    assert words == ["deployment", "create", MODEL, "--deployment-id", "chat-prod", "-a", "acme"]
    assert "--deployment-id" not in build(CREATE, None, {"model": MODEL}, ANY, account="acme")


def test_no_secret_is_on_the_command_line_and_the_file_holds_it():
    fields = {"model": MODEL, "direct_route.api_keys": [Secret("${env:K}", "hunter22"), "plain-key"]}
    assert "hunter22" not in " ".join(build(CREATE, "chat", fields, ANY, account="acme"))
    assert file_content(CREATE, fields, ANY) == {"direct_route_api_keys": ["hunter22", "plain-key"]}


def test_the_file_of_an_update_holds_what_has_no_flag_under_the_platforms_names():
    schedule = {
        "cron": "0 8 * * *",
        "timezone": "UTC",
        "duration": "10m",
        "min_replicas": 1,
        "disabled": True,
    }
    fields = {"replicas.min": 1, "replicas.max_concurrency": 8, "autoscaling.schedules": [schedule]}
    assert file_content(UPDATE, fields, NEWEST) == {
        "max_concurrency_per_replica": 8,
        "scaling_schedules": [
            {
                "schedule": "0 8 * * *",
                "timezone": "UTC",
                "duration": "600s",
                "min_replica_count": 1,
                "disabled": True,
            }
        ],
    }


def test_most_calls_need_no_file():
    assert file_content(UPDATE, {"replicas.min": 1}, ANY) is None
    assert file_content("deployment delete", {"hard": True}, ANY) is None


def other(verb: str, target: str | None, fields: dict[str, Any]) -> str:
    words = build(verb, target, fields, ANY, account="acme")
    assert words[-2:] == ["-a", "acme"]
    return "|".join(words[:-2])


@pytest.mark.parametrize(
    ("verb", "target", "fields", "words"),
    [
        ("deployment scale", "chat", {"replica_count": 2}, "deployment|scale|chat|--replica-count|2"),
        ("deployment delete", "chat", {}, "deployment|delete|chat"),
        (
            "deployment delete",
            "chat",
            {"hard": True, "ignore_checks": True},
            "deployment|delete|chat|--hard|--ignore-checks",
        ),
        ("deployment undelete", "chat", {}, "deployment|undelete|chat"),
        (
            "deployment tag set",
            "chat",
            {"tags": {"team": "a b", "env": "x=y"}},
            "deployment|tag|set|chat|--tag|env=x=y|--tag|team=a b",
        ),
        ("deployment tag unset", "chat", {"tags": ["b", "a"]}, "deployment|tag|unset|chat|--key|a|--key|b"),
        (
            "load-lora",
            "chat",
            {"addons.load": ["accounts/acme/models/l"]},
            "load-lora|accounts/acme/models/l|--deployment|chat",
        ),
        (
            "unload-lora",
            "chat",
            {"addons.load": ["accounts/acme/models/l"]},
            "unload-lora|accounts/acme/models/l|--deployment|chat",
        ),
        (
            "router create",
            "r",
            {"deployments": ["b", "a"], "strategy": "even-load"},
            "router|create|--router-id|r|--deployments|b,a|--strategy|even-load",
        ),
        (
            "router update",
            "r",
            {"deployments": ["a"], "strategy": "weighted-random", "public": False, "session_affinity": None},
            "router|update|r|--deployments|a|--strategy|weighted-random|--public=false",
        ),
        ("router delete", "r", {}, "router|delete|r"),
        ("deployment get", "chat", {}, "deployment|get|chat|-o|json"),
        (
            "deployment list",
            None,
            {"no_paginate": True, "show_deleted": True},
            "deployment|list|--no-paginate|--show-deleted|-o|json",
        ),
        (
            "deployment list",
            None,
            {"page_size": 200, "page_token": "t"},
            "deployment|list|--page-size|200|--page-token|t|-o|json",
        ),
        ("deployment-shape-version list", SHAPE, {}, f"deployment-shape-version|list|{SHAPE}|-o|json"),
        ("deployment-shape-version list", None, {}, "deployment-shape-version|list|-o|json"),
        (
            "deployment-shape-version get",
            f"{SHAPE}/versions/latest",
            {},
            f"deployment-shape-version|get|{SHAPE}/versions/latest|-o|json",
        ),
        (
            "deployment-shape-version match",
            MODEL,
            {},
            f"deployment-shape-version|match|--model|{MODEL}|-o|json",
        ),
        ("model get", MODEL, {}, f"model|get|{MODEL}|-o|json"),
        ("quota list", None, {}, "quota|list|-o|json"),
        ("whoami", None, {}, "whoami"),
        ("version", None, {}, "version"),
    ],
)
def test_the_other_commands(verb, target, fields, words):
    assert other(verb, target, fields) == words


def test_every_flag_of_the_other_commands_is_published():
    lists = PUBLISHED["commands"]["deployment list"]["flags"]
    for name, verb in VERBS.items():
        published = PUBLISHED["commands"].get(name)
        flags = set(verb.options.values()) | ({verb.target} if verb.target else set())
        assert flags <= (
            set(published["flags"]) if published else set(lists) | {"--start-time", "--end-time"}
        ), name


@pytest.mark.parametrize(
    ("verb", "target", "fields"),
    [
        ("deployment explode", "chat", {}),
        ("deployment delete", None, {}),
        ("deployment delete", "", {}),
        ("deployment delete", "--hard", {}),
        ("deployment delete", "chat", {"force": True}),
        ("load-lora", "chat", {}),
        ("load-lora", "chat", {"addons.load": "accounts/acme/models/l"}),
        ("load-lora", "chat", {"addons.load": ["a", "b"]}),
        (CREATE, "chat", {}),
        (CREATE, "chat", {"model": "-m"}),
        (CREATE, "chat", {"model": MODEL, "replicas.most": 1}),
        (CREATE, "chat", {"model": MODEL, "traffic": "batch"}),
        (UPDATE, "chat", {"validate_only": True}),
        (UPDATE, None, {}),
    ],
)
def test_what_cannot_be_a_command_line_is_refused(verb, target, fields):
    with pytest.raises(UsageError):
        build(verb, target, fields, ANY, account="acme")


def test_tags_need_a_build_that_has_them():
    assert missing_flags("deployment tag set", {}, Capabilities("1.8.2")) == (("tags", "deployment tag set"),)
    assert missing_flags("deployment tag unset", {}, Capabilities("1.8.3")) == ()
    assert missing_flags("deployment delete", {}, Capabilities("1.0.0")) == ()
