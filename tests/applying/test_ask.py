"""One completion as proof that a deployment serves."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from fwctl.applying.ask import ask, judge
from fwctl.env import Env
from tests.contract.apply_support import serving

MODEL = "accounts/acme/deployments/chat"


def env(**environ: str) -> Env:
    stream = io.StringIO()
    made = Env(environ, Path(), stream, stream, stream)
    made.redactor.register(environ.get("FIREWORKS_API_KEY"))
    return made


@pytest.mark.parametrize("suffix", ["", "/", "/inference/v1"])
def test_an_endpoint_that_answers_is_proof(suffix: str) -> None:
    with serving() as address:
        assert ask(MODEL, env(FIREWORKS_API_KEY="canary-1", FIREWORKS_BASE_URL=address + suffix)).ok


def test_an_endpoint_that_is_starting_is_progress() -> None:
    with serving(refusals=1) as address:
        answer = ask(MODEL, env(FIREWORKS_API_KEY="canary-1", FIREWORKS_BASE_URL=address))
    assert (answer.ok, answer.progress, answer.message) == (False, True, "HTTP 503")


def test_nobody_listening_is_progress() -> None:
    with serving() as address:
        pass
    answer = ask(MODEL, env(FIREWORKS_API_KEY="canary-1", FIREWORKS_BASE_URL=address))
    assert (answer.ok, answer.progress) == (False, True)


def test_without_a_key_no_request_is_sent() -> None:
    assert ask(MODEL, env()).message == "FIREWORKS_API_KEY is not set, so no request can be sent"


@pytest.mark.parametrize("address", ["no address", "ftp://example.test"])
def test_an_address_that_is_none_ends_the_asking(address: str) -> None:
    answer = ask(MODEL, env(FIREWORKS_API_KEY="canary-1", FIREWORKS_BASE_URL=address))
    assert (answer.ok, answer.progress) == (False, False)


@pytest.mark.parametrize(
    ("status", "body", "ok", "progress", "message"),
    [
        (200, {"choices": [{}]}, True, False, ""),
        (200, {"choices": []}, False, True, "HTTP 200"),
        (200, None, False, True, "HTTP 200"),
        (
            503,
            {"error": {"message": "scaling", "code": "DEPLOYMENT_SCALING_UP"}},
            False,
            True,
            "HTTP 503 scaling",
        ),
        (404, {"error": "gone"}, False, True, "HTTP 404 gone"),
        (401, {"error": {"message": "key canary-1 is bad"}}, False, False, "HTTP 401 key *** is bad"),
        (412, [], False, False, "HTTP 412"),
    ],
)
def test_what_a_status_means(status: int, body: Any, ok: bool, progress: bool, message: str) -> None:
    answer = judge(status, body, env(FIREWORKS_API_KEY="canary-1"))
    assert (answer.ok, answer.progress, answer.message) == (ok, progress, message)


def test_an_answer_that_is_no_json_is_progress() -> None:
    with serving(body=b"<html>") as address:
        answer = ask(MODEL, env(FIREWORKS_API_KEY="canary-1", FIREWORKS_BASE_URL=address))
    assert (answer.ok, answer.progress) == (False, True)


def test_a_long_message_is_cut() -> None:
    assert len(judge(400, {"error": "x" * 5000}, env()).message) == 300
