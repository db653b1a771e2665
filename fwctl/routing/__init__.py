"""Fallback router: moves a request to another target when the first cannot serve it.

`Router` is the engine for programs; `fwctl route serve` puts it behind an OpenAI-compatible server. Both
need the extra `runtime`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwctl.routing.engine import Answer, Request, Router
    from fwctl.routing.reading import load_routes

__all__ = ["Answer", "Request", "Router", "load_routes"]

_ENGINE = "fwctl.routing.engine"
_PLACES = {"Answer": _ENGINE, "Request": _ENGINE, "Router": _ENGINE, "load_routes": "fwctl.routing.reading"}


def __getattr__(name: str) -> Any:
    """The public names, imported when they are used: aiohttp takes a quarter of a second."""
    from importlib import import_module

    if name in _PLACES:
        return getattr(import_module(_PLACES[name]), name)
    raise AttributeError(name)
