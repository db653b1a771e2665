"""`fwctl route check`: what is risky about routes, and whether every target answers."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.commands.route import DEFAULT_CONFIG
from fwctl.errors import Severity
from fwctl.exitcodes import Exit
from fwctl.report.model import Report


@command("fwctl route check --offline", "fwctl route check --config routes.yaml --format json")
def route_check(
    call: Call,
    *,
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="File of kind Routes [routes.yaml].")
    ] = DEFAULT_CONFIG,
    offline: Annotated[bool, typer.Option("--offline", help="Send nothing.")] = False,
) -> Report:
    """Check a file of routes, then send one small request through every target.

    Exit 3 when the file has an error, 1 when a target does not answer.
    """
    from fwctl.routing.lint import lint
    from fwctl.routing.reading import read_routes
    from fwctl.routing.runtime import require_runtime

    found = read_routes(config, call.env.environ, call.env.cwd)
    routes = found.routes
    if routes is None:
        body: dict[str, Any] = {"config": str(config), "routes": [], "targets": []}
        return Report("route check", body, Exit.INVALID_SPEC, found.diagnostics)
    call.env.redactor.register(*routes.secrets)
    diagnostics = (*found.diagnostics, *lint(routes))
    rows: list[dict[str, Any]] = []
    if not offline:
        require_runtime()
        from fwctl.routing.probe import probe

        rows = [item.to_json() for item in asyncio.run(probe(routes))]
    code = Exit.OK if all(row["ok"] for row in rows) else Exit.FAILED
    if any(item.severity is Severity.ERROR for item in diagnostics):
        code = Exit.INVALID_SPEC
    body = {"config": str(config), "routes": list(routes.routes), "targets": rows}
    return Report("route check", body, code, diagnostics)
