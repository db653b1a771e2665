"""What a rule sees: one deployment with its defaults merged in, or the whole run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.errors import Severity
from fwctl.spec.model import Evidence
from fwctl.spec.pointers import pointer
from fwctl.spec.reader import Checked
from fwctl.spec.report import escape
from fwctl.spec.sources import Span


@dataclass(frozen=True, slots=True)
class Finding:
    """What a rule found. `severity` differs from the rule's own only where its page says so."""

    span: Span
    message: str
    suggestion: str | None = None
    path: str | None = None
    severity: Severity | None = None


@dataclass(frozen=True, slots=True)
class View:
    """One deployment, tolerant: a value that is wrong is absent from `values` but has its place."""

    name: str
    key: Span
    checked: Checked
    accept_unknown: frozenset[str] = frozenset()
    evidence: Evidence | None = None

    def get(self, path: str, default: Any = None) -> Any:
        """The good value at this path, else the default."""
        return self.checked.values.get(path, default)

    def written(self, path: str) -> bool:
        """True when the path stands in the file, good or not."""
        return path in self.checked.places

    def below(self, group: str) -> bool:
        """True when anything inside this group is written."""
        start = group + "."
        return any(path.startswith(start) for path in self.checked.places)

    def place(self, *paths: str) -> tuple[Span, str]:
        """Place and path of the first of these that is written, else of the deployment itself."""
        for path in paths:
            span = self.checked.places.get(path)
            if span is not None:
                return span, path
        return self.key, ""

    def item(self, path: str, at: int) -> str:
        """Path of the entry at this place of a list value (entries that were wrong are not in it)."""
        return self.checked.items[path][at]

    def finding(
        self,
        paths: str | tuple[str, ...],
        message: str,
        suggestion: str | None = None,
        severity: Severity | None = None,
    ) -> Finding:
        """A finding at the first of the paths that is written."""
        span, path = self.place(*((paths,) if isinstance(paths, str) else paths))
        return Finding(span, message, suggestion, self.pointer + pointer(path), severity)

    @property
    def pointer(self) -> str:
        return "/deployments/" + escape(self.name)

    @property
    def deployment_id(self) -> str | None:
        """The ID it will have; None when `id:` is written and wrong."""
        given = self.get("id")
        if given is None and self.written("id"):
            return None
        return given or self.name

    @property
    def parked(self) -> bool:
        """max 0 parks a deployment, which exempts it from FW302, FW312 and FW401."""
        return bool(self.get("replicas.max") == 0)


@dataclass(frozen=True, slots=True)
class FileView:
    """The top of one file of kind Deployments."""

    file: str
    start: Span
    checked: Checked
    declares: bool  # at least one deployment


@dataclass(frozen=True, slots=True)
class RunView:
    """All files of kind Deployments, in order, and every deployment of theirs."""

    files: tuple[FileView, ...]
    deployments: tuple[View, ...]
    account: str | None = None  # the one given on the command line
    names: Mapping[str, View] = field(default_factory=dict)
