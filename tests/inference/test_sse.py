"""The stream parser against the edge cases that servers and networks produce."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.inference.sse import MAX_EVENT_BYTES, Event, EventParser, EventTooLongError


def parse(*chunks: bytes) -> list[tuple[str, bytes]]:
    parser = EventParser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return [(event.name, event.data) for event in [*events, *parser.close()]]


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ((b"data: a\n\ndata: b\n\n",), [b"a", b"b"]),
        ((b"da", b"ta: a", b"\n", b"\n"), [b"a"]),
        ((b"data: a\r\n\r\ndata: b\r\n\r\n",), [b"a", b"b"]),
        ((b"data: a\r", b"\n\r", b"\n"), [b"a"]),
        ((b"data: a\r\rdata: b\r\r",), [b"a", b"b"]),
        ((b": ping\n\ndata: a\n\n: ping\n\n",), [b"a"]),
        ((b"data:a\n\n",), [b"a"]),
        ((b"data:  a\n\n",), [b" a"]),
        ((b"data: a",), [b"a"]),
        ((b"data: a\n",), [b"a"]),
        ((b"data: a\ndata: b\n\n",), [b"a\nb"]),
        ((b"\xef\xbb", b"\xbfdata: a\n\n"), [b"a"]),
        ((b"id: 7\nretry: 5\ndata: a\n\n",), [b"a"]),
        ((b"\n\n\n",), []),
        ((), []),
    ],
)
def test_events_come_out_whole(chunks: tuple[bytes, ...], expected: list[bytes]) -> None:
    assert parse(*chunks) == [("message", data) for data in expected]


def test_the_name_holds_for_one_event_only() -> None:
    assert parse(b"event: error\ndata: x\n\ndata: y\n\n") == [("error", b"x"), ("message", b"y")]


def test_an_event_without_end_is_refused() -> None:
    parser = EventParser()
    parser.feed(b"data: ")
    with pytest.raises(EventTooLongError, match="longer than"):
        parser.feed(b"x" * (MAX_EVENT_BYTES + 1))


def test_many_lines_without_end_are_refused() -> None:
    parser = EventParser()
    parser.feed(b"data: " + b"x" * (MAX_EVENT_BYTES - 4) + b"\n")
    with pytest.raises(EventTooLongError):
        parser.feed(b"data: more")


def test_a_line_that_drips_in_is_not_copied_again_for_every_byte() -> None:
    parser = EventParser()
    for _ in range(200_000):
        parser.feed(b"x")
    assert parser.feed(b"\n\ndata: a\n\n") == [Event("message", b"a")]


def test_lines_and_whole_events_may_mix() -> None:
    assert parse(b"data: a\n\nevent: x\n", b"data: b\n", b"\ndata: c\n\n") == [
        ("message", b"a"),
        ("x", b"b"),
        ("message", b"c"),
    ]


@settings(max_examples=60)
@given(st.lists(st.text("aé😀: ", min_size=1, max_size=6), max_size=5), st.integers(1, 7), st.booleans())
def test_where_the_network_cuts_does_not_matter(texts: list[str], size: int, crlf: bool) -> None:
    end = "\r\n" if crlf else "\n"
    stream = "".join(f"data: {text}{end}{end}" for text in texts).encode()
    parser = EventParser()
    events: list[Event] = []
    for start in range(0, len(stream), size):
        events += parser.feed(stream[start : start + size])
    assert [event.data.decode() for event in events + parser.close()] == texts
