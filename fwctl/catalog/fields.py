"""The field table: one row for each thing a deployment spec can say.

Schema, validation, `fwctl explain`, argv, normalisation, diff and docs are all driven by these rows;
adding a firectl flag means adding a row. Facts: firectl command pages and the `fireworks-ai` SDK
(docs.fireworks.ai, tools-sdks/firectl; PyPI fireworks-ai 1.2.30), read 2026-11-30.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Kind(StrEnum):
    """How a value is written in YAML and compared with the live one."""

    INT = "int"
    NUMBER = "number"
    BOOL = "bool"
    TEXT = "text"
    DURATION = "duration"
    ENUM = "enum"
    REGION = "region"
    MODEL = "model"
    SHAPE = "shape"
    NAME = "name"
    URL = "url"
    ID = "id"
    TARGETS = "map of numbers"
    TAGS = "map of text"
    MODELS = "list of model names"
    SCHEDULES = "list of schedules"
    SECRETS = "list of secrets"
    NAMES = "list of names"
    COUNTS = "list of whole numbers"
    OBJECT = "object"


class Effect(StrEnum):
    """What changing the field does to a running deployment."""

    NONE = "none"
    IN_PLACE = "in_place"
    ROLLING_RESTART = "rolling_restart"
    REPLACE = "replace"
    BLOCKED = "blocked"


class Owner(StrEnum):
    """Who decides the value: the deployment shape's snapshot, the spec, or fwctl alone."""

    SHAPE = "shape"
    SPEC = "spec"
    FWCTL = "fwctl"


@dataclass(frozen=True, slots=True)
class Field:
    """One row.

    path: dotted place below `deployments.<name>`. live: snake_case path in `-o json` (None: not
    returned by the platform). create/update: the firectl flag (None: there is none). output: a change
    alters what the model answers, not only how it runs. complete: a collection whose declared
    entries are the whole truth. enum: name of a list in `catalog.enums`. via: the command that carries
    the field when it is not a flag of create or update.
    """

    path: str
    kind: Kind
    doc: str
    live: str | None = None
    create: str | None = None
    update: str | None = None
    effect: Effect = Effect.NONE
    output: bool = False
    owner: Owner = Owner.SPEC
    minimum: float | None = None
    maximum: float | None = None
    max_length: int | None = None
    max_items: int | None = None
    enum: str | None = None
    required: bool = False
    read: bool = True
    sensitive: bool = False
    complete: bool = False
    since: str | None = None
    via: str | None = None
    note: str | None = None
    example: Any = None
    children: tuple[Field, ...] = field(default=())

    @property
    def managed(self) -> bool:
        """True when the platform holds the value, so that it is planned and applied."""
        return self.owner is not Owner.FWCTL


_IN, _ROLL, _REPL, _BLOCK = Effect.IN_PLACE, Effect.ROLLING_RESTART, Effect.REPLACE, Effect.BLOCKED
_SHAPE = Owner.SHAPE

