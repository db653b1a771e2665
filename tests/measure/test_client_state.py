"""What is known about the client itself: lags, the bounds of the self-test, its size, replicas, its files."""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import FwctlError, RefusedError
from fwctl.measure.lags import Lags
from fwctl.measure.lines import parse
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.quiet import Sweeper, quiet
from fwctl.measure.replicas import Replicas
from fwctl.measure.selftest import carried
from fwctl.measure.sizing import needed, predicted_events_per_s, processes
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from fwctl.measure.validity import bounds, reasons_by
from fwctl.measure.writer import Writer


class Still:
    """A clock that stands."""

    def now(self) -> datetime:
        return datetime(2026, 1, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None: ...


def selftest(
    error: float = 1.0, dispatch: float = 1.0, loop: float = 0.5, carries: int = 10_000
) -> dict[str, Any]:
    return {
        "ttft_error_ms": {"p95": error},
        "dispatch_lag_ms": {"p95": dispatch},
        "event_loop_lag_ms": {"p95": loop},
        "carries_events_per_s": carries,
    }


def test_lags_keep_their_distribution_in_bounded_memory() -> None:
    lags = Lags()
    for number in range(5000):
        lags.add(0.001 if number % 10 else 0.02)
    found = lags.seconds()
    # One in ten is 20 ms: of a thousand values a hundred.
    assert (len(found), found.count(pytest.approx(0.02))) == (1000, 100)
    other = Lags()
    other.add(-1.0)
    other.merge(lags)
    assert (other.counts[0], other.counts.total()) == (1, 5001)
    assert Lags().seconds() == []


def test_a_delay_is_rounded_up_to_a_tenth_of_a_millisecond() -> None:
    lags = Lags()
    lags.add(0.00123)
    assert lags.seconds() == [pytest.approx(0.0013)]


def test_the_self_test_sets_the_bounds_of_a_run() -> None:
    assert bounds(selftest()) == {"dispatch_lag_s": 0.010, "event_loop_lag_s": 0.010}
    assert bounds(selftest(dispatch=3.0))["dispatch_lag_s"] == pytest.approx(0.030)
    assert reasons_by(selftest(), {"dispatch_lag_s": 0.009, "event_loop_lag_s": None}) == []
    (reason,) = reasons_by(selftest(), {"dispatch_lag_s": 0.012})
    assert "dispatch_lag_s p95 is 12 ms, above 10 ms" in reason
    (reason,) = reasons_by(selftest(error=30.0), {})
    assert "own error is 30 ms" in reason
    assert reasons_by(None, {"dispatch_lag_s": 9.0}) == []


def plan(tmp_path: Path, shape: Shape, arms: int = 1) -> Plan:
    path = tmp_path / "s.jsonl"
    sizes = (100, 300)
    path.write_text("".join(json.dumps({"id": str(n), "prompt": "x", "max_tokens": n}) + "\n" for n in sizes))
    return Plan(load(path), [Target(str(n), "http://t", "m") for n in range(arms)], shape, tmp_path / "out")


def test_a_plan_gets_as_many_processes_as_its_chunks_take(tmp_path: Path) -> None:
    # 200 tokens on average, 100 requests a second, two targets.
    assert (
        predicted_events_per_s(plan(tmp_path, Shape(rate_per_s=100.0), 2), Shape(rate_per_s=100.0)) == 40_000
    )
    assert processes(plan(tmp_path, Shape(rate_per_s=100.0), 2), selftest(), cores=4) == 4
    # 150 streams of 100 tokens a second.
    assert processes(plan(tmp_path, Shape(150)), selftest(), cores=2) == 2
    assert processes(plan(tmp_path, Shape(1)), None, cores=1) == 1


def test_a_plan_that_this_machine_cannot_carry_is_refused_with_words(tmp_path: Path) -> None:
    with pytest.raises(RefusedError, match=r"20,000 chunks a second; one process carries 10,000") as found:
        processes(plan(tmp_path, Shape(rate_per_s=100.0)), selftest(), cores=1)
    assert "--workers 2" in found.value.next_steps[1]


def test_what_a_process_carries_is_half_a_core_and_never_more_than_was_ever_seen() -> None:
    assert carried(50.0) == 10_000
    assert carried(10.0) == 15_000


def samples(*values: int | FwctlError) -> Any:
    left: Iterator[int | FwctlError] = iter(values)

    def sample() -> dict[str, int]:
        found = next(left)
        if isinstance(found, FwctlError):
            raise found
        return {"fast": found}

    return sample


def test_replicas_that_change_make_a_run_invalid() -> None:
    with Replicas(samples(2, 2), Still()) as steady:
        pass
    assert steady.reasons() == []
    assert [row["ready"] for row in steady.to_json()] == [{"fast": 2}, {"fast": 2}]
    with Replicas(samples(2, 4), Still()) as changed:
        pass
    assert changed.reasons() == ["the ready replicas of fast changed during the run: from 2, between 2 and 4"]


def test_replicas_are_looked_at_during_the_run_too() -> None:
    import threading

    looked = threading.Semaphore(0)

    def sample() -> dict[str, int]:
        looked.release()
        return {"fast": 1}

    with Replicas(sample, Still(), every_s=0.001):
        assert all(looked.acquire(timeout=10) for _ in range(3))


def test_replicas_that_cannot_be_read_are_told() -> None:
    with Replicas(samples(1, FwctlError("no answer")), Still()) as watched:
        pass
    assert watched.reasons() == []
    assert watched.warnings() == [
        "the ready replicas could not be read, so a change would not be seen: no answer"
    ]
    with Replicas(None, Still()) as nothing:
        pass
    assert (nothing.to_json(), nothing.reasons(), nothing.warnings()) == ([], [], [])


def test_the_collector_rests_during_a_run_and_looks_now_and_then() -> None:
    with quiet():
        assert not gc.isenabled()
        assert gc.get_freeze_count() > 0
        sweeper = Sweeper(every=2)
        before = gc.get_stats()[1]["collections"]
        sweeper.count()
        assert gc.get_stats()[1]["collections"] == before
        sweeper.count()
        assert gc.get_stats()[1]["collections"] == before + 1
    assert gc.isenabled()


def test_lines_are_on_disk_when_the_writer_ends(tmp_path: Path) -> None:
    with Writer(tmp_path / "r") as writer:
        for number in range(100):
            writer.put(b"%d\n" % number)
    assert (tmp_path / "r").read_bytes() == b"".join(b"%d\n" % number for number in range(100))


def test_a_full_disk_is_raised_at_the_end_at_the_latest() -> None:
    full = Path("/dev/full")
    if not full.exists():
        pytest.skip("this system has no /dev/full")
    with pytest.raises(OSError, match="No space left"), Writer(full) as writer:
        writer.put(b"x\n")


@pytest.mark.parametrize("line", [b"", b"{", b"[1]", b'{"target": "a"}', b"\xff\n"])
def test_half_a_line_is_no_record(line: bytes) -> None:
    assert parse(line) is None


def test_what_a_load_needs_is_known_where_it_is_not_refused(tmp_path: Path) -> None:
    """20,000 chunks a second at 10,000 a process."""
    assert needed(plan(tmp_path, Shape(rate_per_s=100.0)), selftest()) == 2
