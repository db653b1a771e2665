"""A clock that never sleeps and a platform small enough to reason about."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fwctl.applying.model import Answer, ApplyOptions, ApplyResult, CallResult
from fwctl.applying.run import Run
from fwctl.env import Env
from fwctl.live.marker import join_description, split_description
from fwctl.live.model import LiveDeployment, LiveState, Marker, Replicas
from fwctl.planning.model import Change, Plan, Step
from fwctl.spec.model import Deployment, Spec

START = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"


class FakeClock:
    """Time passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.elapsed_s = 0.0
        self.on_sleep: Callable[[], None] = lambda: None

    def now(self) -> datetime:
        return START + timedelta(seconds=self.elapsed_s)

    def monotonic(self) -> float:
        return self.elapsed_s

    def sleep(self, seconds: float) -> None:
        self.elapsed_s += seconds
        self.on_sleep()


@dataclass
class Fault:
    """The nth call of a verb (from 1) answers with `result`; `effect`: the platform did it all the same."""

    verb: str
    nth: int
    result: CallResult
    effect: bool = False


@dataclass
class FakePlatform:
    """Holds deployments; a write takes `start_reads` reads until it shows READY."""

    live: dict[str, LiveDeployment] = field(default_factory=dict)
    faults: list[Fault] = field(default_factory=list)
    start_reads: int = 1
    answers: list[Answer] = field(default_factory=lambda: [Answer(ok=True)])
    read_errors: dict[int, Exception] = field(default_factory=dict)  # nth read, from 1
    before_read: Callable[[FakePlatform, int], None] = lambda platform, nth: None
    addons: dict[str, tuple[str, ...]] = field(default_factory=dict)
    routers: dict[str, dict[str, Any]] = field(default_factory=dict)
    calls: list[Step] = field(default_factory=list)
    reads: int = 0
    asked: list[str] = field(default_factory=list)
    settling: dict[str, int] = field(default_factory=dict)

    def argv(self, step: Step) -> tuple[str, ...]:
        return ("firectl", *step.verb.split(), step.target)

    def call(self, step: Step) -> CallResult:
        self.calls.append(step)
        nth = sum(1 for made in self.calls if made.verb == step.verb)
        fault = next((f for f in self.faults if (f.verb, f.nth) == (step.verb, nth)), None)
        if fault is not None and not fault.effect:
            return fault.result
        result = getattr(self, "_" + step.verb.replace(" ", "_").replace("-", "_"))(step)
        return fault.result if fault is not None else result

    def read(self) -> LiveState:
        self.reads += 1
        self.before_read(self, self.reads)
        if self.reads in self.read_errors:
            raise self.read_errors[self.reads]
        for key in list(self.settling):
            self.settling[key] -= 1
            if self.settling[key] <= 0:
                del self.settling[key]
                self.live[key] = ready(self.live[key])
        return LiveState(
            "acme",
            deployments=dict(self.live),
            loaded_addons=dict(self.addons),
            routers={key: dict(value) for key, value in self.routers.items()},
        )

    def ask(self, model: str) -> Answer:
        self.asked.append(model)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]

    def _deployment_create(self, step: Step) -> CallResult:
        if step.target in self.live:
            return error("already_exists", f"deployment {step.target} already exists")
        self.live[step.target] = deployment(step.target, step.fields, state="CREATING")
        self.settling[step.target] = self.start_reads
        return ok()

    def _deployment_update(self, step: Step) -> CallResult:
        old = self.live[step.target]
        text, marker = split_description(str(step.fields.get("description", "")))
        fields = {**old.fields, **{k: v for k, v in step.fields.items() if k != "description"}}
        if "description" in step.fields:
            fields.pop("description", None)
            if text:
                fields["description"] = text
        keeps = marker if "description" in step.fields else old.marker
        raw = {**old.raw, "description": step.fields.get("description", old.raw.get("description", ""))}
        self.live[step.target] = replace(old, fields=fields, marker=keeps, state="UPDATING", raw=raw)
        self.settling[step.target] = self.start_reads
        return ok()

    def _deployment_delete(self, step: Step) -> CallResult:
        if step.target not in self.live:
            return error("not_found", f"deployment {step.target} not found")
        if step.fields.get("hard"):
            del self.live[step.target]
        else:
            purge = START + timedelta(days=7)
            self.live[step.target] = replace(self.live[step.target], state="DELETED", purge=purge)
        self.settling.pop(step.target, None)
        return ok()

    def _deployment_undelete(self, step: Step) -> CallResult:
        self.live[step.target] = ready(self.live[step.target])
        return ok()

    def _deployment_tag_set(self, step: Step) -> CallResult:
        old = self.live[step.target]
        new = {f"custom/{key}": value for key, value in step.fields["tags"].items()}
        tags = {**old.raw.get("annotations", {}), **new}
        self.live[step.target] = replace(old, raw={**old.raw, "annotations": tags})
        return ok()

    def _deployment_tag_unset(self, step: Step) -> CallResult:
        old = self.live[step.target]
        gone = {f"custom/{key}" for key in step.fields["tags"]}
        tags = {k: v for k, v in old.raw.get("annotations", {}).items() if k not in gone}
        self.live[step.target] = replace(old, raw={**old.raw, "annotations": tags})
        return ok()

    def _load_lora(self, step: Step) -> CallResult:
        have = set(self.addons.get(step.target, ()))
        self.addons[step.target] = tuple(sorted(have | set(step.fields["addons.load"])))
        return ok()

    def _unload_lora(self, step: Step) -> CallResult:
        have = set(self.addons.get(step.target, ()))
        self.addons[step.target] = tuple(sorted(have - set(step.fields["addons.load"])))
        return ok()

    def _router_create(self, step: Step) -> CallResult:
        self.routers[step.target] = router(step)
        return ok()

    def _router_update(self, step: Step) -> CallResult:
        self.routers[step.target].update(router(step))
        return ok()


