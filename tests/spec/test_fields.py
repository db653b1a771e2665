"""Fields one by one: keys, types, bounds, values, formats, references."""

from __future__ import annotations

import pytest

from fwctl.errors import Severity
from fwctl.redact import Secret
from tests.spec.support import ADDED, HEAD, chat, codes, found, load_text, only, spec

ONE_REGION = "region: US_IOWA_1"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("replica: 1", "did you mean replicas?"),
        ("precison: FP8", "did you mean precision?"),
        ("displayName: x", "did you mean display_name?"),
        ("min_replica_count: 1", "did you mean replicas.min?"),
        ("min_replicas: 1", "did you mean replicas.min?"),
        ("base_model: x", "did you mean model?"),
        ("deployment-shape: x", "did you mean shape?"),
        ("scale_up_window: 30s", "did you mean autoscaling.scale_up_window?"),
        ("accelerator_type: x", "did you mean accelerator.type?"),
        ("autoscaling: {scale_up_windows: 30s}", "did you mean scale_up_window?"),
        ("x-note: a", None),
        ("tags:a: b", "put a space behind the colon"),
        ("\u00a0tags: b", "the key holds an invisible character (U+00A0); type it again"),
        ("zzz: a", None),
    ],
)
def test_unknown_keys_say_what_was_meant(written: str, meant: str | None) -> None:
    problem = only(load_text(spec(written)))
    assert (problem.code, problem.position and problem.position.line) == ("FW201", ADDED)
    assert problem.suggestion is not None
    assert problem.suggestion == meant or (meant is None and problem.suggestion.startswith("known: "))


def test_unknown_keys_have_a_pointer_with_escapes() -> None:
    assert only(load_text(spec("a~b/c: 1"))).path == "/deployments/chat/a~0b~1c"


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("h200-141gb", "NVIDIA_H200_141GB"),
        ("H100", "NVIDIA_H100_80GB"),
        ("nvidia h200", "NVIDIA_H200_141GB"),
        ("nvidia_b200_180gb", "NVIDIA_B200_180GB"),
        ("L4", "NVIDIA_L4_24GB"),
        ("MI300X", "AMD_MI300X_192GB"),
        ("gb300", "NVIDIA_GB300"),
        ("NVIDIA_H100_80BG", "NVIDIA_H100_80GB"),
    ],
)
def test_accelerators_are_spelt_as_the_platform_does(written: str, meant: str) -> None:
    problem = only(load_text(spec(accelerator=f"accelerator: {{type: {written}, count: 1}}")))
    assert (problem.code, problem.suggestion) == ("FW205", f"did you mean {meant}?")


@pytest.mark.parametrize(
    ("written", "meant"),
    [("fp8", "FP8"), ("bfloat16", "BF16"), ("half", "FP16"), ("nvfp4", "FP4"), ("Bf16", "BF16")],
)
def test_precisions_are_spelt_as_the_platform_does(written: str, meant: str) -> None:
    assert only(load_text(spec(precision=f"precision: {written}"))).suggestion == f"did you mean {meant}?"


def test_a_value_that_is_near_nothing_lists_what_is_known_and_how_to_accept_it() -> None:
    suggestion = only(load_text(spec(precision="precision: INT12"))).suggestion
    assert suggestion is not None
    assert suggestion.startswith("known: FP16, BF16, FP8")
    assert "settings.accept_unknown" in suggestion


def test_long_lists_are_shortened_with_the_command_that_shows_all() -> None:
    suggestion = only(load_text(spec(region="region: mars"))).suggestion
    assert suggestion is not None
    assert "`fwctl explain region` lists all" in suggestion


def test_guessing_stops_when_everything_is_wrong() -> None:
    text = spec("\n".join(f"precison{at}: x" for at in range(300)))
    suggestions = [d.suggestion or "" for d in load_text(text).diagnostics]
    assert suggestions[0] == "did you mean precision?"
    assert suggestions[-1].startswith("known: ")


