"""A change that must not happen: what stands in its way, and nothing left to run."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from fwctl.errors import Diagnostic
from fwctl.planning.model import Change


def blocked(change: Change, problems: Iterable[Diagnostic]) -> Change:
    """The change with what stands in its way; it keeps its fields and loses its calls."""
    causes = (*change.blocked_by, *problems)
    if not causes:
        return change
    return replace(
        change,
        actions=("blocked",),
        reason=causes[0].message,
        blocked_by=causes,
        commands=(),
        steps=(),
    )
