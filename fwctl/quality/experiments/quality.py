"""The answers of all passes, graded, and every candidate compared with the baseline."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.errors import UsageError
from fwctl.measure.suite import Suite
from fwctl.quality.arms import Arm
from fwctl.quality.cases import Cases, load_cases
from fwctl.quality.compare import compare_arms
from fwctl.quality.experiments.judge import Quality
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.graders.means import Means
from fwctl.quality.grading import NAME, Row, grade_run, read_grades
from fwctl.quality.outlook import outlook, points, sentences
from fwctl.quality.totals import totals
from fwctl.quality.verdict import Gate


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
    grades: dict[str, dict[tuple[str, int], Row]] = {name: {} for name in experiment.candidates}
    for number, folder in enumerate(folders):
        grade_run(folder, cases, means)
        for row in read_grades(folder / NAME):
            if row["target"] in grades:
                grades[row["target"]][str(row["prompt_id"]), number] = row
    arms = {name: _arm(name, rows, cases) for name, rows in grades.items()}
    base = arms[experiment.baseline]
    return {
        name: Quality("baseline", n_pairs=len(arm.grades))
        if arm is base
        else _against(base, arm, experiment.margin)
        for name, arm in arms.items()
    }


def _arm(name: str, rows: Mapping[tuple[str, int], Row], cases: Cases) -> Arm:
    """All passes of one candidate as one evaluation; the passes are its repeats."""
    quality = {"graders": cases.digest, "targets": totals(rows.values())}
    return Arm(
        name, name, cases.suite.path.parent, {"suite_digest": cases.suite.digest, "quality": quality}, rows
    )


def _against(base: Arm, candidate: Arm, margin: float) -> Quality:
    """Wrong and broken answers have the same margin, each for itself."""
    if not base.grades or not candidate.grades:
        return Quality(Gate.INVALID.value, note="no prompt was graded on both sides")
    found = compare_arms(base, candidate, margin=margin, broken_margin=margin)
    figures = found["quality"]
    loss, upper = figures["loss"], figures["loss_upper"]
    return Quality(found["verdict"], loss, upper, figures["n_pairs"], "; ".join(_remarks(found, margin)))


def _remarks(found: Mapping[str, Any], margin: float) -> Iterator[str]:
    if found["invalid_reasons"]:
        yield from found["invalid_reasons"]
        return
    for part, what in (("quality", "right answers"), ("broken", "whole answers")):
        row = found[part]
        if part == "quality" or row["verdict"] != Gate.PASS:
            most = f"up to {points(row['loss_upper'])}, allowed {points(margin)}"
            yield f"{what}: lost {points(row['loss'])}, {most}"
        if row["n_needed"] is not None:
            yield f"{row['n_needed']:,} prompts would decide it"
    worse = [row["type"] for row in found["types"] if row["regressed"]]
    if worse:
        yield f"a loss is shown for {', '.join(worse)}"
