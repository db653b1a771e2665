"""A record goes stale when what it was measured on changes, and says why."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from fwctl.records.evidence import EvidenceRecord
from fwctl.records.freshness import Around, Setting, is_about, stale_because

MODEL = "accounts/fireworks/models/m"
SHAPE = "accounts/fireworks/deploymentShapes/s/versions/v1"
RECORD = EvidenceRecord(
    "bench",
    MODEL,
    datetime(2026, 11, 1, tzinfo=UTC),
    "FP8",
    SHAPE,
    "NVIDIA_H100_80GB",
    8,
    replicas=2,
    suite_digest="sha256:a",
    suite_file="prompts.jsonl",
)
SAME = Setting(MODEL, "FP8", SHAPE, "NVIDIA_H100_80GB", 8)
NOW = Around(datetime(2026, 12, 1, tzinfo=UTC))


def test_the_same_setting_is_fresh_at_any_age() -> None:
    assert stale_because(RECORD, SAME, NOW) == ()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"model": "accounts/a/models/n"}, f"the model was {MODEL}, it is accounts/a/models/n now"),
        ({"precision": "BF16"}, "the precision was FP8, it is BF16 now"),
        ({"shape_version": None}, f"the shape version was {SHAPE}, it is none now"),
        (
            {"accelerator": "NVIDIA_B200_180GB"},
            "the accelerator was NVIDIA_H100_80GB, it is NVIDIA_B200_180GB now",
        ),
        ({"accelerator_count": 4}, "the number of GPUs was 8, it is 4 now"),
    ],
)
def test_each_key_of_the_setting_makes_it_stale(change: dict[str, object], said: str) -> None:
    assert stale_because(RECORD, replace(SAME, **change), NOW) == (said,)  # type: ignore[arg-type]


def test_what_nobody_could_tell_is_not_compared() -> None:
    asked = replace(SAME, shape_version=None, unknown=frozenset({"shape_version"}))
    assert stale_because(RECORD, asked, NOW) == ()


def test_a_changed_prompt_set_makes_it_stale() -> None:
    around = replace(NOW, suites={"prompts.jsonl": "sha256:b"})
    assert stale_because(RECORD, SAME, around) == ("the prompt set prompts.jsonl has changed",)
    assert stale_because(RECORD, SAME, replace(NOW, suites={"prompts.jsonl": "sha256:a"})) == ()


def test_a_bench_is_about_the_prompt_set_of_the_objectives_and_an_eval_has_its_own() -> None:
    around = replace(NOW, suite_digest="sha256:b")
    assert "slo.at.suite" in stale_because(RECORD, SAME, around)[0]
    assert stale_because(replace(RECORD, kind="eval"), SAME, around) == ()


def test_a_record_without_a_prompt_set_does_not_go_stale_by_one() -> None:
    around = replace(NOW, suite_digest="sha256:b")
    assert stale_because(replace(RECORD, suite_digest=None), SAME, around) == ()


def test_age_counts_only_where_a_limit_is_set() -> None:
    """1 November to 1 December is 30 days."""
    assert stale_because(RECORD, SAME, replace(NOW, max_age=timedelta(days=30))) == ()
    assert stale_because(RECORD, SAME, replace(NOW, max_age=timedelta(days=29))) == (
        "it is 30 days old, more than 29",
    )


def test_a_record_is_about_its_deployment_or_its_model() -> None:
    assert is_about(RECORD, SAME, "chat")
    assert is_about(replace(RECORD, deployment="other"), SAME, "chat")
    assert not is_about(replace(RECORD, deployment="other", model="accounts/a/models/n"), SAME, "chat")
    assert is_about(replace(RECORD, deployment="chat", model="accounts/a/models/n"), SAME, "chat")
