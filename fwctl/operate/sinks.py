"""Where alerts go besides the terminal: webhooks, Slack, Alertmanager. The bodies are pure; `post` sends.

A sink that is down, slow or rude never stops the watch: its events wait in an outbox.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar
from urllib.parse import urlsplit

from fwctl.operate.rules_model import LEVELS
from fwctl.operate.watch_state import RESOLVED, Alert

DEADLINE_S = 10.0
# Alertmanager resolves by itself what is not sent again; three looks may fail.
ALERTMANAGER_FRESH = timedelta(minutes=4)
MOST_WAITING = 1000
MOST_LEFT = 3  # threads that wait for one address and were given up
MOST_AT_ONCE = 50  # events of one delivery; Slack refuses texts over 40,000 characters
Event = Mapping[str, Any]
_T = TypeVar("_T")
Post = Callable[[str, Any], str | None]


@dataclass(frozen=True, slots=True)
class Sink:
    """One sink. kind: of KINDS. url: a secret, except for Alertmanager. name: what messages call it; it
    holds no secret."""

    kind: str
    url: str
    name: str

    @property
    def key(self) -> str:
        """Of its outbox: by its address, so that a file whose sinks were moved sends nothing elsewhere."""
        return f"{self.kind} {hashlib.sha256(self.url.encode()).hexdigest()[:16]}"


def webhook_body(events: Sequence[Event]) -> Any:
    """Generic JSON: the events as they stand in docs/json.md."""
    return {"source": "fwctl watch", "events": [dict(event) for event in events]}


_MARKS = {"error": ":red_circle:", "warning": ":large_yellow_circle:", "note": ":information_source:"}


def slack_body(events: Sequence[Event]) -> Any:
    """A message that Slack and compatible servers take: one line an event."""
    return {"text": "\n".join(_slack_line(event) for event in events)}


def _slack_line(event: Event) -> str:
    name = f"*{_slack(event['rule'])}* {_slack(event['label'])}"
    if event["event"] == RESOLVED:
        return f":white_check_mark: {name} resolved (since {event['since']})"
    more = f"\n> {_slack(event['proposal'])}{_money(event)}" if event.get("proposal") else ""
    mark = _MARKS.get(event["severity"], "")
    return f"{mark} {name}: {_slack(event['evidence'])}\n> {_slack(event['fix'])}{more}"


def _money(event: Event) -> str:
    change = event.get("usd_per_hour_change")
    return "" if change is None else f" ({change:+,.2f} $/h)"


def _slack(text: str) -> str:
    """Slack's three control characters escaped, so that no text becomes a mention or a link."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def alertmanager_body(alerts: Sequence[Alert], resolved: Sequence[Event], now: datetime, account: str) -> Any:
    """Alertmanager API v2: everything that fires, with an end in the near future, and what has ended.

    It is sent again at every look, as Alertmanager wants it; equal labels are one alert there.
    """
    rows = [_alertmanager(alert.to_json(), account, _rfc3339(now + ALERTMANAGER_FRESH)) for alert in alerts]
    return [*rows, *(_alertmanager(event, account, event["at"]) for event in resolved)]


def _alertmanager(row: Event, account: str, ends: str) -> dict[str, Any]:
    return {
        "labels": {
            "alertname": f"fwctl_{row['rule'].replace('-', '_')}",
            "severity": LEVELS.get(row["severity"], "warning"),
            "deployment": row["label"],
            "deployment_id": row["subject"],
            "account": account,
        },
        "annotations": {
            "summary": row["evidence"],
            "description": row["fix"] + (f"; {row['proposal']}{_money(row)}" if row.get("proposal") else ""),
        },
        "startsAt": row["fired"] or row["since"],
        "endsAt": ends,
    }


def _rfc3339(at: datetime) -> str:
    return at.isoformat()


def endpoint(sink: Sink) -> str:
    """The address that is posted to."""
    return sink.url.rstrip("/") + "/api/v2/alerts" if sink.kind == "alertmanager" else sink.url


BODIES: Mapping[str, Callable[[Sequence[Event]], Any]] = {"webhook": webhook_body, "slack": slack_body}
KINDS = (*BODIES, "alertmanager")


def queue(waiting: list[dict[str, Any]], events: Sequence[Event]) -> list[dict[str, Any]]:
    """The outbox with new events; the oldest go when it is full."""
    return [*waiting, *(dict(event) for event in events)][-MOST_WAITING:]


def within(seconds: float, name: str, work: Callable[[], _T]) -> _T | None:
    """The result of `work`, or None when it takes longer: whatever the other side does, the caller goes
    on. What takes longer goes on too; while MOST_LEFT of this name do, no other is begun, so that a side
    that never ends does not gather threads. Raises what `work` raises."""
    if sum(thread.name == name for thread in threading.enumerate()) >= MOST_LEFT:
        return None
    result: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            result.append(work())
        except BaseException as error:  # raised again below, in the thread that waits
            errors.append(error)

    worker = threading.Thread(target=run, name=name, daemon=True)
    worker.start()
    worker.join(seconds)
    if errors:
        raise errors[0]
    return result[0] if result else None


def post(url: str, body: Any, deadline_s: float = DEADLINE_S) -> str | None:
    """Send JSON. None when the sink took it, else why not, without the URL. Never raises, and returns
    within the deadline."""
    why = within(deadline_s, f"fwctl sink {hash(url)}", lambda: _post(url, body, deadline_s))
    return f"no answer within {deadline_s:g} s" if why is None else why or None


def _post(url: str, body: Any, deadline_s: float) -> str:
    """Empty when it was taken."""
    import httpx

    data = json.dumps(body).encode()
    headers = {"content-type": "application/json", "user-agent": "fwctl-watch"}
    try:
        with (
            httpx.Client(timeout=deadline_s / 2, follow_redirects=False) as client,
            client.stream("POST", url, content=data, headers=headers) as answer,
        ):
            return "" if answer.is_success else f"it answered HTTP {answer.status_code}"
    except (httpx.HTTPError, httpx.InvalidURL, OSError, ValueError) as error:
        return f"{type(error).__name__}: {_host(url)} cannot be reached"


def _host(url: str) -> str:
    try:
        return urlsplit(url).hostname or "its host"
    except ValueError:
        return "its host"
