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
    managed. own: fwctl's own fields (traffic, workload.*, lifecycle.* ...) by path. references: for
    every path whose text held `${env:...}`, the unresolved value as written. positions: where each
    path stands; the entry itself under the empty path.
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
class Loaded:
    """Outcome of loading: `spec` is None when an error stands in the diagnostics."""

    files: tuple[str, ...]
    spec: Spec | None
    diagnostics: tuple[Diagnostic, ...]
