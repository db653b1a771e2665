"""The watch rules as a rule file for Prometheus, for those who scrape the platform's page already. Pure.

Only what the exporter's series hold can be written: replicas, states, prices and holds are not among
them. A test holds both forms of a rule to the same alerts on the same series.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping

from fwctl.operate.rules_model import LEVELS, Rule, Scope, objective
from fwctl.spec.model import Deployment


def rule_file(rules: Iterable[Rule], deployments: Mapping[str, Deployment]) -> str:
    """YAML of one group. deployments: by ID, for the objectives of their specs."""
    rules = list(rules)
    left_out = [rule.name for rule in rules if rule.expr is None]
    lines = [
        "# Written by `fwctl watch rules`. The series are one-minute rates and means already: no rate().",
        "# Scrape https://api.fireworks.ai/v1/accounts/ACCOUNT/metrics every 60 s, at most 6 times a minute.",
    ]
    if left_out:
        lines.append(f"# Only `fwctl watch` can judge: {', '.join(left_out)}.")
    lines += ["groups:", "  - name: fwctl", "    interval: 60s", "    rules:"]
    body = [line for rule in rules for line in _alerts(rule, deployments)]
    return "\n".join([*lines[:-1], *(["    rules:", *body] if body else ["    rules: []"])]) + "\n"


def _alerts(rule: Rule, deployments: Mapping[str, Deployment]) -> Iterable[str]:
    """One alert; deployments with an objective of their own are judged by that, the rest by the default."""
    if rule.expr is None:
        return
    own = _objectives(rule, deployments)
    parts = [(limit, f'{{deployment_id="{_label(id_)}"}}') for id_, limit in sorted(own.items())]
    default = rule.limits.get("limit")
    if default is not None:
        names = "|".join(re.escape(id_) for id_ in sorted(own))
        parts.append((default, f'{{deployment_id!~"{_label(names)}"}}' if own else ""))
    filled = [
        rule.expr.format(**{**_plain(rule.limits), "limit": f"{limit:g}"}, selector=selector)
        for limit, selector in parts
    ]
    if filled:
        yield from _alert(rule, " or ".join(f"({expr})" for expr in filled) if own else filled[0])


def _objectives(rule: Rule, deployments: Mapping[str, Deployment]) -> dict[str, float]:
    if rule.objective is None:
        return {}
    found = {id_: objective(entry, rule.objective) for id_, entry in deployments.items()}
    return {id_: limit for id_, limit in found.items() if limit is not None}


def _alert(rule: Rule, expr: str) -> Iterable[str]:
    subject = "" if rule.scope is Scope.ACCOUNT else " {{ $labels.deployment_id }}:"
    yield f"      - alert: fwctl_{rule.name.replace('-', '_')}"
    yield f"        expr: {_quoted(expr)}"
    if rule.hold_s:
        yield f"        for: {_duration(rule.hold_s)}"
    if rule.resolve_s:
        yield f"        keep_firing_for: {_duration(rule.resolve_s)}"
    yield "        labels:"
    yield f"          severity: {LEVELS[rule.severity.value]}"
    yield "        annotations:"
    yield f"          summary: {_quoted(f'{rule.name}:{subject} {rule.summary}')}"
    if rule.scope is not Scope.ACCOUNT:
        yield '          value: "{{ $value }}"'


def _plain(limits: Mapping[str, float]) -> dict[str, str]:
    return {name: f"{value:g}" for name, value in limits.items()}


def _label(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _quoted(text: str) -> str:
    """A YAML scalar; JSON strings are YAML."""
    return json.dumps(text)


def _duration(seconds: float) -> str:
    return f"{round(seconds)}s"
