"""Portions between a worker and the master: order, acknowledgement, what is sent again, what is refused."""

from __future__ import annotations

import zlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.measure.locust_stream import (
    MOST_BYTES,
    PORTION_BYTES,
    RESEND_S,
    WINDOW,
    Inbox,
    Outbox,
    portions,
    unpack,
)


def test_a_window_of_portions_is_on_its_way_and_the_next_follow_each_acknowledgement() -> None:
    outbox = Outbox()
    for letter in "abcdefghij":
        outbox.put({"data": letter})
    assert [item["number"] for item in outbox.due(0.0)] == list(range(WINDOW))
    assert outbox.due(1.0) == []
    outbox.acknowledge(1, 1.0)
    assert [(item["number"], item["data"]) for item in outbox.due(1.0)] == [(8, "i"), (9, "j")]
    outbox.acknowledge(9, 1.5)
    assert outbox.empty


def test_what_is_not_acknowledged_in_time_is_sent_again() -> None:
    outbox = Outbox()
    outbox.put({"data": "a"})
    outbox.put({"data": "b"})
    assert len(outbox.due(0.0)) == 2
    assert outbox.due(RESEND_S - 0.01) == []
    assert [item["number"] for item in outbox.due(RESEND_S)] == [0, 1]
    outbox.acknowledge(0, RESEND_S)
    assert outbox.due(RESEND_S + 0.01) == []
    assert [item["number"] for item in outbox.due(3 * RESEND_S)] == [1]


def test_an_acknowledgement_that_comes_twice_changes_nothing() -> None:
    outbox = Outbox()
    outbox.put({"data": "a"})
    outbox.due(0.0)
    outbox.acknowledge(0, 0.1)
    outbox.acknowledge(0, 0.2)
    outbox.put({"data": "b"})
    assert [item["number"] for item in outbox.due(0.3)] == [1]


def test_a_portion_counts_once_and_in_order_only() -> None:
    inbox = Inbox()
    assert (inbox.acknowledged, inbox.accept(1), inbox.accept(0), inbox.accept(0)) == (-1, False, True, False)
    assert (inbox.accept(1), inbox.acknowledged) == (True, 1)


@settings(max_examples=40, deadline=None)
@given(lost=st.lists(st.booleans(), max_size=60), count=st.integers(1, 20))
def test_every_portion_arrives_once_however_many_messages_are_lost(lost: list[bool], count: int) -> None:
    outbox, inbox, came, now = Outbox(), Inbox(), [], 0.0
    for number in range(count):
        outbox.put({"data": number})
    losses = iter(lost)
    while not outbox.empty:
        for item in outbox.due(now):
            if next(losses, False):
                continue
            if inbox.accept(item["number"]):
                came.append(item["data"])
            if inbox.acknowledged >= 0 and not next(losses, False):
                outbox.acknowledge(inbox.acknowledged, now)
        now += RESEND_S
    assert came == list(range(count))


def test_lines_survive_packing_and_a_long_one_has_a_portion_for_itself() -> None:
    long = b"x" * PORTION_BYTES + b"\n"
    packed = list(portions([b"a\n", long, b"b\n", b"c\n"]))
    assert [unpack(item) for item in packed] == [[b"a\n"], [long], [b"b\n", b"c\n"]]
    assert list(portions([])) == []


@pytest.mark.parametrize(
    "data",
    [
        "text",
        None,
        b"no deflate",
        zlib.compress(b"no end of line"),
        zlib.compress(b"a\n")[:-1],
        zlib.compress(b"\n" * (MOST_BYTES + 1)),
    ],
    ids=["text", "nothing", "other-bytes", "half-a-line", "cut-off", "bomb"],
)
def test_what_no_worker_sends_is_refused(data: object) -> None:
    with pytest.raises(ValueError, match="a portion"):
        unpack(data)
