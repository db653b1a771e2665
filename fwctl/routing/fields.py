"""What a file of `kind: Routes` may say, as tables."""

from __future__ import annotations

from fwctl.catalog.field import Field, Kind
from fwctl.inference.client import FIREWORKS_URL

TIMEOUTS: tuple[Field, ...] = (
    Field("timeouts.connect", Kind.DURATION, "To connect.", example="2s"),
    Field("timeouts.first_token", Kind.DURATION, "From sending to the first content.", example="10s"),
    Field("timeouts.idle", Kind.DURATION, "Between two reads of a stream.", example="15s"),
)
ROUTE: tuple[Field, ...] = (
    *TIMEOUTS,
    Field("timeouts.total", Kind.DURATION, "For the request, over all attempts.", example="120s"),
    Field("retry.max_attempts", Kind.INT, "Attempts a request.", minimum=1, maximum=10, example=3),
    Field("retry.budget", Kind.TEXT, "Extra attempts as a share of requests.", example="10%"),
    Field("retry.floor", Kind.TEXT, "Extra attempts that are always allowed.", example="10/s"),
    Field("breaker.window", Kind.DURATION, "How far back it looks.", example="30s"),
    Field("breaker.min_requests", Kind.INT, "Fewest requests.", minimum=1, maximum=100_000, example=20),
    Field("breaker.failure_ratio", Kind.NUMBER, "Share that failed.", minimum=0.01, maximum=1, example=0.5),
    Field("breaker.open_for", Kind.DURATION, "First time it stays open.", example="10s"),
    Field("breaker.max_open_for", Kind.DURATION, "Longest time it stays open.", example="5m"),
    Field("breaker.probes", Kind.INT, "Good probes in a row to close.", minimum=1, maximum=100, example=3),
    Field("breaker.first_token_slo", Kind.DURATION, "p95 above it: stands back.", example="3s"),
    Field("hedge.after", Kind.TEXT, "A quantile of first-token times, or a duration.", example="p95"),
    Field("hedge.budget", Kind.TEXT, "Second requests as a share of requests.", example="2%"),
    Field("report_model", Kind.TEXT, "Model name in answers: target or route.", example="target"),
)
# `targets` of a route and `api_key` of a target are read apart.
TARGET: tuple[Field, ...] = (
    *TIMEOUTS,
    Field("name", Kind.TEXT, "What headers and metrics call it.", example="eu"),
    Field("deployment", Kind.TEXT, "Logical name of a deployment of the specs.", example="chat-prod"),
    Field("model", Kind.TEXT, "Model string that is sent.", example="accounts/fireworks/models/m"),
    Field("base_url", Kind.TEXT, "OpenAI-compatible server, up to /v1.", example=FIREWORKS_URL),
    Field("account", Kind.TEXT, "Who pays, where it is not the file's account.", example="acme"),
    Field("region", Kind.TEXT, "Where it runs; for warnings about a shared fate.", example="EUROPE"),
    Field("weight", Kind.NUMBER, "Share of traffic; 0: only as a fallback.", minimum=0, example=1),
    Field("lacks", Kind.NAMES, "Capabilities that it does not have.", example=["prediction"]),
    Field("context_length", Kind.INT, "Longest context in tokens.", minimum=1, example=131072),
)
SETTINGS: tuple[Field, ...] = (
    Field("base_url", Kind.TEXT, "Server of targets that name none.", example=FIREWORKS_URL),
    Field("outputs", Kind.TEXT, "File of model strings that an apply wrote.", example="models.json"),
    Field("client_keys", Kind.SECRETS, "Keys that clients may use.", example=["${env:ROUTER_KEY}"]),
    Field("keep_headers", Kind.NAMES, "More client headers that are sent on.", example=["x-request-id"]),
    Field("max_body_mib", Kind.INT, "Largest request in MiB.", minimum=1, maximum=1024, example=16),
    Field("trace.file", Kind.TEXT, "Log of requests and answers.", example="traces.jsonl"),
    Field("trace.share", Kind.TEXT, "Share of requests that it holds.", example="1%"),
    Field("drain.delay", Kind.DURATION, "How long to accept after SIGTERM.", example="5s"),
    Field("drain.limit", Kind.DURATION, "How long answers may take after that.", example="2m"),
)
# What a request can need and a target can lack, and what happens then (docs/routing.md).
CAPABILITIES: tuple[str, ...] = (
    "prediction",
    "json_schema",
    "json_object",
    "grammar",
    "tools",
    "vision",
    "logprobs",
    "n",
)
