"""`fwctl version`."""

from __future__ import annotations

from fwctl import __version__
from fwctl.cli.command import Call, command
from fwctl.report.model import Report


@command("fwctl version", "fwctl version --format json")
def version(call: Call) -> Report:  # noqa: ARG001 - every command takes the call
    """Print the version of fwctl."""
    return Report("version", {"version": __version__}, text=f"fwctl {__version__}\n")
