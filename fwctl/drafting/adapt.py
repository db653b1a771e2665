"""What an adaptive pipeline is to do: a checked file of `kind: Adapt`. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from fwctl.planning.digest import canonical_json


@dataclass(frozen=True, slots=True)
class Collecting:
    """traces, names and tokenizer: as written, beside the file. rules: kind -> pattern."""

    traces: tuple[str, ...]
    models: tuple[str, ...] = ()
    since: str | None = None
    anonymise: bool = True
    names: str | None = None
    rules: Mapping[str, str] = field(default_factory=dict)
    tokenizer: str | None = None
    least_conversations: int = 200
    least_tokens: int = 20_000


@dataclass(frozen=True, slots=True)
class Training:
    """Every base model with every number of epochs is a job. usd_per_million_tokens: None when unknown."""

    base_models: tuple[str, ...]
    epochs: tuple[int, ...] = (1,)
    lora_rank: int | None = None
    usd_per_million_tokens: float | None = None
    timeout_s: float = 86400.0


@dataclass(frozen=True, slots=True)
class Evaluating:
    """margin: least gain, a share. quality_margin: None without a quality gate. draft_url: up to /v1."""

    spend_cap_usd: float
    draft_tokens: tuple[int, ...] = (4,)
    suite: str | None = None
    requests: int = 100
    max_tokens: int = 512
    repeat: int = 2
    concurrency: int = 4
    margin: float = 0.05
    quality_margin: float | None = None
    draft_url: str | None = None
    time_to_live_s: float = 4 * 3600.0


@dataclass(frozen=True, slots=True)
class Watching:
    records: tuple[str, ...] = ()
    window_s: float = 86400.0
    restart: bool = False


@dataclass(frozen=True, slots=True)
class Adapt:
    """file: as given. folder: where relative names in it begin. deployment: entry of `specs`. settings: of
    these specs, which prices are part of."""

    name: str
    file: str
    folder: Path
    account: str
    stack: str
    deployment: str
    specs: tuple[str, ...]
    collecting: Collecting
    training: Training
    evaluating: Evaluating
    watching: Watching = field(default_factory=Watching)
    settings: Mapping[str, Any] = field(default_factory=dict)


def digest(*values: Any) -> str:
    """Ten hex digits of JSON values; names on the platform end in them, so the same is made once."""
    return sha256(canonical_json(list(values)).encode()).hexdigest()[:10]
