"""Something else than processes of this machine that can make the load of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from fwctl.measure.part import Made, Part
from fwctl.measure.workers import Idle, OnRow


class Maker(Protocol):
    """One process or machine of several that make the load together."""

    def to_json(self) -> dict[str, Any]:
        """Its part of `nodes` in summary.json."""


class Engine(Protocol):
    """It appends records to the file of a part, whoever makes them."""

    @property
    def name(self) -> str:
        """What summary.json calls it."""

    @property
    def nodes(self) -> Sequence[Maker]:
        """Who makes the load."""

    @property
    def lost(self) -> list[str]:
        """Makers that went away during the run, in words; the run is then incomplete."""

    @property
    def selftest(self) -> Mapping[str, Any] | None:
        """The worst of its makers, None when none was made there."""

    def reasons(self) -> list[str]:
        """Why the run is invalid by what each maker is able to."""

    def perform(self, part: Part, made: Made, *, on_row: OnRow, idle: Idle) -> None:
        """Make one level to its end or to Ctrl-C. Raises FwctlError when it cannot."""
