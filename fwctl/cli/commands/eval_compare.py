"""`fwctl eval compare`: is the candidate as good as the base?"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.choices import Scope
from fwctl.cli.command import Call, command
from fwctl.errors import RefusedError, UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.quality.arms import Arm

FORMATS = ("text", "json", "markdown", "html", "junit", "github")


@command(
    "fwctl eval compare runs/bf16 runs/fp8 --margin 0.02",
    "fwctl eval compare runs/ab:bf16 runs/ab:fp8 --floor runs/bf16-again --format markdown",
    "fwctl eval compare runs/bf16 runs/fp8 --deployment chat",
    formats=FORMATS,
)
def eval_compare(
    call: Call,
    *,
    base: Annotated[str, typer.Argument(metavar="BASE", help="DIR or DIR:TARGET.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="DIR or DIR:TARGET.")],
    margin: Annotated[
        float, typer.Option("--margin", metavar="X", help="Loss of right answers that is allowed [0.02].")
    ] = 0.02,
    broken_margin: Annotated[
        float | None,
        typer.Option("--broken-margin", metavar="X", help="More broken answers allowed [as --margin]."),
    ] = None,
    floor: Annotated[
        str | None,
        typer.Option("--floor", metavar="DIR", help="Second run of BASE: how far it differs from itself."),
    ] = None,
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", help="Exit 0 when nothing was shown either way.")
    ] = False,
    deployment: Annotated[
        str | None,
        typer.Option(
            "--deployment", metavar="NAME", help="Keep the verdict as evidence for this deployment."
        ),
    ] = None,
    evidence: Annotated[
        Path | None, typer.Option("--evidence", metavar="DIR", help="Folder of evidence [beside the specs].")
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Take its setting from spec and fwctl.lock, not from what runs.")
    ] = False,
    scope: Scope,
) -> Report:
    """Compare two evaluations, paired by prompt and repeat.

    Passes only when a loss larger than the margin is ruled out. Exit 4 when a loss
    is shown, when the runs cannot be compared, and when neither could be shown.
    With `--deployment` a pass or a fail becomes evidence, which FW404, `gates` and
    the switch of a replacement read.
    """
    from fwctl.quality.arms import read_arm
    from fwctl.quality.checks import checks_of
    from fwctl.quality.compare import compare_arms
    from fwctl.quality.verdict import Gate

    for name, value in (("--margin", margin), ("--broken-margin", broken_margin)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} is a share such as 0.02 for 2 points")
    if deployment is None and (evidence is not None or offline):
        raise UsageError("--evidence and --offline belong to --deployment")
    cwd = call.env.cwd
    left, right = read_arm(cwd, base), read_arm(cwd, candidate)
    found = compare_arms(
        left,
        right,
        margin=margin,
        broken_margin=margin if broken_margin is None else broken_margin,
        floor=read_arm(cwd, floor) if floor is not None else None,
    )
    body: dict[str, Any] = {**found, "checks": checks_of(found, allow_inconclusive=allow_inconclusive)}
    passes = (Gate.PASS, Gate.INCONCLUSIVE) if allow_inconclusive else (Gate.PASS,)
    code = Exit.OK if found["verdict"] in passes else Exit.REFUSED
    if deployment is None:
        return Report("eval compare", body, code, hints=_what_was_lost(found))
    try:
        keep = _Keep(call, scope.paths, deployment, evidence, offline=offline)
        body["evidence"], hint = keep.write(found, left, right)
    except RefusedError as error:
        # The comparison stands on its own; what it is not good for is said beside it.
        return Report("eval compare", {**body, "evidence": None}, Exit.REFUSED, error=error)
    return Report("eval compare", body, code, hints=(*_what_was_lost(found), hint))


def _what_was_lost(found: Mapping[str, Any]) -> tuple[str, ...]:
    """How to look at the answers behind a loss."""
    if not found["quality"]["lost_prompts"]:
        return ()
    words = shlex.join(("fwctl", "eval", "show", found["base"], found["candidate"]))
    return (f"next: {words} prints what was lost, with both answers",)


@dataclass(frozen=True)
class _Keep:
    """Where a verdict goes. paths: specs. folder: instead of the one beside them."""

    call: Call
    paths: list[str]
    name: str
    folder: Path | None
    offline: bool = False

    def write(self, found: dict[str, Any], base: Arm, candidate: Arm) -> tuple[str, str]:
        """The file, and what to do with it. Raises RefusedError for what is no evidence."""
        from fwctl.cli.evidence_files import evidence_folder
        from fwctl.cli.evidence_setting import as_named, measured
        from fwctl.cli.session import load_specs, require_valid
        from fwctl.quality.evidence import (
            measured_at,
            require_same_deployment,
            require_verdict,
            results,
            suite_file,
        )
        from fwctl.records.evidence import EvidenceRecord, write

        call, passed = self.call, require_verdict(found)
        spec = require_valid(call, load_specs(call, self.paths))
        now = measured(call, self.paths, spec, self.name, offline=self.offline)
        require_same_deployment(candidate, now.resource)
        record = EvidenceRecord(
            "eval",
            now.setting.model,
            measured_at(candidate),
            precision=now.setting.precision,
            shape_version=now.setting.shape_version,
            accelerator=now.setting.accelerator,
            accelerator_count=now.setting.accelerator_count,
            region=now.region,
            replicas=now.replicas,
            suite_digest=str(candidate.summary["suite_digest"]),
            suite_file=as_named(call, suite_file(candidate)),
            passed=passed,
            deployment=self.name,
            results=results(found, base, candidate),
        )
        folder = Path(self.folder) if self.folder else evidence_folder(call, self.paths, spec)
        path = folder / write(call.env.cwd / folder, record).name
        hint = f"next: commit {path.as_posix()}; `fwctl evidence check` says what it is good for"
        return path.as_posix(), hint
