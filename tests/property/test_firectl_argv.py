"""Laws of the command lines: a parser that shares nothing with the builder reads back what was meant."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.catalog.enums import ACCELERATORS, LOAD_TARGETS, PRECISIONS, SINGLE_REGIONS
from fwctl.catalog.fields import BY_PATH
from fwctl.firectl.argv import CREATE, FILE_PLACEHOLDER, UPDATE, build, file_content, missing_flags
from fwctl.firectl.capabilities import Capabilities
from fwctl.redact import Secret
from fwctl.simulator.commands.parse import parse
from fwctl.simulator.commands.registry import commands, flags_of
from fwctl.simulator.profiles import Profile, load

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=20)
DURATIONS = st.integers(0, 100_000).map(lambda seconds: f"{seconds}s")
COUNTS = st.integers(0, 1000)
VALUES: dict[str, st.SearchStrategy[Any]] = {
    "shape": st.sampled_from(["default", "fast", "accounts/fireworks/deploymentShapes/x/versions/v1"]),
    "accelerator.type": st.sampled_from(ACCELERATORS),
    "accelerator.count": st.integers(1, 64),
    "precision": st.sampled_from(PRECISIONS),
    "region": st.sampled_from(["GLOBAL", "US", *SINGLE_REGIONS]),
    "replicas.min": COUNTS,
    "replicas.max": COUNTS,
    "replicas.max_with_revocable": COUNTS,
    "replicas.max_concurrency": COUNTS,
    "autoscaling.scale_up_window": DURATIONS,
    "autoscaling.scale_to_zero_window": DURATIONS,
    "autoscaling.load_targets": st.dictionaries(
        st.sampled_from(LOAD_TARGETS), st.integers(1, 10**6).map(lambda number: number / 1000), min_size=1
    ),
    "max_context_length": COUNTS,
    "speculation.draft_model": st.just(MODEL),
    "speculation.draft_tokens": st.integers(1, 64),
    "long_prompt": st.booleans(),
    "session_affinity": st.booleans(),
    "preemptible": st.booleans(),
    "direct_route.api_keys": st.lists(TEXT.map(lambda text: Secret("${env:K}", f"§{text}§")), min_size=1),
    "display_name": TEXT,
    "description": TEXT,
}
FIELDS = st.fixed_dictionaries({}, optional=VALUES)
PROFILES = {name: load(name) for name in ("2025", "2026-07", "latest")}
LAWS = settings(max_examples=120, deadline=None)


def abilities(profile: Profile, command: str) -> Capabilities:
    row = commands()[command]
    flags = frozenset(f"--{flag.name}" for flag in flags_of(row, profile))
    return Capabilities(profile["version"], {command: flags})


def meant(path: str, value: Any) -> Any:
    """The value as a Go program receives it."""
    if path == "region":
        return value.lower().replace("_", "-")
    if path in ("autoscaling.scale_up_window", "autoscaling.scale_to_zero_window"):
        return float(value.removesuffix("s"))
    return value


def received(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: float(number) for key, number in value.items()}
    return value.lower().replace("_", "-") if isinstance(value, str) and value.isupper() else value


@LAWS
@given(FIELDS, st.sampled_from(sorted(PROFILES)), st.sampled_from([CREATE, UPDATE]))
def test_another_parser_reads_back_exactly_the_fields_that_were_given(
    fields: dict[str, Any], name: str, command: str
) -> None:
    profile = PROFILES[name]
    caps = abilities(profile, command)
    fields = {"model": MODEL, **fields} if command == CREATE else fields
    lacking = {path for path, _ in missing_flags(command, fields, caps)}
    fields = {path: value for path, value in fields.items() if path not in lacking}
    words = build(command, "chat", fields, caps, account="acme")
    parsed = parse(words, profile)
    assert parsed.args == [MODEL if command == CREATE else "chat"]
    got = {f"--{flag}": value for flag, value in parsed.flags.items()}
    assert got.pop("--account-id") == "acme"
    assert got.pop("--deployment-id", "chat") == "chat"
    content = file_content(command, fields, caps) or {}
    assert (got.pop("--file", None) == FILE_PLACEHOLDER) is bool(content)
    for path, value in fields.items():
        row = BY_PATH[path]
        flag = row.create if command == CREATE else row.update
        if path == "model" or row.live in content:
            continue
        if command == CREATE and value is False:
            assert got.pop(str(flag), False) is False
            continue
        if path == "region" and "--multi-region" in got:
            flag = "--multi-region"
        assert received(got.pop(str(flag))) == received(meant(path, value)), path
    assert got == {}


@LAWS
@given(FIELDS, st.sampled_from([CREATE, UPDATE]))
def test_no_secret_is_on_a_command_line(fields: dict[str, Any], command: str) -> None:
    caps = Capabilities("1.8.9", {UPDATE: frozenset({"--file", "--region"})})
    fields = {"model": MODEL, **fields} if command == CREATE else fields
    fields = {
        path: fields[path] for path in fields if (path, "--file") not in missing_flags(command, fields, caps)
    }
    lacking = {path for path, _ in missing_flags(command, fields, caps)}
    fields = {path: value for path, value in fields.items() if path not in lacking}
    words = build(command, "chat", fields, caps, account="acme")
    for secret in fields.get("direct_route.api_keys", []):
        assert not any(str(secret.value) in word for word in words)


@LAWS
@given(FIELDS)
def test_the_order_of_the_fields_does_not_matter(fields: dict[str, Any]) -> None:
    backwards = dict(reversed(fields.items()))
    caps = Capabilities()
    first = build(CREATE, "chat", {"model": MODEL, **fields}, caps, account="acme")
    assert build(CREATE, "chat", {**backwards, "model": MODEL}, caps, account="acme") == first
