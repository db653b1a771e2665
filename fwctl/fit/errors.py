"""What goes wrong when numbers cannot be trusted."""

from __future__ import annotations


class FitError(ValueError):
    """A value that cannot be used. `field` names it, `reason` says why."""

    def __init__(self, field: str, reason: str) -> None:
        super().__init__(f"{field}: {reason}")
        self.field = field
        self.reason = reason


class ArchitectureError(FitError):
    """A model config whose memory cannot be computed: a field is missing, malformed or not understood."""


class RequestError(FitError):
    """A question that makes no sense, such as zero accelerators or an unknown precision."""
