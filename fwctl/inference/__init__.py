"""Speaking the inference API: stream parsing, error classes, perf metrics, structured output, a client.

`ask` and its types are loaded on first use, so that a caller who only parses pays nothing for HTTP.
"""

from __future__ import annotations

from typing import Any

_LAZY = {"ask": "client", "ask_async": "client", "Endpoint": "client", "Timeouts": "client", "Ask": "client"}


def __getattr__(name: str) -> Any:
    """Import what `_LAZY` names from its module."""
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f"{__name__}.{_LAZY[name]}"), name)
