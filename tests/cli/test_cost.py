"""`fwctl cost` from files and through firectl."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from tests.cli.conftest import Box
from tests.cli.support import SPEC, fwctl, make_env

BILLING = """\
start_time,end_time,usage_type,accelerator_type,accelerator_seconds,base_model_name,prompt_tokens,completion_tokens
2026-10-01 00:00:00 UTC,2026-10-02 00:00:00 UTC,DEPLOYMENT_USAGE,NVIDIA_H100_80GB,86400,m/x,,
2026-10-01 00:00:00 UTC,2026-10-02 00:00:00 UTC,TEXT_COMPLETION_INFERENCE_USAGE,,,m/x,3000000,1000000
"""
SAMPLE = '{"deployment_id":"a","model":"m/x","accelerator":"NVIDIA_H100_80GB","gpus":1,"ready":1}'
DAY = ("--from", "2026-10-01", "--to", "2026-10-01")


def sampled(*minutes: int, account: str = "acme") -> str:
    return "".join(
        f'{{"time":"2026-10-01T00:{minute:02}:00Z","account":"{account}","deployments":[{SAMPLE}]}}\n'
        for minute in minutes
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "billing.csv").write_text(BILLING)
    (tmp_path / "samples.jsonl").write_text(sampled(0, 3))
    return tmp_path


def test_billing_alone_is_enough(folder: Path) -> None:
    done = fwctl(make_env(folder), "cost", "--billing", "billing.csv", *DAY)
    assert done.code == 0
    # 24 h x 8 dollars = 192, for 4 M tokens 48 a million
    assert "x           NVIDIA_H100_80GB     1       24.0  $192.00  4,000,000      $48.00" in done.out


def test_prices_are_those_that_the_specs_name_beside_them(folder: Path) -> None:
    (folder / "specs").mkdir()
    spec = SPEC.replace("stack: test", "stack: test\nsettings: {prices: contract.yaml}")
    (folder / "specs" / "chat.yaml").write_text(spec)
    (folder / "specs" / "contract.yaml").write_text("usd_per_gpu_hour: {NVIDIA_H100_80GB: 5}\n")
    words = ("cost", str(folder / "specs"), "--billing", "billing.csv", *DAY, "--format", "json")
    assert fwctl(make_env(folder), *words).document["total"]["usd"] == 120.0  # 24 x 5
    (folder / "other.yaml").write_text("usd_per_gpu_hour: {NVIDIA_H100_80GB: 6}\n")
    done = fwctl(make_env(folder), *words, "--prices", "other.yaml")
    assert done.document["total"]["usd"] == 144.0  # 24 x 6


def test_csv_has_one_row_a_day_and_deployment(folder: Path) -> None:
    done = fwctl(make_env(folder), "cost", "--billing", "billing.csv", *DAY, "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.out))
    assert (row["day"], row["usd"], row["deployment_id"], row["idle_share"]) == (
        "2026-10-01",
        "192.0",
        "",
        "",
    )


def test_sources_that_disagree_are_told_and_fail_a_check(folder: Path) -> None:
    words = ("cost", "--billing", "billing.csv", "--samples", "samples.jsonl", *DAY)
    assert fwctl(make_env(folder), *words).code == 0
    done = fwctl(make_env(folder), *words, "--check", "--format", "json")
    assert done.code == 4
    assert done.document["reconciliation"][0]["residual_gpu_hours"] == 23.95  # 24 h billed, 3 minutes sampled
    assert [item["code"] for item in done.document["diagnostics"]] == ["cost-sources-disagree"]


def test_samples_of_two_accounts_need_a_choice(folder: Path) -> None:
    (folder / "samples.jsonl").write_text(sampled(0, account="acme") + sampled(0, 1, account="other"))
    words = ("cost", "--samples", "samples.jsonl", *DAY)
    assert "several accounts: acme, other" in fwctl(make_env(folder), *words).err
    done = fwctl(make_env(folder), *words, "--account", "other", "--format", "json")
    assert done.document["days"][0]["gpu_hours"] == 0.016667


def test_bench_records_are_wasted_tokens(folder: Path) -> None:
    record = '{"run_id": "r", "target": "x", "prompt_tokens": 10, "output_tokens": 5}\n'
    (folder / "records.jsonl").write_text(record)
    done = fwctl(make_env(folder), "cost", "--billing", "billing.csv", *DAY, "--records", "records.jsonl")
    assert "wasted: x, benchmark: 1 attempt, 15 tokens" in done.out


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ((), "there are no samples and no billing export"),
        (("--samples", "none.jsonl"), "cannot read"),
        (("--billing", "billing.csv", "--fetch-billing"), "two sources of one thing"),
        (("--billing", "billing.csv", "--from", "soon"), "write it as 2026-10-01"),
        (("--billing", "billing.csv", "--to", "1999-01-01"), "no day of this platform"),
        (("--billing", "billing.csv", "--from", "2026-10-02", "--to", "2026-10-01"), "no range"),
        (("--billing", "billing.csv", "--reserved", "H100"), "not TYPE=N"),
        (("--billing", "billing.csv", "--records", "billing.csv"), "not JSON"),
    ],
)
def test_what_cannot_be_meant_is_told(folder: Path, options: tuple[str, ...], why: str) -> None:
    done = fwctl(make_env(folder), "cost", *options)
    assert done.code == 64
    assert why in done.err


def test_the_export_can_come_through_firectl(box: Box) -> None:
    (box.folder / "configs" / "chat.yaml").unlink()
    (box.folder / "configs").rmdir()
    done = fwctl(box.env(), "cost", "--account", "acme", "--fetch-billing", "--format", "json")
    assert done.code == 0
    assert done.document["sources"] == {"sample_rounds": None, "billing_rows": 0, "unknown_columns": []}