@pytest.mark.parametrize("written", ["us", "Us", "US"])
def test_areas_are_read_in_any_case(written: str) -> None:
    assert chat(load_text(spec(region=f"region: {written}"))).fields["region"] == "US"


@pytest.mark.parametrize("written", ["us-iowa-1", "US_IOWA_1", "us_iowa_1", "Us-Iowa-1"])
def test_regions_are_read_in_any_case_with_dashes_too(written: str) -> None:
    assert chat(load_text(spec(region=f"region: {written}"))).fields["region"] == "US_IOWA_1"


def test_accept_unknown_opens_the_platforms_lists() -> None:
    head = HEAD.replace(
        "account", "settings: {accept_unknown: [FP6, us-mars-1, TENSOR, queue_depth]}\naccount"
    )
    loaded = load_text(
        spec(
            "autoscaling: {load_targets: {default: 0.8, queue_depth: 3}}",
            head=head,
            accelerator="accelerator: {type: TENSOR, count: 1}",
            precision="precision: FP6",
            region="region: US_MARS_1",
        )
    )
    fields = chat(loaded).fields
    assert (fields["precision"], fields["region"], fields["accelerator.type"]) == (
        "FP6",
        "US_MARS_1",
        "TENSOR",
    )
    assert loaded.spec is not None
    assert loaded.spec.settings["accept_unknown"] == ["FP6", "us-mars-1", "TENSOR", "queue_depth"]


def test_accept_unknown_does_not_open_fwctls_own_lists() -> None:
    head = HEAD.replace("account", "settings: {accept_unknown: [nightly]}\naccount")
    assert found(load_text(spec("traffic: nightly", head=head))) == [("FW205", ADDED + 1)]


@pytest.mark.parametrize(
    ("written", "code"),
    [
        ("tags: [a]", "FW202"),
        ("tags: a", "FW202"),
        ("tags: {a: 5}", "FW202"),
        ("tags: {a: [b]}", "FW202"),
        ("tags: {a: }", "FW202"),
        ("overrides: speculation", "FW202"),
        ("overrides: [[speculation]]", "FW202"),
        ("overrides: [speculation, speculation]", "FW203"),
        ("autoscaling: []", "FW202"),
        ("autoscaling:", "FW202"),
        ("autoscaling: {load_targets: [a]}", "FW202"),
        ("autoscaling: {load_targets: {default: '0.8'}}", "FW202"),
        ("autoscaling: {load_targets: {default: .nan}}", "FW203"),
        ("autoscaling: {load_targets: {default: 1e999}}", "FW203"),
        ("autoscaling: {schedules: {}}", "FW202"),
        ("autoscaling: {schedules: [a]}", "FW202"),
        ("autoscaling: {scale_up_window: 30}", "FW202"),
        ("autoscaling: {scale_up_window: 1:30}", "FW105"),
        ("autoscaling: {scale_up_window: '30'}", "FW208"),
        ("autoscaling: {scale_up_window: PT5M}", "FW208"),
        ("autoscaling: {scale_up_window: 5 m}", "FW208"),
        ("autoscaling: {scale_up_window: -5m}", "FW208"),
        ("autoscaling: {scale_up_window: 5min}", "FW208"),
        ("autoscaling: {scale_up_window: 99999999999h}", "FW208"),
        (f"autoscaling: {{scale_up_window: {'1s' * 40}}}", "FW208"),
        ("long_prompt: yes", "FW105"),
        ("long_prompt: 1", "FW202"),
        ("long_prompt: 'true'", "FW202"),
        ("long_prompt: [true]", "FW202"),
        ("slo: {ttft_p95_ms: 800ms}", "FW202"),
        ("slo: {ttft_p95_ms: -1}", "FW203"),
        ("slo: {ttft_p95_ms: .inf}", "FW203"),
        ("slo: {error_rate: 0.5}", "FW105"),
        ("slo: {error_rate: 101%}", "FW208"),
        ("slo: {error_rate: '5'}", "FW208"),
        ("slo: {at: {suite: ' '}}", "FW208"),
        ("gates: {fit: off}", "FW105"),
        ("gates: {fit: error}", "FW205"),
        ("fit: {config: ''}", "FW208"),
        ("max_context_length: 3000000000", "FW203"),
        ("max_context_length: -1", "FW203"),
        ("workload: {context_tokens: 0}", "FW203"),
        ("workload: {input_tokens: {p50: 900, p95: 300}}", "FW203"),
        ("workload: {context_tokens: 32_768}", "FW105"),
        ("lifecycle: {hold_until: '2026-12-01'}", "FW208"),
        ("lifecycle: {hold_until: '2026-13-01T08:00Z'}", "FW208"),
        ("lifecycle: {hold_until: '2026-12-01T08:00'}", "FW208"),
        ("lifecycle: {hold_until: 2026-12-01T08:00:00Z}", "FW105"),
        ("display_name: [a]", "FW202"),
        ("display_name: 5", "FW202"),
        ("display_name:", "FW202"),
        ("shape2: x", "FW201"),
    ],
)
def test_wrong_values_are_reported_at_their_line(written: str, code: str) -> None:
    assert found(load_text(spec(written))) == [(code, ADDED)]


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("autoscaling: {scale_up_window: 90s}", "autoscaling.scale_up_window", "1m30s"),
        ("autoscaling: {scale_up_window: '0'}", "autoscaling.scale_up_window", "0s"),
        ("autoscaling: {scale_down_window: 0.5h}", "autoscaling.scale_down_window", "30m0s"),
        ("autoscaling: {load_targets: {requests_per_second: 5, default: 1}}", "autoscaling.load_targets",
         {"default": 1.0, "requests_per_second": 5.0}),
        ("long_prompt: True", "long_prompt", True),
        ("long_prompt: false", "long_prompt", False),
        ("max_context_length: +5", "max_context_length", 5),
        ("addons: {load: [accounts/b/models/b, accounts/a/models/a]}", "addons.load",
         ["accounts/a/models/a", "accounts/b/models/b"]),
    ],
)  # fmt: skip
def test_values_arrive_in_canonical_form(written: str, path: str, value: object) -> None:
    assert chat(load_text(spec(written, precision=""))).fields[path] == value


