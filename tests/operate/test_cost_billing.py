"""The billing export: what is read, and how each mistake is told with its line."""

from __future__ import annotations

import gzip
import os
from datetime import date
from fractions import Fraction
from pathlib import Path

import pytest

from fwctl.errors import UsageError
from fwctl.operate.cost_billing import read_billing

# Header and first line as users published them (2025 page of the documentation, and a 2026 export).
HEADER = (
    "email,start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,"
    "model_bucket,parameter_count,prompt_tokens,completion_tokens"
)
TEXT = (
    "user@example.com,2025-10-20 17:16:48 UTC,2025-10-20 17:16:48 UTC,TEXT_COMPLETION_INFERENCE_USAGE,,,"
    "accounts/fireworks/models/llama4-maverick-instruct-basic,Llama 4 Maverick Basic,401583781376,803,109"
)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "billing.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def gpu(start: str, end: str, seconds: str = "3600", kind: str = "NVIDIA_H100_80GB") -> str:
    return f"e@x,{start},{end},DEPLOYMENT_USAGE,{kind},{seconds},m,b,1,,"


def test_a_published_line_is_read(tmp_path: Path) -> None:
    (row,) = read_billing(written(tmp_path, HEADER, TEXT)).rows
    assert (row.day, row.prompt, row.completion, row.cached) == (date(2025, 10, 20), 803, 109, 0)
    assert (row.accelerator, row.gpu_s) == (None, 0)


def test_columns_may_stand_in_any_order_and_new_ones_are_named(tmp_path: Path) -> None:
    names = HEADER.split(",")
    back = ",".join([*reversed(names), "cached_prompt_tokens", "moon"])
    line = ",".join([*reversed(TEXT.split(",")), "800", "full"])
    found = read_billing(written(tmp_path, "\ufeff" + back, line))
    assert (found.rows[0].prompt, found.rows[0].cached) == (803, 800)
    assert found.unknown_columns == ("moon",)


def test_a_row_over_midnight_is_cut_in_proportion_and_loses_no_token(tmp_path: Path) -> None:
    # 18:00 to 12:00 of the day after the next: 6 h, 24 h and 12 h of 42 h
    line = "e@x,2026-08-01 18:00:00 UTC,2026-08-03T14:00:00+02:00,X,H,42.0,m,b,1,100,7"
    rows = read_billing(written(tmp_path, HEADER, line)).rows
    assert [(row.day.day, row.gpu_s) for row in rows] == [(1, 6), (2, 24), (3, 12)]
    assert [row.prompt for row in rows] == [14, 57, 29]  # 100 x 6/42 = 14.3, x 30/42 = 71.4
    assert sum(row.completion for row in rows) == 7


def test_a_row_that_ends_at_midnight_belongs_to_its_day(tmp_path: Path) -> None:
    rows = read_billing(
        written(tmp_path, HEADER, gpu("2026-08-01 00:00:00 UTC", "2026-08-02 00:00:00 UTC"))
    ).rows
    assert [row.day for row in rows] == [date(2026, 8, 1)]


def test_seconds_are_exact(tmp_path: Path) -> None:
    rows = read_billing(
        written(tmp_path, HEADER, gpu("2026-08-01 00:00:00 UTC", "2026-08-01 00:00:01 UTC", "0.1"))
    ).rows
    assert rows[0].gpu_s == Fraction(1, 10)


AT = "2026-08-01 00:00:00 UTC"


