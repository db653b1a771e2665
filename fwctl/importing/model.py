"""What an import comes to: entries of a spec, and remarks about what it could not know."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Remark:
    """One thing to know. line counts from 1; 0 and an empty file stand for the platform."""

    file: str
    line: int
    code: str
    message: str

    def to_json(self) -> dict[str, Any]:
        return {"file": self.file, "line": self.line, "code": self.code, "message": self.message}

    @property
    def place(self) -> str:
        return f"{self.file}:{self.line}: " if self.line else f"{self.file}: " if self.file else ""


@dataclass(slots=True)
class Entry:
    """One deployment. values: by path of the field table, as YAML writes them. comments: lines above."""

    name: str
    values: dict[str, Any] = field(default_factory=dict)
    comments: list[str] = field(default_factory=list)


@dataclass(slots=True)
class Draft:
    """A spec in the making. variables: values that a script gives the variables it uses."""

    account: str
    stack: str = "default"
    entries: list[Entry] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    comments: list[str] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Imported:
    """The finished text. problems: why it does not validate yet, empty when it does."""

    spec: str
    remarks: tuple[Remark, ...] = ()
    problems: tuple[str, ...] = ()
    names: tuple[str, ...] = ()

    def to_json(self) -> Mapping[str, Any]:
        """The `import` part of docs/json.md."""
        return {
            "spec": self.spec,
            "deployments": list(self.names),
            "valid": not self.problems,
            "problems": list(self.problems),
            "remarks": [item.to_json() for item in self.remarks],
        }
