"""An evaluation from beginning to end: check, send, ask cut answers again, grade, sum up."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import NoneType
from typing import Any

from fwctl.env import Clock
from fwctl.errors import UsageError
from fwctl.measure.plan import Plan
from fwctl.measure.progress import Watch
from fwctl.measure.run import run
from fwctl.measure.target import Target
from fwctl.quality.answers import read_answers
from fwctl.quality.cases import Cases, request_warnings, require_grammars
from fwctl.quality.graders.judge import LEAST_AGREEMENT, consistency
from fwctl.quality.graders.means import Means
from fwctl.quality.grading import NAME, ONLY_REASONING, grade_run, last_attempts, read_grades
from fwctl.quality.outlook import DISCORDANCE, MARGIN, outlook, percent
from fwctl.quality.retries import CAP, retry_cut_answers
from fwctl.quality.structured_counts import formats_of, lost_reasoning, structured_counts
from fwctl.quality.totals import totals
from fwctl.records.atomic import replace_file

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What to run and how to judge it. max_tokens_cap: how far a cut-off structured answer may grow, 0 to
    leave it cut off. margin and discordance: for what the suite can show."""

    plan: Plan
    cases: Cases
    means: Means = field(repr=False)
    max_tokens_cap: int = CAP
    margin: float = MARGIN
    discordance: float = DISCORDANCE


def evaluate(
    evaluation: Evaluation,
    clock: Clock,
    *,
    say: Say,
    environ: Mapping[str, str] | None = None,
    watch: Watch | None = None,
) -> dict[str, Any]:
    """Write records.jsonl, grades.jsonl and summary.json, and return the summary with its `quality`.

    An interrupted run has no `quality`; going on with it (`plan.resume`) sends and grades what is missing.
    Raises UsageError for requests or graders that cannot work, before anything is sent.
    """
    plan = evaluation.plan
    require_grammars(evaluation.cases, plan.targets)
    for warning in request_warnings(evaluation.cases, plan.targets):
        say(f"warning: {warning}")
    summary = run(plan, clock, environ=environ, watch=watch)
    _replace(plan.out / "prompts.json", {"sent": evaluation.cases.sent})
    if summary["interrupted"]:
        return summary
    cap = evaluation.max_tokens_cap
    if cap:
        try:
            retry_cut_answers(
                plan.records,
                evaluation.cases,
                plan.targets,
                cap=cap,
                concurrency=plan.shape.concurrency,
            )
        except OSError as error:
            raise UsageError(f"cannot write to {plan.out}: {error.strerror or error}") from None
    return grade_folder(evaluation, summary)


def grade_folder(evaluation: Evaluation, summary: Mapping[str, Any]) -> dict[str, Any]:
    """Grade what a folder holds and write `quality` into its summary.json.

    Grades of other graders than those of the evaluation are thrown away first.
    """
    plan, cases, means = evaluation.plan, evaluation.cases, evaluation.means
    _require_same_prompts(plan.out, cases, str(summary.get("suite_digest")))
    mark = plan.out / "graders.json"
    _start_again(plan.out, mark, cases.digest)
    grade_run(plan.out, cases, means)
    quality = _quality(evaluation, summary.get("given_up") or {})
    document = {**summary, "suite_digest": cases.suite.digest, "quality": quality}
    _replace(plan.out / "summary.json", document)
    return document


def _quality(evaluation: Evaluation, given_up: Mapping[str, str]) -> dict[str, Any]:
    plan, cases = evaluation.plan, evaluation.cases
    found = totals(read_grades(plan.out / NAME), [target.name for target in plan.targets])
    warnings = request_warnings(cases, plan.targets)
    warnings += _used_up(read_grades(plan.out / NAME))
    last = last_attempts(plan.records)
    formats = formats_of(cases, plan.targets)
    structured = structured_counts(read_answers(plan.records), last, formats)
    warnings += lost_reasoning(read_answers(plan.records), formats)
    for name, figures in found.items():
        figures["structured"] = structured.get(name)
        if name in given_up:
            figures["problems"].insert(0, given_up[name])
    judge = _judge(plan.out, evaluation.means)
    return {
        "graders": cases.digest,
        "targets": found,
        "outlook": outlook(
            cases.by_type,
            repeats=plan.repeats or 1,
            discordance=evaluation.discordance,
            margin=evaluation.margin,
        ).to_json(),
        "judge": judge,
        "warnings": [*warnings, *_doubts(judge)],
    }


