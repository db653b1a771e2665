"""A file of `kind: Adapt` -> Adapt, with every problem at its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from fwctl.catalog.adapt_fields import ADAPT_FIELDS, LONGEST_NAME, MOST_SETTINGS, ON_DRIFT
from fwctl.drafting.adapt import Adapt, Collecting, Evaluating, Training, Watching
from fwctl.errors import Diagnostic, Severity
from fwctl.quality.experiments.values import Values, name_problem
from fwctl.spec.files import Given
from fwctl.spec.groups import group_of
from fwctl.spec.kinds import is_kind, load_kind, require_rows, wrong
from fwctl.spec.parse import ParsedFile, parse_all
from fwctl.spec.reader import Reader, Run
from fwctl.spec.report import Report, shown
from fwctl.spec.sources import Sources
from fwctl.units import parse_duration

KIND = "Adapt"
_LISTS = ("train.base_models", "train.epochs", "evaluate.draft_tokens")
_NOT_EMPTY = ("specs", "collect.traces", *_LISTS)
# Keys of the file whose name in the dataclass is another one, or whose value is read by a method.
_PLAIN = {
    Collecting: ("models", "since", "anonymise", "names", "tokenizer", "least_conversations", "least_tokens"),
    Training: ("lora_rank", "usd_per_million_tokens"),
    Evaluating: ("suite", "requests", "max_tokens", "repeat", "concurrency", "draft_url"),
}


def load_adapt(path: Path, *, environ: Mapping[str, str], shown_as: str | None = None) -> Adapt:
    """Read and check one file. shown_as: its name in messages. Raises InvalidSpecError with every problem."""

    def check(given: Given) -> tuple[Adapt | None, tuple[Diagnostic, ...]]:
        return check_adapt(given, environ=environ, folder=path.parent)

    return load_kind(path, shown_as, check, what="adaptive pipeline", page="docs/adapt.md")


def check_adapt(
    given: Given, *, environ: Mapping[str, str], folder: Path = Path()
) -> tuple[Adapt | None, tuple[Diagnostic, ...]]:
    """As `load_adapt`, from bytes. folder: where the names in the file begin."""
    report = Report(Sources())
    (file,) = parse_all([given], None, report)
    adapt = _File(file, Reader(Run(report, environ)), folder).read() if file.root is not None else None
    found = tuple(report.finish(strict=False))
    failed = any(item.severity is Severity.ERROR for item in found)
    return (None if failed else adapt), found


class _File:
    """One parsed file on its way to an Adapt."""

    def __init__(self, file: ParsedFile, reader: Reader, folder: Path) -> None:
        assert file.root is not None
        self.file = file
        self.root = file.root
        self.reader = reader
        self.folder = folder

    def read(self) -> Adapt | None:
        if not is_kind(self.file, KIND, "an adaptive pipeline stands", self.reader.run.report):
            return None
        top = self.reader.read(group_of(ADAPT_FIELDS), self.root)
        require_rows(ADAPT_FIELDS, self.reader, self.file)
        self._check(top.values)
        # The same amounts as in an experiment, under their own names here.
        top.values |= {name: top.values[f"evaluate.{name}"] for name in _MOVED if self._has(name)}
        top.places |= {name: top.places[f"evaluate.{name}"] for name in _MOVED if self._has(name)}
        values = Values(top, self._wrong)
        name = self._name(values)
        cap, margin = values.dollars(), self._share("margin", 0.05)
        quality = self._share("quality_margin", None)
        life = values.life_s() if self._has("time_to_live") else Evaluating(0.0).time_to_live_s
        needed = ("account", "deployment", "specs", "collect.traces", "train.base_models")
        if cap is None or life is None or margin is None or any(key not in top.values for key in needed):
            return None
        evaluating = Evaluating(cap, margin=margin, quality_margin=quality, time_to_live_s=life)
        return self._built(name, top.values, evaluating)

    def _has(self, name: str) -> bool:
        return f"evaluate.{name}" in self.reader.checked.values

    def _built(self, name: str, get: dict[str, Any], evaluating: Evaluating) -> Adapt:
        def plain(kind: type, section: str) -> dict[str, Any]:
            keys = (key for key in _PLAIN[kind] if f"{section}.{key}" in get)
            return {key: _frozen(get[f"{section}.{key}"]) for key in keys}

        return Adapt(
            name=name,
            file=self.file.source.file,
            folder=self.folder,
            account=str(get["account"]),
            stack=str(get.get("stack", "default")),
            deployment=str(get["deployment"]),
            specs=tuple(get["specs"]),
            collecting=Collecting(
                tuple(get["collect.traces"]),
                rules=dict(get.get("collect.rules", {})),
                **plain(Collecting, "collect"),
            ),
            training=Training(
                tuple(get["train.base_models"]),
                tuple(get.get("train.epochs", (1,))),
                timeout_s=parse_duration(get.get("train.timeout", "24h")),
                **plain(Training, "train"),
            ),
            evaluating=replace(
                evaluating,
                draft_tokens=tuple(sorted(get.get("evaluate.draft_tokens", (4,)))),
                **plain(Evaluating, "evaluate"),
            ),
            watching=Watching(
                tuple(get.get("watch.records", ())),
                parse_duration(get.get("watch.window", "24h")),
                get.get("watch.on_drift", ON_DRIFT[0]) == "restart",
            ),
        )

    def _check(self, get: Mapping[str, Any]) -> None:
        for path in _NOT_EMPTY:
            if get.get(path) == []:
                self._wrong(path, f"{path} is an empty list", "FW203")
        for path in _LISTS:
            if len(get.get(path, ())) > MOST_SETTINGS:
                self._wrong(path, f"{path} holds at most {MOST_SETTINGS}", "FW203")
        if get.get("watch.on_drift", ON_DRIFT[0]) not in ON_DRIFT:
            self._wrong("watch.on_drift", f"watch.on_drift is {' or '.join(ON_DRIFT)}", "FW205")
        if "collect.since" in get and not _is_moment(get["collect.since"]):
            self._wrong("collect.since", "collect.since is no RFC 3339 moment with a zone", "FW208")
        if "watch.window" in get and parse_duration(get["watch.window"]) < _SHORTEST_WINDOW_S:
            self._wrong("watch.window", "watch.window is at least 1m", "FW203")

    def _name(self, values: Values) -> str:
        name = values.name(Path(self.file.source.file).stem.lower())
        if name_problem(name) is None and len(name) > LONGEST_NAME:
            self._wrong("name", f"name: {shown(name)} is longer than {LONGEST_NAME} characters", "FW310")
        return name

    def _share(self, name: str, default: float | None) -> float | None:
        """A share in percent; the reader of experiments says what is wrong with it."""
        path = f"evaluate.{name}"
        text = self.reader.checked.values.get(path)
        if text is None:
            return default
        number = text.removesuffix("%").strip()
        if text.endswith("%") and number.replace(".", "", 1).isdecimal() and float(number) < 100:
            return float(number) / 100
        self._wrong(path, f"{path}: {shown(text)} is not a share below 100%", "FW208", "for example 5%")
        return None

    def _wrong(self, path: str, message: str, code: str, suggestion: str | None = None) -> None:
        wrong(self.reader, self.file, code, message, path=path, suggestion=suggestion)


_MOVED = ("spend_cap", "time_to_live")
_SHORTEST_WINDOW_S = 60


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_moment(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False
