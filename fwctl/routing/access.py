"""Who may use the proxy, and which of a client's headers go on."""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable, Mapping
from hashlib import sha256

# Sent on to targets. Everything else stays here: authorization and cookies are the proxy's business,
# and hop-by-hop headers belong to one connection.
SENT_ON = ("x-session-affinity", "x-request-id", "traceparent", "tracestate", "openai-beta")
# What a client calls a kind of request, for the trace log; never sent on.
KIND_HEADER = "x-fwctl-type"


class Keys:
    """The keys of clients. Compared by digest, all of them every time, so that timing tells nothing."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._digests = [sha256(key.encode()).digest() for key in keys]

    @property
    def any(self) -> bool:
        return bool(self._digests)

    def allow(self, headers: Mapping[str, str]) -> bool:
        """True for a known key in `Authorization: Bearer` or `x-api-key`; always where no key is set."""
        if not self._digests:
            return True
        scheme, _, token = headers.get("authorization", "").partition(" ")
        given = token.strip() if scheme.lower() == "bearer" else headers.get("x-api-key", "")
        digest = sha256(given.encode("utf-8", "surrogateescape")).digest()
        matches = [hmac.compare_digest(digest, known) for known in self._digests]
        return any(matches)


def is_loopback(host: str) -> bool:
    """True for an address that only this machine reaches."""
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def sent_on(headers: Mapping[str, str], more: tuple[str, ...]) -> dict[str, str]:
    """The client's headers that targets receive, lower case."""
    return {name: value for name in (*SENT_ON, *more) if (value := headers.get(name)) is not None}