def _used_up(grades: Iterable[Mapping[str, Any]]) -> list[str]:
    """Targets whose reasoning left no tokens for an answer."""
    counts = Counter(row["target"] for row in grades if row["note"] == ONLY_REASONING)
    return [
        f"{name}: reasoning used up max_tokens in {count} answers: "
        "give more tokens, or a lower reasoning_effort"
        for name, count in sorted(counts.items())
    ]


def _judge(out: Path, means: Means) -> dict[str, Any] | None:
    """Consistency of the judge over all sessions that graded this folder."""
    path = out / "judge.json"
    facts = means.facts.get("judge")
    before = _read(path)
    if facts is not None:
        if before.get("model") == facts["model"]:
            for name in ("swap", "repeat"):
                facts[name] = [a + b for a, b in zip(facts[name], before[name], strict=True)]
        _replace(path, facts)
    found = facts or before
    return consistency(found) if found else None


def _doubts(judge: Mapping[str, Any] | None) -> list[str]:
    if judge is None:
        return []
    return [
        f"the judge agrees with itself in {percent(judge[name]['value'])} of {judge[name]['n']} {words}: "
        f"below {percent(LEAST_AGREEMENT)} its marks do not carry a small loss"
        for name, words in (("swap", "answers when the order is swapped"), ("repeat", "repeated answers"))
        if judge[name]["value"] is not None and judge[name]["value"] < LEAST_AGREEMENT
    ]


def _require_same_prompts(out: Path, cases: Cases, suite_digest: str) -> None:
    """Answers are graded by the prompts that they answer. Raises UsageError for other ones."""
    sent = _read(out / "prompts.json").get("sent")
    same = sent == cases.sent if sent is not None else suite_digest == cases.suite.digest
    if not same:
        raise UsageError(
            f"{cases.suite.path} asks other prompts than the run in {out} did",
            next_steps=["give the prompt set of the run; only graders and expected answers may change"],
        )


def _start_again(out: Path, mark: Path, digest: str) -> None:
    """Grades belong to the graders that made them."""
    try:
        if _read(mark).get("graders") != digest:
            for name in (NAME, "judge.json"):
                (out / name).unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"cannot write to {out}: {error.strerror or error}") from None
    _replace(mark, {"graders": digest})


def _read(path: Path) -> dict[str, Any]:
    try:
        # A pipe could be read for ever.
        found = json.loads(path.read_bytes()) if path.is_file() else {}
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _replace(path: Path, document: Mapping[str, Any]) -> None:
    try:
        replace_file(path, (json.dumps(document, indent=2) + "\n").encode())
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror or error}") from None


def stored_plan(folder: Path, targets_of: Callable[[Mapping[str, Any]], Target]) -> Plan:
    """The plan of a folder that a run wrote. Raises UsageError when it is none."""
    from fwctl.measure.plan import from_json

    row = _read(folder / "run.json").get("plan")
    try:
        assert row is not None
        assert all(_is_target(target) for target in row["targets"])
        plan = from_json(row, [targets_of(target) for target in row["targets"]])
    except (AssertionError, AttributeError, KeyError, TypeError, ValueError):
        raise UsageError(
            f"{folder} holds no run that can be graded", next_steps=["fwctl eval run --out DIR"]
        ) from None
    return plan


_TARGET: dict[str, tuple[type, ...]] = {
    "name": (str,),
    "url": (str,),
    "model": (str,),
    "extra": (dict,),
    "response_format": (dict, NoneType),
}


def _is_target(row: Mapping[str, Any]) -> bool:
    """Whether what makes the body of a request has the types that a run writes."""
    return all(isinstance(row[name], kinds) for name, kinds in _TARGET.items())
