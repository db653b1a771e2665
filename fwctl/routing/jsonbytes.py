"""JSON from and to bytes, with orjson where it is installed."""

from __future__ import annotations

import json
from typing import Any

try:
    import orjson
except ImportError:
    orjson = None  # type: ignore[assignment]


def loads(data: bytes) -> Any:
    """The value. Raises ValueError, RecursionError where it is nested too deep."""
    return json.loads(data) if orjson is None else orjson.loads(data)


def dumps(value: Any) -> bytes:
    """As bytes, without spaces. Raises ValueError for what is nested too deep to be written."""
    try:
        if orjson is None:
            return json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode()
        return orjson.dumps(value)
    except (TypeError, RecursionError) as error:  # orjson reads deeper than it writes
        raise ValueError("nested too deep") from error
