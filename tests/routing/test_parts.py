"""Small parts: classes of failures, headers, keys, needs, errors, amounts."""

from __future__ import annotations

import socket

import aiohttp
import pytest

from fwctl.inference.failures import ErrorClass
from fwctl.routing.access import Keys, is_loopback, sent_on
from fwctl.routing.amounts import per_second, quantile, share
from fwctl.routing.answers import Tried, error_object
from fwctl.routing.choose import session_of
from fwctl.routing.model import Target
from fwctl.routing.needs import adapted, fits, needs_of
from fwctl.routing.outcome import Outcome, Verdict, outcome_of
from fwctl.routing.upstream import retry_after, transport_failure, whole_failure


@pytest.mark.parametrize(
    ("error_class", "status", "wanted"),
    [
        (ErrorClass.HTTP_4XX, 408, Outcome(Verdict.BROKEN, moves_on=True)),
        (ErrorClass.HTTP_4XX, 425, Outcome(Verdict.BROKEN, moves_on=True)),
        (ErrorClass.HTTP_4XX, 418, Outcome(Verdict.NOTHING, moves_on=False)),
        (ErrorClass.HTTP_401, 401, Outcome(Verdict.TERMINAL, moves_on=True)),
        (ErrorClass.RATE_LIMITED, 429, Outcome(Verdict.OVERLOAD, moves_on=True)),
        (ErrorClass.SCALING_UP, 503, Outcome(Verdict.COLD, moves_on=True)),
        (ErrorClass.HTTP_400, 400, Outcome(Verdict.NOTHING, moves_on=False)),
        (ErrorClass.HARNESS, None, Outcome(Verdict.NOTHING, moves_on=False)),
    ],
)
def test_what_a_failure_means(error_class: ErrorClass, status: int | None, wanted: Outcome) -> None:
    assert outcome_of(error_class, status) == wanted


@pytest.mark.parametrize(
    ("text", "date", "seconds"),
    [
        (None, None, None),
        ("7", None, 7),
        (" 7 ", None, 7),
        ("99999999999999999999", None, 999999999),
        ("-1", None, None),
        ("soon", None, None),
        ("Wed, 21 Oct 2026 07:28:30 GMT", "Wed, 21 Oct 2026 07:28:00 GMT", 30),
        ("Wed, 21 Oct 2026 07:28:00 GMT", "Wed, 21 Oct 2026 07:28:30 GMT", 0),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None, None),
    ],
)
def test_retry_after_in_both_forms(text: str | None, date: str | None, seconds: float | None) -> None:
    assert retry_after(text, date) == seconds


def test_transport_trouble_has_its_class() -> None:
    assert transport_failure(socket.gaierror()).error_class is ErrorClass.DNS
    assert transport_failure(aiohttp.ServerDisconnectedError()).error_class is ErrorClass.CONNECT
    assert transport_failure(aiohttp.ClientPayloadError()).error_class is ErrorClass.TRUNCATED
    assert transport_failure(ConnectionResetError()).error_class is ErrorClass.CONNECT
    assert transport_failure(ValueError()).error_class is ErrorClass.HTTP_5XX


@pytest.mark.parametrize(
    ("data", "word"),
    [
        (b"", ErrorClass.INVALID_JSON),
        (b"[]", ErrorClass.SSE_ERROR),
        (b'{"error":{"message":"x"}}', ErrorClass.SSE_ERROR),
        (b"{}", ErrorClass.EMPTY),
        (b'{"choices":[]}', ErrorClass.EMPTY),
        (b'{"choices":[{"index":0}]}', ErrorClass.TRUNCATED),
        (b'{"choices":[5]}', ErrorClass.TRUNCATED),
        (b'{"data":[]}', None),
        (b'{"choices":[{"finish_reason":"stop"}]}', None),
    ],
)
def test_a_200_is_no_answer_by_itself(data: bytes, word: ErrorClass | None) -> None:
    failure = whole_failure(data)
    assert (failure.error_class if failure else None) == word


