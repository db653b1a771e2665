"""Rounds of samples: how they are written and read, and the step function that is made of them."""

from __future__ import annotations

import json
import sqlite3
from dataclasses import asdict
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction
from pathlib import Path

import pytest

from fwctl.errors import UsageError
from fwctl.operate.samples import MICROSECONDS, Key, Sampled, integrate
from fwctl.records.samples import Round, RoundStore, Sample, parse_round, read_rounds

START = datetime(2026, 8, 1, tzinfo=UTC)
H100 = "NVIDIA_H100_80GB"
FULL = Sample("a", "m", H100, 2, 3, 1, "chat", 4.0, 1.5, 0.25, 100.0, 20.0, {"team": "search"})


def at(minutes: float, *samples: Sample) -> Round:
    return Round(START + timedelta(minutes=minutes), "acme", samples)


def line_of(item: Round) -> str:
    """As docs/cost.md has it."""
    rows = [
        {key: value for key, value in asdict(sample).items() if value is not None} for sample in item.samples
    ]
    return json.dumps({"time": item.time.isoformat(), "account": item.account, "deployments": rows})


def one(ready: int, id_: str = "a", gpus: int = 1) -> Sample:
    return Sample(id_, "m", H100, gpus, ready)


def summed(*rounds: Round, hours: float = 24, pools: dict[str, int] | None = None) -> Sampled:
    return integrate(rounds, start=START, end=START + timedelta(hours=hours), pools=pools)


def gpu_s(found: Sampled, id_: str = "a", day: int = 1) -> float:
    return found.uses[Key(date(2026, 8, day), id_, "m", H100)].gpu_us / MICROSECONDS


def test_a_round_survives_the_way_through_a_line_and_a_history_file(tmp_path: Path) -> None:
    quiet = Sample("c", "m", H100, 1, 1, concurrent=0.0, requests_per_s=0.0, kv_slots=0.0)
    item = at(1, FULL, one(0, "b"), quiet)
    assert parse_round(line_of(item)) == item
    store = RoundStore(tmp_path / ".fwctl" / "history.db")
    assert store.record(item)
    assert store.record(item)  # the same moment again is the same round
    day = timedelta(days=1)
    assert list(read_rounds(tmp_path / ".fwctl/history.db", since=START, until=START + day)) == [item]
    assert list(read_rounds(tmp_path / ".fwctl/history.db", since=START - day, until=START)) == []
    (tmp_path / "samples.jsonl").write_text(f"{line_of(item)}\n\n")
    assert list(read_rounds(tmp_path / "samples.jsonl", since=START, until=START + day)) == [item]


def test_the_history_forgets_after_three_months(tmp_path: Path) -> None:
    store = RoundStore(tmp_path / "history.db")
    for days in (0, 93):
        store.record(at(days * 1440))
    rows = read_rounds(tmp_path / "history.db", since=START, until=START + timedelta(days=100))
    assert [item.time for item in rows] == [START + timedelta(days=93)]


def test_a_store_that_cannot_be_written_says_so_and_raises_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert not RoundStore(tmp_path / "file" / "history.db").record(at(0))
    (tmp_path / "history.db").write_bytes(b"SQLite format 3\x00" + b"x" * 200)
    assert not RoundStore(tmp_path / "history.db").record(at(0))
    with pytest.raises(UsageError, match="damaged"):
        list(read_rounds(tmp_path / "history.db", since=START, until=START + timedelta(days=1)))


def test_a_history_without_samples_is_empty(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "history.db") as connection:
        connection.execute("CREATE TABLE starts (x)")
    connection.close()
    assert list(read_rounds(tmp_path / "history.db", since=START, until=START)) == []


@pytest.mark.parametrize(
    ("line", "why"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "a round is a JSON object"),
        ('{"time": "2026-08-01T00:00:00Z", "account": "a"}', "the list `deployments`"),
        ('{"time": "now", "account": "a", "deployments": []}', "`time` is 'now'"),
        ('{"time": "2026-08-01T00:00:00", "account": "a", "deployments": []}', "names no time zone"),
        ('{"time": "0001-01-01T00:00:00+14:00", "account": "a", "deployments": []}', "nothing ran"),
        ('{"time": "9999-12-31T23:00:00-14:00", "account": "a", "deployments": []}', "nothing ran"),
        ('{"time": "2026-08-01T00:00:00Z", "account": "a", "deployments": [1]}', "is a JSON object"),
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str, why: str) -> None:
    path = tmp_path / "samples.jsonl"
    path.write_text(f"{line_of(at(0))}\n{line}\n")
    with pytest.raises(UsageError) as caught:
        list(read_rounds(path, since=START, until=START + timedelta(days=1)))
    assert caught.value.message.startswith(f"{path}:2: ")
    assert why in caught.value.message


