"""The parts of a request that name rows of tables, looked up."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.engines import Engine
from fwctl.fit.precision import Precision


class Setting(NamedTuple):
    """Precision, KV precision and engine of a request."""

    precision: Precision
    kv: str
    engine: Engine