@pytest.mark.parametrize(
    ("written", "path", "value"),
    [
        ("slo: {error_rate: 0.5%, at: {rps: 1e1}}", "slo.at.rps", 10.0),
        ("lifecycle: {hold_until: 2026-12-01T08:00Z}", "lifecycle.hold_until", "2026-12-01T08:00Z"),
        (
            "lifecycle: {hold_until: '2026-12-01 08:00:00+02:00'}",
            "lifecycle.hold_until",
            "2026-12-01 08:00:00+02:00",
        ),
        ("overrides: [speculation, accelerator.count]", "overrides", ["speculation", "accelerator.count"]),
    ],
)
def test_own_fields_are_kept_apart(written: str, path: str, value: object) -> None:
    deployment = chat(load_text(spec(written)))
    assert deployment.own[path] == value
    assert path not in deployment.fields


@pytest.mark.parametrize(
    ("fields", "line", "words"),
    [
        ({"replicas": ""}, 4, "needs replicas (min and max)"),
        ({"model": ""}, 4, "needs model"),
        ({"replicas": "replicas: {min: 1}"}, 10, "replicas needs max"),
        ({"replicas": "replicas: {}"}, 10, "replicas needs min and max"),
    ],
)
def test_a_missing_key_is_reported_at_its_parent(fields: dict[str, str], line: int, words: str) -> None:
    problem = only(load_text(spec(**fields)))
    assert (problem.code, problem.position and problem.position.line) == ("FW204", line)
    assert words in problem.message


@pytest.mark.parametrize("value", ["", "[1, 2]", "2", "none"])
def test_an_unusable_group_is_one_error(value: str) -> None:
    assert found(load_text(spec(replicas=f"replicas: {value}"))) == [("FW202", 10)]


