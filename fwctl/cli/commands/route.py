"""`fwctl route serve`: the fallback router as an OpenAI-compatible server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

DEFAULT_CONFIG = Path("routes.yaml")


@command("fwctl route serve --config routes.yaml --port 8000", formats=("text",))
def route_serve(
    call: Call,
    *,
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="File of kind Routes [routes.yaml].")
    ] = DEFAULT_CONFIG,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port; 0 takes a free one [8000].")] = 8000,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address [127.0.0.1].")] = "127.0.0.1",
) -> Report:
    """Serve the routes of a file until Ctrl-C or SIGTERM; the base URL is printed once it listens.

    SIGHUP or a change of the file reloads it; a file with errors changes nothing.
    SIGTERM lets running answers end first. Without client keys it listens on this
    machine only.
    """
    from fwctl.routing.runtime import require_runtime

    if not 0 <= port <= 65535:
        raise UsageError("--port is a number from 0 to 65535")
    require_runtime()
    from fwctl.routing.serve import serve

    return Report("route serve", exit_code=Exit(serve(call.env, config, host, port)))
