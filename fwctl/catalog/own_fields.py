"""The rows of a deployment spec that fwctl alone reads: nothing of them reaches the platform."""

from __future__ import annotations

from typing import Any

from fwctl.catalog.field import Field, Kind, Owner


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
