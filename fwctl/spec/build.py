"""What was read without an error -> Spec."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from fwctl.catalog.canonical import canonical
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Position
from fwctl.spec.model import Deployment, Spec
from fwctl.spec.sections import RunRead
from fwctl.spec.sources import Sources, Span
from fwctl.spec.view import View

NO_SHAPE = "none"


class Places(Mapping[str, Position]):
    """Positions by path, worked out when they are asked for: most never are."""

    __slots__ = ("_sources", "_spans")

    def __init__(self, sources: Sources, spans: dict[str, Span]) -> None:
        self._sources = sources
        self._spans = spans

    def __getitem__(self, path: str) -> Position:
        return self._sources.position(self._spans[path])

    def __contains__(self, path: object) -> bool:
        return path in self._spans

    def __iter__(self) -> Iterator[str]:
        return iter(self._spans)

    def __len__(self) -> int:
        return len(self._spans)


def build_spec(run: RunRead, sources: Sources) -> Spec:
    """The Spec of a run whose report has no error."""
    top: dict[str, Any] = {}
    accepted: list[str] = []
    for file in run.view.files:
        for path, value in file.checked.values.items():
            top.setdefault(path, value)
        accepted += file.checked.values.get("settings.accept_unknown", [])
    settings = {
        path.removeprefix("settings."): value for path, value in top.items() if path.startswith("settings.")
    }
    if accepted:
        settings["accept_unknown"] = list(dict.fromkeys(accepted))
    return Spec(
        account=run.view.account or top["account"],
        stack=top.get("stack", "default"),
        deployments={d.name: _deployment(d, sources) for d in run.view.deployments},
        settings=settings,
        budget={
            path.removeprefix("budget."): value for path, value in top.items() if path.startswith("budget.")
        },
        sha256={file.source.file: file.sha256 for file in run.specs},
    )


def _deployment(d: View, sources: Sources) -> Deployment:
    fields, own = split(d.checked.values)
    spans = {**d.checked.places, "": d.key}
    return Deployment(
        d.name, d.deployment_id or d.name, fields, own, d.checked.references, Places(sources, spans)
    )


def split(values: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Canonical values of the platform's fields and of fwctl's own; `shape: none` is an absent shape."""
    fields: dict[str, Any] = {}
    own: dict[str, Any] = {}
    for path, value in values.items():
        row = BY_PATH[path]
        if path == "shape" and value == NO_SHAPE:
            continue
        (fields if row.managed else own)[path] = canonical(row, value)
    return fields, own
