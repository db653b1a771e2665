"""Runs every rule of the table over what was read."""

from __future__ import annotations

from fwctl.spec.report import Report
from fwctl.spec.rules import (  # noqa: F401 - importing a module registers its rules
    autoscaling,
    evidence,
    naming,
    pages,
    placement,
    replicas,
    run,
    shape,
    speculation,
)
from fwctl.spec.rules.registry import DEPLOYMENT_CHECKS, RUN_CHECKS, Rule
from fwctl.spec.view import Finding, RunView, View


def run_rules(view: RunView, report: Report) -> None:
    for deployment in view.deployments:
        for rule, check in DEPLOYMENT_CHECKS:
            for finding in check(deployment):
                _add(report, rule, deployment, finding)
    for run_level, check_all in RUN_CHECKS:
        for owner, finding in check_all(view):
            _add(report, run_level, owner, finding)


def _add(report: Report, rule: Rule, deployment: View | None, finding: Finding) -> None:
    report.add(
        rule.code,
        finding.span,
        finding.message,
        severity=finding.severity or rule.severity,
        suggestion=finding.suggestion,
        deployment=deployment.name if deployment is not None else None,
        path=finding.path,
    )
