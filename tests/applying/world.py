"""A platform that holds firectl's own objects, so that real plans can be made of it and applied to it.

It knows two models with one shape each, soft and hard deletes, tags, adapters and routers. A write is
READY at the next read. Small on purpose: what is checked here is that runs which die anywhere converge.
"""

from __future__ import annotations

import copy
import io
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from fwctl.applying.model import Answer, ApplyOptions, ApplyResult, CallResult
from fwctl.applying.run import Run
from fwctl.catalog.fields import PLATFORM_FIELDS
from fwctl.catalog.prices import published
from fwctl.env import Env
from fwctl.firectl.capabilities import Capabilities
from fwctl.live.model import LiveModel, LiveState, ShapeVersion
from fwctl.live.normalise import normalise_deployment
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Plan, Step
from fwctl.planning.options import PlanOptions
from fwctl.spec.model import Deployment, Spec
from tests.applying.fakes import FakeClock, error, ok

NOW = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
MODELS = ("accounts/fireworks/models/llama", "accounts/fireworks/models/qwen")
SHAPES = ("accounts/fireworks/deploymentShapes/llama-bf16", "accounts/fireworks/deploymentShapes/qwen-bf16")
SNAPSHOT = {"accelerator.type": "NVIDIA_H100_80GB", "accelerator.count": 1, "precision": "BF16"}


def shape_version(index: int, version: str, *, latest: bool) -> ShapeVersion:
    name = f"{SHAPES[index]}/versions/{version}"
    return ShapeVersion(name, SHAPES[index], version, True, latest, MODELS[index], "MINIMAL", SNAPSHOT)


VERSIONS = {
    SHAPES[index]: (shape_version(index, "v2", latest=True), shape_version(index, "v1", latest=False))
    for index in (0, 1)
}


@dataclass
class World:
    """The platform of an apply (`applying.model.Platform`) and the source of a plan."""

    rows: dict[str, dict[str, Any]] = field(default_factory=dict)
    routers: dict[str, dict[str, Any]] = field(default_factory=dict)
    addons: dict[str, set[str]] = field(default_factory=dict)
    has_tags: bool = True
    faults: dict[int, tuple[str, bool]] = field(default_factory=dict)  # nth call -> class, with effect
    calls: list[str] = field(default_factory=list)

    def copy(self) -> World:
        return World(
            copy.deepcopy(self.rows), copy.deepcopy(self.routers), copy.deepcopy(self.addons), self.has_tags
        )

    def state(self) -> dict[str, Any]:
        """What must be the same after any detour, once everything has settled."""
        self.read()
        live = {key: row for key, row in self.rows.items() if row["state"] != "DELETED"}
        return copy.deepcopy({"rows": live, "routers": self.routers, "addons": self.addons})

    # --- applying.model.Platform -------------------------------------------------------------------

    def argv(self, step: Step) -> tuple[str, ...]:
        return ("firectl", *step.verb.split(), step.target)

    def call(self, step: Step) -> CallResult:
        self.calls.append(f"{step.verb} {step.target}")
        fault = self.faults.get(len(self.calls))
        if fault is not None and not fault[1]:
            return error(fault[0])
        result = getattr(self, step.verb.replace("deployment ", "").replace(" ", "_").replace("-", "_"))(step)
        return error(fault[0]) if fault is not None else result

    def read(self) -> LiveState:
        for row in self.rows.values():
            if row["state"] in ("CREATING", "UPDATING"):
                row["state"] = "READY"
                row["replica_stats"] = {"ready_replica_count": row.get("min_replica_count", 0)}
        return LiveState(
            account="acme",
            deployments={key: normalise_deployment(copy.deepcopy(row)) for key, row in self.rows.items()},
            shapes=dict(VERSIONS),
            models={name: LiveModel(name, "HF_BASE_MODEL", context_length=8192) for name in MODELS},
            routers=copy.deepcopy(self.routers),
            loaded_addons={key: tuple(sorted(names)) for key, names in self.addons.items() if names},
        )

    def ask(self, model: str) -> Answer:
        return Answer(ok=model.rsplit("/", 1)[-1] in self.rows)

    # --- firectl's verbs ---------------------------------------------------------------------------

    def create(self, step: Step) -> CallResult:
        if step.target in self.rows:
            return error("already_exists", f"deployment {step.target} already exists")
        row: dict[str, Any] = {"name": f"accounts/acme/deployments/{step.target}", "state": "CREATING"}
        _write(row, {**SNAPSHOT, **step.fields})
        self.rows[step.target] = row
        return ok()

    def update(self, step: Step) -> CallResult:
        row = self.rows.get(step.target)
        if row is None or row["state"] == "DELETED":
            return error("not_found")
        _write(row, step.fields)
        row["state"] = "UPDATING"
        return ok()

    def delete(self, step: Step) -> CallResult:
        row = self.rows.get(step.target)
        if row is None or (row["state"] == "DELETED" and not step.fields.get("hard")):
            return error("not_found")
        self.addons.pop(step.target, None)
        if step.fields.get("hard"):
            del self.rows[step.target]
        else:
            row["state"] = "DELETED"
        return ok()

    def undelete(self, step: Step) -> CallResult:
        self.rows[step.target]["state"] = "READY"
        return ok()

    def tag_set(self, step: Step) -> CallResult:
        tags = {f"custom/{key}": value for key, value in step.fields["tags"].items()}
        self.rows[step.target].setdefault("annotations", {}).update(tags)
        return ok()

    def tag_unset(self, step: Step) -> CallResult:
        for key in step.fields["tags"]:
            self.rows[step.target].get("annotations", {}).pop(f"custom/{key}", None)
        return ok()

    def load_lora(self, step: Step) -> CallResult:
        self.addons.setdefault(step.target, set()).update(step.fields["addons.load"])
        return ok()

    def unload_lora(self, step: Step) -> CallResult:
        self.addons.get(step.target, set()).difference_update(step.fields["addons.load"])
        return ok()

    def router_create(self, step: Step) -> CallResult:
        if step.target in self.routers:
            return error("already_exists")
        self.routers[step.target] = {"name": f"accounts/acme/routers/{step.target}"}
        return self.router_update(step)

    def router_update(self, step: Step) -> CallResult:
        strategy = step.fields["strategy"].upper().replace("-", "_")
        self.routers[step.target] |= {"deployments": list(step.fields["deployments"]), "strategy": strategy}
        return ok()


