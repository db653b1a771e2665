"""No secret in any form that fwctl or a child may print it in."""

from __future__ import annotations

import dataclasses
import json
import shlex

import pytest

from fwctl.redact import MASK, Redactor, Secret

KEY = "fw_3ZaBcDeFgHiJkL"


def masked(text: str, *secrets: str | None) -> str:
    redactor = Redactor()
    redactor.register(*secrets)
    return redactor.mask(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"error: {KEY} is not valid", "error: *** is not valid"),
        (f"Authorization: Bearer {KEY}", "Authorization: Bearer ***"),
        ("authorization: bearer abc.def/ghi", "authorization: bearer ***"),
        ("firectl --api-key hunter2 list", "firectl --api-key *** list"),
        ("firectl --api-key=hunter2 list", "firectl --api-key=*** list"),
        ("create m --direct-route-api-keys hunter2", "create m --direct-route-api-keys ***"),
        ("api_key = hunter2", "api_key = ***"),
        ("FIREWORKS_API_KEY=hunter2 firectl", "FIREWORKS_API_KEY=*** firectl"),
        ('{"api_key": "hunter2", "x": 1}', '{"api_key": "***", "x": 1}'),
        ('{"apiKey":"hunter2"}', '{"apiKey":"***"}'),
        ("refresh_token = abc", "refresh_token = ***"),
        ("token eyJhbGciOiJI.eyJzdWIiOiIx.sig-na_ture end", "token *** end"),
    ],
)
def test_what_looks_like_a_credential_is_masked_without_being_registered(text, expected):
    assert masked(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "accounts/fireworks/models/fw-model",
        "direct_route.api_keys: 2 values",
        "the bearer of news",
        "fw_",
    ],
)
def test_ordinary_text_stays(text):
    assert masked(text) == text


def test_registered_values_are_masked_the_longest_first():
    assert masked("secret-long secret", "secret", "secret-long") == "*** ***"


@pytest.mark.parametrize("value", [None, "", "abc"])
def test_empty_and_very_short_values_are_not_masked(value):
    assert masked("abc abc", value) == "abc abc"


@pytest.mark.parametrize("value", ['pa"ss\\word', "pässwörd!", "it's me, secret", "tab\there"])
def test_a_secret_is_masked_in_the_forms_of_json_and_of_a_shell(value):
    for text in (
        json.dumps({"k": value}),
        json.dumps([value], ensure_ascii=False),
        f"run {shlex.quote(value)}",
    ):
        shown = masked(text, value)
        assert value not in shown
        assert json.dumps(value)[1:-1] not in shown
        assert MASK in shown


def test_a_secret_is_masked_without_the_newline_that_its_file_ended_with():
    assert masked("x hunter22 y", "hunter22\n") == "x *** y"


def test_each_longer_line_of_a_secret_is_masked():
    pem = "-----BEGIN KEY-----\nMIIEpAIBAAKCAQEA\nend\n"
    assert masked("failed at MIIEpAIBAAKCAQEA", pem) == "failed at ***"
    assert masked("the end", pem) == "the end"


def test_the_word_behind_a_secret_flag_is_masked_as_a_whole():
    redactor = Redactor()
    argv = ["firectl", "--api-key", "two words", "--direct-route-api-keys", "-x", "list"]
    assert redactor.mask_argv(argv) == [
        "firectl",
        "--api-key",
        "***",
        "--direct-route-api-keys",
        "***",
        "list",
    ]


def test_holds_finds_registered_secrets_that_are_long_enough_to_be_no_coincidence():
    redactor = Redactor()
    redactor.register("prod", "12345678")
    assert redactor.holds("x12345678y")
    assert not redactor.holds("prod 1234567")


def test_a_secret_never_shows_itself():
    secret = Secret("${env:KEY}", "hunter2")
    assert (str(secret), f"{secret}", repr(secret)) == ("***", "***", "Secret('${env:KEY}')")
    assert repr(Secret("hunter2", "hunter2")) == "Secret(***)"
    with pytest.raises(TypeError):
        json.dumps(secret)


def test_unfolding_an_object_around_a_secret_does_not_unfold_the_secret():
    @dataclasses.dataclass
    class Holder:
        key: Secret

    assert "hunter2" not in str(dataclasses.asdict(Holder(Secret("${env:KEY}", "hunter2"))))


def test_secrets_compare_by_reference_and_value():
    assert Secret("${env:A}", "x") == Secret("${env:A}", "x")
    assert len({Secret("${env:A}", "x"), Secret("${env:A}", "x"), Secret("${env:A}", "y")}) == 2
    assert Secret("${env:A}", "x") != "x"
