"""`fwctl validate`."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.arguments import Paths, Strict
from fwctl.cli.command import Call, command
from fwctl.cli.evidence_files import find_evidence
from fwctl.cli.session import Gates, Session, check_account, load_specs
from fwctl.errors import Diagnostic, InvalidSpecError, Severity
from fwctl.exitcodes import Exit
from fwctl.report.diagnostics import count_line
from fwctl.report.model import Report
from fwctl.spec.model import Loaded, Spec

if TYPE_CHECKING:
    from fwctl.spec.files import Given

_KIND = re.compile(rb"^kind:[ \t]*[\"']?(Experiment|Targets)\b", re.MULTILINE)


@command(
    "fwctl validate",
    "fwctl validate configs/chat.yaml --strict",
    "fwctl validate --online --format json",
    formats=("text", "json", "markdown", "github", "sarif", "junit"),
)
def validate(
    call: Call,
    *,
    paths: Paths = None,
    online: Annotated[
        bool, typer.Option("--online", help="Also check against the platform: models, shapes, quota.")
    ] = False,
    strict: Strict = False,
) -> Report:
    """Check specs: YAML, schema, rules across fields, advice.

    It needs no account and no network, unless --online is given. Every problem of every file is told
    in one pass, with line, column, fix and the page of its rule. Exit 3 when there is an error.
    """
    loaded = load_specs(call, paths or [], strict=strict, gates=Gates.RULES)
    diagnostics = tuple(dict.fromkeys((*loaded.diagnostics, *_bodies(call, loaded.files))))
    if loaded.spec is None:
        return report_of(loaded, diagnostics)
    check_account(call, loaded.spec.account)
    found = _online(call, loaded.spec, paths or []) if online else ()
    unusable = find_evidence(call, paths or [], loaded.spec).problems
    return report_of(loaded, (*diagnostics, *unusable, *found))


def _bodies(call: Call, files: Sequence[str]) -> Iterator[Diagnostic]:
    """What is wrong inside files of kinds whose readers know more than the envelope."""
    from fwctl.spec.files import read_file

    for name in files:
        given = replace(read_file(call.env.cwd / name), file=name)
        found = _KIND.search(given.data)
        if found is not None:
            yield from _body(found[1], given, call.env.environ)


def _body(kind: bytes, given: Given, environ: Mapping[str, str]) -> tuple[Diagnostic, ...]:
    if kind == b"Targets":
        from fwctl.measure.targets_file import check_targets

        return check_targets(given, environ)
    from fwctl.quality.experiments.file import check_experiment

    return check_experiment(given, environ=environ, need_secrets=False)[1]


def _online(call: Call, spec: Spec, paths: list[str]) -> tuple[Diagnostic, ...]:
    """The FW5xx checks: what a plan of these specs would block on the platform's account."""
    from fwctl.cli.plan_run import plan_inputs
    from fwctl.planning.options import PlanOptions

    with Session(call, spec.account) as session:
        _, plan, _ = plan_inputs(call, session, spec, paths, PlanOptions())
    found = [*plan.diagnostics, *(item for change in plan.changes for item in change.blocked_by)]
    return tuple(dict.fromkeys(item for item in found if item.code.startswith("FW5")))


def report_of(loaded: Loaded, diagnostics: tuple[Diagnostic, ...]) -> Report:
    names = sorted(loaded.spec.deployments) if loaded.spec else []
    errors = [item for item in diagnostics if item.severity is Severity.ERROR]
    error = InvalidSpecError(f"the specs are not valid: {count_line(errors)}") if errors else None
    return Report(
        "validate",
        {"files": list(loaded.files), "deployments": names},
        Exit.INVALID_SPEC if errors else Exit.OK,
        diagnostics,
        error,
    )
