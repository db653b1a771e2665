"""JSON out of noise: the right thing, or an error that says what is wrong; never less than was sent."""

from __future__ import annotations

import json
import time

import pytest

from fwctl.firectl.output import UnreadableError, canonical_keys, parse_list, parse_object, snake_case
from fwctl.firectl.text import without_ansi
from fwctl.redact import Redactor
from tests.firectl.support import KEY, sample

ROWS = [{"name": "accounts/acme/deployments/a"}, {"name": "accounts/acme/deployments/b"}]
DEPRECATION = sample("delete-verb-noun.txt").replace("exit=0\n", "")
WARNING = '2026/07/13 15:05:13 WARNING: --load-targets set via firectl; "default" is no longer added.\n'


def rows(text: str) -> list[dict[str, object]]:
    return parse_list(without_ansi(text), "deployments")[0]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(ROWS),
        json.dumps(ROWS, indent=2),
        json.dumps({"deployments": ROWS}),
        json.dumps({"deployments": ROWS, "total_size": 2, "next_page_token": ""}),
        json.dumps({"deployments": ROWS, "totalSize": 2, "nextPageToken": ""}),
        "✔ acme\n" + json.dumps(ROWS),
        WARNING + json.dumps(ROWS, indent=1) + "\n" + DEPRECATION,
        json.dumps(ROWS) + DEPRECATION,
        "\x1b[33mA new version is available [1.9.0]\x1b[0m\n" + json.dumps(ROWS),
        '{"level":"info","msg":"hello"}\n' + json.dumps(ROWS),
        "flags {A100, H100} [0,1] are fine\n" + json.dumps(ROWS),
        "[notice] something\n[0,1]\n{not json}\n" + json.dumps(ROWS),
        "spinning\r\x1b[K" + json.dumps(ROWS),
        "   " + json.dumps(ROWS),
    ],
)
def test_both_wrappings_and_casings_are_read_through_whatever_stands_around(text):
    assert rows(text) == ROWS


@pytest.mark.parametrize(
    "text", ["", "\n", "✔ acme\n", DEPRECATION, "[]", "{}", '{"deployments":[]}', '{"totalSize":0}']
)
def test_an_empty_result_is_an_empty_list(text):
    assert rows(text) == []


def test_a_byte_order_mark_is_no_part_of_the_answer():
    assert parse_list('\ufeff[{"name": "a"}]', "deployments")[0] == [{"name": "a"}]


def test_token_and_total_come_with_the_rows():
    text = json.dumps({"deployments": ROWS, "nextPageToken": "t2", "totalSize": "5"})
    assert parse_list(text, "deployments") == (ROWS, "t2", 5)
    assert parse_list(json.dumps(ROWS), "deployments") == (ROWS, "", None)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (json.dumps(ROWS)[:-1], "cut off"),
        (json.dumps(ROWS)[:-5], "cut off"),
        (json.dumps(ROWS, indent=2)[:40], "cut off"),
        ('{"deployments": [', "cut off"),
        ('{"', "cut off"),
        ("[{", "cut off"),
        ('[{"name": "a"},\nnoise in between\n{"name": "b"}]', "broken"),
        ('{"deployments": [{"name": "a"} oops\n{"name": "b"}]}', "broken"),
        ('{"name": "a"}]', "more follows"),
        ('[{"name": "a"}][{"name": "b"}]', "more follows"),
        ('[{"a": NaN}]', "NaN"),
        ('[{"a": -Infinity}]', "Infinity"),
        ('[{"a": 1, "a": 2}]', "twice"),
        ('[{"a": 1e999}]', "too large"),
        ('[{"a": ' + "9" * 5000 + "}]", "broken"),
        ('[{"minReplicaCount": 1, "min_replica_count": 2}]', "two different values"),
        ("[" * 100_000, "too deeply"),
        ('{"deployments": ' * 5000 + "1" + "}" * 5000, "too deeply"),
        ('[{"a":' + "[" * 80 + "]" * 80 + "}]", "too deeply"),
        ('{"deployments": {}}', "no list"),
        ('{"code": 5, "message": "not found"}', "no list"),
        ('{"name": "accounts/acme/deployments/a"}', "no list"),
        ('[{"name": "a"}, [1]]', "no object"),
        ('[[{"name": "a"}]]', "no object"),
        ('{"deployments": [], "totalSize": "many"}', "no number"),
        ('{"deployments": [], "totalSize": true}', "no number"),
        ('{"name": "a"}\n{"name": "b"}', "2 JSON documents"),
        ("NAME  STATE\na  READY\n", "text instead of JSON"),
        ("Name: accounts/acme/deployments/a\n", "text instead of JSON"),
        ("null", "text instead of JSON"),
        ("3", "text instead of JSON"),
    ],
)
def test_what_is_not_a_whole_list_is_an_error_and_never_an_empty_list(text, why):
    with pytest.raises(UnreadableError, match=why):
        rows(text)


@pytest.mark.parametrize(
    "name", ["deployment-list-creating-with-replica.txt", "list-deployment-shape-versions.txt"]
)
def test_a_table_is_not_taken_for_json(name):
    with pytest.raises(UnreadableError, match="text instead of JSON"):
        rows(sample(name))