@pytest.mark.parametrize(
    ("row", "why"),
    [
        ("{}", "`deployment_id` is a text"),
        ('{"deployment_id": "a", "model": 3}', "`model` is a text"),
        ('{"deployment_id": "a", "model": "m", "accelerator": 1}', "`accelerator` is a text"),
        ('{"deployment_id": "a", "model": "m", "ready": -1}', "`ready` is a whole number"),
        ('{"deployment_id": "a", "model": "m", "gpus": true}', "`gpus` is a whole number"),
        ('{"deployment_id": "a", "model": "m", "kv_slots": NaN}', "`kv_slots` is a number"),
        ('{"deployment_id": "a", "model": "m", "tags": {"a": 1}}', "`tags` is an object of texts"),
        (
            '{"deployment_id": "a", "model": "m"}, {"deployment_id": "a", "model": "m"}',
            "appears twice in one round",
        ),
    ],
)
def test_a_damaged_sample_is_told(row: str, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        parse_round(f'{{"time": "2026-08-01T00:00:00Z", "account": "a", "deployments": [{row}]}}')


def test_a_sample_holds_until_the_next_round() -> None:
    found = summed(at(0, one(1)), at(1, one(3)), at(3, one(0)))
    assert gpu_s(found) == 1 * 60 + 3 * 120


def test_a_deployment_that_is_gone_from_a_round_ran_no_longer() -> None:
    found = summed(at(0, one(1), one(1, "b")), at(1, one(1, "b")), at(2, one(1), one(1, "b")), at(3))
    assert (gpu_s(found), gpu_s(found, "b")) == (120, 180)


def test_three_minutes_are_no_gap_and_a_second_more_is() -> None:
    assert gpu_s(summed(at(0, one(1)), at(3))) == 180
    found = summed(at(0, one(1)), at(3 + 1 / 60, one(4)), hours=0.1)
    assert found.uses == {}
    assert [(gap.end - gap.start).total_seconds() for gap in found.gaps] == [181, 179]
    assert found.gaps[0].gpus == {H100: (1, 4)}


def test_midnight_parts_a_step() -> None:
    found = summed(at(24 * 60 - 1, one(1)), at(24 * 60 + 1), hours=48)
    assert (gpu_s(found), gpu_s(found, day=2)) == (60, 60)


def test_rounds_beside_the_range_close_it() -> None:
    found = summed(at(-1, one(1)), at(1, one(1)), at(59, one(1)), at(61, one(1)), hours=1)
    assert gpu_s(found) == 120
    assert found.rounds == 2


def test_without_rounds_everything_is_a_gap() -> None:
    assert [(gap.start, gap.end) for gap in summed().gaps] == [(START, START + timedelta(days=1))]


@pytest.mark.parametrize("minutes", [1, 2])
def test_rounds_out_of_order_are_refused_with_their_line(tmp_path: Path, minutes: int) -> None:
    path = tmp_path / "samples.jsonl"
    other = line_of(Round(START, "other", ()))  # another account has an order of its own
    path.write_text("\n".join([line_of(at(2)), other, line_of(at(minutes))]))
    with pytest.raises(UsageError, match=r"samples.jsonl:3: 2026-08-01 00:0.* out of order"):
        list(read_rounds(path, since=START, until=START + timedelta(days=1)))


def test_local_times_with_a_byte_order_mark_are_read_as_utc(tmp_path: Path) -> None:
    # clocks in Berlin went back at 01:00 UTC on 25 October 2026: 02:30 came twice, an hour apart
    lines = [
        f'{{"time": "2026-10-25T02:30:00{zone}", "account": "acme", "deployments": []}}'
        for zone in ("+02:00", "+01:00")
    ]
    path = tmp_path / "samples.jsonl"
    path.write_bytes(b"\xef\xbb\xbf" + "\r\n".join(lines).encode())
    day = datetime(2026, 10, 25, tzinfo=UTC)
    found = read_rounds(path, since=day, until=day + timedelta(days=1))
    assert [(item.time.hour, item.time.minute) for item in found] == [(0, 30), (1, 30)]


def test_a_pool_covers_its_share_of_what_runs() -> None:
    # 6 GPUs run of which 4 are reserved: two thirds of each deployment
    found = summed(at(0, one(2), one(4, "b")), at(1), pools={H100: 4})
    shares = {key.deployment_id: use.reserved_us / MICROSECONDS for key, use in found.uses.items()}
    assert shares == {"a": Fraction(80), "b": Fraction(160)}


def test_idle_is_no_request_and_unknown_is_not_idle() -> None:
    rows = (
        Sample("a", "m", H100, 1, 1, concurrent=0, requests_per_s=0),
        Sample("b", "m", H100, 1, 1, concurrent=0, requests_per_s=0.1),
        Sample("c", "m", H100, 1, 1),
    )
    uses = summed(at(0, *rows), at(1)).uses
    found = {key.deployment_id: (use.idle_us // 10**6, use.known_us // 10**6) for key, use in uses.items()}
    assert found == {"a": (60, 60), "b": (0, 60), "c": (0, 0)}
