"""How an experiment stands and what it recommends, as the keys of docs/json.md."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.places import has_specs
from fwctl.cli.session import load_specs
from fwctl.errors import UsageError

if TYPE_CHECKING:
    from fwctl.live.model import LiveDeployment
    from fwctl.quality.experiments.model import Experiment
    from fwctl.quality.experiments.state import State
    from fwctl.spec.model import Deployment, Spec


def document(state: State, live: Mapping[str, LiveDeployment]) -> dict[str, Any]:
    """The `experiment` object of docs/json.md."""
    from fwctl.live.identity import is_candidate

    decided = {row["name"]: row for row in (state.decision or {}).get("candidates", ())}
    rows = []
    for name, key in state.candidates.items():
        item = live.get(key)
        there = item is not None and is_candidate(item, state.stack)
        rows.append(
            {
                "name": name,
                "deployment_id": key,
                "state": item.state if there and item is not None else "absent",
                "ready": item.replicas.ready if there and item is not None else 0,
                "kept": name == state.keep,
                "usd_per_hour_per_replica": state.usd_per_hour.get(name),
                "result": decided.get(name),
            }
        )
    return {
        "name": state.name,
        "account": state.account,
        "stack": state.stack,
        "phase": state.phase.value,
        "started": state.started,
        "expires": state.expires,
        "spend_cap_usd": state.cap_usd,
        "spent_usd": round(state.spending.usd, 4),
        "spent_unpriced": state.spending.unpriced,
        "passes": [
            {"folder": row.folder, "seconds": row.seconds, "valid": row.valid, "reasons": list(row.reasons)}
            for row in state.rounds
        ],
        "candidates": rows,
        "winner": (state.decision or {}).get("winner"),
        "reason": state.reason,
    }


def evidence_files(call: Call, experiment: Experiment, state: State, specs: Sequence[str]) -> list[str]:
    """The files that were written, one for each candidate."""
    from fwctl.cli.evidence_files import evidence_folder
    from fwctl.cli.evidence_setting import as_named
    from fwctl.measure.suite import load as load_suite
    from fwctl.quality.experiments.evidence import records
    from fwctl.records.evidence import FOLDER_NAME, write

    folder = Path(FOLDER_NAME)
    if has_specs(call, specs):
        folder = evidence_folder(call, specs, load_specs(call, specs).spec)
    suite = load_suite(experiment.suite)
    name = as_named(call, str(experiment.suite)) or experiment.suite.name
    found = records(experiment, state, suite, name, call.env.clock.now())
    return [(folder / write(call.env.cwd / folder, record).name).as_posix() for record in found]


def proposed_for(call: Call, experiment: Experiment, specs: Sequence[str]) -> tuple[Spec, Deployment] | None:
    """The entry of the specs that the recommendation is for; None where the file names none or there are
    no valid specs. Raises UsageError for a name that the specs do not have, and for another model."""
    from fwctl.spec.closest import did_you_mean

    name = experiment.deployment
    spec = load_specs(call, specs).spec if name and has_specs(call, specs) else None
    if spec is None or name is None:
        return None
    entry = spec.deployments.get(name)
    if entry is None:
        near = did_you_mean(name, spec.deployments)
        raise UsageError(
            f"{experiment.file} is about deployment {name!r}, which the specs do not have",
            next_steps=[near] if near else ["--specs PATH"],
        )
    models = {experiment.entry(candidate).fields.get("model") for candidate in experiment.candidates}
    if len(models) == 1 and entry.fields.get("model") not in models:
        raise UsageError(
            f"{name} runs {entry.fields.get('model')}, and all candidates run {models.pop()}",
            next_steps=["deployment: an entry with that model", "or try models as candidates"],
        )
    return spec, entry


def recommendation(
    call: Call, experiment: Experiment, state: State, specs: Sequence[str]
) -> dict[str, Any] | None:
    """The winner as a change of the user's spec; None without a winner."""
    from fwctl.quality.experiments import patch

    decision = state.decision or {}
    winner = decision.get("winner")
    if not winner:
        return None
    runs_as = {row["name"]: row["runs_as"] for row in decision["candidates"]}
    spec, entry = proposed_for(call, experiment, specs) or (None, None)
    changes = patch.wanted(experiment, winner, runs_as[winner], entry)
    if not all(patch.wanted(experiment, name, runs_as[name], entry) for name in decision["tied"]):
        changes = {}  # what the spec says today costs the same
    place = entry.position_of("") if entry else None
    text = None
    if entry is not None and place is not None and changes and spec is not None:
        written = (call.env.cwd / place.file).read_text(encoding="utf-8")
        after = patch.edited(
            place.file, written, entry, changes, environ=call.env.environ, account=spec.account
        )
        text = patch.diff(place.file, written, after) if after is not None else None
    name = experiment.deployment or winner
    return {
        "deployment": experiment.deployment,
        "file": place.file if place else None,
        "changes": changes,
        "diff": text,
        "yaml": patch.snippet(name, changes) if changes else None,
    }
