"""A finished run -> what evidence says about it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from fwctl.errors import RefusedError, UsageError
from fwctl.measure.lines import read_rows
from fwctl.measure.objectives import Objective, Verdict, judge_summary, overall

LARGEST_BYTES = 64 * 2**20
_TIMES = ("ttft_s", "ttft_from_schedule_s", "ttfv_s", "total_s", "tpot_s")
_FIGURES = ("n", "n_ok", "errors", *_TIMES, "cached_share", "usd_per_million_output_tokens")


@dataclass(frozen=True, slots=True)
class RunFacts:
    """One target of a run. model: the string that was sent. replicas: ready ones, where they were watched.
    rate_per_s or concurrency: the load, None where it is not known."""

    target: str
    model: str | None
    date: datetime
    suite_digest: str
    suite_file: str | None
    replicas: int | None
    rate_per_s: float | None
    concurrency: int | None
    figures: Mapping[str, Any]
    summary: Mapping[str, Any]

    def passed(self, objectives: tuple[Objective, ...], at_rps: float | None) -> bool | None:
        """True when every objective is shown to be met at the load they are for; None without objectives."""
        if all(item.metric is None for item in objectives):
            return None
        if at_rps is not None and (self.rate_per_s is None or self.rate_per_s < at_rps):
            return False
        return overall(judge_summary(self.figures, objectives)) is Verdict.MET

    def results(self, objectives: tuple[Objective, ...], at_rps: float | None) -> dict[str, Any]:
        """The numbers that evidence keeps."""
        return {
            "run_id": self.summary.get("run_id"),
            "target": self.target,
            "rate_per_s": self.rate_per_s,
            "concurrency": self.concurrency,
            "objectives": [item.to_json() for item in judge_summary(self.figures, objectives)],
            "objectives_at_rps": at_rps,
            **{key: self.figures[key] for key in _FIGURES if key in self.figures},
        }


def facts_of_run(folder: Path, target: str | None) -> RunFacts:
    """The one target of a run, or the named one.

    Raises UsageError for a folder that is no finished run or holds several targets, RefusedError for a run
    that is invalid, was interrupted or got no answer.
    """
    summary = _document(folder / "summary.json")
    targets = summary.get("targets")
    if not isinstance(targets, dict) or not targets:
        raise UsageError(f"{folder}: summary.json names no target", next_steps=["fwctl bench run"])
    name = _one(folder, targets, target)
    _require_sound(folder, summary, targets[name])
    plan = _plan(folder)
    load = next(
        (row for row in plan.get("sweep") or () if name.endswith(f"@{_label(row)}")), plan.get("shape")
    )
    base = name.partition("@")[0]
    sent: Mapping[str, Any] = next((row for row in plan.get("targets", ()) if row.get("name") == base), {})
    try:
        return RunFacts(
            target=name,
            model=sent.get("model"),
            date=_ended(folder),
            suite_digest=str(summary["suite_digest"]),
            suite_file=(plan.get("suite") or {}).get("path"),
            replicas=_replicas(summary, name),
            rate_per_s=load.get("rate_per_s") if load else None,
            concurrency=load.get("concurrency") if load and load.get("rate_per_s") is None else None,
            figures=targets[name],
            summary=summary,
        )
    except (KeyError, TypeError, AttributeError, ValueError):
        raise _no_run(folder) from None


def _one(folder: Path, targets: Mapping[str, Any], wanted: str | None) -> str:
    if wanted is None and len(targets) == 1:
        return next(iter(targets))
    if wanted in targets:
        return str(wanted)
    names = ", ".join(sorted(targets))
    said = f"has no target {wanted!r}" if wanted is not None else "holds several targets"
    raise UsageError(f"{folder} {said}: {names}", next_steps=[f"--target {min(targets)}"])


def _require_sound(folder: Path, summary: Mapping[str, Any], figures: Any) -> None:
    if not isinstance(figures, dict) or not isinstance(figures.get("n_ok"), int):
        raise _no_run(folder)
    reasons = [str(reason) for reason in summary.get("invalid_reasons") or ()]
    if summary.get("interrupted"):
        reasons.append("the run was interrupted; --resume goes on with it")
    if not figures["n_ok"]:
        reasons.append("no request went well")
    if reasons or summary.get("valid") is not True:
        raise RefusedError(
            f"{folder} is no evidence: {'; '.join(reasons) or 'the run is not valid'}",
            next_steps=["measure again; `fwctl bench selftest` shows what this machine can carry"],
        )


def _replicas(summary: Mapping[str, Any], name: str) -> int | None:
    samples = summary.get("replicas") or ()
    counts = [sample["ready"].get(name.split("@", maxsplit=1)[0]) for sample in samples]
    known = [count for count in counts if isinstance(count, int)]
    return min(known) if known else None


def _plan(folder: Path) -> Mapping[str, Any]:
    """The plan in run.json, empty for a run that has none."""
    path = folder / "run.json"
    plan = _document(path).get("plan") if path.exists() else None
    return plan if isinstance(plan, dict) else {}


def _label(shape: Mapping[str, Any]) -> str:
    rate = shape.get("rate_per_s")
    return str(shape.get("concurrency")) if rate is None else f"{rate:g}/s"


def _ended(folder: Path) -> datetime:
    """When the last request started."""
    last = max(str(row.get("started_at", "")) for row in read_rows(folder / "records.jsonl"))
    found = datetime.fromisoformat(last)
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _document(path: Path) -> Mapping[str, Any]:
    try:
        if not path.is_file():
            raise _no_run(path.parent)
        with path.open("rb") as file:
            found = json.loads(file.read(LARGEST_BYTES))
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror or error}") from None
    except (ValueError, RecursionError):
        raise UsageError(f"{path} is not JSON", next_steps=["give the folder of a finished run"]) from None
    if not isinstance(found, dict):
        raise _no_run(path.parent)
    return found


def _no_run(folder: Path) -> UsageError:
    return UsageError(
        f"{folder} is not the folder of a finished run (no usable summary.json)",
        next_steps=["fwctl bench run --suite FILE --out DIR"],
    )
