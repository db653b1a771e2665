"""Which limit a 429 came from: the deployment's own, or the one that the whole account shares.

Source: documentation of rate limits and of dedicated deployments, November 2026. The account's limit
comes with `x-ratelimit-*` headers that say so; a deployment at its concurrency names itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

_ACCOUNT = re.compile(rb"rate.?limit|requests per minute|\bRPM\b|\baccount\b", re.IGNORECASE)
_DEPLOYMENT = re.compile(rb"concurren|deployment\b.{0,80}\b(limit|capacity|overload|saturat)", re.IGNORECASE)


def limited_by(status: int, headers: Mapping[str, str], body: bytes) -> str | None:
    """`deployment` or `account` for a 429 that says so, else None."""
    if status != 429:
        return None
    given = {name.lower(): value.lower() for name, value in headers.items()}
    if given.get("x-ratelimit-over-limit") == "yes" or given.get("x-ratelimit-remaining-requests") == "0":
        return "account"
    if _DEPLOYMENT.search(body):
        return "deployment"
    return "account" if _ACCOUNT.search(body) else None
