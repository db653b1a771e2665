"""What the warm-up saw: the first wave on a cold engine belongs in no percentile, but is worth knowing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any


class WarmUp:
    """Counts unmeasured records by target while they pass on their way to the summary."""

    def __init__(self) -> None:
        self.by_target: dict[str, dict[str, Any]] = {}

    def passing(self, rows: Iterable[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
        """The same rows."""
        for row in rows:
            if not row["measured"]:
                self._count(row)
            yield row

    def _count(self, row: Mapping[str, Any]) -> None:
        found = self.by_target.setdefault(row["target"], {"n": 0, "failed": 0, "slowest_ttft_s": None})
        found["n"] += 1
        found["failed"] += row["error_class"] is not None
        if row["ttft_s"] is not None:
            found["slowest_ttft_s"] = max(row["ttft_s"], found["slowest_ttft_s"] or 0.0)
