"""`fwctl sim ...`: the embedded simulator. `firectl-sim` has many more verbs."""

from __future__ import annotations

import json
import sys
from typing import Annotated, Any

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import FirectlFailedError, FwctlError, UsageError
from fwctl.exitcodes import Exit
from fwctl.process import Completed
from fwctl.process import run as run_process
from fwctl.report.model import Report

SIMULATOR = (sys.executable, "-m", "fwctl.simulator")


@command("fwctl sim status", "FIRECTL_SIM_HOME=/tmp/sim fwctl sim status --format json")
def sim_status(call: Call) -> Report:
    """Say where the simulator keeps its state, its clock, and what is in it."""
    found: dict[str, Any] = json.loads(_simulator(call, "sim", "status", "-o", "json").stdout)
    lines = [f"{key}: {value}" for key, value in found.items() if not isinstance(value, dict)]
    lines += [f"{key}: {value}" for key, value in (found.get("resources") or {}).items()]
    return Report("sim status", {"simulator": found}, text="\n".join(lines) + "\n")


@command("fwctl sim reset")
def sim_reset(call: Call) -> Report:
    """Empty the simulator: every deployment, model and fault in its folder is gone.

    The folder is FIRECTL_SIM_HOME, or .firectl-sim here. Real deployments are never touched.
    """
    _simulator(call, "sim", "reset")
    home = call.env.environ.get("FIRECTL_SIM_HOME") or ".firectl-sim"
    return Report("sim reset", {"home": home}, text=f"emptied the simulator in {home}\n")


@command("fwctl sim serve", "fwctl sim serve --port 8080 --host 127.0.0.1", formats=("text",))
def sim_serve(
    call: Call,
    *,
    port: Annotated[int, typer.Option("--port", metavar="N", help="Port; 0 takes a free one [8080].")] = 8080,
    host: Annotated[str, typer.Option("--host", metavar="HOST", help="Address [127.0.0.1].")] = "127.0.0.1",
) -> Report:
    """Serve the simulator over HTTP: control plane, inference and metrics, until Ctrl-C.

    It shares its state with `--firectl sim`. The base URL is printed once it listens.
    """
    from fwctl.simulator.http import RuntimeMissingError, ServeError, serve

    if not 0 <= port <= 65535:
        raise UsageError("--port is a number from 0 to 65535")
    env = call.env
    try:
        code = serve(host, port, environ=env.environ, cwd=env.cwd, stdout=env.stdout, stderr=env.stderr)
    except RuntimeMissingError as error:
        raise FwctlError(str(error), next_steps=["pip install 'fwctl[runtime]'"]) from None
    except ServeError as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise FwctlError(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            next_steps=["fwctl sim serve --port 0"],
        ) from None
    return Report("sim serve", exit_code=Exit(code) if code in set(Exit) else Exit.FAILED)


def _simulator(call: Call, *words: str) -> Completed:
    env = call.env
    done = run_process(
        [*SIMULATOR, *words], env=env.environ, deadline_s=call.settings.firectl_timeout_s, cwd=env.cwd
    )
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        raise FirectlFailedError(f"the simulator failed: {lines[-1] if lines else 'it said nothing'}")
    return done
