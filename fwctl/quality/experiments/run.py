"""One experiment from its first candidate to its last delete; it goes on wherever an earlier run ended.

Order: create, measure pass by pass, decide, delete. What is done stands in the state file before the next
thing begins, and which candidates exist is read from their markers, so a run may end at any point.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path

from fwctl.errors import RefusedError
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.measure.suite import Suite
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.quality.experiments import cost
from fwctl.quality.experiments.candidates import own, with_ids
from fwctl.quality.experiments.decision import decision
from fwctl.quality.experiments.deletes import remove, require_done
from fwctl.quality.experiments.ledger import Ledger
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.passes import Passes
from fwctl.quality.experiments.quality import cases_of
from fwctl.quality.experiments.state import Phase, Spending, State, folder_of, load
from fwctl.quality.experiments.world import World
from fwctl.spec.model import Spec
from fwctl.units import format_usd


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says beside the file. look_every_s: between two looks at the replicas."""

    allow_unknown_price: bool = False
    delete_all: bool = False
    look_every_s: float = 10.0


class Course:
    """One run of `experiment run`. `prepare` reads and refuses, `go` changes things."""

    def __init__(
        self, experiment: Experiment, world: World, root: Path, suite: Suite, choices: Choices
    ) -> None:
        self.experiment = experiment
        self.world = world
        self.root = root
        self.choices = choices
        self.suite = suite
        self.means = world.means(experiment)
        self.cases = cases_of(experiment, suite, self.means)
        self.digest = experiment.digest(suite.digest)
        self.plan: Plan | None = None
        self.spec: Spec = experiment.spec
        self.ledger = Ledger(world, root, self._new(None), choices.look_every_s)

    @property
    def state(self) -> State:
        """Where it stands."""
        return self.ledger.state

    def prepare(self) -> State:
        """Where it stands, and the plan of what is missing. Raises RefusedError when it may not begin, and
        FwctlError."""
        found = load(self.root, self.experiment.name)
        live = self.world.live(self.experiment.spec)
        mine = own(live.deployments, self.experiment.spec.stack, self.experiment.name)
        if found is None or found.phase in (Phase.CAPPED, Phase.STOPPED):
            self.ledger.state = self._new(mine)
        else:
            self._require_same(found)
            self.ledger.state = found
        if self.state.phase in (Phase.CREATING, Phase.MEASURING) and self.world.clock.now() < self.state.end:
            self._plan(live, mine, lost=found is None)
        return self.state

    def _new(self, mine: Sequence[LiveDeployment] | None) -> State:
        experiment, now = self.experiment, self.world.clock.now()
        end = (now + timedelta(seconds=experiment.time_to_live_s)).replace(second=0, microsecond=0)
        ends = [item.marker.expires for item in mine or () if item.marker and item.marker.expires]
        return State(
            name=experiment.name,
            account=experiment.spec.account,
            stack=experiment.spec.stack,
            run=now.strftime("%Y%m%dT%H%M%SZ"),
            digest=self.digest,
            phase=Phase.CREATING,
            started=now.isoformat(),
            expires=min([*ends, end]).isoformat(),
            cap_usd=experiment.spend_cap_usd,
        )

    def _require_same(self, found: State) -> None:
        stop = f"fwctl experiment stop {found.name}"
        if (found.account, found.stack) != (self.state.account, self.state.stack):
            whose = f"{found.account}, stack {found.stack}"
            raise RefusedError(f"experiment {found.name} runs on account {whose}", next_steps=[stop])
        if found.digest != self.digest:
            raise RefusedError(
                f"{self.experiment.file} or its suite has changed since experiment {found.name} began",
                next_steps=[f"{stop} deletes its candidates; then run it again", "or give it another name:"],
            )

    def _plan(self, live: LiveState, mine: Sequence[LiveDeployment], *, lost: bool) -> None:
        """What has to be created; refuses what is blocked, has no price, or costs too much to start."""
        self.spec = with_ids(self.experiment, live)
        self.plan = self.world.plan(self.spec, live, PlanOptions(expires=self.state.end))
        blocked = [change for change in self.plan.changes if change.blocked]
        if blocked:
            causes = tuple(cause for change in blocked for cause in change.blocked_by)
            steps = list(dict.fromkeys(cause.suggestion for cause in causes if cause.suggestion))
            names = ", ".join(change.name for change in blocked)
            raise RefusedError(f"cannot create {names}", next_steps=steps, diagnostics=causes)
        prices = self._prices(self.plan)
        ids = {name: self._entry_id(name) for name in self.experiment.candidates}
        if self.state.rounds and ids != self.state.candidates:
            self.world.say("candidates had gone and are made again, so everything is measured anew")
            self.ledger.state = replace(self.state, rounds=(), run=self._new(None).run)
        self.ledger.state = replace(self.state, candidates=ids, usd_per_hour=prices)
        if lost and mine:
            usd = cost.since_creation(mine, self.ledger.usd_per_hour_by_id(), self.world.clock.now())
            self.ledger.state = replace(self.state, spending=Spending(usd))
            self.world.say(
                "the bookkeeping is lost; the cost so far is taken as if all had run since creation"
            )
        if any("create" in change.actions for change in self.plan.changes):
            self._require_affordable()

    def _entry_id(self, name: str) -> str:
        return self.spec.deployments[self.experiment.logical(name)].deployment_id

    def _prices(self, plan: Plan) -> dict[str, float | None]:
        """Dollars an hour of one replica of each candidate. RefusedError when one is not known."""
        most = {name: self._most_replicas(name) for name in self.experiment.candidates}
        found: dict[str, float | None] = dict.fromkeys(self.experiment.candidates)
        for change in plan.changes:
            name = change.name.removeprefix(self.experiment.logical(""))
            if name in found and change.cost is not None:
                ceiling = change.cost.ceiling_usd_per_hour
                found[name] = None if ceiling is None else ceiling / most[name]
        unknown = [name for name, price in found.items() if price is None]
        if unknown and not self.choices.allow_unknown_price:
            raise RefusedError(
                f"no price is known for {', '.join(unknown)}, so the spend cap could not be kept",
                next_steps=[
                    "settings.prices: a price list with your contract's prices",
                    "--allow-unknown-price",
                ],
            )
        return found

    def _most_replicas(self, name: str) -> int:
        return max(1, int(self.experiment.entry(name).fields.get("replicas.max", 1)))

    def most_usd_per_hour(self) -> float:
        """All candidates at their most replicas; what has no known price counts nothing."""
        prices = self.state.usd_per_hour
        return sum((prices.get(name) or 0.0) * self._most_replicas(name) for name in prices)

    def start_usd(self) -> float:
        """What it will cost until all candidates answer."""
        models = {str(self.experiment.entry(name).fields.get("model")) for name in self.experiment.candidates}
        known = [self.world.start_s(model) for model in sorted(models)]
        seconds = max((item for item in known if item is not None), default=cost.START_S)
        return self.most_usd_per_hour() * seconds / 3600

    def _require_affordable(self) -> None:
        predicted = self.state.spending.usd + self.start_usd()
        if predicted > self.state.cap_usd and self.state.phase is Phase.CREATING:
            raise RefusedError(
                f"starting the candidates is predicted to bring the cost to {format_usd(predicted)}, "
                f"above the spend cap of {format_usd(self.state.cap_usd)}",
                next_steps=["raise spend_cap, or try fewer or smaller candidates"],
            )

    def go(self) -> State:
        """To the end. Raises FwctlError for what can be gone on with, InterruptedByUserError too."""
        if self.state.phase in (Phase.CREATING, Phase.MEASURING):
            self._create_and_measure()
        if self.choices.delete_all or self.world.clock.now() >= self.state.end:
            self.ledger.write(keep=None)
        self._delete()
        if self.state.phase is Phase.CLOSING:
            self.ledger.write(phase=self.state.ends_as)
        return self.state

    def _create_and_measure(self) -> None:
        if self.world.clock.now() >= self.state.end:
            self._leave(Phase.STOPPED, "time_to_live has ended before the experiment was done")
            return
        assert self.plan is not None
        self.ledger.write()
        self.world.reached("before create")
        with self.ledger.watching():
            result = self.world.apply(self.plan, self.spec, serve=True)
        self.world.reached("created")
        if self.ledger.over:
            self._leave(Phase.CAPPED, self.ledger.over)
            return
        require_done(result, self.state.name)
        self.ledger.write(phase=Phase.MEASURING)
        folder = folder_of(self.root, self.state.name) / self.state.run
        usd_per_hour = self.most_usd_per_hour()
        passes = Passes(self.experiment, self.suite, self.world, self.ledger, folder, usd_per_hour)
        if early := passes.measure():
            self._leave(*early)
            return
        self.world.reached("measured")
        live = self.world.live(self.experiment.spec)
        found = decision(self.experiment, self.state, live, folder, cases=self.cases, means=self.means)
        keep = None if self.choices.delete_all else found["winner"]
        self.ledger.write(
            phase=Phase.CLOSING, ends_as=Phase.DONE, decision=found, keep=keep, reason=found["reason"]
        )
        self.world.reached("decided")

    def _leave(self, ends_as: Phase, reason: str) -> None:
        self.ledger.write(phase=Phase.CLOSING, ends_as=ends_as, keep=None, reason=reason)
        self.world.say(f"{reason}; deleting all candidates")

    def _delete(self) -> None:
        """Delete what is not kept. Each marker is read again right before its delete."""
        self.world.reached("before delete")
        remove(self.world, self.experiment.spec, name=self.state.name, keep=self.state.keep)
        self.world.reached("deleted")
        self.ledger.look(())
