"""Single values of an experiment's file: amounts, shares, names, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Protocol

from fwctl.catalog.experiment_fields import LONGEST_NAME, SLO_PATHS
from fwctl.quality.experiments.model import Load
from fwctl.spec.closest import did_you_mean, listed
from fwctl.spec.reader import Checked
from fwctl.spec.report import shown
from fwctl.units import parse_duration

SHORTEST_LIFE_S, LONGEST_LIFE_S = 600, 7 * 86400
LARGEST_CAP_USD = 100_000
_DOLLARS = re.compile(r"\$(\d{1,6}(?:\.\d{1,2})?)", re.ASCII)
_PERCENT = re.compile(r"(\d{1,2}(?:\.\d{1,4})?)%", re.ASCII)
_NAME = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)


class Wrong(Protocol):
    """Where a problem goes: path of the value, message, code, what to write instead."""

    def __call__(self, path: str, message: str, code: str, suggestion: str | None = None) -> None: ...


def name_problem(name: str) -> str | None:
    """What is wrong with the name of an experiment or a candidate."""
    if len(name) <= LONGEST_NAME and _NAME.fullmatch(name):
        return None
    return f"is not 1 to {LONGEST_NAME} of lower-case letters and digits, with single hyphens between them"


class Values:
    """Reads from what the YAML reader took; a value that is wrong there is None here and said once."""

    def __init__(self, top: Checked, wrong: Wrong) -> None:
        self._top = top
        self._get = top.values.get
        self._wrong = wrong

    def name(self, stem: str) -> str:
        """The name; without one the file's own, `stem`."""
        name = str(self._get("name", stem))
        written = "name" in self._top.places
        problem = name_problem(name)
        if problem and ("name" in self._top.values or not written):
            whose = "" if written else ", the name of the file,"
            advice = None if written else "write `name:` with another one"
            self._wrong("name", f"name: {shown(name)}{whose} {problem}", "FW310", advice)
        return name

    def dollars(self) -> float | None:
        """The spend cap."""
        text = self._get("spend_cap")
        if text is None:
            return None
        found = _DOLLARS.fullmatch(text)
        if found is None or not 0 < float(found[1]) <= LARGEST_CAP_USD:
            message = f"spend_cap: {shown(text)} is not an amount up to ${LARGEST_CAP_USD:,}"
            self._wrong("spend_cap", message, "FW208", "for example $20 or $7.50")
            return None
        return float(found[1])

    def life_s(self) -> float | None:
        """The time to live in seconds."""
        text = self._get("time_to_live")
        if text is None:
            return None
        seconds = parse_duration(text)
        if not SHORTEST_LIFE_S <= seconds <= LONGEST_LIFE_S:
            self._wrong("time_to_live", "time_to_live is between 10m and 7d", "FW203")
        return seconds

    def margin(self) -> float | None:
        """The largest loss of quality, as a share."""
        text = self._get("quality.margin")
        if text is None:
            return None
        found = _PERCENT.fullmatch(text)
        if found is None or float(found[1]) == 0:
            message = f"quality.margin: {shown(text)} is not a share above 0% and below 100%"
            self._wrong("quality.margin", message, "FW208", "for example 3%")
            return None
        return float(found[1]) / 100

    def load(self) -> Load:
        """The load, with defaults."""
        if {"load.rate", "load.concurrency"} <= self._top.places.keys():
            self._wrong("load.rate", "load.rate and load.concurrency exclude each other", "FW203")
        default = Load()
        return Load(
            concurrency=self._get("load.concurrency", default.concurrency),
            rate_per_s=self._get("load.rate"),
            repeat=self._get("load.repeat", default.repeat),
            warmup=self._get("load.warmup", default.warmup),
            seed=self._get("load.seed", default.seed),
        )

    def baseline(self, names: Sequence[str]) -> str:
        """One of the candidates, the first when none is named."""
        wanted = self._get("baseline")
        if wanted is not None and names and wanted not in names:
            advice = did_you_mean(wanted, names) or listed(names, "the candidates")
            self._wrong("baseline", f"baseline: {shown(wanted)} is no candidate", "FW205", advice)
        return str(wanted or next(iter(names), ""))

    def slo(self) -> dict[str, float]:
        """Limits by the last part of their path; `error_rate` as a share, the rest in milliseconds."""
        found: dict[str, float] = {}
        for path in SLO_PATHS:
            value = self._get(path)
            if value is not None:
                share = path.endswith("error_rate")
                number = float(str(value).removesuffix("%")) / 100 if share else float(value)
                found[path.removeprefix("slo.")] = number
        return found
