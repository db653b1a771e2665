"""Step 3: drafters against each other on the platform, by its own acceptance metrics and by latency."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwctl.drafting.adapt import Adapt
from fwctl.drafting.comparing import Row, compared, projected
from fwctl.drafting.desk import Desk
from fwctl.drafting.trial import DEFAULT, Arm, experiment_of
from fwctl.errors import FwctlError, RefusedError
from fwctl.measure.lines import read_rows
from fwctl.measure.speculation import of_rows
from fwctl.measure.suite import Suite
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.run import Choices, Course
from fwctl.quality.experiments.state import Phase, folder_of
from fwctl.spec.model import Deployment
from fwctl.speculation.arithmetic import Costs

VERIFY_COST = 0.01  # of a token in target passes: between nothing and what replays take
USUAL_DRAFT_COST = 0.1  # where the sizes of the models are not known
_KEPT = ("prompt_id", "target", "repeat", "server", "output_tokens", "total_s", "tpot_s", "error_class")


@dataclass(frozen=True, slots=True)
class Trial:
    """What is measured and how."""

    adapt: Adapt
    entry: Deployment
    arms: tuple[Arm, ...]
    suite: Suite
    allow_unknown_price: bool = False


def evaluate(trial: Trial, desk: Desk, ask: Callable[[Course], None]) -> dict[str, Any]:
    """Create, measure, delete; then the figures of every arm against what runs today.

    ask: confirms what an experiment that is about to create says and costs. Raises RefusedError when the
    spend cap or the time ended it, FwctlError for what can be gone on with.
    """
    experiment = experiment_of(trial.adapt, trial.entry, trial.arms, trial.suite, desk.environ)
    choices = Choices(trial.allow_unknown_price, delete_all=True, look_every_s=desk.poll_s)
    course = Course(experiment, desk.world, desk.root, trial.suite, choices)
    course.prepare()
    if course.state.phase in (Phase.CREATING, Phase.MEASURING):
        ask(course)
    state = course.go()
    if state.phase is not Phase.DONE or state.decision is None:
        raise RefusedError(
            f"the evaluation ended without a result: {state.reason}",
            next_steps=["raise evaluate.spend_cap or evaluate.time_to_live, or try fewer candidates"],
        )
    invalid = [reason for row in state.counted if not row.valid for reason in row.reasons]
    folders = [folder_of(desk.root, experiment.name) / state.run / row.folder for row in state.counted]
    rows = _rows(folders, experiment)
    costs = _costs(trial, desk)
    base = experiment.baseline
    found = {arm.name: _figures(arm, rows, base, costs.get(arm.name, _usual())) for arm in trial.arms}
    quality = {row["name"]: row["quality"] for row in state.decision["candidates"]}
    return {
        "experiment": experiment.name,
        "baseline": base,
        "spent_usd": round(state.spending.usd, 4),
        "spent_unpriced": state.spending.unpriced,
        "invalid_reasons": invalid,
        "arms": [{**found[arm.name], "quality": quality[arm.name]} for arm in trial.arms],
    }


def _usual() -> Costs:
    return Costs(USUAL_DRAFT_COST, VERIFY_COST)


def _rows(folders: Sequence[Path], experiment: Experiment) -> dict[str, list[Row]]:
    """Answered requests by arm. The pass stands in for the repeat."""
    found: dict[str, list[Row]] = {name: [] for name in experiment.candidates}
    for number, folder in enumerate(folders):
        for record in read_rows(folder / "records.jsonl"):
            if record["measured"] and not record.get("error_class") and record["target"] in found:
                kept = {key: record.get(key) for key in _KEPT}
                found[record["target"]].append({**kept, "pass": number})
    return found


def _figures(arm: Arm, rows: Mapping[str, list[Row]], base: str, costs: Costs) -> dict[str, Any]:
    """One arm: acceptance, latency, and both speed-ups against plain decoding side by side."""
    mine = rows[arm.name]
    drafts = of_rows(mine)
    tokens = drafts.tokens_per_pass()
    count = arm.draft_tokens or len(drafts.acceptance_by_position)
    plain = projected(tokens, count, costs)
    against_off = compared(rows["off"], mine, "tpot_s")
    return {
        "name": arm.name,
        "tuned": arm.tuned,
        "model": arm.model,
        "draft_tokens": count or None,
        "n_requests": len(mine),
        "tokens_per_pass": tokens,
        "acceptance_by_position": list(drafts.acceptance_by_position),
        "costs": {"draft": costs.draft, "verify": costs.verify} if count else None,
        "drafts": {
            key: getattr(drafts.window, key)
            for key in ("requests", "passes", "accepted", "passes_squared", "accepted_squared", "product")
        },
        "against_off": {
            "projected": plain.to_json(),
            "measured": against_off.to_json(),
            "agree": plain.meets(against_off),
        },
        "against_baseline": {
            "chosen_on": compared(rows[base], mine, "total_s", part=0).to_json(),
            "judged_on": compared(rows[base], mine, "total_s", part=1).to_json(),
            "all": compared(rows[base], mine, "total_s").to_json(),
        },
    }


def _costs(trial: Trial, desk: Desk) -> dict[str, Costs]:
    """What a drafted token costs by arm, in target passes: the ratio of the models' sizes, where known."""
    target = _parameters(str(trial.entry.fields.get("model")), desk)
    found = {}
    for arm in trial.arms:
        model = arm.model or arm.fields.get("speculation.draft_model")
        if arm.name == DEFAULT:
            model = _model(str(trial.entry.fields.get("model")), desk).get("default_draft_model")
        size = _parameters(str(model), desk) if model else None
        if size and target:
            found[arm.name] = Costs(min(1.0, size / target), VERIFY_COST)
    return found


def _parameters(name: str, desk: Desk) -> float | None:
    """Of a model; of an adapter, those of its base."""
    row = _model(name, desk)
    base = (row.get("peft_details") or {}).get("base_model")
    if base:
        row = _model(str(base), desk)
    count = (row.get("base_model_details") or {}).get("parameter_count")
    try:
        return float(count) if count else None
    except (TypeError, ValueError):
        return None


def _model(name: str, desk: Desk) -> Mapping[str, Any]:
    try:
        return desk.platform.get_model(name)
    except FwctlError:
        return {}
