"""What a set of spec files means, after validation: plain frozen values that later rooms receive."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.errors import Diagnostic, Position


@dataclass(frozen=True, slots=True)
class Deployment:
    """One entry of `deployments:`.

    fields: platform fields by path of `catalog.fields`, in canonical form; an absent path is not
    managed; `shape: none` is an absent shape; `direct_route.api_keys` holds `redact.Secret` values.
    own: fwctl's own fields (traffic, workload.*, lifecycle.* ...) by path. references: for every path
    whose text held `${env:...}`, the unresolved value as written. positions: where each path stands;
    the entry itself under the empty path.
    """

    name: str
    deployment_id: str
    fields: Mapping[str, Any]
    own: Mapping[str, Any] = field(default_factory=dict)
    references: Mapping[str, Any] = field(default_factory=dict)
    positions: Mapping[str, Position] = field(default_factory=dict)

    @property
    def protected(self) -> bool:
        """Delete protection: `lifecycle.prevent_destroy`, by default on for interactive traffic."""
        default = self.own.get("traffic") == "interactive"
        return bool(self.own.get("lifecycle.prevent_destroy", default))

    def position_of(self, path: str) -> Position | None:
        """Place of a field, or of the nearest parent that is written down."""
        while path and path not in self.positions:
            path = path.rpartition(".")[0]
        return self.positions.get(path)


@dataclass(frozen=True, slots=True)
class Spec:
    """One account and one stack: the union of the files of a run."""

    account: str
    stack: str = "default"
    deployments: Mapping[str, Deployment] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    budget: Mapping[str, float] = field(default_factory=dict)
    sha256: Mapping[str, str] = field(default_factory=dict)  # file as given -> digest of its bytes


@dataclass(frozen=True, slots=True)
class Evidence:
    """What earlier measurements say, handed to the rules that need it (FW305, FW403, FW404, FW410).

    tested_replicas: logical name -> highest replica count that a fresh bench covered. evaluated: logical
    name -> True when fresh evaluation evidence passes for its model and precision, False when it fails.
    model_precision: model resource name -> the checkpoint's own precision. conversations: logical name ->
    conversations of the declared workload that fit in the KV memory of one replica. An absent entry means:
    not known. tested_by, evaluated_by: logical name -> the file and date that say so. not_tested,
    not_evaluated: logical name -> the newest record that does not count, and why. read: False when no
    evidence was looked for, so that missing evidence says nothing (FW403, FW404). gates_follow: True where
    a plan asks the gates next and blocks one deployment, so that no rule has to stop the whole run.
    """

    tested_replicas: Mapping[str, int] = field(default_factory=dict)
    evaluated: Mapping[str, bool] = field(default_factory=dict)
    model_precision: Mapping[str, str] = field(default_factory=dict)
    conversations: Mapping[str, float] = field(default_factory=dict)
    tested_by: Mapping[str, str] = field(default_factory=dict)
    evaluated_by: Mapping[str, str] = field(default_factory=dict)
    not_tested: Mapping[str, str] = field(default_factory=dict)
    not_evaluated: Mapping[str, str] = field(default_factory=dict)
    read: bool = True
    gates_follow: bool = False


@dataclass(frozen=True, slots=True)
class Loaded:
    """Outcome of loading: `spec` is None when an error stands in the diagnostics, or when no file of
    kind Deployments was among the paths."""

    files: tuple[str, ...]
    spec: Spec | None
    diagnostics: tuple[Diagnostic, ...]