@pytest.mark.parametrize(
    ("lines", "line", "why"),
    [
        (["a,b"], 1, "the column 'start_time' is missing"),
        ([""], 2, "the column 'start_time' is missing"),
        ([HEADER.replace(",", ";"), TEXT.replace(",", ";")], 1, "parted by ';', where an export has commas"),
        ([HEADER.replace(",", "\t")], 1, "parted by '\\t'"),
        ([HEADER, TEXT, HEADER], 3, "start_time is 'start_time'"),  # two exports, one behind the other
        ([HEADER + ",email"], 1, "the column 'email' appears twice"),
        ([HEADER, TEXT, TEXT + ",1"], 3, "12 fields, where the header has 11"),
        ([HEADER, "", TEXT[:-4]], 3, "10 fields"),
        ([HEADER, gpu("2026-08-01", AT)], 2, "names no time zone"),
        ([HEADER, gpu("yesterday", AT)], 2, "expected as in 2026-08-13 02:13:02 UTC"),
        ([HEADER, gpu(AT, "2026-07-01 00:00:00 UTC")], 2, "end_time lies before start_time"),
        ([HEADER, gpu("0001-01-01 00:00:00+14:00", AT)], 2, "a year that no export has"),
        ([HEADER, gpu(AT, "9999-12-31 23:59:59 UTC")], 2, "a year that no export has"),
        ([HEADER, gpu("1800-01-01 00:00:00 UTC", AT)], 2, "it covers 82,757 days"),
        ([HEADER, gpu(AT, AT, "-5")], 2, "accelerator_seconds is '-5'"),
        ([HEADER, gpu(AT, AT, "1e9")], 2, "accelerator_seconds is '1e9'"),
        ([HEADER, gpu(AT, AT, "nan")], 2, "accelerator_seconds is 'nan'"),
        ([HEADER, gpu(AT, AT, "1.")], 2, "accelerator_seconds is '1.'"),
        ([HEADER, gpu(AT, AT, "9" * 400)], 2, "accelerator_seconds is"),
        ([HEADER, gpu(AT, AT, kind="")], 2, "without an accelerator_type"),
        ([HEADER, TEXT.replace("803", "8.5")], 2, "prompt_tokens is '8.5'"),
        ([HEADER, TEXT, '"open'], 3, "not CSV"),
        ([HEADER, TEXT.replace("803", "8" * 200_000)], 2, "field larger than"),
    ],
)
def test_a_mistake_names_file_and_line(tmp_path: Path, lines: list[str], line: int, why: str) -> None:
    path = written(tmp_path, *lines)
    with pytest.raises(UsageError) as caught:
        read_billing(path)
    assert caught.value.message.startswith(f"{path}:{line}: ")
    assert why in caught.value.message


def test_a_correction_is_not_counted_and_has_a_way_out(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="accelerator_seconds is '-3600'") as caught:
        read_billing(written(tmp_path, HEADER, gpu(AT, AT, "-3600")))
    assert "leave the line out" in caught.value.next_steps[0]


def test_bytes_that_are_no_text_are_told(tmp_path: Path) -> None:
    path = tmp_path / "billing.csv"
    path.write_bytes(HEADER.encode() + b"\n\xff\xfe\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        read_billing(path)


def test_what_is_no_file_is_told(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for name, why in (
        ("missing", "No such file"),
        (".", "not a regular file"),
        ("pipe", "not a regular file"),
    ):
        with pytest.raises(UsageError, match=why):
            read_billing(tmp_path / name)


def test_lines_of_a_day_are_one_row_however_many_there_are(tmp_path: Path) -> None:
    lines = [
        gpu(f"2026-08-01 {hour:02d}:00:00 UTC", f"2026-08-01 {hour:02d}:59:59 UTC") for hour in range(24)
    ]
    found = read_billing(written(tmp_path, HEADER, *lines, TEXT, TEXT))
    assert found.lines == 26
    assert [(row.accelerator, row.gpu_s, row.prompt) for row in found.rows] == [
        ("NVIDIA_H100_80GB", 86_400, 0),
        (None, 0, 1606),  # 803 twice
    ]


def test_a_compressed_export_is_told_how_to_open_it(tmp_path: Path) -> None:
    path = tmp_path / "billing.csv.gz"
    path.write_bytes(gzip.compress(HEADER.encode()))
    with pytest.raises(UsageError, match="is compressed with gzip") as caught:
        read_billing(path)
    assert caught.value.next_steps == (f"gunzip --keep {path}",)
