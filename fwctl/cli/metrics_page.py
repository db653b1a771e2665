"""The metrics page of the platform: where it is, which key it gets, and how often it may be asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from fwctl.cli.command import Call
from fwctl.cli.keys import key_for
from fwctl.env import FIREWORKS_KEY
from fwctl.errors import FwctlError, NetworkError, UsageError
from fwctl.operate.sinks import within

if TYPE_CHECKING:
    from fwctl.operate.exporter import DeploymentMetrics

METRICS_URL = "https://api.fireworks.ai/v1/accounts/{account}/metrics"
MOST_A_MINUTE = 6  # docs.fireworks.ai, exporting metrics
PAGE_TIMEOUT_S = 20.0


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
