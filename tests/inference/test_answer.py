"""Interpretation of deltas: which chunk is the first token, what the stream ended with."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fwctl.inference.answer import Answer
from fwctl.inference.failures import ErrorClass, from_status
from fwctl.inference.sse import Event


def chunk(finish: str | None = None, index: int = 0, **delta: Any) -> dict[str, Any]:
    return {"choices": [{"index": index, "delta": delta, "finish_reason": finish}]}


def read(*payloads: Any, name: str = "message") -> Answer:
    """Chunks that arrive at 0, 1, 2, ... seconds."""
    answer = Answer()
    for at, payload in enumerate(payloads):
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        answer.absorb(Event(name, data), float(at))
    answer.end()
    return answer


@pytest.mark.parametrize(
    "nothing",
    [
        chunk(role="assistant"),
        chunk(content=""),
        chunk(content=None),
        {"choices": []},
        {},
        {"choices": [None]},
    ],
)
def test_a_chunk_without_text_is_not_the_first_token(nothing: Any) -> None:
    answer = read(nothing, chunk(content="Hi"), chunk("stop"), b"[DONE]")
    assert (answer.first_token_at, answer.first_visible_at, answer.last_token_at) == (1, 1, 1)
    assert answer.failure is None


@pytest.mark.parametrize("key", ["reasoning_content", "reasoning"])
def test_reasoning_is_the_first_token_but_not_visible(key: str) -> None:
    answer = read(chunk(**{key: "hm"}), chunk(content="Hi"), chunk("stop"))
    assert (answer.first_token_at, answer.first_visible_at) == (0, 1)
    assert (answer.reasoning, answer.text) == ("hm", "Hi")


def test_reasoning_under_both_names_counts_once() -> None:
    assert read(chunk(reasoning="hm", reasoning_content="hm")).reasoning == "hm"


def test_an_answer_of_reasoning_alone_has_no_visible_token() -> None:
    answer = read(chunk(reasoning="hm"), chunk("length", content=None))
    assert (answer.first_token_at, answer.first_visible_at, answer.finish_reason) == (0, None, "length")


def test_tool_calls_alone_have_a_first_token() -> None:
    first = {"index": 0, "function": {"name": "f", "arguments": ""}}
    second = {"index": 0, "function": {"arguments": '{"a":1}'}}
    answer = read(chunk(tool_calls=[first]), chunk(tool_calls=[second, None]), chunk("tool_calls"))
    assert (answer.first_token_at, answer.first_visible_at, answer.last_token_at) == (0, 0, 1)
    assert answer.choices[0].tools == {0: {"name": "f", "arguments": '{"a":1}'}}
    assert answer.failure is None


def test_the_last_usage_holds() -> None:
    early = {"prompt_tokens": 5, "completion_tokens": 1}
    late = {
        "prompt_tokens": 5,
        "completion_tokens": 9,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens_details": {"reasoning_tokens": 2},
    }
    usage = read({**chunk(content="a"), "usage": early}, {"choices": [], "usage": late}).usage
    assert (usage.prompt_tokens, usage.cached_tokens, usage.output_tokens, usage.reasoning_tokens) == (
        5,
        4,
        9,
        2,
    )


def test_usage_and_metrics_may_come_with_the_finish() -> None:
    end = {**chunk("stop"), "usage": {"completion_tokens": 1}, "perf_metrics": {"prompt-tokens": "3"}}
    answer = read(chunk(content="a"), end)
    assert answer.usage.output_tokens == 1
    assert answer.server == {"prompt-tokens": 3.0}


def test_silly_counts_are_unknown() -> None:
    usage = read({"usage": {"prompt_tokens": "5", "completion_tokens": -1}}).usage
    assert (usage.prompt_tokens, usage.output_tokens) == (None, None)


def test_choices_are_kept_apart() -> None:
    answer = read(chunk(content="a"), chunk(content="x", index=1), chunk(content="b"), chunk("stop"))
    assert answer.text == "ab"
    assert "".join(answer.choices[1].text) == "x"


def test_several_events_of_one_read_make_no_gap() -> None:
    answer = Answer()
    for at in (1.0, 1.0, 1.5, 3.5):
        answer.absorb(Event("message", json.dumps(chunk(content="a")).encode()), at)
    assert (answer.reads_with_tokens, answer.max_gap_s) == (3, 2.0)


@pytest.mark.parametrize(
    ("payloads", "expected"),
    [
        ([chunk(content="a")], ErrorClass.TRUNCATED),
        ([], ErrorClass.TRUNCATED),
        ([b"[DONE]"], ErrorClass.EMPTY),
        ([chunk("stop")], ErrorClass.EMPTY),
        ([chunk(content="a"), chunk("content_filter")], ErrorClass.CONTENT_FILTER),
        ([chunk(content="a"), chunk("error")], ErrorClass.SSE_ERROR),
        ([chunk(content="a"), {"error": {"message": "no"}}, b"[DONE]"], ErrorClass.SSE_ERROR),
        ([chunk(content="a"), b"{half", b"[DONE]"], ErrorClass.SSE_ERROR),
        ([b"[1]"], ErrorClass.SSE_ERROR),
        ([b"[" * 100_000], ErrorClass.SSE_ERROR),
        ([chunk(content="a"), b"[DONE]"], None),
        ([chunk(content="a"), chunk("length")], None),
    ],
)
def test_how_the_stream_ended(payloads: list[Any], expected: ErrorClass | None) -> None:
    failure = read(*payloads).failure
    assert (failure.error_class if failure else None) == expected


def test_an_error_event_fails_whatever_it_carries() -> None:
    failure = read({"message": "busy"}, name="error").failure
    assert failure is not None
    assert failure.error_class is ErrorClass.SSE_ERROR


def test_a_body_that_is_not_streamed_reads_the_same() -> None:
    answer = Answer()
    answer.absorb_payload({"choices": [{"message": {"content": "Hi"}, "finish_reason": "stop"}]}, 1.0)
    assert (answer.text, answer.end()) == ("Hi", None)
    completion = Answer()
    completion.absorb_payload({"choices": [{"text": "Hi", "finish_reason": "stop"}]}, 1.0)
    assert completion.text == "Hi"


def test_equal_answers_have_equal_digests() -> None:
    assert read(chunk(content="a"), chunk(content="b")).digest == read(chunk(content="ab")).digest
    assert read(chunk(content="a")).digest != read(chunk(content="b")).digest
    assert read().text == read().reasoning == ""


@pytest.mark.parametrize(
    ("status", "body", "expected"),
    [
        (200, b"", None),
        (400, b"", ErrorClass.HTTP_400),
        (418, b"", ErrorClass.HTTP_4XX),
        (429, b"", ErrorClass.RATE_LIMITED),
        (503, b"", ErrorClass.OVERLOADED),
        (503, b'{"error":{"code":"DEPLOYMENT_SCALING_UP"}}', ErrorClass.SCALING_UP),
        (529, b"", ErrorClass.OVERLOADED),
        (500, b"", ErrorClass.HTTP_5XX),
        (302, b"", ErrorClass.HTTP_3XX),
    ],
)
def test_status_to_class(status: int, body: bytes, expected: ErrorClass | None) -> None:
    failure = from_status(status, body)
    assert (failure.error_class if failure else None) == expected
