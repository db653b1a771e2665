"""JSON from and to bytes, with orjson where it is installed."""

from __future__ import annotations

import json
from typing import Any

__all__ = ["dumps", "loads"]

try:
    from orjson import dumps, loads
except ImportError:

    def loads(data: bytes) -> Any:  # type: ignore[misc]
        """The value. Raises ValueError."""
        return json.loads(data)

    def dumps(value: Any) -> bytes:  # type: ignore[misc]
        """As bytes, without spaces."""
        return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
