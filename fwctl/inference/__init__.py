"""Speaking the inference API: stream parsing, error classes, perf metrics, structured output, a client.

`ask` and its types are loaded on first use, so that a caller who only parses pays nothing for HTTP.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fwctl.inference.client import Ask, Endpoint, Reply, Timeouts, ask, ask_async
    from fwctl.inference.failures import ErrorClass, Failure

__all__ = ["Ask", "Endpoint", "ErrorClass", "Failure", "Reply", "Timeouts", "ask", "ask_async"]


def __getattr__(name: str) -> Any:
    """The public names, imported from their module when they are used."""
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module = "failures" if name in ("ErrorClass", "Failure") else "client"
    return getattr(import_module(f"{__name__}.{module}"), name)
