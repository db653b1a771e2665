"""JSON as bytes, as fast as it goes."""

from __future__ import annotations

import json
from typing import Any

try:
    from orjson import dumps as _fast
except ImportError:
    _fast = None  # type: ignore[assignment]


def dumps(value: Any) -> bytes:
    """UTF-8, or ASCII with escapes where a text is no Unicode, such as half of a surrogate pair."""
    if _fast is not None:
        try:
            return _fast(value)
        except TypeError:
            pass
    return json.dumps(value).encode()