def _write(row: dict[str, Any], fields: Mapping[str, Any]) -> None:
    for item in PLATFORM_FIELDS:
        if item.path in fields and item.live is not None:
            *parents, last = item.live.split(".")
            place = row
            for key in parents:
                place = place.setdefault(key, {})
            place[last] = _raw(item.path, fields[item.path])


def _raw(path: str, value: Any) -> Any:
    if path == "region":
        return {"multi_region": value}
    return value == "multi_lora" if path == "addons.mode" else value


# --- runs ----------------------------------------------------------------------------------------------


def values(index: int = 0, **extra: Any) -> dict[str, Any]:
    base = {
        "model": MODELS[index],
        "shape": SHAPES[index],
        "region": "US",
        "replicas.min": 1,
        "replicas.max": 1,
    }
    return {**base, **{key.replace("__", "."): value for key, value in extra.items()}}


def entry(name: str, fields: Mapping[str, Any] | None = None, **own: Any) -> Deployment:
    return Deployment(name, name, dict(fields or values()), {k.replace("__", "."): v for k, v in own.items()})


def spec(*entries: Deployment) -> Spec:
    return Spec("acme", "prod", {item.name: item for item in entries})


def plan(world: World, wanted: Spec, **options: Any) -> Plan:
    choices = {"allow_delete": tuple(wanted.deployments), **options}
    version = "1.8.9" if world.has_tags else "1.7.0"
    return make_plan(
        wanted,
        world.read(),
        caps=Capabilities(version),
        options=PlanOptions(**choices),
        prices=published(date(2026, 12, 1)),
        now=NOW,
    )


def apply(
    world: World,
    planned: Plan,
    wanted: Spec,
    folder: Path,
    crash: Callable[[str], None] = lambda point: None,
    **options: Any,
) -> ApplyResult:
    stream = io.StringIO()
    env = Env({}, folder, stream, stream, stream, FakeClock())
    chosen = ApplyOptions(folder=folder / ".fwctl", crash=crash, drain_s=0.0, **options)
    return Run(planned, wanted, world, env, chosen, lambda event: None).carry_out()