def test_an_empty_deployment_needs_everything() -> None:
    loaded = load_text(HEAD.replace("chat:", "chat: {}"))
    assert found(loaded) == [("FW204", 4), ("FW204", 4), ("FW301", 4)]


def schedule(**keys: str) -> str:
    row = {"cron": "'0 8 * * 1-5'", "timezone": "UTC", "duration": "1h", "min_replicas": "1", **keys}
    return (
        "autoscaling: {schedules: [{"
        + ", ".join(f"{key}: {value}" for key, value in row.items() if value)
        + "}]}"
    )


def test_a_schedule_is_read() -> None:
    rows = chat(load_text(spec(schedule(disabled="true", description="office hours")))).fields[
        "autoscaling.schedules"
    ]
    assert rows == [
        {
            "cron": "0 8 * * 1-5",
            "timezone": "UTC",
            "duration": "1h0m0s",
            "min_replicas": 1,
            "description": "office hours",
            "disabled": True,
        }
    ]


@pytest.mark.parametrize(
    ("keys", "expected"),
    [
        ({"cron": ""}, ["FW204"]),
        ({"cron": "", "timezone": ""}, ["FW204", "FW204"]),
        ({"duration": "3600"}, ["FW202"]),
        ({"min_replicas": "-1"}, ["FW203"]),
        ({"disabled": "yes"}, ["FW105"]),
        ({"every": "day"}, ["FW201"]),
    ],
)
def test_schedules_have_rows_of_their_own(keys: dict[str, str], expected: list[str]) -> None:
    assert codes(load_text(spec(schedule(**keys)))) == expected


def test_every_bad_entry_of_a_list_is_reported_at_its_own_place() -> None:
    loaded = load_text(
        spec(
            "addons:\n  load:\n    - 5\n    - accounts/a/deployments/b\n    - x/y",
            precision="precision: BF16",
        )
    )
    assert found(loaded) == [("FW202", 13), ("FW310", 14), ("FW310", 15)]


def test_references_are_resolved_and_kept() -> None:
    deployment = chat(
        load_text(
            spec('display_name: "v ${env:SHA} ${env:SHA}"\ntags: {sha: "${env:SHA}", team: search}'),
            environ={"SHA": "1e5"},
        )
    )
    assert deployment.fields["display_name"] == "v 1e5 1e5"
    assert deployment.fields["tags"] == {"sha": "1e5", "team": "search"}
    assert deployment.references == {
        "display_name": "v ${env:SHA} ${env:SHA}",
        "tags": {"sha": "${env:SHA}", "team": "search"},
    }


def test_a_value_that_looks_like_a_reference_is_taken_as_it_is() -> None:
    deployment = chat(load_text(spec("display_name: ${env:A}"), environ={"A": "${env:B}"}))
    assert deployment.fields["display_name"] == "${env:B}"


@pytest.mark.parametrize(
    "reference", ["${env:NOT_SET}", "${env:}", "${env:1A}", "${env:A B}", "${env:OPEN", "${env:BYTES}"]
)
def test_a_reference_that_gives_nothing_is_an_error(reference: str) -> None:
    assert found(load_text(spec(f'display_name: "{reference}"'), environ={"BYTES": "\udcff"})) == [
        ("FW108", ADDED)
    ]


def test_other_dollar_signs_are_text() -> None:
    assert chat(load_text(spec("display_name: ${HOME} $X"))).fields["display_name"] == "${HOME} $X"


def test_a_resolved_value_is_checked_like_a_written_one() -> None:
    assert found(load_text(spec(precision="precision: ${env:P}"), environ={"P": "FP9"})) == [("FW205", 8)]
    assert found(load_text(spec(accelerator='accelerator: {count: "${env:N}"}'), environ={"N": "1"})) == [
        ("FW202", 7)
    ]


def route(keys: str) -> str:
    return spec(f"direct_route: {{type: INTERNET, api_keys: {keys}}}", region=ONE_REGION)


