"""One look of the watch: live deployments and a metrics page to judged rules and a round of samples. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, cast

from fwctl.catalog.prices import PriceList
from fwctl.live.cost import usd_per_replica_hour
from fwctl.live.identity import LEAVING, match
from fwctl.live.model import LiveDeployment
from fwctl.operate.exporter import DeploymentMetrics
from fwctl.operate.rules import RULES
from fwctl.operate.rules_model import (
    Account,
    AccountTest,
    DeploymentTest,
    Judged,
    Rule,
    Scope,
    Subject,
    label_of,
)
from fwctl.operate.rules_speculation import Window
from fwctl.operate.watch_state import State
from fwctl.records.samples import Round, Sample
from fwctl.spec.model import Deployment, Spec


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that one look saw. page: by deployment ID; None when it was never read. page_at: when it
    was fetched last, error: why not now. last_requests, typical_starts, tested: what is known besides, by
    deployment ID, model and logical name. speculation: as `rules_speculation.windows` returns it."""

    now: datetime
    account: str
    deployments: Mapping[str, LiveDeployment]
    spec: Spec | None
    prices: PriceList
    metrics_wanted: bool = False
    page: Mapping[str, DeploymentMetrics] | None = None
    page_at: datetime | None = None
    page_error: str | None = None
    requests_per_minute_limit: float | None = None
    last_requests: Mapping[str, datetime] = field(default_factory=dict)
    typical_starts: Mapping[str, float] = field(default_factory=dict)
    tested: Mapping[str, int] = field(default_factory=dict)
    speculation: Mapping[str, Mapping[str, Window]] = field(default_factory=dict)


def remember(state: State, look: Look) -> None:
    """Note since when each deployment is in its state, and when it last had traffic."""
    alive = {id_: item for id_, item in look.deployments.items() if item.state not in LEAVING}
    for id_, item in alive.items():
        name, since = state.seen.get(id_, ("", look.now))
        if name != item.state or since > look.now:  # clocks are set back
            fresh = id_ not in state.seen and item.state == "CREATING" and item.created is not None
            state.seen[id_] = (item.state, item.created if fresh and item.created else look.now)
        metrics = _trusted(look, id_)
        if metrics is not None and metrics.requests_per_s:
            state.requests[id_] = look.now
        known = look.last_requests.get(id_)
        if known is not None:
            state.requests[id_] = max(known, state.requests.get(id_, known))
    for kept in (state.seen, state.requests):
        for id_ in [id_ for id_ in kept if id_ not in alive]:
            del kept[id_]


def _trusted(look: Look, deployment_id: str) -> DeploymentMetrics | None:
    """Metrics that are not too old; None otherwise."""
    found = look.page.get(deployment_id) if look.page is not None else None
    return None if found is None or found.stale(look.now) else found


def subjects(look: Look, state: State) -> list[Subject]:
    """Every deployment that is not on its way out, with what is known about it."""
    entries = _entries(look)
    found = []
    for id_, item in sorted(look.deployments.items()):
        if item.state in LEAVING:
            continue
        entry = entries.get(id_)
        name = label_of(item, entry)
        found.append(
            Subject(
                live=item,
                now=look.now,
                entry=entry,
                metrics=_trusted(look, id_),
                state_since=state.seen.get(id_, ("", None))[1],
                typical_start_s=look.typical_starts.get(str(item.fields.get("model"))),
                last_request=state.requests.get(id_),
                tested_replicas=look.tested.get(name),
                usd_per_replica_hour=usd_per_replica_hour(item, look.prices, {}),
                speculation=look.speculation.get(id_) or look.speculation.get(name) or {},
            )
        )
    return found


def _entries(look: Look) -> dict[str, Deployment]:
    if look.spec is None:
        return {}
    spec = look.spec
    pairs = match(spec.deployments.values(), look.deployments, spec.stack).by_name.items()
    return {
        item.deployment_id: spec.deployments[name]
        for name, pair in pairs
        for item in (pair.current, pair.next)
        if item is not None
    }


def account_of(look: Look, found: list[Subject]) -> Account:
    """The account as its own rules see it."""
    metrics = [item.metrics for item in found if item.metrics is not None]
    rates = [item.requests_per_s for item in metrics if item.requests_per_s is not None]
    return Account(
        now=look.now,
        subjects=tuple(found),
        usd_per_hour=_usd_per_hour(found),
        budget_usd_per_hour=look.spec.budget.get("ceiling_usd_per_hour") if look.spec else None,
        requests_per_minute=sum(rates) * 60 if rates else None,
        requests_per_minute_limit=look.requests_per_minute_limit,
        metrics_wanted=look.metrics_wanted,
        metrics_age_s=_page_age_s(look),
        metrics_error=look.page_error,
    )


def _usd_per_hour(found: Iterable[Subject]) -> float | None:
    total = 0.0
    for item in found:
        if item.live.replicas.ready:
            if item.usd_per_replica_hour is None:
                return None
            total += item.usd_per_replica_hour * item.live.replicas.ready
    return total


def _page_age_s(look: Look) -> float | None:
    """Age of the newest sample; of the fetch where the page had none, because nothing is deployed."""
    if look.page is None or look.page_at is None:
        return None
    newest = max((item.at for item in look.page.values()), default=look.page_at)
    return max(0.0, (look.now - newest).total_seconds())


def judge(look: Look, state: State, rules: Iterable[Rule] = RULES) -> list[Judged]:
    """Every rule about every subject, with the thresholds that the rules carry."""
    found = subjects(look, state)
    return list(_judged(look, found, list(rules)))


def _judged(look: Look, found: list[Subject], rules: list[Rule]) -> Iterator[Judged]:
    account = account_of(look, found)
    for rule in rules:
        if rule.scope is Scope.ACCOUNT:
            test = cast(AccountTest, rule.test)
            yield Judged(rule, look.account, look.account, test(account, rule.limits))
            continue
        each = cast(DeploymentTest, rule.test)
        for subject in found:
            yield Judged(rule, subject.live.deployment_id, subject.label, each(subject, rule.limits))


def sample_round(look: Look) -> Round:
    """What `fwctl cost` will count from."""
    rows = [
        _sample(item, _trusted(look, id_))
        for id_, item in sorted(look.deployments.items())
        if item.state != "DELETED"
    ]
    return Round(look.now, look.account, tuple(rows))


def _sample(item: LiveDeployment, metrics: DeploymentMetrics | None) -> Sample:
    counts, gpus = item.replicas, item.fields.get("accelerator.count")
    tags = item.fields.get("tags")
    base = Sample(
        deployment_id=item.deployment_id,
        model=str(item.fields.get("model") or "unknown"),
        accelerator=_text(item.fields.get("accelerator.type")),
        gpus=gpus if isinstance(gpus, int) else None,
        ready=counts.ready,
        starting=counts.pending + counts.downloading + counts.initializing,
        name=item.marker.name if item.marker else None,
        tags={str(key): str(value) for key, value in tags.items()} if isinstance(tags, Mapping) else {},
    )
    if metrics is None:
        return base
    return replace(
        base,
        concurrent=metrics.concurrent,
        requests_per_s=metrics.requests_per_s,
        kv_slots=metrics.kv_slots,
        prompt_per_s=metrics.prompt_per_s,
        generated_per_s=metrics.generated_per_s,
    )


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
