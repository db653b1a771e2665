"""A capacity search from options to its result: who is asked, how, and what is stored."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.bench_capacity_pool import measure_pool
from fwctl.cli.bench_options import own_error
from fwctl.cli.command import Call
from fwctl.cli.eval_options import Arms, targets_of
from fwctl.cli.evidence_files import evidence_folder
from fwctl.cli.evidence_setting import Measured, as_named, measured
from fwctl.cli.keys import server_key
from fwctl.cli.options import duration_s
from fwctl.cli.session import Session, load_specs, require_valid
from fwctl.errors import UsageError
from fwctl.records.evidence import EvidenceRecord, write
from fwctl.spec.model import Deployment, Spec

if TYPE_CHECKING:
    from fwctl.measure.capacity import Capacity, Level, Sizes
    from fwctl.measure.capacity_advice import Proposal
    from fwctl.measure.capacity_run import Setup
    from fwctl.measure.objectives import Objective
    from fwctl.measure.plan import Plan
    from fwctl.measure.suite import Suite
    from fwctl.measure.target import Target


MOST_PER_S = 100_000.0


@dataclass(frozen=True)
class Search:
    """How the search goes, and where its files go."""

    start: Annotated[
        float | None,
        typer.Option("--start", metavar="N", help="First rate, requests a second [from workload.peak_rps]."),
    ] = None
    most: Annotated[float, typer.Option("--most", metavar="N", help="Highest rate that is tried [1000].")] = (
        1000.0
    )
    level_time: Annotated[
        str, typer.Option("--level-time", metavar="TIME", help="Least time to measure one rate [30s].")
    ] = "30s"
    precision: Annotated[
        float, typer.Option("--precision", metavar="X", help="Enclose the limit this closely [0.05].")
    ] = 0.05
    looks: Annotated[
        int, typer.Option("--looks", metavar="N", help="Most runs of one rate while it is open [4].")
    ] = 4
    cache: Annotated[
        str, typer.Option("--cache", metavar="natural|cold", help="What the prompt cache may do [natural].")
    ] = "natural"
    no_selftest: Annotated[
        bool, typer.Option("--no-selftest", help="Do not measure the error of this machine first.")
    ] = False
    kv_pool: Annotated[
        bool,
        typer.Option("--kv-pool", help="Measure the KV pool too: two minutes, and the metrics page."),
    ] = False
    no_evidence: Annotated[
        bool, typer.Option("--no-evidence", help="Do not store the result beside the specs.")
    ] = False
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for the records [a new one].")
    ] = None

    def check(self) -> None:
        """Raises UsageError for what makes no sense, before anything is asked."""
        if not 0 < self.precision < 1:
            raise UsageError("--precision is a share such as 0.05")
        if not 1 <= self.looks <= 100:
            raise UsageError("--looks is a number from 1 to 100")
        if not 0 < self.most <= MOST_PER_S or not (self.start is None or 0 < self.start <= self.most):
            raise UsageError("--start and --most are rates above 0, --start at most --most")
        if duration_s(self.level_time, "--level-time") <= 0:
            raise UsageError("--level-time is longer than nothing")
        if self.cache not in ("cold", "natural"):
            raise UsageError("--cache is cold or natural")


class Work:
    """One call of the command."""

    def __init__(self, call: Call, name: str, arms: Arms, search: Search, suite: Path | None) -> None:
        from fwctl.measure.objectives import objectives_of
        from fwctl.measure.suite import load

        search.check()
        self.call, self.name, self.arms, self.search = call, name, arms, search
        self.paths = arms.specs or []
        self.spec: Spec = require_valid(call, load_specs(call, self.paths))
        self.entry = self._entry()
        self.objectives: tuple[Objective, ...] = objectives_of(self.entry.own)
        if all(item.metric is None for item in self.objectives):
            raise UsageError(
                f"{name} has no objective for a time, so every load would do",
                next_steps=["write slo: {ttft_p95_ms: 800} into its spec entry"],
            )
        self.suite_path = suite or self._suite_of_spec()
        self.suite: Suite = load(call.env.cwd / self.suite_path)
        self.measured: Measured = measured(call, self.paths, self.spec, name, offline=False)

    def _entry(self) -> Deployment:
        found = self.spec.deployments.get(self.name)
        if found is None:
            names = [f"fwctl bench capacity {known}" for known in sorted(self.spec.deployments)][:5]
            raise UsageError(f"{self.name!r} is not in the specs", next_steps=names)
        return found

    def _suite_of_spec(self) -> Path:
        named = self.entry.own.get("slo.at.suite")
        if not named:
            raise UsageError(
                "give --suite FILE, or slo.at.suite in the spec",
                next_steps=["fwctl bench init > prompts.jsonl"],
            )
        at = self.entry.position_of("slo.at.suite")
        beside = Path(at.file).parent / str(named) if at is not None else Path(str(named))
        return beside if (self.call.env.cwd / beside).exists() else Path(str(named))

    @property
    def replicas(self) -> int:
        ready = self.measured.replicas or 0
        if ready < 1:
            raise UsageError(f"{self.name} has no ready replica", next_steps=[f"fwctl wait {self.name}"])
        return ready

    @property
    def start(self) -> float:
        """Half of the peak that the ready replicas would get, so that the first level is likely met."""
        if self.search.start is not None:
            return self.search.start
        peak, most = self.entry.own.get("workload.peak_rps"), self.entry.fields.get("replicas.max") or 1
        return float(peak) / float(most) * self.replicas / 2 if peak else 1.0

    def sizes(self) -> Sizes:
        from fwctl.measure.capacity import Sizes

        search = self.search
        if self.start > search.most:
            raise UsageError(
                f"the search would begin at {self.start:g}/s", next_steps=["--start N, --most N"]
            )
        return Sizes(search.precision, search.looks, min(0.01, self.start), search.most)

    def setup(self, stack: ExitStack) -> Setup:
        from fwctl.measure.capacity_run import Setup
        from fwctl.measure.plan import Cache

        call, search = self.call, self.search
        stamp = f"capacity-{self.name}-{call.env.clock.now():%Y%m%dT%H%M%SZ}"
        folder = call.env.cwd / (search.out or Path("runs") / stamp)
        self.targets = self._targets()
        self.selftest = None if search.no_selftest else own_error(call)
        return Setup(
            self.suite,
            self.targets,
            folder,
            call.env.clock,
            duration_s(search.level_time, "--level-time"),
            Cache(search.cache),
            partial(_processes, self.selftest),
            self.selftest,
            self._ready(stack),
        )

    def _targets(self) -> list[Target]:
        """The deployment itself, unless the options name a mix."""
        from fwctl.inference.client import FIREWORKS_URL
        from fwctl.measure.target import Target

        arms, resource = self.arms, str(self.measured.resource)
        url = arms.target_url or FIREWORKS_URL
        if arms.model:
            return targets_of(self.call, replace(arms, target_url=url))
        if arms.target or arms.targets is not None:
            return targets_of(self.call, arms)
        key = server_key(self.call, url, arms.api_key_env, "--target-url")
        return [Target(self.name, url, resource, key, deployment=resource, api_key_env=arms.api_key_env)]

    def _ready(self, stack: ExitStack) -> Callable[[], int]:
        from fwctl.live.normalise import normalise_deployment, short_id

        session = stack.enter_context(Session(self.call, self.spec.account))
        key = short_id(str(self.measured.resource))
        return lambda: normalise_deployment(session.firectl.get_deployment(key)).replicas.ready

    def body(self, found: Capacity, setup: Setup) -> dict[str, Any]:
        """The document of the command; the result is stored unless the options say otherwise."""
        best, fit = found.best, self._fit()
        proposal = self._proposal(best, fit) if best is not None else None
        results = self._results(found, proposal)
        if best is not None and self.search.kv_pool:
            results |= measure_pool(
                self.call,
                setup,
                best,
                resource=str(self.measured.resource),
                replicas=self.replicas,
                key_variable=self.arms.api_key_env,
                fit=fit,
            )
        stored = self._store(results) if best is not None and not self.search.no_evidence else None
        return {"deployment": self.name, "out": str(setup.folder), **results, "evidence": stored}

    def _fit(self) -> Mapping[str, Any] | None:
        from fwctl.cli.fit_requests import check_specs
        from fwctl.cli.prices import price_list

        alone = replace(self.spec, deployments={self.name: self.entry})
        return check_specs(alone, self.call.env.cwd, price_list(self.call, self.spec))[0].get(self.name)

    def _proposal(self, best: Level, fit: Mapping[str, Any] | None) -> Proposal:
        from fwctl.cli.evidence_fit import conversations_of
        from fwctl.measure.capacity_advice import propose

        return propose(
            best,
            self.replicas,
            peak_rps=self.entry.own.get("workload.peak_rps"),
            conversations=conversations_of(self.spec, {self.name: fit or {}}).get(self.name),
            current=self.entry.fields,
        )

    def _results(self, found: Capacity, proposal: Proposal | None) -> dict[str, Any]:
        rate = found.rate_per_s
        return {
            "rate_per_s": rate,
            "rate_per_s_per_replica": rate / self.replicas if rate is not None else None,
            "missed_per_s": found.missed_per_s,
            "limited_by": found.limited_by,
            "replicas": self.replicas,
            "models": [target.model for target in self.targets],
            "cache": self.search.cache,
            "levels": [level.to_json() for level in found.levels],
            "proposal": dict(proposal.values) if proposal else {},
            "notes": list(proposal.notes) if proposal else [],
            "patch": proposal.yaml(self.name) if proposal else None,
        }

    def _store(self, results: dict[str, Any]) -> str:
        setting = self.measured.setting
        record = EvidenceRecord(
            "capacity",
            setting.model,
            self.call.env.clock.now(),
            precision=setting.precision,
            shape_version=setting.shape_version,
            accelerator=setting.accelerator,
            accelerator_count=setting.accelerator_count,
            region=self.measured.region,
            replicas=self.replicas,
            suite_digest=self.suite.digest,
            suite_file=as_named(self.call, str(self.suite.path)),
            passed=True,
            selftest=self.selftest,
            deployment=self.name,
            results=results,
        )
        folder = evidence_folder(self.call, self.paths, self.spec)
        return (folder / write(self.call.env.cwd / folder, record).name).as_posix()


def _processes(selftest: dict[str, Any] | None, plan: Plan) -> Plan:
    """The plan with the processes that its load needs, at most one a core: the longest answers that a
    prompt allows are rarely given, and a client that was late makes its level invalid."""
    from fwctl.measure.sizing import needed

    return replace(plan, workers=min(needed(plan, selftest), os.cpu_count() or 1))