def test_captured_json_of_tools_is_read():
    versions, token, total = parse_list(sample("match-json.json"), "deployment_shape_versions")
    assert versions[0]["snapshot"]["accelerator_type"] == "NVIDIA_H100_80GB"
    assert (token, total) == ("", None)
    assert parse_object(sample("deployment-get-json-ready.json"))["replica_stats"] == {
        "ready_replica_count": 1
    }


def test_camel_case_answers_come_out_in_snake_case_all_the_way_down():
    versions, _, total = parse_list(sample("match-response-sdk-test.json"), "deployment_shape_versions")
    assert total == 1
    assert versions[0]["latest_validated"] is True
    assert versions[0]["snapshot"]["base_model"] == "accounts/fireworks/models/gemma-4-31b-it"
    deployment = parse_object(sample("rest-get-deployment-excerpt.json"))
    assert deployment["replica_stats"] == {"ready_replica_count": 1, "effective_replica_count": 1}


@pytest.mark.parametrize(
    "name", ["rest-create-400-bad-enum.json", "rest-create-400-accelerator-required.json"]
)
def test_an_error_body_is_not_an_object(name):
    with pytest.raises(UnreadableError, match="not an object"):
        parse_object(sample(name))


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "printed nothing"),
        ("✔ acme\n", "printed nothing"),
        ("{}", "not an object"),
        ("[]", "not an object"),
    ],
)
def test_a_get_must_answer_with_an_object(text, why):
    with pytest.raises(UnreadableError, match=why):
        parse_object(text)


def test_unknown_fields_and_enum_values_are_kept():
    value = parse_object('{"name": "a", "brandNewThing": {"someKey": ["GPU_OF_2030"]}, "x": null, "f": 0.5}')
    assert value == {"name": "a", "brand_new_thing": {"some_key": ["GPU_OF_2030"]}, "x": None, "f": 0.5}


def test_keys_of_maps_are_data():
    value = parse_object(
        '{"annotations": {"custom/myTeam": "x", "custom/my_team": "y"},'
        ' "autoscalingPolicy": {"loadTargets": {"default": 0.8}, "scaleUpWindow": "30s"}}'
    )
    assert value["annotations"] == {"custom/myTeam": "x", "custom/my_team": "y"}
    assert value["autoscaling_policy"] == {"load_targets": {"default": 0.8}, "scale_up_window": "30s"}
    assert parse_object(sample("docs-tags-annotations.json"))["annotations"]["custom/team"] == "search"


def test_int64_texts_become_numbers_and_other_texts_stay():
    value = canonical_keys(
        {"parameterCount": "8030261248", "maxValue": "8", "usage": "0", "value": "a", "name": "12"}
    )
    assert value == {"parameter_count": 8030261248, "max_value": 8, "usage": 0, "value": "a", "name": "12"}


def test_keys_of_live_objects_are_masked_but_counted():
    value = canonical_keys({"directRouteApiKeys": ["one", "two"], "snapshot": {"api_key": "three"}})
    assert value == {"direct_route_api_keys": ["***", "***"], "snapshot": {"api_key": "***"}}


def test_the_same_value_in_both_casings_is_no_conflict():
    assert canonical_keys({"baseModel": "m", "base_model": "m"}) == {"base_model": "m"}


@pytest.mark.parametrize(
    ("name", "snake"),
    [
        ("maxWithRevocableReplicaCount", "max_with_revocable_replica_count"),
        ("base_model", "base_model"),
        ("p95", "p95"),
        ("readyReplicaCount", "ready_replica_count"),
        ("", ""),
    ],
)
def test_field_names(name, snake):
    assert snake_case(name) == snake


def test_five_megabytes_of_noise_are_read_in_a_moment():
    noises = ["x" * 79 + "\n", "[notice\n", "{noise}\n", "}\n", "[[\n", '{"a', "[1,\n"]
    begun = time.monotonic()
    for noise in noises:
        text = without_ansi(noise * (5_000_000 // len(noise)) + json.dumps(ROWS))
        try:
            assert rows(text) == ROWS
        except UnreadableError:
            continue
    assert time.monotonic() - begun < 20


def test_an_error_quotes_the_first_200_characters_masked():
    redactor = Redactor()
    redactor.register("hunter22")
    text = f"oops {KEY} hunter22 " + "y" * 1000
    with pytest.raises(UnreadableError) as caught:
        rows(text)
    assert KEY not in str(caught.value)
    message = caught.value.quoting(redactor).message
    assert message.startswith("firectl printed text instead of JSON: 'oops *** *** yyy")
    assert len(message) < 260


def test_a_secret_at_the_border_of_the_quote_is_not_shown_in_half():
    redactor = Redactor()
    redactor.register("hunter22")
    error = UnreadableError("what", "x" * 196 + "hunter22")
    assert "hunt" not in error.quoting(redactor).message


def test_an_error_without_a_text_quotes_nothing():
    assert UnreadableError("what", "").quoting(Redactor()).message == "what"
