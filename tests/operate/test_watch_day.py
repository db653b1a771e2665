"""A day of the watch, look by look, with a clock of its own: every planted incident fires once, with the
right evidence, and resolves once; sinks fail and come back, the watch is restarted, nothing is told twice.

The scrape pages are written by the simulator's exporter; the live state is the script below.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from fwctl.cli.command import Call
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.cli.watch_loop import Watch
from fwctl.errors import AuthError, FirectlFailedError
from fwctl.live.model import LiveDeployment, Marker
from fwctl.operate.exporter import DeploymentMetrics
from fwctl.operate.samples import integrate
from fwctl.operate.sinks import Sink
from fwctl.operate.watch import Look
from fwctl.operate.watch_config import WatchConfig
from fwctl.operate.watch_state import Event
from fwctl.records.samples import read_rounds
from tests.cli.support import make_env
from tests.operate.support import ACCOUNT, PRICES, entry, live, parsed, served, spec

START = datetime(2026, 10, 1, tzinfo=UTC)
SPEC = spec(
    entry("chat", slo__ttft_p95_ms=800, traffic="interactive"),
    entry("batch"),
    entry("spare", traffic="interactive"),
    budget={"ceiling_usd_per_hour": 100.0},
)
PAGE_LOST = range(20 * 60, 20 * 60 + 30)  # the exporter answers nothing from 20:00 to 20:30
FIRECTL_LOST = range(22 * 60, 22 * 60 + 5)  # firectl cannot be reached from 22:00 to 22:05
SINKS = (
    Sink("webhook", "https://hooks.example/secret", "webhook 1"),
    Sink("alertmanager", "http://am:9093", "alertmanager 2"),
)
SINK_DOWN = range(3 * 60, 5 * 60)  # the webhook refuses from 03:00 to 05:00


PAGES: dict[object, dict[str, DeploymentMetrics]] = {}  # each distinct page is written and read once


def at(hours: int, minutes: int = 0) -> int:
    return hours * 60 + minutes


def between(minute: int, begin: int, end: int) -> bool:
    return begin <= minute < end


# Minutes at which something begins or ends; the watch looks every minute around them, else every three.
TURNS = (
    *(at(1), at(2), at(3), at(4), at(6), at(6, 30), at(8), at(9), at(10), at(10, 12), at(10, 20), at(11)),
    *(at(12), at(14), at(14, 10), at(16), at(16, 45), at(17), at(20), at(20, 30), at(22)),
)
LOOKS = sorted({*range(0, 24 * 60, 3), *(turn + more for turn in TURNS for more in range(-1, 13))})


def live_at(minute: int) -> dict[str, LiveDeployment]:
    """What firectl lists at this minute of the day."""
    chat: dict[str, Any] = {"ready": 2, "desired": 2}
    if between(minute, at(1), at(4)):  # at its ceiling from 01:00 to 04:00
        chat = {"ready": 4, "desired": 4}
    if between(minute, at(6), at(6, 30)):  # wanted and not given for half an hour
        chat = {"ready": 2, "desired": 3, "pending": 1}
    batch: dict[str, Any] = {"ready": 1, "desired": 1}
    if between(minute, at(8), at(9)):  # an hour of five more replicas than the budget pays
        batch = {"ready": 6, "desired": 6, "max": 8}
    found = [live("chat", **chat), live("batch", **batch)]
    marker = Marker("test", "spare", hold_until=START + timedelta(hours=10))
    held = marker if minute < at(12) else Marker("test", "spare")  # released at noon
    spare: dict[str, Any] = {"min": 0, "ready": 1, "desired": 1, "marker": held}
    if between(minute, at(14), at(14, 10)):  # a cold start of ten minutes
        spare |= {"ready": 0, "downloading": 1}
    found.append(live("spare", **spare))
    if between(minute, at(16), at(16, 45)):  # a start that takes three quarters of an hour, then FAILED
        found.append(live("late", "CREATING", ready=0, desired=1, created=START + timedelta(hours=16)))
    if between(minute, at(16, 45), at(17)):
        found.append(live("late", "FAILED", ready=0, desired=1, status_message="out of capacity"))
    return {item.deployment_id: item for item in found}


def page_at(minute: int) -> dict[str, DeploymentMetrics]:
    """What the exporter says at this minute."""
    chat, kv = served("chat", 60), 0.4
    if between(minute, at(2), at(3)):  # the ceiling hurts from 02:00 to 03:00
        chat, kv = served("chat", 60, queue_ms=900.0, ttft_ms=1500.0), 0.95
    if between(minute, at(10), at(10, 20)):  # a tenth of the requests fail for 20 minutes
        chat = [*served("chat", 54), *served("chat", 6, status=503)]
    if minute == at(11):  # one bad minute is nothing
        chat = served("chat", 60, status=500)
    now = START + timedelta(minutes=minute)
    key = (tuple(chat), kv)
    if key not in PAGES:
        PAGES[key] = parsed(
            now, {"chat": (chat, kv), "batch": (served("batch", 6), 0.2), "spare": (served("spare", 3), 0.1)}
        )
    return {id_: replace(item, at=now) for id_, item in PAGES[key].items()}


@dataclass
class Day:
    """The outside world of a watch: its clock, what it reads, and what its sinks take."""

    folder: Path
    minute: int = 0
    page: dict[str, DeploymentMetrics] | None = None
    page_at: datetime | None = None
    taken: list[dict[str, Any]] = field(default_factory=list)
    alertmanager: list[list[dict[str, Any]]] = field(default_factory=list)

    @property
    def now(self) -> datetime:
        return START + timedelta(minutes=self.minute)

    def monotonic(self) -> float:
        return self.minute * 60.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("the day is driven look by look")

    def read(self) -> Look:
        if self.minute in FIRECTL_LOST:
            raise FirectlFailedError("connection refused")
        error = "no answer" if self.minute in PAGE_LOST else None
        if error is None:
            self.page, self.page_at = page_at(self.minute), self.now
        return Look(
            self.now,
            ACCOUNT,
            live_at(self.minute),
            SPEC,
            PRICES,
            True,
            self.page,
            self.page_at,
            error,
            6000.0,
            typical_starts={"m/x": 300.0},
        )

    def post(self, url: str, body: Any) -> str | None:
        if self.minute in SINK_DOWN:
            return "it answered HTTP 503"
        if url.endswith("/api/v2/alerts"):
            self.alertmanager.append(body)
        else:
            self.taken += body["events"]
        return None

    def watch(self) -> Watch:
        call = Call(make_env(self.folder), Settings(), Output(make_env(self.folder)))
        return Watch(call, ACCOUNT, WatchConfig(sinks=SINKS), self.read, self.post)


def lived(day: Day) -> Iterator[tuple[int, Event]]:
    """The looks of the day; the process is restarted at every 31st."""
    watch = day.watch()
    for number, minute in enumerate(LOOKS):
        day.minute = minute
        if number % 31 == 0:
            watch = day.watch()
        try:
            _, events = watch.once()
        except FirectlFailedError:
            continue
        yield from ((minute, event) for event in events)


@pytest.fixture(scope="module")
def day() -> Iterator[tuple[Day, list[tuple[int, Event]]]]:
    memory = Path("/dev/shm")  # thousands of commits; a disk would make a minute of them
    with TemporaryDirectory(dir=memory if memory.is_dir() else None) as folder:
        found = Day(Path(folder))
        yield found, list(lived(found))


# (fires at, resolves at, rule, deployment, evidence): by hand from the script and the table of rules.
EXPECTED = [
    # true from 01:00, five minutes of hold; not true from 04:00, five minutes until it ends
    (at(1, 5), at(4, 5), "at-max-replicas", "chat", "4 of at most 4 replicas are ready and 4 are wanted"),
    # two minutes of hold
    (at(2, 2), at(3, 5), "saturated", "chat", "95% of the KV blocks are used and the prefill queue"),
    (at(2, 5), at(3, 5), "kv-nearly-full", "chat", "95% of the KV blocks are used (90% is the limit)"),
    # 900 ms falls between 500 and 1000: the ninth of ten parts lies at 950
    (at(2, 5), at(3, 5), "queueing", "chat", "time in the prefill queue p90 is 950 ms, 500 ms is the limit"),
    # 1500 ms falls between 1000 and 2000: 95 of 100 parts lie at 1950
    (at(2, 5), at(3, 5), "slow-first-token", "chat", "time to first token p95 is 1,950 ms, 800 ms is the"),
    # ten minutes of hold
    (at(6, 10), at(6, 35), "replicas-not-given", "chat", "3 replicas are wanted and 2 ready: 1 waiting"),
    # 2 + 6 + 1 replicas at 16 dollars
    (at(8, 5), at(9, 5), "over-budget", "acme", "ready replicas cost $144.00 an hour, $100.00 is the budget"),
    (at(10), at(12), "hold-outlived", "spare", "its hold ended at 2026-10-01 10:00Z"),
    (at(10, 5), at(10, 25), "error-rate", "chat", "10.0% of 1.0 requests a second fail (503: 0.10/s)"),
    (
        at(14),
        at(14, 11),
        "cold-start",
        "spare",
        "interactive traffic meets no ready replica: 1 wanted, 1 down",
    ),
    # longer than twice the 5 minutes that starts took; the rule's least limit is ten minutes
    (at(16, 11), at(16, 45), "stuck", "late", "CREATING for 11m"),
    (at(16, 45), at(17), "failed", "late", "its state is FAILED: out of capacity"),
    # the last page is of 19:59: more than three minutes old from 20:03 on, and a minute of hold
    (at(20, 4), at(20, 30), "metrics-untrusted", "acme", "the metrics page is 300 s old: no answer"),
]


def test_each_incident_fires_once_with_its_evidence_and_resolves_once(
    day: tuple[Day, list[tuple[int, Event]]],
) -> None:
    told = [(minute, event.kind, event.alert.rule, event.alert.label) for minute, event in day[1]]
    wanted = [(fires, "fired", rule, label) for fires, _, rule, label, _ in EXPECTED]
    wanted += [(ends, "resolved", rule, label) for _, ends, rule, label, _ in EXPECTED]
    assert sorted(told) == sorted(wanted)


@pytest.mark.parametrize("row", EXPECTED, ids=lambda row: row[2])
def test_the_evidence_holds_the_numbers_of_that_minute(
    day: tuple[Day, list[tuple[int, Event]]], row: tuple[int, int, str, str, str]
) -> None:
    fires, _, rule, label, evidence = row
    (event,) = [
        event
        for minute, event in day[1]
        if (minute, event.kind, event.alert.rule, event.alert.label) == (fires, "fired", rule, label)
    ]
    assert evidence in event.alert.evidence
    assert event.alert.fix


def test_a_sink_that_was_down_gets_everything_once_and_in_order(
    day: tuple[Day, list[tuple[int, Event]]],
) -> None:
    found = [(item["at"], item["event"], item["rule"], item["subject"]) for item in day[0].taken]
    events = [event.to_json() for _, event in day[1]]
    assert found == [(item["at"], item["event"], item["rule"], item["subject"]) for item in events]


def test_alertmanager_hears_of_what_fires_at_every_look_and_of_each_end(
    day: tuple[Day, list[tuple[int, Event]]],
) -> None:
    ends = [
        (row["labels"]["alertname"], row["endsAt"])
        for body in day[0].alertmanager
        for row in body
        if row["labels"]["alertname"] == "fwctl_error_rate"
    ]
    # at each look from 10:05 to 10:24 with an end four minutes ahead, then the end itself
    assert len(ends) == 21
    assert ends[0][1] == "2026-10-01T10:09:00+00:00"
    assert ends[-1][1] == "2026-10-01T10:25:00+00:00"


def test_the_samples_of_the_day_are_what_cost_counts_from(
    day: tuple[Day, list[tuple[int, Event]]],
) -> None:
    rows = read_rounds(day[0].folder / ".fwctl" / "history.db", since=START, until=START + timedelta(days=1))
    found = integrate(rows, start=START, end=START + timedelta(days=1))
    hours = {key.deployment_id: use.gpu_us / 3.6e9 for key, use in found.uses.items()}
    # batch: 1 replica of 2 GPUs, from 08:00 to 09:00 six; without 21:59 to 22:05 and the last 3 minutes
    assert hours["batch"] == pytest.approx(24 * 2 + 10 - 9 / 60 * 2)
    assert [(gap.start.hour, gap.start.minute, gap.end.minute) for gap in found.gaps] == [
        (21, 59, 5),
        (23, 57, 0),
    ]
    assert found.latest["batch"].requests_per_s == 0.1


def test_a_look_that_fails_is_said_once_and_tried_again(tmp_path: Path) -> None:
    day = Day(tmp_path, minute=FIRECTL_LOST[0])
    watch = day.watch()
    waits: list[float] = []

    class Ended(BaseException):
        pass

    class Clock:
        now = staticmethod(lambda: day.now)
        monotonic = staticmethod(day.monotonic)

        def sleep(self, seconds: float) -> None:
            waits.append(seconds)
            day.minute += 1
            if len(waits) == 7:
                raise Ended

    watch.call = replace_clock(watch.call, Clock())
    with pytest.raises(Ended):
        watch.forever(60.0, lambda _events: None)
    told = watch.call.output.env.stderr.text()  # type: ignore[attr-defined]
    assert told.count("live state: connection refused; trying again in 60 s") == 1
    assert told.count("live state: well again") == 1
    assert waits == [60.0] * 7


def test_a_long_outage_is_made_up_for_in_portions(tmp_path: Path) -> None:
    day = Day(tmp_path)
    watch = day.watch()
    watch.state.outbox[SINKS[0].key] = [{"n": n} for n in range(120)]
    for sent in (50, 100, 120, 120):
        watch.once()
        day.minute += 1
        assert [item["n"] for item in day.taken] == list(range(sent))


def test_a_history_that_takes_nothing_is_told_once_and_so_is_its_return(tmp_path: Path) -> None:
    day = Day(tmp_path)
    watch = day.watch()
    (tmp_path / ".fwctl").mkdir()
    (tmp_path / ".fwctl" / "history.db").write_bytes(b"no database at all" * 100)
    for _ in range(2):
        watch.once()
    (tmp_path / ".fwctl" / "history.db").unlink()
    watch.once()
    told = watch.call.output.env.stderr.text()  # type: ignore[attr-defined]
    assert told.count("the state cannot be written") == 1
    assert told.count("the history file: well again") == 1


def test_a_delivery_that_a_killed_process_repeats_has_the_same_ids(tmp_path: Path) -> None:
    day = Day(tmp_path, minute=at(10))
    watch = day.watch()
    watch.once()
    day.taken.clear()
    day.minute = at(10, 5)

    def killed(url: str, body: Any) -> str | None:
        day.post(url, body)
        raise KeyboardInterrupt

    watch.post = killed
    with pytest.raises(KeyboardInterrupt):
        watch.once()
    first = [event["id"] for event in day.taken]
    day.taken.clear()
    day.minute = at(10, 6)
    day.watch().once()
    assert first == ["error-rate/chat/2026-10-01T10:00:00+00:00/fired"]
    assert [event["id"] for event in day.taken] == first


def test_what_waits_for_a_sink_goes_to_no_other_when_the_file_is_edited(tmp_path: Path) -> None:
    day = Day(tmp_path, minute=at(10))
    watch = day.watch()
    watch.post = lambda _url, _body: "it answered HTTP 503"
    watch.once()
    taken: list[tuple[str, Any]] = []
    other = Sink("webhook", "https://hooks.example/other", "webhook 1")
    moved = replace(SINKS[0], name="webhook 2")
    again = day.watch()
    again.config = WatchConfig(sinks=(other, moved))
    again.post = lambda url, body: taken.append((url, body))
    again.once()
    assert [url for url, _ in taken] == ["https://hooks.example/secret"]


def test_a_first_look_that_no_patience_mends_ends_the_watch(tmp_path: Path) -> None:
    watch = Day(tmp_path).watch()

    def refused() -> Look:
        raise AuthError("the key is not valid")

    watch.read = refused
    with pytest.raises(AuthError, match="not valid"):
        watch.forever(60.0, lambda _events: None)


def replace_clock(call: Call, clock: Any) -> Call:
    env = replace(call.env, clock=clock)
    return Call(env, call.settings, Output(env))
