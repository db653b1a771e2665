"""The journal: on disk before the call, readable after any end, never able to stop an apply."""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fwctl.records.journal import KEPT_RUNS, Journal, Unfinished, unfinished
from fwctl.redact import Redactor


class Clock:
    def now(self) -> datetime:
        return datetime(2026, 12, 1, 8, 0, tzinfo=UTC)

    def monotonic(self) -> float:
        return 0.0

    def sleep(self, seconds: float) -> None:
        raise AssertionError("the journal never sleeps")


Open = Callable[..., Journal]


@pytest.fixture
def opened() -> Iterator[Open]:
    """Opens journals and closes them after the test."""
    made: list[Journal] = []

    def open_one(folder: Path, *secrets: str) -> Journal:
        redactor = Redactor()
        redactor.register(*secrets)
        made.append(Journal(folder, Clock(), redactor))
        return made[-1]

    yield open_one
    for journal in made:
        journal.close()


def lines(journal: Journal) -> list[dict[str, object]]:
    assert journal.path is not None
    return [json.loads(line) for line in journal.path.read_text().splitlines()]


def intent(journal: Journal, name: str = "chat") -> int:
    return journal.intent(address=f"deployments/{name}", deployment_id=name, call=f"firectl create {name}")


def test_an_intent_is_on_disk_before_the_call(tmp_path: Path, opened: Open) -> None:
    journal = opened(tmp_path)
    seq = intent(journal)
    assert lines(journal) == [
        {
            "kind": "intent",
            "seq": 1,
            "time": "2026-12-01T08:00:00+00:00",
            "address": "deployments/chat",
            "deployment_id": "chat",
            "call": "firectl create chat",
        }
    ]
    journal.outcome(seq, result="ok")
    assert lines(journal)[1]["result"] == "ok"


def test_an_intent_without_outcome_is_unfinished(tmp_path: Path, opened: Open) -> None:
    journal = opened(tmp_path)
    journal.outcome(intent(journal, "a"), result="ok")
    intent(journal, "b")
    journal.close()
    assert unfinished(tmp_path) == (
        Unfinished("2026-12-01T08:00:00+00:00", "deployments/b", "b", "firectl create b"),
    )


def test_no_folder_and_an_empty_folder_hold_nothing_unfinished(tmp_path: Path) -> None:
    assert unfinished(tmp_path / "missing") == ()
    assert unfinished(tmp_path) == ()


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x00\xff\xfe binary",
        b'{"kind": "intent", "seq": 1, "addr',
        b"[1, 2, 3]\n" * 3,
        b'{"kind": "intent", "seq": "one"}\n{"kind": "outcome"}\n',
        b"[" * 100_000,
        b'"' + b"x" * 300_000 + b'"\n',
    ],
    ids=["empty", "binary", "cut", "not an object", "wrong types", "deep", "long"],
)
def test_a_damaged_journal_is_read_as_far_as_it_can_be(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "20261201T080000-1-abc.jsonl").write_bytes(garbage)
    assert unfinished(tmp_path) == ()


def test_what_follows_damage_is_still_read(tmp_path: Path) -> None:
    good = json.dumps({"kind": "intent", "seq": 7, "address": "a", "deployment_id": 5, "call": "c" * 9000})
    (tmp_path / "1.jsonl").write_bytes(b"\xff\xff\n" + good.encode() + b"\n")
    (found,) = unfinished(tmp_path)
    assert (found.address, found.deployment_id, len(found.call)) == ("a", "", 500)


def test_a_journal_that_is_a_folder_or_unreadable_is_passed_over(tmp_path: Path) -> None:
    (tmp_path / "9.jsonl").mkdir()
    (tmp_path / "8.jsonl").symlink_to(tmp_path / "nowhere")
    assert unfinished(tmp_path) == ()
    assert unfinished(tmp_path / "9.jsonl" / "x") == ()


def test_secrets_are_masked(tmp_path: Path, opened: Open) -> None:
    journal = opened(tmp_path, "canary-key-1")
    journal.intent(address="a", deployment_id="b", call="firectl --x canary-key-1")
    assert "canary-key-1" not in (journal.path or tmp_path).read_text()


def test_a_folder_that_cannot_be_made_is_a_remark_and_not_an_error(tmp_path: Path, opened: Open) -> None:
    (tmp_path / "file").write_text("in the way")
    journal = opened(tmp_path / "file" / "journal")
    assert journal.problem is not None
    assert "apply goes on without it" in journal.problem
    intent(journal)
    journal.close()


def test_a_disk_that_fills_up_later_is_a_remark_too(tmp_path: Path, opened: Open) -> None:
    journal = opened(tmp_path)
    assert journal._file is not None
    full = os.open("/dev/full", os.O_WRONLY)
    os.dup2(full, journal._file.fileno())
    os.close(full)
    intent(journal)
    assert journal.problem is not None
    intent(journal)


def test_old_runs_are_removed(tmp_path: Path, opened: Open) -> None:
    for number in range(KEPT_RUNS + 5):
        (tmp_path / f"2025{number:04}.jsonl").write_text("")
    opened(tmp_path).close()
    assert len(list(tmp_path.glob("*.jsonl"))) == KEPT_RUNS
    assert not (tmp_path / "20250000.jsonl").exists()


def test_numbers_stay_unique_when_several_threads_write(tmp_path: Path, opened: Open) -> None:
    journal = opened(tmp_path)
    threads = [threading.Thread(target=lambda: [intent(journal) for _ in range(20)]) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(int(str(line["seq"])) for line in lines(journal)) == list(range(1, 81))
