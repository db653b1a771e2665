"""Where requests go, and what a target adds to each of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any
from urllib.parse import urlsplit

from fwctl.inference.client import Timeouts
from fwctl.inference.structured import with_instruction


@dataclass(frozen=True, slots=True)
class Target:
    """One arm of a run. `url` ends before `/chat/completions`; `extra` joins every body.

    predictions: send the `prediction` of a prompt. response_format: instead of the prompt's own.
    schema_in_prompt: tell the model the schema too. deployment: the resource that serves it, where its
    replicas can be watched. usd_per_hour: what it costs with all replicas that run. token_prices: of a
    serverless model, USD per million of `input`, `cached_input` and `output` tokens. slo_s: what goodput
    counts, seconds by metric.
    """

    name: str
    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    extra: Mapping[str, Any] = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    predictions: bool = True
    response_format: Mapping[str, Any] | None = None
    schema_in_prompt: bool = True
    deployment: str | None = None
    usd_per_hour: float | None = None
    api_key_env: str | None = None
    account: str | None = None
    token_prices: Mapping[str, float] = field(default_factory=dict)
    slo_s: Mapping[str, float] = field(default_factory=dict)

    def body(self, prompt: Mapping[str, Any]) -> dict[str, Any]:
        """The JSON body for one prompt; `extra` wins over everything but streaming."""
        body: dict[str, Any] = {"model": self.model, **prompt}
        if not self.predictions:
            body.pop("prediction", None)
        elif isinstance(body.get("prediction"), str):
            body["prediction"] = {"type": "content", "content": body["prediction"]}
        if self.response_format is not None:
            body["response_format"] = dict(self.response_format)
        wanted = body.get("response_format")
        if self.schema_in_prompt and isinstance(wanted, Mapping):
            body["messages"] = with_instruction(body["messages"], wanted)
        if is_fireworks(self.url):
            body["perf_metrics_in_response"] = True
        return {**body, **self.extra, "stream": True, "stream_options": {"include_usage": True}}

    def to_json(self) -> dict[str, Any]:
        """For the file of a run: everything but the key, which travels by the environment."""
        row = asdict(self)
        del row["api_key"]
        return row


def from_json(row: Mapping[str, Any], environ: Mapping[str, str]) -> Target:
    """The target that `to_json` wrote, with its key from the environment."""
    found = {**row, "timeouts": Timeouts(**row["timeouts"])}
    return Target(**found, api_key=environ.get(row["api_key_env"] or ""))


def is_fireworks(url: str) -> bool:
    """True for the platform's own host, the only one that gets its key without being asked."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    return parts.scheme == "https" and (host == "fireworks.ai" or host.endswith(".fireworks.ai"))


def url_problem(url: str) -> str | None:
    """What is wrong with the address of an inference server, None when nothing is. Says nothing of what it
    holds."""
    if (problem := address_problem(url)) is not None:
        return problem
    parts = urlsplit(url)
    if parts.query or parts.fragment:
        return "must not hold a query or fragment"
    return "must end before /chat/completions" if parts.path.endswith("/chat/completions") else None


def address_problem(url: str) -> str | None:
    """The same for an address of any kind, which may have a query."""
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "is not a valid URL"
    if parts.scheme not in ("http", "https") or not host:
        return "must begin with http:// or https:// and name a host"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user or password"
    if any(character.isspace() or not character.isprintable() for character in url):
        return "must not hold spaces"
    return None


def is_key(text: str) -> bool:
    """True for what a header can carry as a key."""
    return text.isascii() and text.isprintable() and text.strip() == text
