"""Whether the extra `runtime` is there, said in one sentence."""

from __future__ import annotations

from importlib.util import find_spec

from fwctl.errors import FwctlError

_NEEDED = ("aiohttp", "prometheus_client")


def require_runtime() -> None:
    """Raises FwctlError when a package of the extra is missing."""
    if any(find_spec(name) is None for name in _NEEDED):
        raise FwctlError("the router needs more packages", next_steps=["pip install 'fwctl[runtime]'"])
