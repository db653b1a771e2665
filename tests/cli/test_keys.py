"""Which key goes where, and that none of them is ever shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.cli.command import Call
from fwctl.cli.keys import key_for, server_key
from fwctl.cli.metrics_page import metrics_page
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.errors import AuthError, UsageError
from tests.cli.support import make_env

FIREWORKS, OTHER = "https://api.fireworks.ai/inference/v1", "https://other.example/v1"


def call_of(folder: Path, **variables: str) -> Call:
    env = make_env(folder, variables)
    return Call(env, Settings(), Output(env))


def test_the_fireworks_key_goes_to_fireworks_alone_unless_it_is_named(tmp_path: Path) -> None:
    call = call_of(tmp_path, FIREWORKS_API_KEY="fw_the_key_of_all", OWN="own-key-of-other")
    assert key_for(call, FIREWORKS, None, "--url") == "fw_the_key_of_all"
    assert key_for(call, OTHER, None, "--url") is None
    assert key_for(call, "https://fireworks.ai.evil.example/v1", None, "--url") is None
    assert key_for(call, "http://api.fireworks.ai/v1", None, "--url") is None  # not in the clear
    assert key_for(call, OTHER, "OWN", "--url") == "own-key-of-other"
    assert key_for(call, OTHER, "FIREWORKS_API_KEY", "--url") == "fw_the_key_of_all"


def test_a_key_is_masked_whichever_way_it_was_found(tmp_path: Path) -> None:
    call = call_of(tmp_path, ONE="first-secret-key", TWO="second-secret-key", THREE="third-secret-key")
    server_key(call, OTHER, "ONE", "--judge-url")
    metrics_page(call, "acme", None, "TWO")
    metrics_page(call, "acme", "http://127.0.0.1:1/metrics?match=all", "THREE")
    shown = call.env.redactor.mask("first-secret-key second-secret-key third-secret-key")
    assert "secret" not in shown


@pytest.mark.parametrize("key", ["schlüssel", "two\nlines", " blanks "])
def test_what_no_header_can_carry_is_no_key_and_is_not_shown(tmp_path: Path, key: str) -> None:
    with pytest.raises(UsageError, match="OWN holds characters that no key has") as told:
        key_for(call_of(tmp_path, OWN=key), OTHER, "OWN", "--url")
    assert key not in str(told.value)


def test_a_key_that_is_missing_is_told_before_any_request(tmp_path: Path) -> None:
    with pytest.raises(AuthError, match="FIREWORKS_API_KEY is not set"):
        key_for(call_of(tmp_path), FIREWORKS, None, "--target-url")
    with pytest.raises(UsageError, match="the environment variable OWN is not set"):
        key_for(call_of(tmp_path, OWN=""), OTHER, "OWN", "--target-url")
    with pytest.raises(UsageError, match="the environment variable OWN is not set"):
        metrics_page(call_of(tmp_path), "acme", None, "OWN")  # named, so a watch without it is not meant


def test_an_address_with_a_password_is_refused_without_showing_it(tmp_path: Path) -> None:
    for read in (
        lambda url: server_key(call_of(tmp_path), url, None, "--url"),
        lambda url: metrics_page(call_of(tmp_path), "acme", url, None),
    ):
        with pytest.raises(UsageError, match="must not hold a user or password") as told:
            read("https://me:hunter2@other.example/v1")
        assert "hunter2" not in str(told.value)
