"""Evidence files: written once, read back whole, and never trusted when something is wrong with them."""

from __future__ import annotations

import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest

from fwctl.errors import FwctlError, RefusedError, UsageError
from fwctl.records.evidence import EvidenceRecord, file_name, read, write

MODEL = "accounts/fireworks/models/llama-v3p3-70b-instruct"
WHEN = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
RECORD = EvidenceRecord(
    "eval",
    MODEL,
    WHEN,
    precision="FP8",
    shape_version="accounts/fireworks/deploymentShapes/fast/versions/a1",
    accelerator="NVIDIA_H100_80GB",
    accelerator_count=8,
    replicas=2,
    suite_digest="sha256:" + "0" * 64,
    suite_file="prompts.jsonl",
    passed=True,
    selftest={"ttft_error_p95_s": 0.001},
    deployment="chat",
    results={"accuracy": 0.91},
)


def test_a_record_comes_back_as_it_was_written(tmp_path: Path) -> None:
    path = write(tmp_path / "evidence", RECORD)
    stored, problems = read(tmp_path / "evidence", "evidence")
    assert problems == ()
    assert [item.record for item in stored] == [RECORD]
    assert stored[0].file == f"evidence/{path.name}"
    assert str(stored[0]) == f"evidence/{path.name} of 2026-11-30"


def test_the_same_result_is_the_same_file_and_another_one_is_another(tmp_path: Path) -> None:
    first, again = write(tmp_path, RECORD), write(tmp_path, RECORD)
    other = write(tmp_path, replace(RECORD, passed=False))
    assert first == again != other
    assert first.name.startswith("eval-llama-v3p3-70b-instruct-")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted([first.name, other.name])


def test_records_are_read_oldest_first(tmp_path: Path) -> None:
    newer = replace(RECORD, date=datetime(2026, 12, 1, tzinfo=UTC))
    write(tmp_path, newer)
    write(tmp_path, RECORD)
    assert [item.record.date for item in read(tmp_path)[0]] == [WHEN, newer.date]


def test_a_folder_that_is_not_there_holds_nothing(tmp_path: Path) -> None:
    assert read(tmp_path / "evidence") == ((), ())


def test_an_invalid_run_cannot_become_evidence(tmp_path: Path) -> None:
    late = replace(RECORD, valid=False, invalid_reasons=("the client was late",))
    with pytest.raises(RefusedError, match="the client was late"):
        write(tmp_path, late)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"kind": "rumour"}, "kind"),
        ({"results": {"x": float("nan")}}, "cannot be stored"),
        ({"results": {"x": object()}}, "cannot be stored"),
        ({"date": datetime(2026, 11, 30)}, "time zone"),
        ({"replicas": -1}, "replicas"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    with pytest.raises(UsageError, match=said):
        write(tmp_path, replace(RECORD, **change))  # type: ignore[arg-type]


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("")
    with pytest.raises(FwctlError, match="cannot write"):
        write(tmp_path / "evidence", RECORD)


def test_a_file_that_is_no_folder_is_one_problem(tmp_path: Path) -> None:
    (tmp_path / "evidence").write_text("")
    stored, problems = read(tmp_path / "evidence", "evidence")
    assert stored == ()
    assert [item.message for item in problems] == [
        "evidence cannot be read (Not a directory); it does not count as evidence"
    ]


def spoiled(folder: Path, **change: object) -> None:
    """A file whose name fits its content, with one key replaced; ... removes it."""
    from hashlib import sha256

    document = {**RECORD.to_json(), **change}
    document = {key: value for key, value in document.items() if value is not ...}
    text = json.dumps(document, sort_keys=True, separators=(",", ":"))
    (folder / f"x-{sha256(text.encode()).hexdigest()[:12]}.json").write_text(json.dumps(document))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"format_version": 2}, "has format_version 2, this fwctl reads 1"),
        ({"format_version": True}, "has format_version True"),
        ({"surprise": 1}, "has a key that is not known: 'surprise'"),
        ({"model": ...}, "has no model"),
        ({"model": 7}, "has a model that is not a text"),
        ({"kind": "rumour"}, "has the kind 'rumour'; known are bench, eval, capacity, experiment"),
        ({"date": "yesterday"}, "has a date that is not a time"),
        ({"date": "2026-11-30"}, "has a date without a time zone"),
        ({"date": "0001-01-01T00:00:00+23:00"}, "has a date that is not a time"),
        ({"replicas": True}, "has a replicas that is not a count"),
        ({"passed": "yes"}, "has a passed that is neither true nor false"),
        ({"results": []}, "has results that are not an object"),
        ({"invalid_reasons": "late"}, "has invalid_reasons that are not a list"),
        ({"valid": False}, "records an invalid run"),
    ],
)
def test_a_file_that_fwctl_would_not_write_is_named_and_left_out(
    tmp_path: Path, change: dict[str, object], said: str
) -> None:
    good = write(tmp_path, RECORD)
    spoiled(tmp_path, **change)
    stored, problems = read(tmp_path)
    assert [Path(item.file).name for item in stored] == [good.name]
    assert len(problems) == 1
    assert said in problems[0].message
    assert problems[0].suggestion == "restore it from git, or delete it and measure again"


def test_a_file_that_was_changed_by_hand_does_not_count(tmp_path: Path) -> None:
    path = write(tmp_path, replace(RECORD, passed=False))
    path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
    stored, problems = read(tmp_path)
    assert stored == ()
    assert "its name does not match its content" in problems[0].message


def test_another_layout_or_line_ending_is_still_the_same_content(tmp_path: Path) -> None:
    path = write(tmp_path, RECORD)
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    assert len(read(tmp_path)[0]) == 1


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"", "is not JSON in UTF-8"),
        (b"\xff\xfe", "is not JSON in UTF-8"),
        (b"[" * 100_000, "is not JSON in UTF-8"),
        (b"[]", "does not hold a JSON object"),
        (b'{"format_version": NaN}', "is not JSON in UTF-8"),
        (b" " * (4 * 2**20 + 1), "is larger than 4 MiB"),
    ],
)
def test_hostile_bytes_are_one_problem(tmp_path: Path, data: bytes, said: str) -> None:
    (tmp_path / "eval-x.json").write_bytes(data)
    stored, problems = read(tmp_path, "evidence")
    assert stored == ()
    assert [item.message for item in problems] == [
        f"evidence/eval-x.json {said}; it does not count as evidence"
    ]


def test_a_pipe_and_a_folder_are_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.json")
    (tmp_path / "folder.json").mkdir()
    stored, problems = read(tmp_path)
    assert stored == ()
    assert all("is not a regular file" in item.message for item in problems)
    assert len(problems) == 2


def test_other_files_of_the_folder_are_left_alone(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("notes")
    (tmp_path / ".half.json").write_text("{")
    assert read(tmp_path) == ((), ())


def test_a_model_without_letters_still_gets_a_name() -> None:
    assert file_name(replace(RECORD, model="///")).startswith("eval-model-")


def test_a_date_of_another_zone_is_the_same_moment_in_utc(tmp_path: Path) -> None:
    there = WHEN.astimezone(timezone(timedelta(hours=9)))
    assert write(tmp_path, replace(RECORD, date=there)) == write(tmp_path, RECORD)
    (found,) = read(tmp_path)[0]
    assert found.record == RECORD


def test_results_that_are_too_deep_are_refused_in_words(tmp_path: Path) -> None:
    deep: dict[str, object] = {}
    for _ in range(100_000):
        deep = {"a": deep}
    with pytest.raises(UsageError, match="cannot be stored"):
        write(tmp_path, replace(RECORD, results=deep))
