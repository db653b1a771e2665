"""The stable JSON document, one a run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from fwctl.report.layout import Style
from fwctl.report.model import Report


def render(report: Report, style: Style) -> str:  # noqa: ARG001 - the signature all formats share
    """The document in ASCII, so that any locale and any log viewer carries it unchanged."""
    return json.dumps(plain(report.to_json()), indent=2, allow_nan=False) + "\n"


def plain(value: Any) -> Any:
    """JSON types only: infinities become null, sets sorted lists, everything else its text."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, set | frozenset):
        return sorted((plain(item) for item in value), key=str)
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    return str(value)
