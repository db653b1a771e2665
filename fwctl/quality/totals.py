"""Grades and records to the figures of a run: right and wrong with intervals, broken answers, what the
response formats cost, and whether the run says anything about quality at all."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from fwctl.inference.failures import WAYS_OUT
from fwctl.quality.model import GRADED, Outcome
from fwctl.stats.binomial import wilson

Row = Mapping[str, Any]
# Above these shares of the answers the run measured an outage, not a model.
MOST_SHARES = {
    Outcome.EMPTY: (0.05, "are empty: look at the chat template and max_tokens before the model"),
    Outcome.FAILED: (0.05, "failed on the way"),
    Outcome.TRUNCATED: (0.20, "are cut off at max_tokens: give more tokens or ask for less"),
    Outcome.UNGRADED: (0.05, "could not be graded"),
}
_WAIT = "repeat the run when the deployment is well"
_LONGEST_NOTE = 300
# So many answers of which not one is right are no accident of a weak model.
LEAST_FOR_ZERO = 10


@dataclass(slots=True)
class _Tally:
    counts: Counter[str] = field(default_factory=Counter)
    notes: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    prompts: set[int] = field(default_factory=set)  # hashes

    def add(self, row: Row) -> None:
        self.counts[row["outcome"]] += 1
        if row["outcome"] in (Outcome.FAILED, Outcome.UNGRADED):
            self.notes[row["outcome"]][str(row.get("note") or "no reason given")[:_LONGEST_NOTE]] += 1
        if row["outcome"] in GRADED:
            self.prompts.add(hash(row["prompt_id"]))

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"n": self.counts.total()}
        found |= {outcome.value: self.counts[outcome] for outcome in Outcome}
        found["accuracy"] = self.accuracy()
        return found

    def accuracy(self) -> dict[str, Any]:
        """Share of right answers among the graded. Repeats of a prompt do not narrow the interval."""
        right = self.counts[Outcome.RIGHT]
        n = right + self.counts[Outcome.WRONG]
        if not n:
            return {"value": None, "low": None, "high": None, "n": 0}
        per_prompt = n / len(self.prompts)
        low, high = wilson(right / per_prompt, n / per_prompt)
        return {"value": right / n, "low": low, "high": high, "n": n}


def totals(grades: Iterable[Row], targets: Iterable[str] = ()) -> dict[str, dict[str, Any]]:
    """By target: counts of outcomes, accuracy, the same by type, and `problems` of the infrastructure.

    targets: names that are in the result even without a grade.
    """
    whole: dict[str, _Tally] = defaultdict(_Tally, {name: _Tally() for name in targets})
    types: dict[str, dict[str, _Tally]] = defaultdict(lambda: defaultdict(_Tally))
    for row in grades:
        whole[row["target"]].add(row)
        types[row["target"]][row["type"]].add(row)
    return {
        name: {
            **tally.to_json(),
            "types": {kind: part.to_json() for kind, part in sorted(types[name].items())},
            "problems": problems(tally.counts, tally.notes)
            if tally.counts
            else ["not one answer was recorded"],
        }
        for name, tally in sorted(whole.items())
    }


def problems(
    counts: Mapping[str, int], notes: Mapping[str, Counter[str]] = MappingProxyType({})
) -> list[str]:
    """Why these answers say nothing about quality; empty when they do. notes: reasons by outcome."""
    n = sum(counts.values())
    found = [
        f"{counts.get(outcome, 0)} of {n} answers {text}{_reasons(outcome, notes.get(outcome))}"
        for outcome, (most, text) in MOST_SHARES.items()
        if n and counts.get(outcome, 0) > most * n
    ]
    graded = sum(counts.get(outcome, 0) for outcome in GRADED)
    if graded >= LEAST_FOR_ZERO and not counts.get(Outcome.RIGHT, 0):
        found.append(
            f"none of {graded} graded answers is right: look at the grader, the expected answers and the "
            "chat template before the model"
        )
    return found


def _reasons(outcome: Outcome, notes: Counter[str] | None) -> str:
    """The most frequent reason and what to do about it; nothing for outcomes that are their own reason."""
    if not notes:
        return ""
    ((most, count),) = notes.most_common(1)
    if outcome is Outcome.UNGRADED:
        return f", {count} because of: {most}"
    told = most if ": " in most else f"{most}: {WAYS_OUT.get(most, _WAIT)}"
    return f", {count} with {told}"
