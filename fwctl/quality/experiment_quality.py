"""The answers of all passes, graded, and every candidate compared with the baseline."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.suite import Suite
from fwctl.quality.cases import Cases, load_cases
from fwctl.quality.experiment import Experiment
from fwctl.quality.experiment_judge import Quality
from fwctl.quality.graders.means import Means
from fwctl.quality.grading import NAME, grade_run, read_grades
from fwctl.quality.model import Outcome
from fwctl.quality.outlook import outlook, points, sentences
from fwctl.quality.verdict import Gate, Pair, count, judge

_NOT_ASKED = (Outcome.UNASKED, Outcome.UNGRADED)


def cases_of(experiment: Experiment, suite: Suite, means: Means) -> Cases | None:
    """The graders of the suite, checked before anything is created; None without a quality gate.

    Raises UsageError for a grader that cannot work, and for a suite that grades nothing.
    """
    if experiment.margin is None:
        return None
    cases = load_cases(suite, means)
    if not cases.by_type:
        raise UsageError(
            f"{experiment.file} asks for quality.margin, but no prompt of {suite.path} names a grader or an "
            "expected answer",
            next_steps=["give prompts `expected:` and `grader:`", "or take `quality:` out"],
        )
    return cases


def foretold(experiment: Experiment, cases: Cases | None) -> list[str]:
    """What the suite can show, said before the run."""
    if cases is None or experiment.margin is None:
        return []
    found = outlook(cases.by_type, repeats=experiment.load.repeat, margin=experiment.margin)
    return sentences(found)


def compare(
    experiment: Experiment, folders: Sequence[Path], cases: Cases | None, means: Means
) -> dict[str, Quality]:
    """By candidate. Answers that were not graded yet are graded first; that goes on where it was cut off."""
    if cases is None or experiment.margin is None:
        return dict.fromkeys(experiment.candidates, Quality("not_asked"))
    good: dict[str, dict[tuple[str, int], bool]] = {name: {} for name in experiment.candidates}
    for number, folder in enumerate(folders):
        grade_run(folder, cases, means)
        _collect(good, number, read_grades(folder / NAME))
    base = good[experiment.baseline]
    return {
        name: Quality("baseline", n_pairs=len(base))
        if name == experiment.baseline
        else _against(base, good[name], experiment.margin)
        for name in experiment.candidates
    }


def _collect(
    good: Mapping[str, dict[tuple[str, int], bool]], number: int, grades: Iterable[Mapping[str, Any]]
) -> None:
    """Right or not; a broken answer is not right, whatever it would have been."""
    for row in grades:
        if row["target"] in good and row["outcome"] not in _NOT_ASKED:
            good[row["target"]][row["prompt_id"], number] = row["outcome"] == Outcome.RIGHT


def _against(
    base: Mapping[tuple[str, int], bool], candidate: Mapping[tuple[str, int], bool], margin: float
) -> Quality:
    both = sorted(base.keys() & candidate.keys())
    if not both:
        return Quality(Gate.INVALID.value, note="no prompt was graded on both sides")
    found = judge(count(Pair(key[0], base[key], candidate[key]) for key in both), margin)
    note = f"lost {points(found.loss)}, up to {points(found.upper)}, allowed {points(margin)}"
    if found.n_needed is not None:
        note += f"; {found.n_needed:,} prompts would decide it"
    return Quality(found.verdict.value, found.loss, found.upper, len(both), note)
