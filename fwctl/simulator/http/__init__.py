"""The embedded Fireworks over HTTP: REST control plane, inference, metrics. Needs the extra `runtime`."""

from __future__ import annotations

import sqlite3
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

MISSING = "The simulator over HTTP needs more packages: pip install 'fwctl[runtime]'"


class ServeError(Exception):
    """The server cannot start: a FIRECTL_SIM_* variable, a catalogue or a profile is wrong. One line."""


class RuntimeMissingError(ServeError):
    """aiohttp or another package of the extra `runtime` is not installed; the text says what to do."""


def serve(
    host: str = "127.0.0.1",
    port: int = 8080,
    *,
    environ: Mapping[str, str],
    cwd: Path,
    stdout: TextIO,
    stderr: TextIO,
) -> int:
    """Serve until SIGINT or SIGTERM; the exit code of the process.

    port 0 takes a free one. stdout gets one line, the base URL, once the socket listens; stderr says that
    it is the simulator. environ and cwd give the FIRECTL_SIM_* settings and what they are relative to.
    Raises ServeError (RuntimeMissingError is one), OSError when the address cannot be had.
    """
    from fwctl.simulator.catalogue import CatalogueError
    from fwctl.simulator.faults import FaultError
    from fwctl.simulator.profiles import ProfileError
    from fwctl.simulator.settings import SettingsError

    try:
        from fwctl.simulator.http.knobs import KnobError
        from fwctl.simulator.http.server import run
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] in {"aiohttp", "orjson"}:
            raise RuntimeMissingError(MISSING) from None
        raise
    try:
        return run(host, port, environ=environ, cwd=cwd, stdout=stdout, stderr=stderr)
    except sqlite3.Error as error:
        raise ServeError(f"the simulator's state cannot be opened: {error}") from None
    except (SettingsError, ProfileError, CatalogueError, FaultError, KnobError) as error:
        raise ServeError(str(error)) from None
