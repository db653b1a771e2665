"""How long starts took, kept in the history file for predictions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from fwctl.records.history_file import change, rows

_SCHEMA = """
CREATE TABLE IF NOT EXISTS starts (
  time TEXT NOT NULL, deployment_id TEXT NOT NULL, model TEXT NOT NULL, shape TEXT NOT NULL,
  accelerator TEXT NOT NULL, region TEXT NOT NULL, ready_s REAL NOT NULL);
"""


HISTORY_NAME = "history.db"


@dataclass(frozen=True, slots=True)
class Start:
    """One start-up: seconds from the accepted call to READY."""

    time: datetime
    deployment_id: str
    model: str
    shape: str
    accelerator: str
    region: str
    ready_s: float


class History:
    """`path` is `HISTORY_NAME` in `.fwctl/`; it is created at the first record."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def record_start(self, start: Start) -> None:
        row = (start.time.isoformat(), *(getattr(start, name) for name in Start.__slots__[1:]))
        change(self._path, _SCHEMA, ("INSERT INTO starts VALUES (?,?,?,?,?,?,?)", [row]))

    def start_times_s(self, *, model: str, accelerator: str | None = None, limit: int = 100) -> list[float]:
        """Seconds to READY of earlier starts of this model, newest first."""
        found = rows(
            self._path,
            "SELECT ready_s FROM starts WHERE model = ? AND (? IS NULL OR accelerator = ?)"
            " ORDER BY time DESC LIMIT ?",
            (model, accelerator, accelerator, limit),
        )
        return [value for (value,) in found if isinstance(value, float)]
