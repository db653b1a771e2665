"""What the passes of an experiment measured, compared and decided, as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fwctl.live.model import LiveState
from fwctl.measure.lines import read_rows
from fwctl.quality.cases import Cases
from fwctl.quality.experiments.candidates import candidate_of, own
from fwctl.quality.experiments.judge import Row, decide, measured
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.quality import compare
from fwctl.quality.experiments.state import State
from fwctl.quality.graders.means import Means

# Of a record; texts of a large suite would fill the memory.
KEPT = ("error_class", "ttft_s", "tpot_s", "total_s", "output_tokens")
RUNS_AS = ("shape", "accelerator.type", "accelerator.count", "precision")


def decision(
    experiment: Experiment, state: State, live: LiveState, folder: Path, *, cases: Cases | None, means: Means
) -> dict[str, Any]:
    """The comparison and its outcome. folder: of the run's records; answers in it are graded if need be."""
    rows = _rows(experiment, state, folder)
    quality = compare(experiment, [folder / row.folder for row in state.counted], cases, means)
    items = [
        measured(experiment, name, rows[name], usd_per_hour=_hourly(state, name), quality=quality[name])
        for name in experiment.candidates
    ]
    runs_as = _runs_as(experiment, live)
    invalid = [reason for row in state.counted if not row.valid for reason in row.reasons]
    found = decide(items, experiment.baseline, invalid)
    return {
        "winner": found.winner,
        "reason": found.reason,
        "tied": list(found.tied),
        "candidates": [{**item.to_json(), "runs_as": runs_as.get(item.name, {})} for item in items],
    }


def _rows(experiment: Experiment, state: State, folder: Path) -> dict[str, list[Row]]:
    """What is compared of the measured records of every candidate, over all passes."""
    found: dict[str, list[Row]] = {name: [] for name in experiment.candidates}
    for row in state.counted:
        for record in read_rows(folder / row.folder / "records.jsonl"):
            if record["measured"] and record["target"] in found:
                found[record["target"]].append({key: record.get(key) for key in KEPT})
    return found


def _runs_as(experiment: Experiment, live: LiveState) -> dict[str, dict[str, Any]]:
    """What the platform made of each candidate: hardware and precision that a shape decides."""
    return {
        candidate_of(item): {path: item.fields[path] for path in RUNS_AS if path in item.fields}
        for item in own(live.deployments, experiment.spec.stack, experiment.name)
    }


def _hourly(state: State, name: str) -> float | None:
    """Dollars an hour of the most replicas that a candidate had."""
    price = state.usd_per_hour.get(name)
    most = max([1, *(row.replicas.get(name, 1) for row in state.counted)])
    return None if price is None else price * most
