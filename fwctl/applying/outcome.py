"""From results to the exit code, the model strings and what to type next."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.applying.model import Outcome, Result
from fwctl.exitcodes import Exit, worst
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


def model_strings(spec: Spec, results: Sequence[Result]) -> dict[str, Any]:
    """What clients send as `model`, for every deployment of the spec that exists after the run."""
    by_name = {result.name: result for result in results}
    found = {}
    for name, entry in sorted(spec.deployments.items()):
        result = by_name.get(name)
        if result is not None and result.actions in MAKING and result.outcome not in _EXISTS:
            continue
        deployment_id = result.deployment_id if result is not None else entry.deployment_id
        found[name] = _strings(spec.account, deployment_id, entry.fields)
    return found


MAKING = (("create",), ("delete", "create"))  # without success nothing exists
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
