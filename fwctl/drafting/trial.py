"""The deployments that are compared: the user's own with another drafter each, as an experiment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fwctl.catalog.experiment_fields import DECIDED
from fwctl.catalog.fields import BY_PATH
from fwctl.drafting.adapt import Adapt, digest
from fwctl.errors import FwctlError, InvalidSpecError
from fwctl.measure.suite import Suite
from fwctl.quality.experiments.file import check_experiment
from fwctl.quality.experiments.model import Experiment
from fwctl.records.atomic import replacing
from fwctl.spec.files import Given
from fwctl.spec.model import Deployment
from fwctl.speculation.reading import parts, read
from fwctl.units import format_duration

DEFAULT, OFF, TODAY = "default", "off", "today"
SUITE_FILE = "suite.jsonl"
MOST_ARMS = 3 + 4 * 4 * 4
_SENT = ("messages", "prompt", "prediction", "response_format")
_DECIDED = {path for paths in DECIDED.values() for path in paths}
# Of the user's deployment, what is its own and not its model's.
_OWN = ("display_name", "description", "tags", "replicas.max", "overrides", "addons.load")


@dataclass(frozen=True, slots=True)
class Arm:
    """One drafter. fields: its speculation. tuned: it is a candidate."""

    name: str
    fields: Mapping[str, Any]
    draft_tokens: int | None = None
    model: str | None = None
    tuned: bool = False


def arms_of(entry: Deployment, models: Mapping[str, str], draft_tokens: tuple[int, ...]) -> tuple[Arm, ...]:
    """models: short name -> tuned model. The platform's default and no drafter are always there; so is
    what the spec says today, where it says something else."""
    found = [Arm(DEFAULT, {}), Arm(OFF, {"speculation.mode": "disabled"})]
    today = {path: value for path, value in entry.fields.items() if path.startswith("speculation.")}
    if today and today.get("speculation.mode") not in ("inherit", "disabled"):
        found.append(Arm(TODAY, today, today.get("speculation.draft_tokens")))
    tuned = (
        Arm(f"{name}-k{count}", drafting(model, count), count, model, True)
        for name, model in models.items()
        for count in draft_tokens
    )
    return (*found, *tuned)


def baseline_of(arms: tuple[Arm, ...], entry: Deployment) -> str:
    """What runs today: the candidates have to be faster than that."""
    names = {arm.name for arm in arms}
    if entry.fields.get("speculation.mode") == "disabled":
        return OFF
    return TODAY if TODAY in names else DEFAULT


def drafting(model: str, draft_tokens: int) -> dict[str, Any]:
    """The fields of a draft model."""
    return {
        "speculation.mode": "draft",
        "speculation.draft_model": model,
        "speculation.draft_tokens": draft_tokens,
    }


def experiment_of(
    adapt: Adapt, entry: Deployment, arms: tuple[Arm, ...], suite: Suite, environ: Mapping[str, str]
) -> Experiment:
    """The experiment, checked by the rules of specs. Raises InvalidSpecError."""
    want = adapt.evaluating
    base = _base(entry)
    document: dict[str, Any] = {
        "apiVersion": "fwctl/v1",
        "kind": "Experiment",
        "account": adapt.account,
        "stack": adapt.stack,
        "name": f"{adapt.name}-{digest(suite.digest, base, [dict(arm.fields) for arm in arms])[:5]}",
        "suite": suite.path.name,
        "baseline": baseline_of(arms, entry),
        "spend_cap": f"${want.spend_cap_usd:.2f}",
        "time_to_live": format_duration(want.time_to_live_s),
        "load": {"concurrency": want.concurrency, "repeat": want.repeat, "warmup": 2},
        "base": _nested(base),
        "candidates": {arm.name: _candidate(arm, entry) for arm in arms},
    }
    if want.quality_margin:
        document["quality"] = {"margin": f"{want.quality_margin * 100:g}%"}
    given = Given(adapt.file, json.dumps(document).encode())
    found, diagnostics = check_experiment(given, environ=environ, need_secrets=False, most=MOST_ARMS)
    if found is None:
        said = "; ".join(dict.fromkeys(item.message for item in diagnostics))
        raise InvalidSpecError(
            f"{adapt.deployment} with another drafter is no valid deployment: {said}",
            next_steps=["fwctl validate " + " ".join(adapt.specs)],
        )
    return replace(found, suite=suite.path, spec=replace(found.spec, settings=dict(adapt.settings)))


def _base(entry: Deployment) -> dict[str, Any]:
    """What all arms share with the user's deployment."""
    values = {**entry.own, **entry.fields}
    kept = {
        path: value
        for path, value in values.items()
        if path in BY_PATH
        and not BY_PATH[path].sensitive
        and path not in _OWN
        and path not in _DECIDED
        and not path.startswith(("speculation.", "direct_route.", "lifecycle.", "gates.", "slo."))
    }
    return {"shape": "none", **kept}


def _candidate(arm: Arm, entry: Deployment) -> dict[str, Any]:
    if not arm.fields:
        return {"replicas": {"max": 1}}
    overrides = list(entry.own.get("overrides", ()))
    if "shape" in entry.fields and "speculation" not in overrides:
        overrides.append("speculation")
    return {**_nested(arm.fields), "replicas": {"max": 1}, **({"overrides": overrides} if overrides else {})}


def _nested(values: Mapping[str, Any]) -> dict[str, Any]:
    """`a.b` -> {a: {b: ...}}."""
    found: dict[str, Any] = {}
    for path, value in values.items():
        *parents, last = path.split(".")
        into = found
        for key in parents:
            into = into.setdefault(key, {})
        into[last] = value
    return found


def write_suite(adapt: Adapt, holdout: Path, folder: Path) -> Path:
    """The prompts of the hold-out, evenly drawn, as a prompt set. Raises FwctlError."""
    total = sum(1 for _ in _lines(holdout))
    step = max(1.0, total / adapt.evaluating.requests)
    chosen = {int(number * step) for number in range(min(total, adapt.evaluating.requests))}
    path = folder / SUITE_FILE
    try:
        with replacing(path) as file:
            for number, row in enumerate(_lines(holdout)):
                if number in chosen:
                    file.write((json.dumps(_prompt(row, adapt), ensure_ascii=False) + "\n").encode())
        path.chmod(0o600)
    except OSError as error:
        raise FwctlError(f"cannot write {path}: {error.strerror or error}") from None
    return path


def _lines(path: Path) -> Iterator[dict[str, Any]]:
    for part in parts((path.name,), path.parent):
        yield from read(part)


def _prompt(row: Mapping[str, Any], adapt: Adapt) -> dict[str, Any]:
    sent = {key: row[key] for key in _SENT if key in row}
    limit = {"max_tokens": adapt.evaluating.max_tokens, "temperature": 0}
    return {"id": row["id"], "type": row["type"], **limit, **sent}
