"""Why a request failed: one closed list of words that records, the router and gates share."""

from __future__ import annotations

import re
from dataclasses import dataclass
from enum import StrEnum


class ErrorClass(StrEnum):
    """`HARNESS` means that fwctl itself was at fault; everything else is a result about the server."""

    CONNECT = "connect"
    TLS = "tls"
    DNS = "dns"
    TIMEOUT_CONNECT = "timeout_connect"
    TIMEOUT_TTFT = "timeout_ttft"
    TIMEOUT_IDLE = "timeout_idle"
    TIMEOUT_TOTAL = "timeout_total"
    HTTP_3XX = "http_3xx"
    HTTP_400 = "http_400"
    HTTP_401 = "http_401"
    HTTP_402 = "http_402"
    HTTP_403 = "http_403"
    HTTP_404 = "http_404"
    HTTP_413 = "http_413"
    HTTP_422 = "http_422"
    HTTP_4XX = "http_4xx"
    RATE_LIMITED = "rate_limited"
    SCALING_UP = "scaling_up"
    OVERLOADED = "overloaded"
    HTTP_5XX = "http_5xx"
    NOT_A_STREAM = "not_a_stream"
    SSE_ERROR = "sse_error"
    TRUNCATED = "truncated"
    EMPTY = "empty"
    INVALID_JSON = "invalid_json"
    SCHEMA_VIOLATION = "schema_violation"
    LENGTH = "length"
    CONTENT_FILTER = "content_filter"
    CANCELLED = "cancelled"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Failure:
    """A class with a sentence for people. The sentence never holds text of a model."""

    error_class: ErrorClass
    message: str


# What to do about a class; for every other, wait until the server is well.
WAYS_OUT: dict[str, str] = {
    ErrorClass.HTTP_3XX: "the address is another one: check the URL of the target",
    ErrorClass.HTTP_400: "look at messages, response_format and max_tokens of the prompts",
    ErrorClass.HTTP_401: "check the key of the target (`api_key`, --api-key-env)",
    ErrorClass.HTTP_403: "check the key of the target and the account that it belongs to",
    ErrorClass.HTTP_404: "check the model string and the URL of the target",
    ErrorClass.NOT_A_STREAM: "check the URL of the target, and that its server takes `stream: true`",
    ErrorClass.CONNECT: "check the URL of the target, and that its server runs",
    ErrorClass.DNS: "check the URL of the target",
    ErrorClass.TLS: "check the URL of the target and the certificates of this machine",
    ErrorClass.RATE_LIMITED: "lower --concurrency, or raise the limit",
}

_BY_STATUS = {
    400: ErrorClass.HTTP_400,
    401: ErrorClass.HTTP_401,
    402: ErrorClass.HTTP_402,
    403: ErrorClass.HTTP_403,
    404: ErrorClass.HTTP_404,
    413: ErrorClass.HTTP_413,
    422: ErrorClass.HTTP_422,
    429: ErrorClass.RATE_LIMITED,
    503: ErrorClass.OVERLOADED,
    529: ErrorClass.OVERLOADED,
}
_BY_HUNDRED = {3: ErrorClass.HTTP_3XX, 4: ErrorClass.HTTP_4XX}
_SCALING_UP = re.compile(rb"DEPLOYMENT_SCALING_UP")


def from_status(status: int, body: bytes = b"") -> Failure | None:
    """The failure that an HTTP answer means, None for 2xx. `body` tells a cold start from an overload."""
    if 200 <= status < 300:
        return None
    if status == 503 and _SCALING_UP.search(body):
        return Failure(ErrorClass.SCALING_UP, "the deployment is scaling up from zero")
    found = _BY_STATUS.get(status)
    if found is None:
        found = _BY_HUNDRED.get(status // 100, ErrorClass.HTTP_5XX)
    return Failure(found, f"the server answered with HTTP {status}")
