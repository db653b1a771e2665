"""`fwctl shapes`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.fit_requests import checked, known_architecture
from fwctl.cli.prices import price_list
from fwctl.cli.session import own_account, shape_versions
from fwctl.errors import FwctlError
from fwctl.fit.options import fit_request_from_options
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.live.model import ShapeVersion


@command(
    "fwctl shapes accounts/fireworks/models/llama-v3p1-70b-instruct",
    "fwctl shapes accounts/fireworks/models/llama-v3p1-70b-instruct --context 32768 --concurrency 16",
    formats=("text", "json", "markdown"),
)
def shapes(
    call: Call,
    *,
    model: Annotated[
        str, typer.Argument(metavar="MODEL", help="Model name; a bare one is your own account's.")
    ],
    context: Annotated[
        int | None, typer.Option("--context", metavar="N", help="Tokens of one conversation [8192].")
    ] = None,
    concurrency: Annotated[
        float | None, typer.Option("--concurrency", metavar="N", help="Conversations held at once [1].")
    ] = None,
) -> Report:
    """List the validated shapes of a model: hardware, precision, price, and what fits.

    For each shape the fit check says how many conversations of --context tokens one replica holds.
    """
    account = own_account(call)
    versions = [item for item in shape_versions(call, model, account) if item.validated]
    usable = [item for item in versions if "accelerator.type" in item.snapshot]
    prices = price_list(call, None)
    rows = [_row(item, context or 8192, concurrency or 1.0, prices.price) for item in usable]
    rows.sort(key=lambda row: (row["usd_per_hour"] is None, row["usd_per_hour"] or 0, row["shape"]))
    body: dict[str, Any] = {"model": model, "context_tokens": context or 8192, "shapes": rows}
    error = (
        None if rows else FwctlError(f"the platform has no validated shape for {model}", next_steps=_STEPS)
    )
    return Report("shapes", body, error.exit_code if error else Report("shapes").exit_code, error=error)


_STEPS = ("check the model's name", "fwctl doctor shows the account that was asked")


def _row(version: ShapeVersion, context: int, concurrency: float, price: Any) -> Mapping[str, Any]:
    snapshot = version.snapshot
    chip, count = str(snapshot["accelerator.type"]), int(snapshot.get("accelerator.count", 1))
    architecture, _ = known_architecture(version.base_model)
    fit: Mapping[str, Any] | None = None
    if architecture is not None:
        fit = checked(
            lambda: fit_request_from_options(
                accelerator=chip,
                count=count,
                precision=str(snapshot.get("precision", "BF16")),
                model=version.base_model,
                architecture=architecture,
                context_tokens=context,
                concurrency=concurrency,
            ),
            fast=True,
        )
    usd = price(chip)
    return {
        "shape": version.shape,
        "version": version.name,
        "preset": version.preset,
        "accelerator": chip,
        "accelerator_count": count,
        "precision": snapshot.get("precision"),
        "max_context_length": snapshot.get("max_context_length"),
        "usd_per_hour": None if usd is None else usd * count,
        "latest_validated": version.latest_validated,
        "verdict": fit["verdict"] if fit else "unknown",
        "max_concurrency": fit["max_concurrency"] if fit else None,
    }
