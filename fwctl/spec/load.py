"""Files of specs -> one Spec with every problem of every file, in one pass.

The order is the path of the data: bytes, text, tree, settings of the run, fields, rules, silenced
advice, Spec.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from fwctl.collector import collector_paused
from fwctl.errors import Severity
from fwctl.spec.build import build_spec
from fwctl.spec.compose import Parser
from fwctl.spec.files import Given, read_file, read_paths
from fwctl.spec.ignores import silence
from fwctl.spec.model import Evidence, Loaded
from fwctl.spec.parse import parse_all
from fwctl.spec.report import Report
from fwctl.spec.rules.check import run_rules
from fwctl.spec.sections import read_run
from fwctl.spec.sources import Sources


def load(
    paths: Sequence[Path],
    *,
    environ: Mapping[str, str],
    defaults: Path | None = None,
    need_secrets: bool = False,
    strict: bool = False,
    evidence: Evidence | None = None,
    account: str | None = None,
) -> Loaded:
    """Read every spec file of `paths` and check all of them.

    environ: where `${env:NAME}` is looked up. defaults: a file of deployment fields merged under every
    deployment of every file. need_secrets: an unset variable of a sensitive field is an error and not a
    note. strict: warnings become errors. evidence: what the rules that need measurements may use.
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
    evidence: Evidence | None = None,
    account: str | None = None,
    parser: Parser | None = None,
) -> Loaded:
    """As `load`, from bytes: reads no file and no clock. parser: None for the fastest there is."""
    report = Report(Sources())
    with collector_paused():
        files = parse_all(given, defaults, report, parser)
        run = read_run(files, report, environ, need_secrets=need_secrets, account=account, evidence=evidence)
        run_rules(run.view, report)
        silence(files, report, has_evidence=evidence is not None)
        diagnostics = report.finish(strict=strict)
        names = tuple(file.source.file for file in files if not file.is_defaults)
        failed = any(diagnostic.severity is Severity.ERROR for diagnostic in diagnostics)
        spec = None if failed or not run.specs else build_spec(run, report.sources)
        return Loaded(names, spec, diagnostics)
