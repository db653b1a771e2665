"""Files of specs -> one Spec with every problem of every file, in one pass.

The order is the path of the data: bytes, text, tree, settings of the run, fields, rules, silenced
advice, Spec.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from fwctl.collector import collector_paused
from fwctl.errors import Severity
from fwctl.spec.build import build_spec
from fwctl.spec.compose import Parser
from fwctl.spec.files import Given, read_file, read_paths
from fwctl.spec.ignores import silence
from fwctl.spec.model import Evidence, Loaded, Spec
from fwctl.spec.parse import parse_all
from fwctl.spec.report import Report
from fwctl.spec.rules.check import run_rules
from fwctl.spec.sections import RunRead, read_run
from fwctl.spec.sources import Sources

# Which records count depends on what the specs say, so evidence may be made from the spec as it is read.
EvidenceSource = Evidence | Callable[[Spec], Evidence | None] | None


def load(
    paths: Sequence[Path],
    *,
    environ: Mapping[str, str],
    defaults: Path | None = None,
    need_secrets: bool = False,
    strict: bool = False,
    evidence: EvidenceSource = None,
    account: str | None = None,
) -> Loaded:
    """Read every spec file of `paths` and check all of them.

    environ: where `${env:NAME}` is looked up. defaults: a file of deployment fields merged under every
    deployment of every file. need_secrets: an unset variable of a sensitive field is an error and not a
    note. strict: warnings become errors. evidence: what the rules that need measurements may use, or a
    function that makes it from the spec; it is not asked while a field is wrong.
    account: the account given on the command line. Never raises for what the files hold.
    """
    given_defaults = read_file(defaults) if defaults is not None else None
    return load_given(
        read_paths(paths),
        environ=environ,
        defaults=given_defaults,
        need_secrets=need_secrets,
        strict=strict,
        evidence=evidence,
        account=account,
    )


def load_given(
    given: Sequence[Given],
    *,
    environ: Mapping[str, str],
    defaults: Given | None = None,
    need_secrets: bool = False,
    strict: bool = False,
    evidence: EvidenceSource = None,
    account: str | None = None,
    parser: Parser | None = None,
) -> Loaded:
    """As `load`, from bytes: reads no file and no clock. parser: None for the fastest there is."""
    report = Report(Sources())
    with collector_paused():
        files = parse_all(given, defaults, report, parser)
        known = None if callable(evidence) else evidence
        run = read_run(files, report, environ, need_secrets=need_secrets, account=account, evidence=known)
        if callable(evidence):
            run, known = _informed(run, report, evidence)
        run_rules(run.view, report)
        silence(files, report, known or Evidence(read=False))
        diagnostics = report.finish(strict=strict)
        names = tuple(file.source.file for file in files if not file.is_defaults)
        failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
        spec = None if failed or not run.specs else build_spec(run, report.sources)
        return Loaded(names, spec, diagnostics)


def _informed(
    run: RunRead, report: Report, source: Callable[[Spec], Evidence | None]
) -> tuple[RunRead, Evidence | None]:
    """The run with its evidence in every view."""
    if not run.specs or any(found.severity is Severity.ERROR for found in report.found):
        return run, None
    known = source(build_spec(run, report.sources))
    views = tuple(replace(d, evidence=known) for d in run.view.deployments)
    names = {d.name: d for d in reversed(views)}
    return replace(run, view=replace(run.view, deployments=views, names=names)), known
