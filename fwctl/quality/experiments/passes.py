"""The passes of an experiment: the suite through all candidates at once, several times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fwctl.errors import InterruptedByUserError
from fwctl.measure.suite import Suite
from fwctl.quality.experiments import cost
from fwctl.quality.experiments.ledger import Ledger
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.state import TRIES, Phase, Round
from fwctl.quality.experiments.world import World
from fwctl.units import format_usd


@dataclass(frozen=True, slots=True)
class Passes:
    """Measures what the state does not have yet. folder: of this run's records. most_usd_per_hour: of all
    candidates at their most replicas."""

    experiment: Experiment
    suite: Suite
    world: World
    ledger: Ledger
    folder: Path
    most_usd_per_hour: float

    def measure(self) -> tuple[Phase, str] | None:
        """Every pass that is missing; where it leads and why when it had to end, None when all are done."""
        for number in range(self._passes_done() + 1, self.experiment.load.repeat + 1):
            if reason := self._too_dear(number):
                return Phase.CAPPED, reason
            if early := self._one(number):
                return early
            self.world.reached(f"pass {number}")
        return None

    def _passes_done(self) -> int:
        """Good passes, and bad ones that were tried often enough."""
        return len({row.folder.partition("-try-")[0] for row in self.ledger.state.counted})

    def _too_dear(self, number: int) -> str:
        """A pass that was measured before tells what the next costs; the first is watched while it runs."""
        known = [row.seconds for row in self.ledger.state.rounds]
        limits = [prompt.body.get("max_tokens") for prompt in self.suite.prompts()]
        seconds = cost.round_s(self.experiment.load, limits, known)
        usd = self.most_usd_per_hour * seconds / 3600
        spent, cap = self.ledger.state.spending.usd, self.ledger.state.cap_usd
        of = f"pass {number} of {self.experiment.load.repeat}"
        self.world.say(f"{of}: predicted {seconds:,.0f} s and {format_usd(usd)}")
        if known and spent + usd > cap:
            return (
                f"pass {number} would bring the cost from {format_usd(spent)} to {format_usd(spent + usd)}, "
                f"above the spend cap of {format_usd(cap)}"
            )
        return ""

    def _one(self, number: int) -> tuple[Phase, str] | None:
        tried = [row for row in self.ledger.state.rounds if row.folder.startswith(f"pass-{number}-try-")]
        for trial in range(len(tried) + 1, TRIES + 1):
            name = f"pass-{number}-try-{trial}"
            began_s = self.world.clock.monotonic()
            with self.ledger.watching():
                summary = self.world.measure(
                    self.experiment, self.ledger.state.candidates, self.folder / name, number
                )
            seconds = self.world.clock.monotonic() - began_s
            if self.ledger.over:
                return Phase.CAPPED, self.ledger.over
            if given_up := summary.get("given_up"):
                return Phase.STOPPED, "; ".join(given_up.values())
            if summary["interrupted"]:
                raise InterruptedByUserError(
                    "the experiment was interrupted",
                    next_steps=[
                        "run it again: it goes on from here",
                        f"fwctl experiment stop {self.experiment.name}",
                    ],
                )
            reasons = tuple(str(item) for item in summary["invalid_reasons"])
            row = Round(name, seconds, bool(summary["valid"]), reasons, _replicas(summary))
            self.ledger.write(rounds=(*self.ledger.state.rounds, row))
            if row.valid:
                break
            self.world.say(f"{name} does not count: {'; '.join(reasons)}")
        return None


def _replicas(summary: Mapping[str, Any]) -> dict[str, int]:
    """The most ready replicas of each candidate that were seen during a pass."""
    most: dict[str, int] = {}
    for sample in summary.get("replicas") or ():
        for name, count in sample["ready"].items():
            most[name] = max(most.get(name, 0), int(count))
    return most
