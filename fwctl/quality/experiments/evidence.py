"""What an experiment measured, as evidence: one record for each candidate."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from fwctl.measure.suite import Suite
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.state import State
from fwctl.records.evidence import EvidenceRecord

_FIGURES = (
    "n",
    "n_ok",
    "ttft_s",
    "tpot_s",
    "total_s",
    "tokens_per_s",
    "usd_per_million_output_tokens",
    "slo",
    "slo_notes",
    "quality",
)


def records(
    experiment: Experiment, state: State, suite: Suite, suite_file: str, now: datetime
) -> Iterator[EvidenceRecord]:
    """Nothing for a measurement that was invalid. passed: it met the SLO and passed the quality gate."""
    if any(not row.valid for row in state.counted):
        return
    for row in (state.decision or {}).get("candidates", ()):
        runs_as: Mapping[str, Any] = row["runs_as"]
        fields = experiment.entry(row["name"]).fields
        shape = str(runs_as.get("shape", ""))
        yield EvidenceRecord(
            "experiment",
            str(fields["model"]),
            now,
            precision=runs_as.get("precision"),
            shape_version=shape if "/versions/" in shape else None,
            accelerator=runs_as.get("accelerator.type"),
            accelerator_count=runs_as.get("accelerator.count"),
            region=fields.get("region"),
            replicas=max((item.replicas.get(row["name"], 1) for item in state.counted), default=1),
            suite_digest=suite.digest,
            suite_file=suite_file,
            passed=row["slo"] == "met" and row["quality"]["verdict"] in ("pass", "baseline", "not_asked"),
            deployment=experiment.deployment,
            results={
                "experiment": experiment.name,
                "candidate": row["name"],
                "baseline": experiment.baseline,
                "winner": state.decision["winner"] if state.decision else None,
                **{key: row[key] for key in _FIGURES},
            },
        )