def router(step: Step) -> dict[str, Any]:
    return {
        "name": f"accounts/acme/routers/{step.target}",
        "deployments": list(step.fields["deployments"]),
        "strategy": step.fields["strategy"],
    }


def ok() -> CallResult:
    return CallResult(("firectl",))


def error(error_class: str, message: str = "no", *steps: str) -> CallResult:
    return CallResult(("firectl",), error_class, message, steps)


def deployment(
    name: str, fields: Mapping[str, Any], *, state: str = "READY", marker: Marker | None = None
) -> LiveDeployment:
    """A live deployment as the platform would show it for the values that were sent."""
    values = {k: v for k, v in fields.items() if k not in ("id", "description", "tags")}
    text, written = split_description(str(fields.get("description", "")))
    if text:
        values["description"] = text
    low, high = values.get("replicas.min", 0), values.get("replicas.max", 1)
    return LiveDeployment(
        name=f"accounts/acme/deployments/{name}",
        deployment_id=name,
        account="acme",
        state=state,
        fields=values,
        marker=written or marker,
        replicas=Replicas(min=low, max=high, desired=low, ready=low if state == "READY" else 0),
        raw={"description": str(fields.get("description", ""))},
    )


def ready(live: LiveDeployment) -> LiveDeployment:
    low, high = live.fields.get("replicas.min", 0), live.fields.get("replicas.max", 1)
    return replace(live, state="READY", replicas=Replicas(low, high, low, low))


def values(**extra: Any) -> dict[str, Any]:
    """The smallest set of managed fields; keys with two underscores stand for dots."""
    base: dict[str, Any] = {"model": MODEL, "shape": SHAPE, "replicas.min": 1, "replicas.max": 2}
    return {**base, **{key.replace("__", "."): value for key, value in extra.items()}}


def marker(name: str, **extra: Any) -> Marker:
    return Marker("prod", name, digest="0123456789ab", **extra)


def sent(name: str, fields: Mapping[str, Any], **extra: Any) -> dict[str, Any]:
    """What a create or update sends: the fields with the marker behind the description."""
    text = join_description(str(fields.get("description", "")), marker(name, **extra))
    return {**fields, "description": text}


def entry(name: str, fields: Mapping[str, Any] | None = None, **own: Any) -> Deployment:
    return Deployment(name, name, dict(fields or values()), {k.replace("__", "."): v for k, v in own.items()})


def spec(*entries: Deployment) -> Spec:
    return Spec("acme", "prod", {item.name: item for item in entries})


def plan(*changes: Change) -> Plan:
    return Plan("acme", "prod", tuple(sorted(changes, key=lambda c: c.address)), "fingerprint")


def creating(name: str, fields: Mapping[str, Any] | None = None, **extra: Any) -> Change:
    wanted = dict(fields or values())
    step = Step("deployment create", name, sent(name, wanted))
    return Change(name, name, ("create",), steps=(step,), desired=wanted, **extra)


def updating(live: LiveDeployment, fields: Mapping[str, Any], **extra: Any) -> Change:
    name = live.deployment_id
    step = Step("deployment update", name, sent(name, fields))
    return Change(name, name, ("update",), steps=(step,), live=live, desired=dict(fields), **extra)


def deleting(live: LiveDeployment, **extra: Any) -> Change:
    name = live.deployment_id
    return Change(name, name, ("delete",), steps=(Step("deployment delete", name),), live=live, **extra)


@dataclass
class Bench:
    """Everything one apply needs, with the events it said."""

    folder: Path
    platform: FakePlatform = field(default_factory=FakePlatform)
    clock: FakeClock = field(default_factory=FakeClock)
    events: list[Mapping[str, Any]] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)

    def apply(self, planned: Plan, wanted: Spec, **options: Any) -> ApplyResult:
        stream = io.StringIO()
        env = Env({}, self.folder, stream, stream, stream, self.clock)
        chosen = ApplyOptions(folder=self.folder / ".fwctl", **{**self.options, **options})
        return Run(planned, wanted, self.platform, env, chosen, self.events.append).carry_out()

    def called(self) -> list[str]:
        return [f"{step.verb} {step.target}" for step in self.platform.calls]

    def named(self, kind: str) -> list[Mapping[str, Any]]:
        return [event for event in self.events if event["event"] == kind]
