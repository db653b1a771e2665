"""The passes of an experiment: the suite through all candidates at once, several times; then the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fwctl.errors import InterruptedByUserError
from fwctl.measure.lines import read_rows
from fwctl.quality import experiment_cost as cost
from fwctl.quality.experiment_candidates import candidate_of, own
from fwctl.quality.experiment_judge import decide, measured
from fwctl.quality.experiment_quality import compare
from fwctl.quality.experiment_state import TRIES, Round, folder_of
from fwctl.units import format_usd

if TYPE_CHECKING:
    from fwctl.quality.experiment_run import Course

# Of a record; texts of a large suite would fill the memory.
KEPT = ("error_class", "ttft_s", "tpot_s", "total_s", "output_tokens")
RUNS_AS = ("shape", "accelerator.type", "accelerator.count", "precision")

Rows = dict[str, list[Mapping[str, Any]]]


class Passes:
    """Measures what the state does not have yet."""

    def __init__(self, course: Course) -> None:
        self.course = course
        self.experiment = course.experiment
        self.world = course.world
        self.folder = folder_of(course.root, course.state.name) / course.state.run

    def measure(self) -> str:
        """Every pass that is missing; why it had to end, empty when all are done."""
        for number in range(self._passes_done() + 1, self.experiment.load.repeat + 1):
            reason = self._too_dear(number) or self._one(number)
            if reason:
                return reason
            self.world.reached(f"pass {number}")
        return ""

    def _passes_done(self) -> int:
        """Good passes, and bad ones that were tried often enough."""
        return len({row.folder.partition("-try-")[0] for row in self.course.state.counted})

    def _too_dear(self, number: int) -> str:
        """A pass that was measured before tells what the next costs; the first is watched while it runs."""
        known = [row.seconds for row in self.course.state.rounds]
        limits = [prompt.body.get("max_tokens") for prompt in self.course.suite.prompts()]
        seconds = cost.round_s(self.experiment.load, limits, known)
        usd = self.course.most_usd_per_hour() * seconds / 3600
        spent, cap = self.course.state.spending.usd, self.course.state.cap_usd
        of = f"pass {number} of {self.experiment.load.repeat}"
        self.world.say(f"{of}: predicted {seconds:,.0f} s and {format_usd(usd)}")
        if known and spent + usd > cap:
            return (
                f"pass {number} would bring the cost from {format_usd(spent)} to {format_usd(spent + usd)}, "
                f"above the spend cap of {format_usd(cap)}"
            )
        return ""

    def _one(self, number: int) -> str:
        tried = [row for row in self.course.state.rounds if row.folder.startswith(f"pass-{number}-try-")]
        for trial in range(len(tried) + 1, TRIES + 1):
            name = f"pass-{number}-try-{trial}"
            began_s = self.world.clock.monotonic()
            with self.course.watching():
                summary = self.world.measure(
                    self.experiment, self.course.state.candidates, self.folder / name, number
                )
            seconds = self.world.clock.monotonic() - began_s
            if self.course.pause():
                return self.course.pause()
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
            self.course.set_rounds([*self.course.state.rounds, row])
            if row.valid:
                break
            self.world.say(f"{name} does not count: {'; '.join(reasons)}")
        return ""

    def rows(self) -> Rows:
        """What is compared of the measured records of every candidate, over all passes."""
        found: Rows = {name: [] for name in self.experiment.candidates}
        for row in self.course.state.counted:
            for record in read_rows(self.folder / row.folder / "records.jsonl"):
                if record["measured"] and record["target"] in found:
                    found[record["target"]].append({key: record.get(key) for key in KEPT})
        return found

    def decide(self) -> dict[str, Any]:
        """The comparison and its outcome as JSON."""
        rows, counted = self.rows(), self.course.state.counted
        folders = [self.folder / row.folder for row in counted]
        quality = compare(self.experiment, folders, self.course.cases, self.course.means)
        items = [
            measured(
                self.experiment, name, rows[name], usd_per_hour=self._hourly(name), quality=quality[name]
            )
            for name in self.experiment.candidates
        ]
        runs_as = self._runs_as()
        invalid = [reason for row in counted if not row.valid for reason in row.reasons]
        found = decide(items, self.experiment.baseline, invalid)
        return {
            "winner": found.winner,
            "reason": found.reason,
            "tied": list(found.tied),
            "candidates": [{**item.to_json(), "runs_as": runs_as.get(item.name, {})} for item in items],
        }

    def _runs_as(self) -> dict[str, dict[str, Any]]:
        """What the platform made of each candidate: hardware and precision that a shape decides."""
        spec = self.experiment.spec
        live = self.world.live(spec)
        return {
            candidate_of(item): {path: item.fields[path] for path in RUNS_AS if path in item.fields}
            for item in own(live.deployments, spec.stack, self.experiment.name)
        }

    def _hourly(self, name: str) -> float | None:
        """Dollars an hour of the most replicas that a candidate had."""
        price = self.course.state.usd_per_hour.get(name)
        most = max([1, *(row.replicas.get(name, 1) for row in self.course.state.counted)])
        return None if price is None else price * most


def _replicas(summary: Mapping[str, Any]) -> dict[str, int]:
    """The most ready replicas of each candidate that were seen during a pass."""
    most: dict[str, int] = {}
    for sample in summary.get("replicas") or ():
        for name, count in sample["ready"].items():
            most[name] = max(most.get(name, 0), int(count))
    return most