def test_secrets_are_wrapped() -> None:
    deployment = chat(load_text(route("['${env:KEY}']"), environ={"KEY": "canary-value"}))
    assert deployment.fields["direct_route.api_keys"] == [Secret("${env:KEY}", "canary-value")]
    assert deployment.references["direct_route.api_keys"] == ["${env:KEY}"]
    assert "canary-value" not in repr(deployment)


@pytest.mark.parametrize("environ", [{}, {"KEY": ""}])
def test_an_unset_secret_is_a_note_until_it_is_needed(environ: dict[str, str]) -> None:
    text = route("['${env:KEY}']")
    note = only(load_text(text, environ=environ))
    assert (note.code, note.severity) == ("FW108", Severity.NOTE)
    assert only(load_text(text, environ=environ, need_secrets=True)).severity is Severity.ERROR
    assert only(load_text(text, environ=environ, strict=True)).severity is Severity.NOTE


@pytest.mark.parametrize(
    "keys", ["[canary]", "canary", "{a: canary}", "['x${env:KEY}', canary]", "[[canary]]", "[5]"]
)
def test_a_written_out_secret_is_refused_and_never_shown(keys: str) -> None:
    loaded = load_text(route(keys), environ={"KEY": "v"})
    assert {code for code, _ in found(loaded)} == {"FW207"}
    assert all("canary" not in d.message and d.source_line is None for d in loaded.diagnostics)


def test_the_line_of_another_problem_does_not_show_the_secret_beside_it() -> None:
    loaded = load_text(spec("direct_route: {type: internet, api_keys: [canary]}", region=ONE_REGION))
    assert {d.code for d in loaded.diagnostics} == {"FW205", "FW207"}
    assert all(d.source_line is None for d in loaded.diagnostics)


@pytest.mark.parametrize(
    "written",
    [
        "direct_route: {api_key: canary}",
        "direct_route: canary",
        "direct_route: [canary]",
        "direct_route:\n  key:\n    - canary",
        "api_keys: [canary]",
        "direct_route: {api_keys: [!x canary]}",
        "direct_route: {api_keys: [a], api_keys: [canary]}",
        "direct_route: {api_keys: [canary",
        "direct_route: {'api-key' : canary, : }",
    ],
)
def test_a_secret_in_a_wrong_place_is_not_shown_either(written: str) -> None:
    loaded = load_text(spec(written))
    assert found(loaded)
    assert all("canary" not in f"{d.message} {d.suggestion} {d.source_line}" for d in loaded.diagnostics)


@pytest.mark.parametrize("keys", ['["${env:KEY}"]', "['${env:KEY}']", '"${env:KEY}"'])
def test_a_line_with_nothing_but_a_reference_is_shown(keys: str) -> None:
    loaded = load_text(spec(f"direct_route: {{type: internet, api_keys: {keys}}}", region=ONE_REGION))
    assert loaded.diagnostics[0].source_line is not None or "[" not in keys


def test_a_tag_before_a_field_leaves_no_second_error() -> None:
    assert found(load_text(spec(replicas="replicas: {min: !x 1, max: 2}"))) == [("FW107", 10)]
    assert found(load_text(spec("autoscaling: !x a"))) == [("FW107", ADDED)]
    assert found(load_text(spec("tags: {a: !x 1}\noverrides: [!x 1]"))) == [("FW107", 11), ("FW107", 12)]


def test_a_line_of_a_thousand_characters_is_not_shown() -> None:
    loaded = load_text(spec(f"tags: {{a: 5, b: {'x' * 120}}}"))
    assert loaded.diagnostics[0].source_line is not None
    loaded = load_text(spec(f"tags: {{a: 5, b: {'x' * 1200}}}"))
    assert loaded.diagnostics[0].source_line is None


def test_an_empty_mapping_that_is_tagged_keeps_its_place() -> None:
    assert codes(load_text(spec("tags: !x {}"))) == ["FW107"]
