"""`fwctl evidence list|add|check`: what was measured, whether it still counts, and what a gate would say."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.choices import Scope
from fwctl.cli.command import Call, command
from fwctl.cli.evidence_files import Found, around_each, evidence_folder, find_evidence
from fwctl.cli.evidence_setting import as_named, measured
from fwctl.cli.evidence_weighed import offline_evidence
from fwctl.cli.places import lock_of
from fwctl.cli.session import load_specs, require_valid
from fwctl.errors import RefusedError, UsageError
from fwctl.exitcodes import Exit
from fwctl.records.evidence import EvidenceRecord, Stored, write
from fwctl.records.freshness import Around, Setting, is_about, stale_because
from fwctl.report.model import Report
from fwctl.spec.model import Deployment, Evidence, Spec


@command("fwctl evidence list", "fwctl evidence list configs/chat.yaml --format json")
def evidence_list(call: Call, *, paths: Paths = None) -> Report:
    """List the evidence beside the specs, and which deployments each file speaks for.

    A file that is stale says why: what it was measured on and what the specs mean now. The platform is not
    asked; without fwctl.lock the version of a shape is not known here and not compared.
    """
    from fwctl.planning.evidence import offline_settings

    spec, found = _load(call, paths or [])
    settings = offline_settings(spec, lock_of(call, paths or []))
    around = around_each(call, spec, found)
    folder = evidence_folder(call, paths or [], spec)
    body = {
        "folder": folder.as_posix(),
        "records": [_row(item, settings, around) for item in found.stored],
    }
    return Report("evidence list", body, diagnostics=found.problems)


@command("fwctl evidence check", "fwctl evidence check --format json")
def evidence_check(call: Call, *, paths: Paths = None) -> Report:
    """Say what the gates of the specs would say now; exit 4 where one that blocks has no fresh evidence.

    It asks no platform, so that CI can run it on every pull request. `fwctl plan` asks the same with live
    facts.
    """
    spec, found = _load(call, paths or [])
    known = offline_evidence(call, paths or [])(spec) or Evidence()
    gates = [row for entry in spec.deployments.values() for row in _gates(entry, known)]
    failed = [row for row in gates if row["status"] == "fail"]
    body = {"gates": gates, "records": len(found.stored)}
    if not failed:
        return Report("evidence check", body, diagnostics=found.problems)
    names = ", ".join(dict.fromkeys(row["deployment"] for row in failed))
    error = RefusedError(f"evidence is missing: {names}", next_steps=[row["next"] for row in failed])
    return Report("evidence check", body, Exit.REFUSED, found.problems, error)


@command(
    "fwctl evidence add runs/today --deployment chat",
    "fwctl evidence add runs/today --deployment chat --target fast --offline --replicas 2",
)
def evidence_add(
    call: Call,
    *,
    run: Annotated[str, typer.Argument(metavar="DIR", help="Folder of a finished bench run.")],
    deployment: Annotated[
        str, typer.Option("--deployment", metavar="NAME", help="Logical name of what was measured.")
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", metavar="TARGET", help="Target of the run, where it has several."),
    ] = None,
    replicas: Annotated[
        int | None,
        typer.Option("--replicas", metavar="N", help="Ready replicas, where the run did not watch them."),
    ] = None,
    offline: Annotated[
        bool, typer.Option("--offline", help="Take the setting from spec and fwctl.lock, not from what runs.")
    ] = False,
    scope: Scope,
) -> Report:
    """Store a bench run as evidence: a file beside the specs, for git.

    The setting (model, precision, shape version, hardware) is read from the deployment that runs, so add a
    run before the deployment changes. Invalid and interrupted runs are refused. With `slo:` in the spec
    the record says whether every objective was shown to be met.
    """
    from fwctl.measure.evidence import facts_of_run
    from fwctl.measure.objectives import objectives_of

    paths = scope.paths
    spec, _ = _load(call, paths)
    found = measured(call, paths, spec, deployment, offline=offline)
    facts = facts_of_run(call.env.cwd / run, target)
    _require_asked(facts.model, found.resource, deployment)
    setting, entry = found.setting, spec.deployments[deployment]
    objectives, at_rps = objectives_of(entry.own), entry.own.get("slo.at.rps")
    record = EvidenceRecord(
        "bench",
        setting.model,
        facts.date,
        precision=setting.precision,
        shape_version=setting.shape_version,
        accelerator=setting.accelerator,
        accelerator_count=setting.accelerator_count,
        region=found.region,
        replicas=next((n for n in (facts.replicas, replicas, found.replicas) if n is not None), None),
        suite_digest=facts.suite_digest,
        suite_file=as_named(call, facts.suite_file),
        passed=facts.passed(objectives, at_rps),
        selftest=facts.summary.get("selftest"),
        deployment=deployment,
        results=facts.results(objectives, at_rps),
    )
    return stored_report(call, "evidence add", evidence_folder(call, paths, spec), record)


def _require_asked(model: str | None, resource: str | None, name: str) -> None:
    """Evidence is about the deployment that answered, whatever name it is given here."""
    asked = (model or "").partition("#")[2] or model or ""
    if resource is not None and "/deployments/" in asked and asked != resource:
        raise UsageError(
            f"the run asked {asked}, and {name} is {resource}",
            next_steps=["name the deployment that the run measured"],
        )


def stored_report(call: Call, name: str, folder: Path, record: EvidenceRecord, **more: Any) -> Report:
    """Write a record and say where it went."""
    path = write(call.env.cwd / folder, record)
    shown = (folder / path.name).as_posix()
    report = Report(name, {"file": shown, "record": record.to_json(), **more})
    return report.hinted((f"next: commit {shown}; `fwctl evidence check` says what it is good for",))


def _load(call: Call, paths: Sequence[str]) -> tuple[Spec, Found]:
    spec = require_valid(call, load_specs(call, paths))
    return spec, find_evidence(call, paths, spec)


def _row(item: Stored, settings: dict[str, Setting], around: dict[str, Around]) -> dict[str, Any]:
    """A record without its numbers, and where it counts."""
    values = {key: value for key, value in item.record.to_json().items() if key not in _LEFT_OUT}
    about = {name: setting for name, setting in settings.items() if is_about(item.record, setting, name)}
    reasons = {name: stale_because(item.record, setting, around[name]) for name, setting in about.items()}
    return {
        "file": item.file,
        **values,
        "fresh_for": sorted(name for name, why in reasons.items() if not why),
        "stale_for": [
            {"deployment": name, "reasons": list(why)} for name, why in sorted(reasons.items()) if why
        ],
    }


_LEFT_OUT = ("format_version", "results", "selftest", "valid", "invalid_reasons")


def _gates(entry: Deployment, known: Evidence) -> list[dict[str, Any]]:
    found = []
    mode = entry.own.get("gates.eval")
    if mode in ("block", "warn"):
        by, why = known.evaluated_by.get(entry.name), known.not_evaluated.get(entry.name)
        passed = known.evaluated.get(entry.name, False)
        found.append(_gate(entry, "gates.eval", mode, passed=passed, said=by if passed else why))
    mode, most = entry.own.get("gates.bench"), entry.fields.get("replicas.max", 0)
    if mode in ("block", "warn") and most:
        tested = known.tested_replicas.get(entry.name, 0)
        by, why = known.tested_by.get(entry.name), known.not_tested.get(entry.name)
        said = by if tested >= most or why is None else why
        row = _gate(entry, "gates.bench", mode, passed=tested >= most, said=said)
        found.append({**row, "replicas_tested": tested, "replicas_max": most})
    return found


_COMMANDS = {
    "gates.eval": "fwctl eval compare BASE CANDIDATE --deployment {name}",
    "gates.bench": "fwctl bench capacity {name}",
}


def _gate(entry: Deployment, key: str, mode: str, *, passed: bool, said: str | None) -> dict[str, Any]:
    return {
        "deployment": entry.name,
        "gate": key,
        "mode": mode,
        "status": "pass" if passed else ("fail" if mode == "block" else "warn"),
        "evidence": said,
        "next": None if passed else _COMMANDS[key].format(name=entry.name),
    }
