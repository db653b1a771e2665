"""`fwctl route drill`: the routes of a file while targets fail, on the simulator."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.commands.route import DEFAULT_CONFIG
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report
from fwctl.spec.closest import did_you_mean, listed

if TYPE_CHECKING:
    from fwctl.routing.drill import Result
    from fwctl.routing.model import Routes
    from fwctl.routing.scenarios import Scenario

_MODEL = "accounts/fireworks/models/gpt-oss-120b"
_KEY = "fw_test"  # the simulator's administrator


@command("fwctl route drill", "fwctl route drill --scenario outage --route chat")
def route_drill(
    call: Call,
    *,
    config: Annotated[
        Path, typer.Option("--config", metavar="FILE", help="File of kind Routes [routes.yaml].")
    ] = DEFAULT_CONFIG,
    route: Annotated[
        str | None, typer.Option("--route", metavar="NAME", help="Only this route.", show_default=False)
    ] = None,
    scenario: Annotated[
        str | None, typer.Option("--scenario", metavar="NAME", help="Only this one.", show_default=False)
    ] = None,
) -> Report:
    """Take targets down in the simulator and show what clients would see.

    Nothing is sent to the targets of the file. Each scenario takes five seconds.
    Exit 1 when a bar is missed: more than 1.1 attempts a request, an error while
    another target works, no recovery.
    """
    from fwctl.routing.drill import factor_of
    from fwctl.routing.reading import load_routes
    from fwctl.routing.runtime import require_runtime
    from fwctl.routing.scenarios import SCENARIOS

    routes = load_routes(config, call.env.environ, call.env.cwd)
    require_runtime()
    names = _chosen("route", route, routes.routes)
    scenarios = [SCENARIOS[name] for name in _chosen("scenario", scenario, SCENARIOS)]
    found = asyncio.run(_drills(call, routes, names, scenarios))
    rows = [
        {"route": name, "times_divided_by": round(factor_of(routes.routes[name]), 1), **result.to_json()}
        for name, result in found
    ]
    code = Exit.FAILED if any(result.missed for _, result in found) else Exit.OK
    return Report("route drill", {"config": str(config), "drills": rows}, code)


def _chosen(what: str, given: str | None, known: Iterable[str]) -> list[str]:
    names = list(known)
    if given is None:
        return names
    if given not in names:
        advice = did_you_mean(given, names) or listed(names, "see docs/routing.md")
        raise UsageError(f"there is no {what} {given!r}", next_steps=[advice])
    return [given]


async def _drills(
    call: Call, routes: Routes, names: list[str], scenarios: list[Scenario]
) -> list[tuple[str, Result]]:
    from fwctl.routing.drill import Simulated, drill
    from fwctl.simulator.http.server import listening

    found = []
    with tempfile.TemporaryDirectory() as folder:
        environ = {"FIRECTL_SIM_HOME": folder, "FIRECTL_SIM_INFERENCE_SPEED": "0"}
        async with listening("127.0.0.1", 0, environ=environ, cwd=Path(folder)) as url:
            simulated = Simulated(f"{url}/inference/v1", _MODEL, _KEY)
            for name in names:
                for scenario in scenarios:
                    call.output.message(f"route {name}, {scenario.name}: {scenario.what} ...")
                    found.append((name, await drill(routes, name, scenario, simulated)))
    return found