PLATFORM_FIELDS: tuple[Field, ...] = (
    Field(
        "model",
        Kind.MODEL,
        "Model to serve: a full resource name; a LoRA here means live merge.",
        live="base_model",
        create="<positional>",
        effect=_REPL,
        output=True,
        required=True,
        example="accounts/fireworks/models/llama-v3p1-8b-instruct",
    ),
    Field(
        "shape",
        Kind.SHAPE,
        "Deployment shape: its full name, one of its versions, `default`, `fast`, `throughput` or `minimal`; "
        "`none` only with accept_shapeless_risk.",
        live="deployment_shape",
        create="--deployment-shape",
        update="--deployment-shape",
        effect=_ROLL,
        output=True,
        note="A shape name equals its version names.",
        example="accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast",
    ),
    Field(
        "accelerator.type",
        Kind.ENUM,
        "GPU model. With a shape this is a pin: the plan checks it.",
        live="accelerator_type",
        create="--accelerator-type",
        update="--accelerator-type",
        effect=_REPL,
        owner=_SHAPE,
        enum="accelerators",
        example="NVIDIA_H100_80GB",
        note="The update flag exists, but the platform refuses to change the type of a running deployment.",
    ),
    Field(
        "accelerator.count",
        Kind.INT,
        "GPUs for one replica. With a shape this is a pin.",
        live="accelerator_count",
        create="--accelerator-count",
        update="--accelerator-count",
        effect=_ROLL,
        owner=_SHAPE,
        minimum=1,
        maximum=64,
        example=4,
    ),
    Field(
        "precision",
        Kind.ENUM,
        "Serving precision. With a shape this is a pin.",
        live="precision",
        create="--precision",
        update="--precision",
        effect=_ROLL,
        output=True,
        owner=_SHAPE,
        enum="precisions",
        example="FP8",
        note="FP8 and FP4 match every member of their family; a full name matches exactly.",
    ),
    Field(
        "region",
        Kind.REGION,
        "Where it may run: GLOBAL, an area such as US or EUROPE, or one region.",
        live="placement",
        create="--region",
        update="--region",
        effect=_REPL,
        enum="regions",
        example="US",
        note="Only the newest firectl has --region on update; used when the installed help shows it.",
    ),
    Field(
        "replicas.min",
        Kind.INT,
        "Replicas that always run; 0 allows scale to zero.",
        live="min_replica_count",
        create="--min-replica-count",
        update="--min-replica-count",
        effect=_IN,
        minimum=0,
        maximum=1000,
        required=True,
        example=1,
    ),
    Field(
        "replicas.max",
        Kind.INT,
        "Ceiling of the autoscaler; 0 parks the deployment.",
        live="max_replica_count",
        create="--max-replica-count",
        update="--max-replica-count",
        effect=_IN,
        minimum=0,
        maximum=1000,
        required=True,
        example=4,
    ),
    Field(
        "replicas.max_with_revocable",
        Kind.INT,
        "Ceiling that includes replicas on revocable capacity.",
        live="max_with_revocable_replica_count",
        create="--max-with-revocable-replica-count",
        update="--max-with-revocable-replica-count",
        effect=_IN,
        minimum=0,
        maximum=1000,
        example=6,
    ),
    Field(
        "replicas.max_concurrency",
        Kind.INT,
        "Requests in flight per replica before the platform answers 429; 0 is its default.",
        live="max_concurrency_per_replica",
        create="--max-concurrency-per-replica",
        effect=_BLOCK,
        minimum=0,
        example=32,
        note="No update flag; changed with update --file where the installed build has it.",
    ),
    Field(
        "autoscaling.scale_up_window",
        Kind.DURATION,
        "Wait before replicas are added.",
        live="autoscaling_policy.scale_up_window",
        create="--scale-up-window",
        update="--scale-up-window",
        effect=_IN,
        minimum=0,
        maximum=3600,
        example="30s",
    ),
    Field(
        "autoscaling.scale_down_window",
        Kind.DURATION,
        "Wait before replicas are removed.",
        live="autoscaling_policy.scale_down_window",
        create="--scale-down-window",
        update="--scale-down-window",
        effect=_IN,
        minimum=0,
        maximum=3600,
        example="10m",
    ),
    Field(
        "autoscaling.scale_to_zero_window",
        Kind.DURATION,
        "Idle time before a deployment with min 0 goes to zero replicas: 0s or at least 5m.",
        live="autoscaling_policy.scale_to_zero_window",
        create="--scale-to-zero-window",
        update="--scale-to-zero-window",
        effect=_IN,
        minimum=0,
        example="1h",
    ),
    Field(
        "autoscaling.load_targets",
        Kind.TARGETS,
        "Load metric -> target; with several targets the highest replica count wins.",
        live="autoscaling_policy.load_targets",
        create="--load-targets",
        update="--load-targets",
        effect=_IN,
        enum="load_targets",
        complete=True,
        example={"default": 0.8},
    ),
    Field(
        "autoscaling.schedules",
        Kind.SCHEDULES,
        "Timed minimum replica counts, at most 5.",
        live="scaling_schedules",
        create="--scaling-schedules",
        effect=_BLOCK,
        complete=True,
        max_items=5,
        note="The flag's format is unverified; changed with update --file where the installed build has it.",
        example=[{"cron": "0 8 * * 1-5", "timezone": "Europe/London", "duration": "10h", "min_replicas": 2}],
        children=(
            Field("cron", Kind.TEXT, "Five-field cron expression.", live="schedule", required=True),
            Field("timezone", Kind.TEXT, "IANA time zone.", live="timezone", required=True),
            Field(
                "duration",
                Kind.DURATION,
                "Length of the window.",
                live="duration",
                required=True,
                minimum=300,
                maximum=604800,
            ),
            Field(
                "min_replicas",
                Kind.INT,
                "Floor while the window is open.",
                live="min_replica_count",
                required=True,
                minimum=0,
                maximum=1000,
            ),
            Field("description", Kind.TEXT, "Free text.", live="description"),
            Field("disabled", Kind.BOOL, "Switch the schedule off.", live="disabled"),
        ),
    ),
    Field(
        "max_context_length",
        Kind.INT,
        "Longest context it admits, in tokens; 0 is the model's own.",
        live="max_context_length",
        create="--max-context-length",
        update="--max-context-length",
        effect=_ROLL,
        output=True,
        owner=_SHAPE,
        minimum=0,
        example=32768,
    ),
    Field(
        "speculation.mode",
        Kind.ENUM,
        "inherit | disabled | draft | ngram; inferred when only one fits.",
        create="--disable-speculative-decoding",
        effect=_REPL,
        owner=_SHAPE,
        read=False,
        enum="speculation_modes",
        example="draft",
        note="Replace only to or from disabled; between the others the fields that change decide.",
    ),
    Field(
        "speculation.draft_model",
        Kind.MODEL,
        "Draft model for speculative decoding.",
        live="draft_model",
        create="--draft-model",
        update="--draft-model",
        effect=_ROLL,
        owner=_SHAPE,
        example="accounts/fireworks/models/llama-v3p2-1b-instruct",
    ),
    Field(
        "speculation.draft_tokens",
        Kind.INT,
        "Tokens drafted per step.",
        live="draft_token_count",
        create="--draft-token-count",
        update="--draft-token-count",
        effect=_ROLL,
        owner=_SHAPE,
        minimum=1,
        maximum=64,
        example=4,
    ),
    Field(
        "speculation.ngram_length",
        Kind.INT,
        "Length of the lookup key of n-gram speculation.",
        live="ngram_speculation_length",
        create="--ngram-speculation-length",
        update="--ngram-speculation-length",
        effect=_ROLL,
        owner=_SHAPE,
        minimum=1,
        maximum=64,
        example=3,
    ),
    Field(
        "addons.mode",
        Kind.ENUM,
        "multi_lora: adapters are loaded beside the base; live_merge: the model itself is a LoRA.",
        live="enable_addons",
        create="--enable-addons",
        update="--enable-addons",
        effect=_ROLL,
        output=True,
        owner=_SHAPE,
        enum="addon_modes",
        example="multi_lora",
    ),
    Field(
        "addons.load",
        Kind.MODELS,
        "LoRA models to keep loaded.",
        effect=_IN,
        output=True,
        complete=True,
        via="load-lora",
        example=["accounts/acme/models/support-lora"],
    ),
    Field(
        "long_prompt",
        Kind.BOOL,
        "Tune for long prompts.",
        live="auto_tune.long_prompt",
        create="--long-prompt",
        update="--long-prompt",
        effect=_ROLL,
        example=True,
    ),
    Field(
        "session_affinity",
        Kind.BOOL,
        "Sticky routing on the user field (enterprise).",
        live="enable_session_affinity",
        create="--enable-session-affinity",
        update="--enable-session-affinity",
        effect=_IN,
        owner=_SHAPE,
        example=True,
    ),
    Field(
        "preemptible",
        Kind.BOOL,
        "Borrow idle capacity that may vanish (admin key; evaluation and batch only).",
        live="preemptible",
        create="--preemptible",
        effect=_REPL,
        since="1.7.26",
        example=False,
    ),
    Field(
        "direct_route.type",
        Kind.ENUM,
        "Endpoint that avoids the gateway (enterprise; one single region).",
        live="direct_route_type",
        create="--direct-route-type",
        update="--direct-route-type",
        effect=_IN,
        enum="direct_route_types",
        example="INTERNET",
    ),
    Field(
        "direct_route.api_keys",
        Kind.SECRETS,
        "Keys accepted on the direct route, as ${env:NAME}.",
        live="direct_route_api_keys",
        create="--direct-route-api-keys",
        update="--direct-route-api-keys",
        effect=_IN,
        sensitive=True,
        complete=True,
        via="--file",
        example=["${env:DIRECT_ROUTE_KEY}"],
    ),
    Field(
        "hot_load.enabled",
        Kind.BOOL,
        "Swap weights from a bucket.",
        live="enable_hot_load",
        create="--enable-hot-load",
        effect=_REPL,
        example=True,
    ),
    Field(
        "hot_load.bucket_type",
        Kind.ENUM,
        "Provider of the bucket.",
        live="hot_load_bucket_type",
        create="--hot-load-bucket-type",
        effect=_REPL,
        enum="bucket_types",
        example="S3",
    ),
    Field(
        "hot_load.bucket_url",
        Kind.URL,
        "URL of the bucket.",
        live="hot_load_bucket_url",
        create="--hot-load-bucket-url",
        effect=_REPL,
        example="s3://bucket/path",
    ),
    Field(
        "hot_load.transition",
        Kind.ENUM,
        "Swap in flight (ASYNC) or drain first (SYNC).",
        live="hot_load_transition_type",
        create="--hot-load-transition-type",
        effect=_REPL,
        enum="hot_load_transitions",
        example="ASYNC",
    ),
    Field(
        "template",
        Kind.NAME,
        "Deployment template (enterprise).",
        live="deployment_template",
        create="--deployment-template",
        effect=_REPL,
    ),
    Field(
        "cluster",
        Kind.ID,
        "Bring-your-own-cloud cluster.",
        live="cluster",
        create="--cluster-id",
        effect=_REPL,
    ),
    Field(
        "display_name",
        Kind.TEXT,
        "Label shown in lists.",
        live="display_name",
        create="--display-name",
        update="--display-name",
        effect=_IN,
        max_length=63,
        example="Chat, production",
    ),
    Field(
        "description",
        Kind.TEXT,
        "Free text; fwctl keeps its ownership marker behind it.",
        live="description",
        create="--description",
        update="--description",
        effect=_IN,
        max_length=799,
    ),
    Field(
        "tags",
        Kind.TAGS,
        "Labels; keys that begin with fwctl. are fwctl's own.",
        live="annotations",
        effect=_IN,
        complete=True,
        since="1.8.3",
        via="deployment tag",
        max_items=58,
        example={"team": "search"},
    ),
    Field(
        "router",
        Kind.ID,
        "Native router: the stable name clients use (multi-region deployments only).",
        effect=_IN,
        output=True,
        via="router",
        example="chat",
    ),
    Field(
        "id",
        Kind.ID,
        "Deployment ID; the logical name when absent. Used at create and for identity, never diffed.",
        create="--deployment-id",
        read=False,
        example="chat-prod",
    ),
    Field(
        "accept_shapeless_risk",
        Kind.BOOL,
        "Create without a shape, against the vendor's advice.",
        create="--accept-shapeless-risk",
        read=False,
        example=True,
    ),
)


