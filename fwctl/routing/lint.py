"""What is risky about routes, found without asking anybody. The pages of the codes say why."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fwctl.errors import Diagnostic, Position, Severity
from fwctl.routing.fields import CAPABILITIES
from fwctl.routing.model import Route, Routes, Target
from fwctl.routing.target_entry import is_trusted
from fwctl.spec.rules.registry import RULES

_CUSTOM = re.compile(r"accounts/(?!fireworks/)[^/#]+/models/[^/#]+")


def lint(routes: Routes) -> tuple[Diagnostic, ...]:
    """Every finding, route by route."""
    checks = (_shared_fate, _capabilities, _serverless_lora, _deadline, _keys)
    return tuple(finding for route in routes.routes.values() for check in checks for finding in check(route))


def _found(code: str, at: Position | None, message: str, suggestion: str) -> Diagnostic:
    severity = RULES[code].severity if code in RULES else Severity.WARNING
    return Diagnostic(
        severity, code, message, position=at, suggestion=suggestion, docs=f"docs/rules/{code}.md"
    )


def _shared_fate(route: Route) -> Iterator[Diagnostic]:
    first, *others = route.targets
    advice = "add a target of another account, provider or region"
    if not others:
        message = f"route {route.name} has one target, so nothing can take over"
        yield _found("FW601", first.position, message, advice)
        return
    if len({target.payer for target in route.targets}) == 1:
        message = f"all targets of route {route.name} are paid by one account and share its limits"
        yield _found("FW601", route.position, message, advice)
    if first.region is not None and first.region == others[0].region:
        message = f"{first.name} and {others[0].name} are both in {first.region}"
        yield _found("FW601", others[0].position, message, advice)


def _capabilities(route: Route) -> Iterator[Diagnostic]:
    first, *others = route.targets
    for target in others:
        missing = [word for word in CAPABILITIES if word in target.lacks - first.lacks]
        if missing:
            message = f"{target.name} lacks what {first.name} has: {', '.join(missing)}"
            yield _found("FW602", target.position, message, "choose another fallback, or accept it")
        longest, length = first.context_length, target.context_length
        if longest is not None and length is not None and length < longest:
            message = f"{target.name} takes {length:,} tokens, {first.name} takes {longest:,}"
            yield _found("FW602", target.position, message, "long requests have no fallback there")


def _serverless_lora(route: Route) -> Iterator[Diagnostic]:
    for target in route.targets:
        if is_trusted(target.url) and _CUSTOM.fullmatch(target.model):
            message = f"{target.name} is a custom LoRA on serverless, which is not served any more"
            advice = f"name its deployment: {target.model}#accounts/ACCOUNT/deployments/NAME"
            yield _found("FW603", target.position, message, advice)


def _deadline(route: Route) -> Iterator[Diagnostic]:
    for target in route.targets[:-1]:
        if target.timeouts.first_token_s >= route.total_s:
            message = f"waiting for {target.name} can take the whole deadline of {route.total_s:g} s"
            yield _found("FW604", target.position, message, "make first_token shorter, or total longer")


def _keys(route: Route) -> Iterator[Diagnostic]:
    for target in route.targets:
        if target.api_key is None and not _is_local(target):
            message = f"{target.name} has no key"
            yield _found(
                "FW605",
                target.position,
                message,
                'api_key: "${env:NAME}"; for Fireworks set FIREWORKS_API_KEY',
            )


def _is_local(target: Target) -> bool:
    return target.url.startswith("http://") and is_trusted(target.url)
