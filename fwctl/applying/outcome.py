"""From results to the exit code, the model strings and what to type next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.applying.model import Outcome, Result
from fwctl.exitcodes import Exit, worst
from fwctl.live.identity import LEAVING
from fwctl.planning.model import Change, Plan
from fwctl.spec.model import Spec


def exit_code(results: Iterable[Result], *, changed: bool, interrupted: Exit | None) -> Exit:
    """One code for the run. Once something was changed on the platform, a failure is 1."""
    codes = [interrupted] if interrupted is not None else []
    for result in results:
        problem = result.problem
        if problem is None:
            continue
        timed_out = problem.exit_code is Exit.TIMEOUT
        codes.append(problem.exit_code if timed_out or not changed else Exit.FAILED)
    return worst(codes)


def model_strings(spec: Spec, plan: Plan, results: Sequence[Result]) -> dict[str, Any]:
    """What clients send as `model`, for every deployment that the plan looked at and that exists."""
    ended = {result.address: result for result in results}
    found = {}
    for change in plan.changes:
        entry = spec.deployments.get(change.name)
        deployment_id = _existing_id(change, ended.get(change.address))
        if entry is not None and deployment_id is not None:
            found[change.name] = _strings(spec.account, deployment_id, entry.fields)
    return found


def _existing_id(change: Change, result: Result | None) -> str | None:
    """The ID that serves the name after the run, None when nothing does."""
    if result is not None and result.outcome in _EXISTS:
        return result.deployment_id
    was_there = change.live is not None and change.live.state not in LEAVING
    return change.deployment_id if was_there and change.actions != RECREATE else None


RECREATE = ("delete", "create")  # when it failed, nothing is certain
_EXISTS = (Outcome.DONE, Outcome.IN_PROGRESS)


def _strings(account: str, deployment_id: str, fields: Mapping[str, Any]) -> dict[str, Any]:
    base = f"accounts/{account}/deployments/{deployment_id}"
    router = fields.get("router")
    return {
        "base": base,
        "router": f"accounts/{account}/routers/{router}" if router else None,
        "addons": {lora: f"{lora}#{base}" for lora in fields.get("addons.load", ())},
    }


def next_steps(results: Sequence[Result]) -> tuple[str, ...]:
    """The commands that go on from here, each once, in plan order."""
    steps: list[str] = []
    for result in results:
        if result.problem is not None:
            steps += result.problem.next_steps
        elif result.outcome is Outcome.IN_PROGRESS:
            steps.append(f"fwctl wait {result.name}")
        elif result.outcome is Outcome.NOT_STARTED:
            steps.append("fwctl apply  # does what is left")
    return tuple(dict.fromkeys(steps))
