"""Which change may begin, which has to wait, and which never will."""

from __future__ import annotations

from collections.abc import Iterable

from fwctl.applying.effects import Ended, Procedure
from fwctl.applying.model import Outcome
from fwctl.applying.schedule import Item, Schedule


def nothing() -> Procedure[Ended]:
    yield from ()
    return Ended()


def item(name: str, *, after: Iterable[str] = (), waits: Iterable[str] = (), last: bool = False) -> Item:
    return Item(name, name, name, ("update",), nothing, frozenset(after), frozenset(waits), last)


def begun(schedule: Schedule) -> str | None:
    ready = schedule.ready()
    if ready is not None:
        schedule.begin(ready)
    return ready.name if ready else None


def test_items_begin_in_their_order() -> None:
    schedule = Schedule([item("b"), item("a")], wait=True)
    assert [begun(schedule), begun(schedule), begun(schedule)] == ["b", "a", None]


def test_an_item_begins_when_those_before_it_have_ended() -> None:
    first, second = item("b"), item("a", after=["b"])
    schedule = Schedule([second, first], wait=True)
    assert (begun(schedule), begun(schedule)) == ("b", None)
    schedule.end(first, Outcome.DONE)
    assert begun(schedule) == "a"


def test_last_items_begin_when_all_others_have_ended_however() -> None:
    drop, make = item("a", last=True), item("b")
    schedule = Schedule([drop, make], wait=True)
    assert (begun(schedule), begun(schedule)) == ("b", None)
    schedule.end(make, Outcome.FAILED)
    assert begun(schedule) == "a"


def test_waiting_for_an_end_does_not_ask_how_it_was() -> None:
    member, router = item("a"), item("r", waits=["a"])
    schedule = Schedule([member, router], wait=True)
    begun(schedule)
    schedule.end(member, Outcome.FAILED)
    assert schedule.hopeless() is None
    assert begun(schedule) == "r"


def test_what_comes_after_a_failure_is_hopeless_and_named() -> None:
    first, second, third = item("a"), item("b"), item("c", after=["a", "b"])
    schedule = Schedule([first, second, third], wait=True)
    schedule.end(first, Outcome.FAILED)
    schedule.end(second, Outcome.SKIPPED)
    assert schedule.hopeless() == (third, "a, b did not get done first")


def test_accepted_is_enough_for_a_run_that_does_not_wait() -> None:
    for wait, expected in ((False, "b"), (True, None)):
        first, second = item("a"), item("b", after=["a"])
        schedule = Schedule([first, second], wait=wait)
        begun(schedule)
        schedule.end(first, Outcome.IN_PROGRESS)
        hopeless = schedule.hopeless()
        assert (None if hopeless else begun(schedule)) == expected


def test_two_deployments_of_one_name_are_two_items() -> None:
    one, two = item("a", last=True), item("a", last=True)
    two.deployment_id = "other"
    after = item("b", after=["a"])
    schedule = Schedule([one, two, after], wait=True)
    schedule.end(one, Outcome.DONE)
    assert schedule.ready() is None
    schedule.end(two, Outcome.DONE)
    assert schedule.ready() is after