def _own(path: str, kind: Kind, doc: str, **extra: Any) -> Field:
    return Field(path, kind, doc, owner=Owner.FWCTL, read=False, **extra)


OWN_FIELDS: tuple[Field, ...] = (
    _own(
        "traffic",
        Kind.ENUM,
        "What depends on it: interactive, batch or evaluation.",
        enum="traffic_classes",
        example="interactive",
    ),
    _own("overrides", Kind.NAMES, "Fields that differ from the shape on purpose.", example=["speculation"]),
    _own("workload.input_tokens.p50", Kind.INT, "Prompt length, median.", minimum=0, example=1800),
    _own("workload.input_tokens.p95", Kind.INT, "Prompt length, 95th percentile.", minimum=0, example=14000),
    _own("workload.output_tokens.p50", Kind.INT, "Answer length, median.", minimum=0, example=300),
    _own("workload.output_tokens.p95", Kind.INT, "Answer length, 95th percentile.", minimum=0, example=900),
    _own(
        "workload.concurrency_per_replica",
        Kind.INT,
        "Conversations in flight on one replica.",
        minimum=1,
        example=8,
    ),
    _own(
        "workload.peak_rps",
        Kind.NUMBER,
        "Requests per second at peak, all replicas together.",
        minimum=0,
        example=12,
    ),
    _own(
        "workload.shared_prefix_tokens",
        Kind.INT,
        "Prompt tokens all requests share; charged once.",
        minimum=0,
        example=900,
    ),
    _own("workload.adapters_cached", Kind.INT, "LoRA adapters kept on the GPU.", minimum=0, example=4),
    _own(
        "workload.context_tokens",
        Kind.INT,
        "Length of one conversation (instead of the percentiles).",
        minimum=1,
        example=32768,
    ),
    _own(
        "workload.concurrency",
        Kind.INT,
        "Conversations in flight (instead of concurrency_per_replica).",
        minimum=1,
        example=8,
    ),
    _own("slo.ttft_p95_ms", Kind.NUMBER, "Time to first token, 95th percentile.", minimum=0, example=800),
    _own("slo.tpot_p95_ms", Kind.NUMBER, "Time per output token, 95th percentile.", minimum=0, example=25),
    _own("slo.total_p95_ms", Kind.NUMBER, "Total time, 95th percentile.", minimum=0, example=12000),
    _own("slo.error_rate", Kind.TEXT, "Share of failed requests, as a percentage.", example="0.5%"),
    _own("slo.at.rps", Kind.NUMBER, "Load at which the objectives hold.", minimum=0, example=10),
    _own("slo.at.suite", Kind.TEXT, "Prompt set that they are measured with.", example="prompts/chat.jsonl"),
    _own("gates.fit", Kind.ENUM, "What an estimated memory shortage does.", enum="gates", example="block"),
    _own("gates.eval", Kind.ENUM, "What missing evaluation evidence does.", enum="gates", example="warn"),
    _own("gates.bench", Kind.ENUM, "What missing bench evidence does.", enum="gates", example="ignore"),
    _own("gates.max_age", Kind.DURATION, "Evidence that is older does not count.", example="90d"),
    _own(
        "fit.config",
        Kind.TEXT,
        "Where the architecture comes from: a config.json, a catalogue name or a hub id.",
        example="models/llama-70b/config.json",
    ),
    _own(
        "lifecycle.prevent_destroy",
        Kind.BOOL,
        "Refuse to delete or replace it; true by default for interactive traffic.",
        example=True,
    ),
    _own(
        "lifecycle.on_immutable_change",
        Kind.ENUM,
        "refuse, recreate or blue_green.",
        enum="immutable_strategies",
        example="refuse",
    ),
    _own("lifecycle.ignore", Kind.NAMES, "Fields that are never diffed.", example=["description"]),
    _own(
        "lifecycle.after",
        Kind.NAMES,
        "Deployments of this run that are applied before it.",
        example=["support-lora"],
    ),
    _own(
        "lifecycle.hold_until",
        Kind.TEXT,
        "No changes before this time (RFC 3339).",
        example="2026-12-01T08:00Z",
    ),
    _own(
        "lifecycle.reuse_deleted_id",
        Kind.ENUM,
        "What to do when a deleted deployment still holds the ID.",
        enum="reuse_deleted_id",
        example="refuse",
    ),
)

FIELDS: tuple[Field, ...] = PLATFORM_FIELDS + OWN_FIELDS
BY_PATH: dict[str, Field] = {row.path: row for row in FIELDS}