def test_loopback_is_known_by_address_and_not_by_hope() -> None:
    assert all(map(is_loopback, ("127.0.0.1", "127.9.9.9", "::1", "[::1]", "localhost")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "localhost.example", "")))


def test_keys_are_compared_whole() -> None:
    keys = Keys(["abc", "d\u00e9f"])
    assert keys.any
    assert keys.allow({"authorization": "Bearer abc"})
    assert keys.allow({"authorization": "bearer  abc"})
    assert keys.allow({"x-api-key": "d\u00e9f"})
    for header in ("Bearer ab", "Bearer abcd", "Bearer", "", "Bearer \udcff"):
        assert not keys.allow({"authorization": header})
    assert not keys.allow({})
    assert Keys([]).allow({})


def test_only_listed_headers_go_on() -> None:
    given = {
        "x-session-affinity": "s",
        "authorization": "Bearer k",
        "cookie": "c",
        "x-team": "t",
        "host": "h",
    }
    assert sent_on(given, ()) == {"x-session-affinity": "s"}
    assert sent_on(given, ("x-team",)) == {"x-session-affinity": "s", "x-team": "t"}


@pytest.mark.parametrize(
    ("headers", "body", "wanted"),
    [
        ({"x-session-affinity": "h"}, {"prompt_cache_key": "p", "user": "u"}, "h"),
        ({}, {"prompt_cache_key": "p", "user": "u"}, "p"),
        ({}, {"user": "u"}, "u"),
        ({}, {"user": 5}, None),
        ({}, {}, None),
    ],
)
def test_what_names_a_session(headers: dict[str, str], body: dict[str, object], wanted: str | None) -> None:
    assert session_of(headers, body) == wanted


def test_needs_are_read_from_the_body() -> None:
    body = {
        "tools": [{}],
        "logprobs": True,
        "n": 2,
        "prediction": {"content": "x"},
        "response_format": {"type": "grammar"},
        "messages": [{"content": [{"type": "image_url"}]}, {"content": "x"}, 5],
    }
    assert needs_of(body) == {"tools", "logprobs", "n", "prediction", "grammar", "vision"}
    assert needs_of({"tools": [], "n": 1, "response_format": {"type": "text"}}) == frozenset()


def test_what_changes_the_meaning_makes_a_target_unfit_and_the_rest_is_adapted() -> None:
    plain = Target("t", "m", lacks=frozenset({"tools", "prediction", "json_schema", "json_object"}))
    assert not fits(plain, frozenset({"tools"}))
    assert fits(plain, frozenset({"prediction", "json_schema"}))
    body = {"prompt": "x", "response_format": {"type": "json_schema", "json_schema": {"schema": {}}}}
    found, said = adapted(body, plain, needs_of(body))
    assert (found, said) == ({"prompt": "x", "model": "m"}, "response_format=dropped")
    assert "response_format" in body


def test_amounts() -> None:
    assert [share(text) for text in ("10%", "2.5 %", "100%", "101%", "0.1", "x", "-1%")] == [
        0.1,
        0.025,
        1.0,
        None,
        None,
        None,
        None,
    ]
    assert [per_second(text) for text in ("10/s", "30/min", "10", "10/h")] == [10, 0.5, None, None]
    assert [quantile(text) for text in ("p95", "p99.9", "p0", "95")] == [
        0.95,
        pytest.approx(0.999),
        None,
        None,
    ]


def test_an_error_has_the_shape_that_openais_clients_read() -> None:
    document = error_object("deadline", "late", 504, [Tried("a", "timeout_ttft", None, 0.123456)])
    assert document["error"] == {"message": "late", "type": "server_error", "param": None, "code": "deadline"}
    assert document["fwctl"]["attempts"][0] == {
        "target": "a",
        "error": "timeout_ttft",
        "status": None,
        "seconds": 0.1235,
        "hedge": False,
    }
