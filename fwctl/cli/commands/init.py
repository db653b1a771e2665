"""`fwctl init`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.session import own_account, shape_versions
from fwctl.errors import RefusedError
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.live.model import ShapeVersion

TEMPLATE = """\
# yaml-language-server: $schema=../fwctl.schema.json
# (`fwctl schema > fwctl.schema.json` writes the schema that the line above gives to editors.)
# `fwctl explain replicas.min` explains a field, `fwctl validate` checks this file.
apiVersion: fwctl/v1
account: {account}
stack: default            # who owns these deployments; plan never touches another stack's
deployments:
  {name}:                 # the deployment ID, unless `id:` is given
    model: {model}
    shape: {shape}   # required; `fwctl shapes MODEL` lists what the platform has
    accelerator: {{type: {accelerator}, count: {count}}}   # pins: the plan checks the shape against them
    precision: {precision}
    region: US            # GLOBAL, an area (US, EUROPE, APAC, CANADA) or one region such as US_IOWA_1
    replicas: {{min: 1, max: 2}}
    traffic: interactive  # interactive, batch or evaluation: decides which rules apply
    workload:             # what the fit check counts with
      input_tokens: {{p50: 1800, p95: 14000}}
      output_tokens: {{p50: 300, p95: 900}}
      concurrency_per_replica: 8
"""

DEFAULTS = {
    "account": "acme",
    "name": "chat",
    "model": "accounts/fireworks/models/llama-v3p1-8b-instruct",
    "shape": "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast",
    "accelerator": "NVIDIA_H100_80GB",
    "count": 1,
    "precision": "FP8",
}


@command(
    "fwctl init > configs/chat.yaml",
    "fwctl init --model accounts/fireworks/models/llama-v3p1-70b-instruct --firectl sim",
)
def init(
    call: Call,
    *,
    model: Annotated[
        str | None,
        typer.Option("--model", metavar="MODEL", help="Take a shape that the platform has for it."),
    ] = None,
) -> Report:
    """Print a commented starter spec.

    Without --model it needs no account. With --model firectl is asked for the shapes of that model,
    and the first validated one is written down with its hardware and precision.
    """
    values: dict[str, Any] = dict(DEFAULTS)
    if call.settings.account:
        values["account"] = call.settings.account
    if model:
        account = own_account(call)
        values |= {"account": account, "name": _name(model), **_from_platform(call, model, account)}
    text = TEMPLATE.format_map(values)
    return Report("init", {"spec": text}, text=text)


def _from_platform(call: Call, model: str, account: str) -> Mapping[str, Any]:
    found = [version for version in shape_versions(call, model, account) if version.validated]
    if not found:
        raise RefusedError(
            f"the platform has no validated shape for {model}",
            next_steps=["check the model's name", "fwctl shapes MODEL"],
        )
    return {"model": found[0].base_model or model, **_pins(found[0])}


def _pins(version: ShapeVersion) -> Mapping[str, Any]:
    snapshot = version.snapshot
    return {
        "shape": version.shape,
        "accelerator": snapshot.get("accelerator.type", DEFAULTS["accelerator"]),
        "count": snapshot.get("accelerator.count", 1),
        "precision": snapshot.get("precision", "BF16"),
    }


def _name(model: str) -> str:
    """A logical name made of the model's: lower case letters, digits and dashes."""
    return re.sub(r"[^a-z0-9]+", "-", model.rpartition("/")[2].lower()).strip("-")[:58] or "chat"
