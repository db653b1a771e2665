"""`fwctl explain`: every path of the table, by any way people write it."""

from __future__ import annotations

import pytest

from fwctl.catalog.fields import FIELDS
from fwctl.catalog.run_fields import RUN_FIELDS
from fwctl.errors import UsageError
from fwctl.spec.explain import explain, explain_text


@pytest.mark.parametrize(
    "path",
    [
        "deployments.*.replicas.min",
        "replicas.min",
        "deployments.chat.replicas.min",
        "/deployments/chat/replicas/min",
    ],
)
def test_a_field_by_any_path(path: str) -> None:
    facts = explain(path)
    assert facts["flag_at_create"] == "--min-replica-count"
    assert facts["bounds"] == "0 to 1000"
    assert facts["required"] is True
    assert facts["change"] == "in place, without a restart"


def test_text_for_people() -> None:
    text = explain_text(explain("deployments.*.replicas.min"))
    assert text.startswith(
        "deployments.*.replicas.min\n\nReplicas that always run; 0 allows scale to zero.\n"
    )
    assert "required: yes\n" in text
    assert "flag at create: --min-replica-count" in text


@pytest.mark.parametrize("row", [row.path for row in FIELDS])
def test_every_field_is_explained(row: str) -> None:
    facts = explain(row)
    assert facts["path"] == f"deployments.*.{row}"
    assert explain_text(facts)


@pytest.mark.parametrize("row", [row.path for row in RUN_FIELDS])
def test_every_key_of_a_file_is_explained(row: str) -> None:
    assert explain(row)["path"] == row


@pytest.mark.parametrize(
    ("path", "key"),
    [
        ("", "deployments"),
        ("deployments.*", "model"),
        ("deployments.chat", "model"),
        ("settings", "prices"),
        ("workload.input_tokens", "p95"),
        ("defaults.autoscaling", "schedules"),
    ],
)
def test_a_group_lists_its_keys(path: str, key: str) -> None:
    assert key in explain(path)["keys"]
    assert f"  {key}: " in explain_text(explain(path))


@pytest.mark.parametrize("path", ["autoscaling.schedules.0.cron", "autoscaling.schedules.*.cron"])
def test_keys_of_a_schedule(path: str) -> None:
    facts = explain(path)
    assert facts["doc"] == "Five-field cron expression."
    assert "change" not in facts
    assert "cron" in explain("autoscaling.schedules")["keys"]


def test_entries_of_maps_and_values_of_lists() -> None:
    assert explain("tags.team")["bounds"] == "at most 58 entries"
    assert explain("autoscaling.load_targets.default")["type"] == "map of numbers"
    assert "values: interactive, batch, evaluation" in explain_text(explain("traffic"))
    assert explain("display_name")["bounds"] == "at most 63 characters"
    assert explain("max_context_length")["bounds"] == "0 to 2147483647"
    assert explain("slo.ttft_p95_ms")["bounds"] == "at least 0"
    assert explain("autoscaling.scale_up_window")["bounds"] == "0s to 3600s"
    assert explain("autoscaling.scale_to_zero_window")["bounds"] == "at least 0s"


@pytest.mark.parametrize(
    ("path", "step"),
    [
        ("replicas.mn", "did you mean min?"),
        ("deployments.*.replica", "did you mean replicas?"),
        ("replicas.min.x", "`fwctl explain` lists all fields"),
        ("zzz", "keys here: model, shape"),
    ],
)
def test_an_unknown_path_names_the_nearest(path: str, step: str) -> None:
    with pytest.raises(UsageError) as caught:
        explain(path)
    assert caught.value.next_steps[0].startswith(step)
