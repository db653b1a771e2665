"""What a file of `kind: Adapt` says: one row for each key."""

from __future__ import annotations

from fwctl.catalog.field import Field, Kind, Owner
from fwctl.catalog.run_fields import RUN_FIELDS

LONGEST_NAME = 18  # it stands in the names of datasets, jobs and candidates, with a digest behind it
MOST_SETTINGS = 4  # of each list: every combination is a job or a deployment
ON_DRIFT = ("alert", "restart")


def _row(path: str, kind: Kind, doc: str, **more: object) -> Field:
    return Field(path, kind, doc, owner=Owner.FWCTL, read=False, **more)  # type: ignore[arg-type]


ADAPT_FIELDS: tuple[Field, ...] = (
    *(row for row in RUN_FIELDS if row.path in ("apiVersion", "kind", "account", "stack")),
    _row("name", Kind.ID, "Name of the pipeline; the file's own without it.", example="chat-draft"),
    _row("deployment", Kind.TEXT, "Entry of the specs whose drafter it is.", required=True, example="chat"),
    _row("specs", Kind.NAMES, "Specs that hold it, beside this file.", required=True, example=["chat.yaml"]),
    _row("collect.traces", Kind.NAMES, "Recorded traffic.", required=True, example=["traces.jsonl"]),
    _row("collect.models", Kind.NAMES, "Names under which the target answers in the traces."),
    _row(
        "collect.since", Kind.TEXT, "Answers from this moment on, RFC 3339.", example="2026-11-01T00:00:00Z"
    ),
    _row("collect.anonymise", Kind.BOOL, "Replace what points at people; true without it."),
    _row("collect.names", Kind.TEXT, "File with names to replace, one a line.", example="names.txt"),
    _row("collect.rules", Kind.TAGS, "Own kinds of text to replace.", example={"ticket": "TCK-[0-9]+"}),
    _row("collect.tokenizer", Kind.TEXT, "tokenizer.json of the model, for exact counts."),
    _row("collect.least_conversations", Kind.INT, "Fewer are too little data [200].", minimum=10),
    _row("collect.least_tokens", Kind.INT, "Answer tokens to train on, at least [20000].", minimum=1),
    _row("train.base_models", Kind.NAMES, "Small models to tune, of the target's family.", required=True),
    _row("train.epochs", Kind.COUNTS, "Times through the data; a job for each [1].", minimum=1, maximum=20),
    _row("train.lora_rank", Kind.INT, "Rank of the adapter; the platform's own without it.", minimum=1),
    _row(
        "train.usd_per_million_tokens",
        Kind.NUMBER,
        "Price of training; without it the cost is unknown.",
        minimum=0.0,
        maximum=10_000.0,
    ),
    _row("train.timeout", Kind.DURATION, "Longest wait for a job [24h]."),
    _row("evaluate.draft_tokens", Kind.COUNTS, "Drafted tokens a pass to try [4].", minimum=1, maximum=64),
    _row("evaluate.suite", Kind.TEXT, "Graded prompts to measure with; the hold-out without it."),
    _row("evaluate.requests", Kind.INT, "Most requests of the hold-out that are sent [100].", minimum=12),
    _row("evaluate.max_tokens", Kind.INT, "Longest answer that is measured [512].", minimum=16, maximum=8192),
    _row("evaluate.repeat", Kind.INT, "Times through them [2].", minimum=1, maximum=20),
    _row("evaluate.concurrency", Kind.INT, "Requests at a time [4].", minimum=1, maximum=1000),
    _row("evaluate.margin", Kind.TEXT, "Least speed-up that is worth it [5%].", example="5%"),
    _row("evaluate.quality_margin", Kind.TEXT, "Largest loss of right answers.", example="3%"),
    _row("evaluate.draft_url", Kind.URL, "Endpoint that serves draft models, to replay the hold-out."),
    _row("evaluate.spend_cap", Kind.TEXT, "Most that measuring may cost.", required=True, example="$20"),
    _row("evaluate.time_to_live", Kind.DURATION, "When every candidate ends [4h]."),
    _row("watch.records", Kind.NAMES, "Bench records or router traces to look at."),
    _row("watch.window", Kind.DURATION, "Length of a window [24h]."),
    _row("watch.on_drift", Kind.TEXT, "alert, or restart [alert].", example="restart"),
)
