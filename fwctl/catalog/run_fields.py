"""What a spec file says beside its deployments: one row for each top-level key.

The rows have the form of `catalog.field`, so that schema, `fwctl explain` and docs treat them alike.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fwctl.catalog.field import Field, Kind, Owner

API_VERSION = "fwctl/v1"


def _row(path: str, kind: Kind, doc: str, **extra: Any) -> Field:
    return Field(path, kind, doc, owner=Owner.FWCTL, read=False, **extra)


RUN_FIELDS: tuple[Field, ...] = (
    _row(
        "apiVersion",
        Kind.ENUM,
        "Version of the file format.",
        enum="api_versions",
        required=True,
        example=API_VERSION,
    ),
    _row("kind", Kind.ENUM, "What the file declares.", enum="kinds", example="Deployments"),
    _row("account", Kind.ID, "Fireworks account; firectl is always called with it.", example="acme"),
    _row(
        "stack",
        Kind.TEXT,
        "Ownership name of this set of specs; `default` when absent.",
        max_length=20,
        example="prod",
    ),
    _row(
        "settings.require_firectl",
        Kind.TEXT,
        "Version of firectl that the specs need.",
        example=">=1.8.2",
    ),
    _row(
        "settings.accept_unknown",
        Kind.NAMES,
        "Values newer than this fwctl that are taken as they are.",
        example=["NVIDIA_GB300"],
    ),
    _row(
        "settings.prices",
        Kind.TEXT,
        "Price list with contract prices, beside this file.",
        example="prices.yaml",
    ),
    _row(
        "settings.outputs",
        Kind.TEXT,
        "File that receives the model strings after an apply.",
        example="models.json",
    ),
    _row(
        "settings.evidence",
        Kind.TEXT,
        "Folder of evidence files, beside this file; `evidence` when absent.",
        example="evidence",
    ),
    _row(
        "settings.send_pins",
        Kind.ENUM,
        "When pins are sent to firectl beside a shape: auto, always or never.",
        enum="send_pins",
        example="auto",
    ),
    _row(
        "budget.floor_usd_per_hour",
        Kind.NUMBER,
        "Most that all minimum replicas may cost.",
        minimum=0,
        example=80,
    ),
    _row(
        "budget.ceiling_usd_per_hour",
        Kind.NUMBER,
        "Most that all maximum replicas may cost.",
        minimum=0,
        example=300,
    ),
    _row(
        "budget.change_usd_per_hour",
        Kind.NUMBER,
        "Most that one plan may add to the ceiling.",
        minimum=0,
        example=60,
    ),
    _row(
        "defaults",
        Kind.OBJECT,
        "Deployment fields merged under every deployment of this file.",
        example={"region": "US"},
    ),
    _row(
        "deployments",
        Kind.OBJECT,
        "Logical name -> deployment.",
        example={
            "chat": {
                "model": "accounts/fireworks/models/llama-v3p1-8b-instruct",
                "shape": "fast",
                "replicas": {"min": 1, "max": 2},
            }
        },
    ),
)


@dataclass(frozen=True, slots=True)
class FileKind:
    """A kind of spec file. `body`: its own top-level keys; None: any key (checked by its reader)."""

    name: str
    doc: str
    body: tuple[str, ...] | None
    required: tuple[str, ...] = ()


FILE_KINDS: tuple[FileKind, ...] = (
    FileKind(
        "Deployments",
        "Deployments and what they need.",
        ("settings", "budget", "defaults", "deployments"),
    ),
    FileKind("Targets", "What a bench run asks.", ("targets", "defaults"), ("targets",)),
    FileKind("Routes", "Routes of the fallback router.", ("routes", "settings"), ("routes",)),
    FileKind("Watch", "Rules and sinks of `fwctl watch`.", None),
    FileKind("Adapt", "The adaptive drafting pipeline.", None),
    FileKind(
        "Experiment",
        "Candidates of an experiment.",
        (
            "settings",
            "name",
            "suite",
            "deployment",
            "baseline",
            "spend_cap",
            "time_to_live",
            "load",
            "slo",
            "quality",
            "base",
            "candidates",
        ),
        ("candidates", "suite", "spend_cap", "time_to_live"),
    ),
)
ENVELOPE = ("apiVersion", "kind", "account", "stack")
