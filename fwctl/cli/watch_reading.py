"""What a watch reads at each look: live deployments, the metrics page, and the slower facts beside them."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.keys import key_for
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.prices import price_list
from fwctl.cli.session import Session
from fwctl.env import FIREWORKS_KEY
from fwctl.errors import FwctlError, NetworkError, UsageError
from fwctl.operate.sinks import within
from fwctl.records.history import HISTORY_NAME, History

if TYPE_CHECKING:
    from fwctl.operate.exporter import DeploymentMetrics
    from fwctl.operate.rules_speculation import Window
    from fwctl.operate.watch import Look
    from fwctl.spec.model import Spec

METRICS_URL = "https://api.fireworks.ai/v1/accounts/{account}/metrics"
MOST_A_MINUTE = 6  # docs.fireworks.ai, exporting metrics
PAGE_TIMEOUT_S = 20.0
QUOTAS_EVERY_S, TRAFFIC_EVERY_S = 600.0, 3600.0
TRAFFIC_DAYS = 8  # a day more than the platform waits before it deletes an idle deployment
TAIL_BYTES = 8 * 2**20


@dataclass(slots=True)
class MetricsPage:
    """The exporter's page: fetched politely, kept until the next one. url: None for no metrics at all."""

    call: Call
    url: str | None
    key: str | None
    page: Mapping[str, DeploymentMetrics] | None = None
    at: datetime | None = None
    error: str | None = None
    _asked: deque[float] = field(default_factory=deque)

    def refresh(self) -> None:
        """Fetch the page unless the limit of the platform forbids it. What goes wrong is kept in `error`."""
        if self.url is None or not self._may_ask():
            return
        now = self.call.env.clock.now()
        try:
            self.page, self.at, self.error = self._fetch(self.url, now), now, None
        except FwctlError as error:
            self.error = error.message

    def _may_ask(self) -> bool:
        now = self.call.env.clock.monotonic()
        while self._asked and now - self._asked[0] >= 60.0:
            self._asked.popleft()
        if len(self._asked) >= MOST_A_MINUTE:
            return False
        self._asked.append(now)
        return True

    def _fetch(self, url: str, now: datetime) -> Mapping[str, DeploymentMetrics]:
        from fwctl.hub.http import get
        from fwctl.operate.exporter import LARGEST_BYTES, parse_page

        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        answer = within(
            PAGE_TIMEOUT_S,
            "fwctl metrics page",
            lambda: get(
                url,
                most_bytes=LARGEST_BYTES,
                headers=headers,
                timeout_s=PAGE_TIMEOUT_S / 2,
                total_s=PAGE_TIMEOUT_S,
            ),
        )
        if answer is None:
            raise NetworkError(f"the metrics page did not come within {PAGE_TIMEOUT_S:g} s")
        if answer.status != 200:
            raise NetworkError(f"the metrics page answered HTTP {answer.status}")
        return parse_page(answer.body.decode("utf-8", "replace"), now)


def metrics_page(call: Call, account: str, url: str | None, key_variable: str | None) -> MetricsPage:
    """Where the metrics are. url: of --metrics-url, None for the account's own page. Raises UsageError."""
    from fwctl.measure.target import address_problem

    if url is None:
        known = key_variable or call.env.environ.get(FIREWORKS_KEY)
        if call.settings.firectl == "sim" or not known:
            return MetricsPage(call, None, None)
        url = METRICS_URL.format(account=account)
    elif (problem := address_problem(url)) is not None:
        raise UsageError(f"--metrics-url {problem}")
    return MetricsPage(call, url, key_for(call, url, key_variable, "--metrics-url"))


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
            now,
            self.session.account,
            live,
            self.spec,
            price_list(self.call, self.spec),
            self.metrics.url is not None,
            self.metrics.page,
            self.metrics.at,
            self.metrics.error,
            self._limit,
            {
                id_: self._last_requests.get(id_, _earliest(item.created, now))
                for id_, item in live.items()
                if "traffic" in self._read_at
            },
            self._starts({str(item.fields.get("model")) for item in live.values()}),
            self.tested,
            self._speculation(now),
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
                self._limit = _number(row.get("value"))

    def _read_traffic(self) -> None:
        today = self.call.env.clock.now().date()
        rows = self.session.firectl.deployment_metrics(
            "requests-total",
            start=f"{today - timedelta(days=TRAFFIC_DAYS)}",
            end=f"{today + timedelta(days=1)}",
        )
        self._last_requests = last_requests(rows)

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


def last_requests(rows: list[dict[str, Any]]) -> dict[str, datetime]:
    """By deployment ID the end of the last day with a request, of `deployment-metrics list`."""
    found: dict[str, datetime] = {}
    for row in rows:
        labels, values = row.get("labels"), row.get("values")
        name = str(labels.get("deployment") or "") if isinstance(labels, Mapping) else ""
        times = [
            at
            for point in (values if isinstance(values, list) else [])
            if isinstance(point, Mapping) and _number(point.get("value"))
            if (at := _number(point.get("timestamp"))) is not None
        ]
        if name and times:
            found[name.rsplit("/", 1)[-1]] = datetime.fromtimestamp(max(times), UTC) + timedelta(days=1)
    return found


def _number(value: object) -> float | None:
    try:
        number = float(str(value))
    except ValueError:
        return None
    return number if 0 <= number < 1e11 else None


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
