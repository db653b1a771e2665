"""The marker that a change leaves behind, and what about the present one has to move."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fwctl.catalog.field import Effect
from fwctl.live.marker import TAG_PREFIX, digests, format_tags
from fwctl.live.model import LiveDeployment, Marker
from fwctl.live.normalise import all_tags
from fwctl.planning.context import Context
from fwctl.planning.desired import Desired
from fwctl.planning.model import FieldChange


def next_marker(context: Context, desired: Desired, live: LiveDeployment | None) -> Marker:
    """The marker after the entry's values have been applied; a hold that has ended is dropped."""
    entry = desired.entry
    old = live.marker if live else None
    salt = context.salt(entry.name)
    hold = old.hold_until if old else None
    digest, each = digests(desired.values, salt)
    return Marker(
        stack=context.spec.stack,
        name=entry.name,
        protect=entry.protected,
        hold_until=hold if hold and hold > context.now else None,
        expires=old.expires if old else context.options.expires,
        attempt=old.attempt if old else 0,
        tagged=context.caps.has_tags,
        digest=digest,
        field_digests=each if context.caps.has_tags else {},
    )


def owner_text(marker: Marker | None) -> str | None:
    return f"{marker.stack}/{marker.name}" if marker else None


def marker_changes(desired: Desired, old: Marker | None, new: Marker) -> tuple[FieldChange, ...]:
    """What of the marker moves for its own sake: owner, protection and role, not the digests."""
    entry = desired.entry
    rows = (
        ("marker.owner", owner_text(old), owner_text(new), ""),
        ("marker.protect", old.protect if old else False, new.protect, "lifecycle.prevent_destroy"),
        ("marker.role", old.role if old else None, new.role, ""),
    )
    return tuple(
        FieldChange(path, before, after, Effect.NONE, source=entry.position_of(source))
        for path, before, after, source in rows
        if before != after
    )


def unfinished(live: LiveDeployment, new: Marker) -> bool:
    """True when an earlier apply wrote the values and the text marker but died before the tags."""
    old = live.marker
    if old is None or not old.tagged or not new.tagged or old.digest != new.digest:
        return False
    have = {key: value for key, value in all_tags(live).items() if key.startswith(TAG_PREFIX)}
    return have != format_tags(replace(old, field_digests=new.field_digests))


def hold_end(context: Context, desired_own: Any, live: LiveDeployment | None) -> Any:
    """End of the hold in force, from the spec or the marker, None when there is none."""
    from datetime import UTC, datetime

    ends = []
    text = desired_own.get("lifecycle.hold_until")
    if text:
        end = datetime.fromisoformat(str(text))
        ends.append(end if end.tzinfo else end.replace(tzinfo=UTC))
    if live is not None and live.marker is not None and live.marker.hold_until is not None:
        ends.append(live.marker.hold_until)
    return max((end for end in ends if end > context.now), default=None)


def marked(marker: Marker, **changes: Any) -> Marker:
    return replace(marker, **changes)
