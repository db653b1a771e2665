"""What a file of `kind: Experiment` says beside its candidates: one row for each key."""

from __future__ import annotations

from fwctl.catalog.field import Field, Kind, Owner
from fwctl.catalog.fields import FIELDS
from fwctl.catalog.run_fields import RUN_FIELDS

LONGEST_NAME = 24  # of an experiment and of a candidate: both stand in a deployment ID of 63 characters
MOST_CONCURRENCY = 10_000
SLO_PATHS = ("slo.ttft_p95_ms", "slo.tpot_p95_ms", "slo.total_p95_ms", "slo.error_rate")

# Decided by the experiment, so that a candidate costs nothing while nobody asks it, collides with nothing
# and can be deleted: why -> fields.
DECIDED = {
    "a candidate is created with min 0, so that the platform stops it when the load stops": (
        "replicas.min",
        "autoscaling.scale_to_zero_window",
        "autoscaling.schedules",
    ),
    "a candidate has an ID of its own and stands behind no router": ("id", "router"),
    "a candidate lives for the time_to_live of the experiment": (
        "lifecycle.prevent_destroy",
        "lifecycle.on_immutable_change",
        "lifecycle.ignore",
        "lifecycle.after",
        "lifecycle.hold_until",
        "lifecycle.reuse_deleted_id",
    ),
    "the experiment's own load and slo hold for every candidate": (
        "traffic",
        *(row.path for row in FIELDS if row.path.startswith(("slo.", "gates."))),
    ),
}
# What a candidate gets instead.
GIVEN = {
    "replicas.min": 0,
    "autoscaling.scale_to_zero_window": "5m0s",  # the shortest the platform takes, FW303
    "traffic": "evaluation",
    "lifecycle.prevent_destroy": False,
    "gates.eval": "ignore",
    "gates.bench": "ignore",
}
DEFAULT_MAX_REPLICAS = 1


def _row(path: str, kind: Kind, doc: str, **more: object) -> Field:
    return Field(path, kind, doc, owner=Owner.FWCTL, read=False, **more)  # type: ignore[arg-type]


EXPERIMENT_FIELDS: tuple[Field, ...] = (
    *(row for row in RUN_FIELDS if row.path in ("apiVersion", "kind", "account", "stack")),
    *(row for row in RUN_FIELDS if row.path.startswith("settings.") and row.path != "settings.outputs"),
    _row("name", Kind.ID, "Name of the experiment; the file's own without it.", example="chat-shapes"),
    _row("suite", Kind.TEXT, "Prompt set, beside this file.", required=True, example="prompts.jsonl"),
    _row("deployment", Kind.TEXT, "Entry of the specs that the recommendation is for.", example="chat"),
    _row("baseline", Kind.TEXT, "Candidate that the others must not be worse than; the first without it."),
    _row("spend_cap", Kind.TEXT, "Most that it may cost, in dollars.", required=True, example="$20"),
    _row("time_to_live", Kind.DURATION, "When every candidate ends.", required=True, example="4h"),
    _row("load.concurrency", Kind.INT, "Requests at a time.", minimum=1, maximum=MOST_CONCURRENCY),
    _row("load.rate", Kind.NUMBER, "Requests a second instead, Poisson.", minimum=0.001, maximum=10_000),
    _row("load.repeat", Kind.INT, "Times to go through the suite.", minimum=1, maximum=100),
    _row("load.warmup", Kind.INT, "Requests to each candidate before measuring.", minimum=0, maximum=1000),
    _row("load.seed", Kind.INT, "Seed of order and arrivals.", minimum=0),
    *(row for row in FIELDS if row.path in SLO_PATHS),
    _row("quality.margin", Kind.TEXT, "Largest loss against the baseline, as a share.", example="3%"),
    _row("base", Kind.OBJECT, "Deployment fields that all candidates share.", example={"region": "US"}),
    _row("candidates", Kind.OBJECT, "Name -> what it has of its own; two to four.", required=True),
)
