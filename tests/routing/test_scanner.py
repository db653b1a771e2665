"""Streams as bytes: whole events only, unchanged, and judged at their end."""

from __future__ import annotations

import time
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.inference.failures import ErrorClass
from fwctl.routing.scanner import MAX_EVENT_BYTES, Opening, Scanner
from tests.routing.upstreams import DONE, HELLO, ROLE, STOP, USAGE, chunk

ODD = (
    b": a comment\n\n",
    ROLE,
    chunk('He said "[DONE]", "error", "finish_reason":"stop" and "usage":{}'),
    chunk("\u20ac\U0001f600".encode().decode()),
    b'data: {"choices":[{"index":0,"delta":{"content":"x"},"finish_reason": null}]}\r\n\r\n',
    b'event: message\ndata: {"choices":[]}\n\n',
    STOP,
    USAGE,
    DONE,
)


def through(pieces: list[bytes], wanted: int = 1) -> tuple[bytes, Scanner]:
    scanner = Scanner(wanted)
    sent = b"".join(scanner.feed(piece) for piece in pieces)
    return sent + scanner.close(), scanner


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, len(b"".join(ODD))), max_size=40))
def test_however_a_stream_is_cut_it_comes_out_as_it_went_in(cuts: list[int]) -> None:
    whole = b"".join(ODD)
    edges = [0, *sorted(cuts), len(whole)]
    pieces = [whole[a:b] for a, b in pairwise(edges) if a < b]
    sent, scanner = through(pieces)
    assert sent == whole
    assert (scanner.failure, scanner.done, scanner.complete) == (None, True, True)
    assert scanner.usage == {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}


@settings(max_examples=60, deadline=None)
@given(st.integers(0, len(b"".join(HELLO)) - len(STOP + USAGE + DONE) - 1), st.integers(1, 50))
def test_a_stream_that_breaks_off_leaves_whole_events_and_a_failure(end: int, size: int) -> None:
    cut = b"".join(HELLO)[:end]
    scanner = Scanner()
    sent = b"".join(scanner.feed(cut[at : at + size]) for at in range(0, len(cut), size))
    assert sent == b"" or sent.endswith(b"\n\n")
    assert cut.startswith(sent)
    scanner.close()
    assert scanner.failure is not None


@pytest.mark.parametrize(
    ("bad", "word"),
    [
        (b'data: {"error":{"message":"m"}}\n\n', ErrorClass.SSE_ERROR),
        (b'event: error\ndata: {"a":1}\n\n', ErrorClass.SSE_ERROR),
        (b'data: {"choices":[{"index":0,"finish_reason":"error"}]}\n\n', ErrorClass.SSE_ERROR),
        (b'data: {"usage":{"a"\n\n', ErrorClass.SSE_ERROR),
        (DONE, ErrorClass.TRUNCATED),
    ],
)
def test_nothing_is_sent_on_from_the_event_that_breaks_a_stream(bad: bytes, word: ErrorClass) -> None:
    scanner = Scanner()
    assert scanner.feed(ROLE + chunk("x") + bad + STOP) == ROLE + chunk("x")
    assert scanner.failure is not None
    assert scanner.failure.error_class is word


def test_an_event_without_an_end_is_a_failure_and_memory_stays_bounded() -> None:
    scanner, opening = Scanner(), Opening()
    piece = b"x" * 65536
    for _ in range(MAX_EVENT_BYTES // len(piece) + 1):
        assert scanner.feed(piece) == b""
        opening.feed(piece)
    assert scanner.failure is not None
    assert opening.failure is not None


def test_a_long_event_byte_by_byte_takes_linear_time() -> None:
    event = chunk("x" * 150_000)
    opening, scanner = Opening(), Scanner()
    started = time.process_time()
    for at in range(len(event)):
        opening.feed(event[at : at + 1])
        scanner.feed(event[at : at + 1])
    assert opening.data == event
    assert time.process_time() - started < 5


def test_text_that_looks_like_a_mark_is_text() -> None:
    sent, scanner = through([ODD[2], STOP, DONE])
    assert scanner.failure is None
    assert ODD[2] in sent


def test_each_of_several_answers_needs_its_end() -> None:
    other = STOP.replace(b'"index":0', b'"index":1')
    assert through([STOP, DONE], 2)[1].failure is not None
    assert through([STOP, other, DONE], 2)[1].failure is None


@pytest.mark.parametrize(
    "delta",
    [
        '{"content":"x"}',
        '{"reasoning_content":"x"}',
        '{"reasoning":"x"}',
        '{"tool_calls":[{"index":0}]}',
        '{"refusal":"no"}',
    ],
)
def test_any_kind_of_token_ends_the_waiting(delta: str) -> None:
    opening = Opening()
    assert not opening.feed(ROLE)
    assert not opening.feed(b": ping\n\n")
    event = f'data: {{"model":"m","choices":[{{"index":0,"delta":{delta}}}]}}\n\n'.encode()
    assert opening.feed(event)
    assert opening.data == ROLE + b": ping\n\n" + event
    assert (opening.failure, opening.model) == (None, "m")


def test_an_empty_answer_with_a_finish_reason_is_an_answer() -> None:
    opening = Opening()
    assert opening.feed(STOP)
    assert opening.failure is None


def test_a_completions_chunk_has_its_text_beside_the_index() -> None:
    assert Opening().feed(b'data: {"choices":[{"index":0,"text":"x"}]}\n\n')
