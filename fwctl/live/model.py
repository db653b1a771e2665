"""Live state, normalised: what the platform holds, in the words and units of the spec."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True, slots=True)
class Marker:
    """fwctl's ownership marker, read from a deployment's description or its `fwctl.*` tags.

    digest: one digest of all last-applied managed values (description marker). field_digests: one for
    each managed field (tags), empty where the installed firectl has no tags.
    """

    stack: str
    name: str
    role: str | None = None
    protect: bool = False
    hold_until: datetime | None = None
    expires: datetime | None = None
    step: str | None = None
    attempt: int = 0
    tagged: bool = False  # the tags were to be written too
    digest: str | None = None
    field_digests: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Replicas:
    min: int = 0
    max: int = 0
    desired: int = 0
    ready: int = 0
    pending: int = 0
    downloading: int = 0
    initializing: int = 0


@dataclass(frozen=True, slots=True)
class LiveDeployment:
    """One deployment. `fields` has canonical values by spec path, present ones only; `region` in
    `fields` is the placement that was asked for, `running_region` where it runs now."""

    name: str
    deployment_id: str
    account: str
    state: str
    fields: Mapping[str, Any]
    marker: Marker | None = None
    replicas: Replicas = field(default_factory=Replicas)
    running_region: str | None = None
    status_code: str = "OK"
    status_message: str = ""
    created: datetime | None = None
    deleted: datetime | None = None
    purge: datetime | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ShapeVersion:
    """One version of a deployment shape; `snapshot` has canonical values by spec path."""

    name: str
    shape: str
    version: str
    validated: bool
    latest_validated: bool
    base_model: str
    preset: str | None
    snapshot: Mapping[str, Any]
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveModel:
    """A model as `firectl model get` tells it."""

    name: str
    kind: str
    parameter_count: int | None = None
    context_length: int | None = None
    hugging_face_url: str | None = None
    default_precision: str | None = None
    base_model: str | None = None
    raw: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LiveState:
    """Everything one plan reads. `deployments` is keyed by ID and includes deleted ones that still
    hold their ID; `models` maps a name to None when the platform says it does not exist; the same for
    `shapes`, keyed by the shape or version name as asked."""

    account: str
    deployments: Mapping[str, LiveDeployment] = field(default_factory=dict)
    shapes: Mapping[str, tuple[ShapeVersion, ...] | None] = field(default_factory=dict)
    matches: Mapping[str, tuple[ShapeVersion, ...]] = field(default_factory=dict)
    models: Mapping[str, LiveModel | None] = field(default_factory=dict)
    quotas: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    routers: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    reservations: tuple[Mapping[str, Any], ...] = ()
    loaded_addons: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    signed_in_as: str | None = None  # the account that `whoami` names, where it says one
    unread: Mapping[str, str] = field(default_factory=dict)  # optional reads that failed -> why
