"""Step 4: which candidate, if any, takes the place of what drafts today. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.drafting.adapt import Evaluating
from fwctl.drafting.trial import drafting
from fwctl.spec.model import Deployment

PROMOTE, KEEP = "promote", "keep"


def decide(evaluated: Mapping[str, Any], want: Evaluating) -> dict[str, Any]:
    """The candidate is chosen on one half of the prompts and judged on the other, so that trying several
    does not make luck look like gain. `verdict` is `promote` or `keep`; `reason` says why."""
    margin = {"margin": want.margin}
    if evaluated["invalid_reasons"]:
        why = "; ".join(dict.fromkeys(evaluated["invalid_reasons"]))
        return {**margin, **_keep(None, f"the measurement is invalid: {why}")}
    candidates = [arm for arm in evaluated["arms"] if arm["tuned"]]
    chosen = _best(candidates)
    if chosen is None:
        return {**margin, **_keep(None, "too few requests to compare candidates with what runs today")}
    return {**margin, **_judged(chosen, evaluated["baseline"], want)}


def _best(arms: Sequence[Mapping[str, Any]]) -> Mapping[str, Any] | None:
    """The fastest on the first half; of equals the one that drafts fewer tokens."""
    known = [arm for arm in arms if arm["against_baseline"]["chosen_on"]["value"] is not None]
    return max(
        known,
        key=lambda arm: (arm["against_baseline"]["chosen_on"]["value"], -(arm["draft_tokens"] or 0)),
        default=None,
    )


def _judged(arm: Mapping[str, Any], baseline: str, want: Evaluating) -> dict[str, Any]:
    found, name = arm["against_baseline"]["judged_on"], arm["name"]
    verdict = arm["quality"]["verdict"]
    if found["low"] is None:
        return _keep(name, f"{name} has too few requests to be judged on")
    said = f"{found['value']:.2f} times as fast as {baseline} ({found['low']:.2f} to {found['high']:.2f})"
    least = 1 + want.margin
    if found["low"] < least:
        return _keep(name, f"{name} is {said}, which does not clear {least:.2f}")
    if verdict not in ("pass", "not_asked"):
        return _keep(name, f"{name} is {said}, but the quality gate says {verdict.replace('_', ' ')}")
    gate = (
        "the quality gate passes"
        if verdict == "pass"
        else "no quality gate was asked; speculative decoding keeps the distribution of answers, "
        "`fwctl eval` checks it all the same"
    )
    return {"verdict": PROMOTE, "candidate": name, "reason": f"{name} is {said}; {gate}"}


def _keep(name: str | None, reason: str) -> dict[str, Any]:
    return {"verdict": KEEP, "candidate": name, "reason": reason}


def changes(decision: Mapping[str, Any], evaluated: Mapping[str, Any], entry: Deployment) -> dict[str, Any]:
    """Field -> value of the spec, None for one that has to go; empty when nothing is promoted."""
    if decision["verdict"] != PROMOTE:
        return {}
    arm = next(item for item in evaluated["arms"] if item["name"] == decision["candidate"])
    wanted: dict[str, Any] = drafting(str(arm["model"]), int(arm["draft_tokens"]))
    if "speculation.ngram_length" in entry.fields:
        wanted["speculation.ngram_length"] = None
    return {path: value for path, value in wanted.items() if entry.fields.get(path) != value}
