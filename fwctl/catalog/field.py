"""The form of a row of the field tables: what a value is, what changing it does, who decides it."""

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
