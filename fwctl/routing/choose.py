"""The order in which targets are asked. Pure and without memory, so that every process agrees.

A session goes to the same target as long as that is willing: its place comes from a weighted rendezvous
hash of the session, so it needs no table, survives restarts, and comes back after an outage.
Source: Mosharraf et al., weighted rendezvous hashing: score = -weight / ln(hash).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from hashlib import blake2b
from math import log
from typing import Any

from fwctl.routing.model import Route, Target
from fwctl.routing.needs import fits

SESSION_HEADER = "x-session-affinity"


def session_of(headers: Mapping[str, str], body: Mapping[str, Any]) -> str | None:
    """What names the session: the header, else `prompt_cache_key`, else `user`."""
    for value in (headers.get(SESSION_HEADER), body.get("prompt_cache_key"), body.get("user")):
        if isinstance(value, str) and value:
            return value
    return None


def in_order(
    route: Route, needs: frozenset[str], session: str | None, chance: Callable[[], float]
) -> list[Target]:
    """Targets that can serve the request, first choice first: those with a weight, shuffled by weight or
    by session, then the others as the file has them."""
    able = [target for target in route.targets if fits(target, needs)]
    weighted = [target for target in able if target.weight]
    if len(weighted) < 2:
        return weighted + [target for target in able if not target.weight]
    scores = {target.name: _score(target, session, chance) for target in weighted}
    weighted.sort(key=lambda target: -scores[target.name])
    return weighted + [target for target in able if not target.weight]


def _score(target: Target, session: str | None, chance: Callable[[], float]) -> float:
    weight = target.weight or 0.0
    if session is None:
        point = chance()
    else:
        digest = blake2b(f"{session}\0{target.name}".encode("utf-8", "surrogatepass"), digest_size=8)
        point = int.from_bytes(digest.digest()) / 2**64
    return -weight / log(min(max(point, 1e-18), 1 - 1e-16))
