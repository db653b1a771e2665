"""The table of all codes. A rule is a function with a decorator; nothing else names it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fwctl.errors import Severity
from fwctl.spec.view import Finding, RunView, View

DeploymentCheck = Callable[[View], Iterator[Finding]]
RunCheck = Callable[[RunView], Iterator[tuple[View | None, Finding]]]


@dataclass(frozen=True, slots=True)
class Rule:
    """One code: `title` is the first line of its page, `page` the whole text.

    needs: the part of `spec.model.Evidence` without which the rule says nothing; empty for most rules.
    """

    code: str
    severity: Severity
    page: str
    needs: str = ""

    @property
    def title(self) -> str:
        return self.page.strip().splitlines()[0].rstrip(".")


RULES: dict[str, Rule] = {}
DEPLOYMENT_CHECKS: list[tuple[Rule, DeploymentCheck]] = []
RUN_CHECKS: list[tuple[Rule, RunCheck]] = []


def _register(code: str, severity: Severity, page: str | None, needs: str = "") -> Rule:
    assert code not in RULES
    RULES[code] = Rule(code, severity, page or "", needs)
    return RULES[code]


def page(code: str, severity: Severity, text: str) -> None:
    """A code that is found elsewhere (reading YAML, the schema, planning) and only documented here."""
    _register(code, severity, text)


def deployment_rule(
    code: str, severity: Severity, *, needs: str = ""
) -> Callable[[DeploymentCheck], DeploymentCheck]:
    """Register a rule that looks at one deployment."""

    def register(check: DeploymentCheck) -> DeploymentCheck:
        DEPLOYMENT_CHECKS.append((_register(code, severity, check.__doc__, needs), check))
        return check

    return register


def run_rule(code: str, severity: Severity) -> Callable[[RunCheck], RunCheck]:
    """Register a rule that looks at all deployments together."""

    def register(check: RunCheck) -> RunCheck:
        RUN_CHECKS.append((_register(code, severity, check.__doc__), check))
        return check

    return register
