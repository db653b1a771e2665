"""`fwctl eval run|grade`: are the answers right?"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.bench_progress import watching
from fwctl.cli.command import Call, command
from fwctl.cli.eval_options import MOST, Arms, Power, Servers, means_of, targets_of
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

WATCHED = 100  # requests from which on progress is worth a process of its own
FORMATS = ("text", "json", "markdown", "html", "junit", "github")


@command(
    "fwctl eval run --suite eval.jsonl --target-url http://127.0.0.1:8080/v1 --model M --out runs/fp8",
    "fwctl eval run --suite eval.jsonl --targets targets.yaml --target bf16 --target fp8 --repeat 2",
    formats=FORMATS,
)
def eval_run(
    call: Call,
    *,
    suite: Annotated[
        Path, typer.Option("--suite", metavar="FILE", help="Prompt set with graders, JSON lines.")
    ],
    concurrency: Annotated[
        int, typer.Option("--concurrency", metavar="N", help="Requests at a time [8].")
    ] = 8,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="Times each is asked [1].")] = 1,
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of the order [1].")] = 1,
    grader: Annotated[
        str | None,
        typer.Option("--grader", metavar="NAME", help="For prompts that name none but expect [exact]."),
    ] = None,
    max_tokens_cap: Annotated[
        int,
        typer.Option("--max-tokens-cap", metavar="N", help="Cut JSON is asked again up to this; 0: not."),
    ] = 16384,
    no_schema_in_prompt: Annotated[
        bool, typer.Option("--no-schema-in-prompt", help="Do not tell the model the schema.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the results [a new one].")
    ] = None,
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="DIR", help="Go on with an interrupted evaluation.")
    ] = None,
    arms: Arms,
    power: Power,
    servers: Servers,
) -> Report:
    """Send a prompt set, grade every answer, and say how many are right.

    Writes records.jsonl, grades.jsonl and summary.json. Empty, truncated and
    failed answers are counted apart. Exit 1 when they are so many that the run
    says nothing about quality.
    """
    from fwctl.measure.giving_up import AFTER_S
    from fwctl.measure.plan import Plan, Shape
    from fwctl.measure.suite import load
    from fwctl.quality.cases import load_cases
    from fwctl.quality.evaluate import Evaluation, evaluate
    from fwctl.quality.outlook import outlook, sentences

    power.check()
    _check(concurrency=concurrency, repeat=repeat, cap=max_tokens_cap)
    env = call.env
    folder = env.cwd / (resume or out or Path("runs") / env.clock.now().strftime("eval-%Y%m%dT%H%M%SZ"))
    targets = targets_of(call, arms)
    if no_schema_in_prompt:
        targets = [replace(target, schema_in_prompt=False) for target in targets]
    loaded = load(env.cwd / suite)
    means = means_of(
        call, servers, (env.cwd / suite).parent, concurrency, targets=arms.targets, specs=arms.specs
    )
    cases = load_cases(loaded, means, default=grader)
    view = outlook(cases.by_type, repeats=repeat, discordance=power.discordance, margin=power.margin)
    for line in sentences(view):
        call.output.message(line)
    plan = Plan(
        loaded,
        targets,
        Shape(concurrency, seed=seed),
        folder,
        repeats=repeat,
        keep_text=True,
        # Progress is shown from outside of the process that makes the load, so that it costs no latency.
        workers=int(loaded.count * repeat * len(targets) >= WATCHED),
        resume=resume is not None,
        give_up_s=AFTER_S,
    )
    evaluation = Evaluation(plan, cases, means, max_tokens_cap, power.margin, power.discordance)
    with watching(call) as watch:
        summary = evaluate(evaluation, env.clock, say=call.output.message, environ=env.environ, watch=watch)
    return _report(call, "eval run", folder, summary)


@command("fwctl eval grade runs/fp8", "fwctl eval grade runs/fp8 --suite eval.jsonl", formats=FORMATS)
def eval_grade(
    call: Call,
    *,
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a run that kept its texts.")],
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="Prompt set [that of the run].")
    ] = None,
    grader: Annotated[
        str | None,
        typer.Option("--grader", metavar="NAME", help="For prompts that name none but expect [exact]."),
    ] = None,
    targets: Annotated[
        Path | None,
        typer.Option("--targets", metavar="FILE", help="With --judge and --embed [targets.yaml]."),
    ] = None,
    power: Power,
    servers: Servers,
) -> Report:
    """Grade the answers of a run again, for example after a grader was corrected; nothing is sent to the
    targets.

    The prompts must be those of the run; graders and expected answers may have
    changed.
    """
    from fwctl.measure.suite import load
    from fwctl.measure.target import from_json
    from fwctl.quality.arms import read_summary
    from fwctl.quality.cases import load_cases
    from fwctl.quality.evaluate import Evaluation, grade_folder, stored_plan

    power.check()
    env = call.env
    where = env.cwd / folder
    plan = stored_plan(where, lambda row: from_json(row, env.environ))
    path = env.cwd / suite if suite is not None else plan.suite.path
    loaded = load(path)
    means = means_of(call, servers, path.parent, plan.shape.concurrency, targets=targets)
    cases = load_cases(loaded, means, default=grader)
    plan = replace(plan, suite=loaded, out=where)
    evaluation = Evaluation(plan, cases, means, 0, power.margin, power.discordance)
    before = read_summary(where)
    if before.get("interrupted"):
        raise UsageError(f"{folder} was interrupted", next_steps=[f"--resume {folder} goes on with it"])
    summary = grade_folder(evaluation, before)
    return _report(call, "eval grade", where, summary)


def _report(call: Call, name: str, folder: Path, summary: dict[str, Any]) -> Report:
    from fwctl.quality.checks import run_checks

    shown = folder.relative_to(call.env.cwd) if folder.is_relative_to(call.env.cwd) else folder
    body: dict[str, Any] = {"out": str(shown), "summary": summary}
    if summary["interrupted"]:
        hint = f"The run was interrupted; `--resume {shown}` with the same options goes on with it."
        return Report(name, {**body, "checks": []}, Exit.INTERRUPTED, hints=(hint,))
    body["checks"] = run_checks(summary["quality"])
    broken = any(item["problems"] for item in summary["quality"]["targets"].values())
    rest = (f"`fwctl eval run --resume {shown}` with the same options sends what was not sent",)
    return Report(
        name, body, Exit.FAILED if broken else Exit.OK, hints=rest if summary.get("given_up") else ()
    )


def _check(*, concurrency: int, repeat: int, cap: int) -> None:
    if not 1 <= concurrency <= MOST:
        raise UsageError(f"--concurrency is a number from 1 to {MOST}")
    if not 1 <= repeat <= MOST:
        raise UsageError(f"--repeat is a number from 1 to {MOST}")
    if cap < 0:
        raise UsageError("--max-tokens-cap is a number from 0")
