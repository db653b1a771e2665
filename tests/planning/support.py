"""A small account to plan against: builders for specs and raw objects, and a platform that obeys steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from fwctl.catalog.prices import PriceList
from fwctl.errors import FirectlFailedError, Position
from fwctl.firectl.capabilities import Capabilities
from fwctl.live.marker import split_description
from fwctl.live.model import LiveState
from fwctl.live.reader import read_live
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Change, Plan, Step
from fwctl.planning.options import PlanOptions
from fwctl.redact import MASK, Secret
from fwctl.spec.model import Deployment, Spec

ACCOUNT = "acme"
STACK = "prod"
NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
OTHER_MODEL = "accounts/fireworks/models/qwen3-8b"
FAST = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
MINIMAL = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-minimal"
B200 = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-b200"
V1, V2 = f"{FAST}/versions/v1", f"{FAST}/versions/v2"

CAPS = Capabilities("1.8.9")
OLD_CAPS = Capabilities("1.8.2")  # no tags, no match
PRICES = PriceList({"NVIDIA_H100_80GB": 8.0, "NVIDIA_A100_80GB": 2.9, "NVIDIA_B200_180GB": 13.0}, NOW.date())


def shape_row(
    name: str, *, preset: str = "FAST", validated: bool = True, latest: bool = True, **snapshot: Any
) -> dict[str, Any]:
    """One row of `deployment-shape-version list -o json`."""
    return {
        "name": name,
        "validated": validated,
        "latest_validated": latest,
        "snapshot": {
            "base_model": MODEL,
            "accelerator_type": "NVIDIA_H100_80GB",
            "accelerator_count": 1,
            "precision": "FP8",
            "preset_type": preset,
            "max_context_length": 131072,
            **snapshot,
        },
    }


SHAPES: dict[str, list[dict[str, Any]]] = {
    FAST: [shape_row(V1)],
    MINIMAL: [
        shape_row(
            f"{MINIMAL}/versions/m1", preset="MINIMAL", accelerator_type="NVIDIA_A100_80GB", precision="BF16"
        )
    ],
    B200: [shape_row(f"{B200}/versions/b1", preset="THROUGHPUT", accelerator_type="NVIDIA_B200_180GB")],
}
MODELS: dict[str, dict[str, Any]] = {
    MODEL: {"name": MODEL, "kind": "HF_BASE_MODEL", "context_length": 131072},
    OTHER_MODEL: {"name": OTHER_MODEL, "kind": "HF_BASE_MODEL", "context_length": 40960},
}
QUOTAS = [
    {"name": f"accounts/{ACCOUNT}/quotas/global--h100-count", "value": 64},
    {"name": f"accounts/{ACCOUNT}/quotas/global--a100-count", "value": 16},
    {"name": f"accounts/{ACCOUNT}/quotas/global--b200-count", "value": 16},
]


class NotFoundError(FirectlFailedError):
    error_class = "not_found"


class Platform:
    """What firectl would read, and what its mutating calls would do; nothing is shared with fwctl."""

    def __init__(
        self,
        rows: Sequence[Mapping[str, Any]] = (),
        *,
        shapes: Mapping[str, Sequence[Mapping[str, Any]]] | None = None,
        models: Mapping[str, Mapping[str, Any]] | None = None,
        quotas: Sequence[Mapping[str, Any]] = QUOTAS,
        reservations: Sequence[Mapping[str, Any]] = (),
    ) -> None:
        self.rows = [dict(row) for row in rows]
        self.shapes = dict(SHAPES if shapes is None else shapes)
        self.models = dict(MODELS if models is None else models)
        self.quotas = list(quotas)
        self.reservations = list(reservations)
        self.routers: list[dict[str, Any]] = []
        self.deployed: list[dict[str, Any]] = []
        self.calls: list[tuple[str, ...]] = []
        self.failing: dict[str, Exception] = {}

    def _answer(self, *call: str) -> None:
        self.calls.append(call)
        if call[0] in self.failing:
            raise self.failing[call[0]]

    def list_deployments(self, show_deleted: bool = True) -> list[Mapping[str, Any]]:
        self._answer("list_deployments", str(show_deleted))
        return list(self.rows)

    def list_shape_versions(
        self, shape: str | None = None, base_model: str | None = None
    ) -> list[Mapping[str, Any]]:
        self._answer("list_shape_versions", str(shape or base_model))
        if shape is None:
            rows = [row for versions in self.shapes.values() for row in versions]
            return [row for row in rows if row["snapshot"]["base_model"] == base_model]
        if shape not in self.shapes:
            raise NotFoundError(f"no shape {shape}")
        return list(self.shapes[shape])

    def match_shapes(self, model: str) -> list[Mapping[str, Any]]:
        self._answer("match_shapes", model)
        rows = [row for versions in self.shapes.values() for row in versions if row["latest_validated"]]
        return [row for row in rows if row["snapshot"]["base_model"] == model]

    def get_model(self, name: str) -> Mapping[str, Any]:
        self._answer("get_model", name)
        if name not in self.models:
            raise NotFoundError(f"no model {name}")
        return self.models[name]

    def list_quotas(self) -> list[Mapping[str, Any]]:
        self._answer("list_quotas")
        return self.quotas

    def list_routers(self) -> list[Mapping[str, Any]]:
        self._answer("list_routers")
        return list(self.routers)

    def list_reservations(self) -> list[Mapping[str, Any]]:
        self._answer("list_reservations")
        return self.reservations

    def list_deployed_models(self) -> list[Mapping[str, Any]]:
        self._answer("list_deployed_models")
        return list(self.deployed)

    def whoami(self) -> Mapping[str, str]:
        self._answer("whoami")
        return {"account_id": ACCOUNT}

    def row(self, deployment_id: str) -> dict[str, Any]:
        return next(row for row in self.rows if row["name"].endswith(f"/{deployment_id}"))

    def obey(self, plan: Plan) -> None:
        """Carry out every step of a plan at once."""
        for change in plan.changes:
            for step in change.steps:
                self.perform(step)

    def perform(self, step: Step) -> None:
        {
            "deployment create": self._create,
            "deployment update": self._update,
            "deployment delete": self._delete,
            "deployment undelete": self._undelete,
            "deployment tag set": self._tag_set,
            "deployment tag unset": self._tag_unset,
            "load-lora": self._load,
            "unload-lora": self._unload,
            "router create": self._router_create,
            "router update": self._router_update,
        }[step.verb](step)

    def _create(self, step: Step) -> None:
        row: dict[str, Any] = {"name": name_of(step.target), "state": "READY"}
        self._write(row, step.fields)
        version = next(
            (v for vs in self.shapes.values() for v in vs if v["name"] == row.get("deployment_shape")), None
        )
        for key, value in (version["snapshot"] if version else {}).items():
            if key != "preset_type":
                row.setdefault(key, value)
        self.rows.append(row)

    def _update(self, step: Step) -> None:
        row = self.row(step.target)
        self._write(row, step.fields)
        if "shape" in step.fields:
            version = next(v for vs in self.shapes.values() for v in vs if v["name"] == step.fields["shape"])
            for key, value in version["snapshot"].items():
                if key not in ("preset_type", "base_model") and HAND.get(key) not in step.fields:
                    row[key] = value

    @staticmethod
    def _write(row: dict[str, Any], fields: Mapping[str, Any]) -> None:
        for path, value in fields.items():
            if path in ("accept_shapeless_risk", "speculation.mode"):
                continue
            if path == "region":
                single = value.count("_") > 0
                row["placement"] = {"region" if single else "multi_region": value}
            elif path.startswith("autoscaling.") and path != "autoscaling.schedules":
                policy = row.setdefault("autoscaling_policy", {})
                policy[path.removeprefix("autoscaling.")] = value
            elif path == "autoscaling.schedules":
                row["scaling_schedules"] = [
                    {
                        "schedule": item["cron"],
                        "timezone": item["timezone"],
                        "duration": item["duration"],
                        "min_replica_count": item["min_replicas"],
                    }
                    for item in value
                ]
            elif path == "addons.mode":
                row["enable_addons"] = value == "multi_lora"
            elif path == "long_prompt":
                row["auto_tune"] = {"long_prompt": value}
            elif path == "direct_route.api_keys":
                row["direct_route_api_keys"] = [MASK for _ in value]
            else:
                row[BY_HAND[path]] = value

    def _delete(self, step: Step) -> None:
        row = self.row(step.target)
        if step.fields.get("hard"):
            self.rows.remove(row)
        else:
            row |= {"state": "DELETED", "purge_time": "2026-12-07T12:00:00Z"}

    def _undelete(self, step: Step) -> None:
        row = self.row(step.target)
        row["state"] = "READY"
        del row["purge_time"]

    def _tag_set(self, step: Step) -> None:
        tags = self.row(step.target).setdefault("annotations", {})
        tags |= {f"custom/{key}": value for key, value in step.fields["tags"].items()}

    def _tag_unset(self, step: Step) -> None:
        for key in step.fields["tags"]:
            del self.row(step.target)["annotations"][f"custom/{key}"]

    def _load(self, step: Step) -> None:
        for model in step.fields["addons.load"]:
            self.deployed.append({"deployment": name_of(step.target), "model": model, "state": "DEPLOYED"})

    def _unload(self, step: Step) -> None:
        gone = step.fields["addons.load"]
        self.deployed = [row for row in self.deployed if row["model"] not in gone]

    def _router_create(self, step: Step) -> None:
        self.routers.append({"name": f"accounts/{ACCOUNT}/routers/{step.target}", **step.fields})

    def _router_update(self, step: Step) -> None:
        row = next(row for row in self.routers if row["name"].endswith(f"/{step.target}"))
        row |= step.fields


BY_HAND = {
    "model": "base_model",
    "shape": "deployment_shape",
    "accelerator.type": "accelerator_type",
    "accelerator.count": "accelerator_count",
    "precision": "precision",
    "replicas.min": "min_replica_count",
    "replicas.max": "max_replica_count",
    "replicas.max_with_revocable": "max_with_revocable_replica_count",
    "replicas.max_concurrency": "max_concurrency_per_replica",
    "max_context_length": "max_context_length",
    "speculation.draft_model": "draft_model",
    "speculation.draft_tokens": "draft_token_count",
    "speculation.ngram_length": "ngram_speculation_length",
    "session_affinity": "enable_session_affinity",
    "preemptible": "preemptible",
    "direct_route.type": "direct_route_type",
    "display_name": "display_name",
    "description": "description",
}
HAND = {raw: path for path, raw in BY_HAND.items()}


def name_of(deployment_id: str, account: str = ACCOUNT) -> str:
    return f"accounts/{account}/deployments/{deployment_id}"


def row(deployment_id: str = "chat", **extra: Any) -> dict[str, Any]:
    """A deployment as `deployment list -o json` prints it: equal to `entry()`, but not marked."""
    return {
        "name": name_of(deployment_id),
        "base_model": MODEL,
        "deployment_shape": V1,
        "accelerator_type": "NVIDIA_H100_80GB",
        "accelerator_count": 1,
        "precision": "FP8",
        "min_replica_count": 1,
        "max_replica_count": 2,
        "state": "READY",
        **extra,
    }


def marked_row(deployment_id: str = "chat", marker: str | None = None, **extra: Any) -> dict[str, Any]:
    """`row` with a marker in its description, for this stack unless another text is given."""
    return row(deployment_id, description=marker or f"[fwctl {STACK}/{deployment_id}]", **extra)


def entry(
    name: str = "chat", *, own: Mapping[str, Any] | None = None, without: Sequence[str] = (), **fields: Any
) -> Deployment:
    """A spec entry; keyword names stand for paths with `__` for the dot."""
    values = {"model": MODEL, "shape": FAST, "replicas.min": 1, "replicas.max": 2}
    values |= {key.replace("__", "."): value for key, value in fields.items()}
    deployment_id = values.pop("id", name)
    kept = {path: value for path, value in values.items() if path not in without}
    positions = {path: Position("configs/chat.yaml", line, 5, line, 20) for line, path in enumerate(kept, 5)}
    positions[""] = Position("configs/chat.yaml", 4, 3, 4, 7)
    return Deployment(
        name, deployment_id, kept, {"lifecycle.prevent_destroy": False, **(own or {})}, {}, positions
    )


def spec(
    *entries: Deployment,
    stack: str = STACK,
    settings: Mapping[str, Any] | None = None,
    budget: Mapping[str, float] | None = None,
) -> Spec:
    return Spec(ACCOUNT, stack, {item.name: item for item in entries}, settings or {}, budget or {})


def live_of(platform: Platform, wanted: Spec, caps: Capabilities = CAPS) -> LiveState:
    return read_live(platform, wanted, caps, parallelism=1)


def plan_of(
    wanted: Spec | Deployment,
    platform: Platform | Sequence[Mapping[str, Any]] = (),
    *,
    caps: Capabilities = CAPS,
    now: datetime = NOW,
    prices: PriceList = PRICES,
    **given: Any,
) -> Plan:
    """Plan one spec against a platform; other keywords go to PlanOptions or to make_plan."""
    whole = wanted if isinstance(wanted, Spec) else spec(wanted)
    at = platform if isinstance(platform, Platform) else Platform(platform)
    extra = {key: given.pop(key) for key in ("fit", "evidence", "lock", "traffic", "starts") if key in given}
    return make_plan(
        whole,
        live_of(at, whole, caps),
        caps=caps,
        options=PlanOptions(**given),
        prices=prices,
        now=now,
        **extra,
    )


def only(plan: Plan) -> Change:
    (change,) = plan.changes
    return change


def moves(change: Change) -> dict[str, tuple[Any, Any]]:
    return {item.path: (item.before, item.after) for item in change.fields}


def codes(change: Change) -> list[str]:
    return [cause.code for cause in change.blocked_by]


def check_of(plan: Plan, name: str) -> list[tuple[str, str]]:
    return [(check.status, check.message) for check in plan.checks if check.name == name]


def words(change: Change, index: int = 0) -> str:
    return " ".join(change.commands[index])


def user_text(row: Mapping[str, Any]) -> str:
    return split_description(row.get("description", ""))[0]


def secret(value: str, name: str = "DIRECT_ROUTE_KEY") -> Secret:
    return Secret(f"${{env:{name}}}", value)
