"""Which live deployment a spec entry means, and which live deployments are this stack's own.

The marker decides first, the deployment ID second, so that a deployment replaced under another ID is
still found, and a deployment made by hand is found but not taken for one's own.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from fwctl.live.model import LiveDeployment
from fwctl.spec.model import Deployment

LEAVING = ("DELETED", "DELETING")
IN_FLIGHT = ("CREATING", "UPDATING", "DELETING")
NEXT = "next"
SWITCHED = "switched"  # step of a replacement: the new deployment serves the logical name


@dataclass(frozen=True, slots=True)
class Match:
    """What one spec entry stands for.

    current: the deployment that serves the logical name (None: to be created). next: the new one of a
    replacement in progress. retiring: the old one of a replacement that has switched to `current`.
    holder: a deleted deployment that still holds the ID. rivals: two or more candidates for one role,
    which nobody but a person can decide between.
    """

    current: LiveDeployment | None = None
    next: LiveDeployment | None = None
    retiring: LiveDeployment | None = None
    holder: LiveDeployment | None = None
    rivals: tuple[LiveDeployment, ...] = ()


@dataclass(frozen=True, slots=True)
class Matches:
    """by_name: one match for each spec entry. orphans: this stack's marked deployments that no entry
    means, by logical name. managed: every live deployment marked for this stack. candidates: what an
    experiment of this stack made; apart from the rest, because no spec ever lists it."""

    by_name: Mapping[str, Match]
    orphans: Mapping[str, tuple[LiveDeployment, ...]]
    managed: tuple[LiveDeployment, ...]
    candidates: tuple[LiveDeployment, ...] = ()


def is_candidate(item: LiveDeployment, stack: str | None = None) -> bool:
    """True for a deployment that an experiment made and that is not on its way out: its marker has an
    end. stack: only of this stack."""
    marker = item.marker
    if marker is None or marker.expires is None or item.state in LEAVING:
        return False
    return stack is None or marker.stack == stack


def has_expired(item: LiveDeployment, now: datetime) -> bool:
    """True for an experiment's deployment whose time has passed; any run of its stack may delete it."""
    marker = item.marker
    return is_candidate(item) and marker is not None and marker.expires is not None and marker.expires <= now


def match(
    deployments: Iterable[Deployment],
    live: Mapping[str, LiveDeployment],
    stack: str,
    *,
    experiment: bool = False,
) -> Matches:
    """Pairs spec entries with live deployments; linear in both, independent of their order.

    experiment: the entries are candidates of an experiment. Markers of candidates and of the stack's own
    deployments never stand for one another, whatever their names.
    """
    present = [live[key] for key in sorted(live)]
    candidates = tuple(item for item in present if is_candidate(item, stack))
    marked: dict[str, list[LiveDeployment]] = defaultdict(list)
    for item in present:
        if item.marker is None or item.marker.stack != stack or item.state in LEAVING:
            continue
        if is_candidate(item) == experiment:
            marked[item.marker.name].append(item)
    by_name = {
        entry.name: _match(marked.get(entry.name, []), live.get(entry.deployment_id)) for entry in deployments
    }
    meant = {item.deployment_id for found in by_name.values() for item in (found.current,) if item}
    orphans = {
        name: left
        for name, items in sorted(marked.items())
        if name not in by_name and (left := tuple(i for i in items if i.deployment_id not in meant))
    }
    managed = tuple(item for items in marked.values() for item in items)
    return Matches(by_name, {} if experiment else orphans, managed, candidates)


def _match(marked: list[LiveDeployment], by_id: LiveDeployment | None) -> Match:
    roles = {NEXT: [], None: []}  # type: dict[str | None, list[LiveDeployment]]
    for item in marked:
        roles[NEXT if item.marker and item.marker.role == NEXT else None].append(item)
    holder = by_id if by_id is not None and by_id.state in LEAVING else None
    for candidates in (roles[None], roles[NEXT]):
        if len(candidates) > 1:
            return Match(holder=holder, rivals=tuple(candidates))
    current = next(iter(roles[None]), None)
    following = next(iter(roles[NEXT]), None)
    taken_over = by_id is None or by_id is following or by_id.state in LEAVING
    if current is None and not taken_over:
        current = by_id
    if following is None:
        return Match(current, holder=holder)
    if current is None:  # the old one is gone: the new one serves
        return Match(following, holder=holder)
    if following.marker is not None and following.marker.step == SWITCHED:
        return Match(following, retiring=current, holder=holder)
    return Match(current, following, holder=holder)
