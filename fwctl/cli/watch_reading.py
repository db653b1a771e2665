"""What a watch reads at each look: live deployments, the metrics page, and what seldom changes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.metrics_page import MetricsPage
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.prices import price_list
from fwctl.cli.session import Session
from fwctl.errors import FwctlError
from fwctl.operate.daily_requests import last_requests, number
from fwctl.records.history import HISTORY_NAME, History

if TYPE_CHECKING:
    from fwctl.operate.rules_speculation import Window
    from fwctl.operate.watch import Look
    from fwctl.spec.model import Spec

QUOTAS_EVERY_S, TRAFFIC_EVERY_S = 600.0, 3600.0
TRAFFIC_DAYS = 8  # a day more than the platform waits before it deletes an idle deployment
TAIL_BYTES = 8 * 2**20


@dataclass(slots=True)
class Sources:
    """Everything a look needs. records: files for the rules about drafts."""

    call: Call
    session: Session
    spec: Spec | None
    metrics: MetricsPage
    records: tuple[Path, ...] = ()
    tested: Mapping[str, int] = field(default_factory=dict)
    _limit: float | None = None
    _last_requests: Mapping[str, datetime] = field(default_factory=dict)
    _read_at: dict[str, float] = field(default_factory=dict)

    def look(self) -> Look:
        """One look. Raises what `firectl` raises when live state cannot be read."""
        from fwctl.live.normalise import normalise_deployment
        from fwctl.operate.watch import Look

        rows = self.session.firectl.list_deployments(show_deleted=False)
        live = {item.deployment_id: item for item in map(normalise_deployment, rows)}
        self.metrics.refresh()
        now = self.call.env.clock.now()
        self._slowly("quotas", QUOTAS_EVERY_S, self._read_limit)
        self._slowly("traffic", TRAFFIC_EVERY_S, self._read_traffic)
        return Look(
            now=now,
            account=self.session.account,
            deployments=live,
            spec=self.spec,
            prices=price_list(self.call, self.spec),
            metrics_wanted=self.metrics.url is not None,
            page=self.metrics.page,
            page_at=self.metrics.at,
            page_error=self.metrics.error,
            requests_per_minute_limit=self._limit,
            last_requests={
                id_: self._last_requests.get(id_, _earliest(item.created, now))
                for id_, item in live.items()
                if "traffic" in self._read_at
            },
            typical_starts=self._starts({str(item.fields.get("model")) for item in live.values()}),
            tested=self.tested,
            speculation=self._speculation(now),
        )

    def _slowly(self, what: str, every_s: float, read: Callable[[], None]) -> None:
        """Read again what seldom changes. A read that fails leaves what was known."""
        now = self.call.env.clock.monotonic()
        if what in self._read_at and now - self._read_at[what] < every_s:
            return
        try:
            read()
        except FwctlError as error:
            self.call.output.message(f"{what} could not be read: {error.message}")
            return
        self._read_at[what] = now

    def _read_limit(self) -> None:
        for row in self.session.firectl.list_quotas():
            if str(row.get("name", "")).rsplit("/", 1)[-1] == "requests-per-minute":
                self._limit = number(row.get("value"))

    def _read_traffic(self) -> None:
        since = self.call.env.clock.now().date() - timedelta(days=TRAFFIC_DAYS)
        self._last_requests = last_requests(self.session.requests_by_day(since))

    def _starts(self, models: set[str]) -> dict[str, float]:
        history = History(self.call.env.cwd / STATE_FOLDER / HISTORY_NAME)
        found = {model: history.start_times_s(model=model, limit=20) for model in models}
        return {model: max(times) for model, times in found.items() if times}

    def _speculation(self, now: datetime) -> Mapping[str, Mapping[str, Window]]:
        if not self.records:
            return {}
        from fwctl.operate.rules_speculation import windows

        return windows((row for path in self.records for row in tail(path)), now)


def _earliest(created: datetime | None, now: datetime) -> datetime:
    """The last moment of traffic of a deployment that had none in the days that were read: not after
    that, and not before it was there."""
    earliest = now - timedelta(days=TRAFFIC_DAYS)
    return max(created, earliest) if created else earliest


def tail(path: Path) -> list[dict[str, Any]]:
    """JSON objects of the last lines of a file; a line that is none is left out, a missing file is empty."""
    import json

    try:
        if not path.is_file():
            return []
        with path.open("rb") as file:
            size = file.seek(0, 2)
            file.seek(max(0, size - TAIL_BYTES))
            lines = file.read(TAIL_BYTES).splitlines()
    except OSError:
        return []
    found = []
    for line in lines[1:] if size > TAIL_BYTES else lines:
        try:
            row = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(row, dict):
            found.append(row)
    return found
