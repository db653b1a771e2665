"""A comparison of two evaluations as evidence."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fwctl.errors import RefusedError, UsageError
from fwctl.measure.lines import read_rows
from fwctl.quality.arms import Arm
from fwctl.quality.verdict import Gate

_FIGURES = ("margin", "broken_margin", "alpha", "quality", "types", "broken", "floor")


def require_verdict(found: Mapping[str, Any]) -> bool:
    """True for a pass, False for a shown loss. Raises RefusedError when the comparison says neither."""
    verdict = Gate(found["verdict"])
    if verdict is Gate.INVALID:
        raise RefusedError(f"an invalid comparison is no evidence: {'; '.join(found['invalid_reasons'])}")
    if verdict is Gate.INCONCLUSIVE:
        needed = max(found[part]["n_needed"] or 0 for part in ("quality", "broken"))
        raise RefusedError(
            "an inconclusive comparison is no evidence", next_steps=[f"evaluate with {needed} prompts"]
        )
    return verdict is Gate.PASS


def results(found: Mapping[str, Any], base: Arm, candidate: Arm) -> dict[str, Any]:
    """The numbers that evidence keeps, with the models that were asked."""
    return {
        "run_id": candidate.summary.get("run_id"),
        "base_run_id": base.summary.get("run_id"),
        "base_model": sent_model(base),
        "candidate_model": sent_model(candidate),
        "verdict": found["verdict"],
        **{key: found[key] for key in _FIGURES},
    }


def sent_model(arm: Arm) -> str | None:
    """The model string that the requests of an arm carried."""
    targets = arm.plan.get("targets") or ()
    return next((row.get("model") for row in targets if row.get("name") == arm.target), None)


def suite_file(arm: Arm) -> str | None:
    """Where the prompt set lay."""
    found: str | None = (arm.plan.get("suite") or {}).get("path")
    return found


def measured_at(arm: Arm) -> datetime:
    """When the last request of an arm began. Raises UsageError when no record says so."""
    last: datetime | None = None
    for row in read_rows(Path(arm.folder) / "records.jsonl"):
        try:
            began = datetime.fromisoformat(row["started_at"])
        except (KeyError, TypeError, ValueError):
            continue
        if row["target"] == arm.target and began.tzinfo is not None and (last is None or began > last):
            last = began
    if last is None:
        raise UsageError(f"{arm.text}: no record says when it was made")
    return last.astimezone(UTC)


def require_same_deployment(arm: Arm, resource: str | None) -> None:
    """Refuse evidence for a deployment that was not the one asked. Raises RefusedError."""
    sent = sent_model(arm) or ""
    if resource is None or "/deployments/" not in sent:
        return
    if sent.rpartition("#")[2] != resource:
        raise RefusedError(
            f"{arm.text} asked {sent}, and the deployment is {resource}",
            next_steps=["name the deployment that was evaluated with --deployment"],
        )
