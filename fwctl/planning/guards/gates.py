"""`gates.eval` and `gates.bench`: no change of what the model answers, or of its size, without evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fwctl.planning.context import Context
from fwctl.planning.guards.finding import FAIL, PASS, WARN, Finding, active, creates
from fwctl.planning.model import Change

_GATED = ("block", "warn")
_COMMANDS = {
    "gates.eval": "fwctl eval compare BASE CANDIDATE --deployment NAME",
    "gates.bench": "fwctl bench capacity NAME",
}


def evaluation(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Output-changing changes want a passing, fresh evaluation."""
    for change in active(changes):
        gate = _gate(context, change, "gates.eval")
        if gate not in _GATED or not _changes_output(change):
            continue
        known = context.evidence
        passed = known.evaluated.get(change.name, False)
        said = _said(
            "passing, fresh evaluation evidence", change, known.evaluated_by, known.not_evaluated, passed
        )
        yield _finding(change, "gates.eval", gate, passed=passed, what=said)


def bench(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """A ceiling that no load test has covered is a guess."""
    for change in active(changes):
        gate = _gate(context, change, "gates.bench")
        ceiling = change.desired.get("replicas.max")
        if gate not in _GATED or not ceiling or not (creates(change) or _moves(change, "replicas.max")):
            continue
        known = context.evidence
        tested = known.tested_replicas.get(change.name, 0)
        passed = tested >= ceiling
        what = f"fresh bench evidence at {ceiling} replicas (highest tested: {tested})"
        said = _said(what, change, known.tested_by, known.not_tested, passed)
        yield _finding(change, "gates.bench", gate, passed=passed, what=said)


def _said(what: str, change: Change, by: Mapping[str, str], stale: Mapping[str, str], passed: bool) -> str:
    """With the file that says so, or the newest one that does not count and why."""
    source = (by if passed else stale).get(change.name)
    return f"{what}: {source}" if source else what


def _gate(context: Context, change: Change, key: str) -> str | None:
    entry = context.spec.deployments.get(change.name)
    return str(entry.own[key]) if entry is not None and key in entry.own else None


def _changes_output(change: Change) -> bool:
    return creates(change) or any(item.output_changing for item in change.fields)


def _moves(change: Change, path: str) -> bool:
    return any(item.path == path for item in change.fields)


def _finding(change: Change, key: str, gate: str, *, passed: bool, what: str) -> Finding:
    name = key.replace("gates.", "gate_")
    if passed:
        return Finding(name, PASS, f"{change.name} has {what}", change.name)
    status = FAIL if gate == "block" else WARN
    way_out = f"`{_COMMANDS[key].replace('NAME', change.name)}` makes the evidence, or `{key}: warn`"
    return Finding(name, status, f"{change.name} has no {what}", change.name, (change,), way_out, path=key)
