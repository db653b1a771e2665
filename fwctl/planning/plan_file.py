"""Plan files: text <-> what a plan was and everything that it is recomputed from.

A plan file holds no secret by construction: the spec goes in with its `${env:...}` references unresolved,
the plan with its sensitive values masked. It may come from anywhere, so reading it is strict.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from fwctl.catalog import prices as price_list
from fwctl.catalog.prices import PriceList
from fwctl.errors import InvalidSpecError
from fwctl.firectl.capabilities import Capabilities
from fwctl.jsontext import JsonTextError, decoded
from fwctl.live.model import LiveState
from fwctl.planning.digest import digest_of_document
from fwctl.planning.document import plan_to_json
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.planning.stored import (
    damaged,
    evidence_from_json,
    evidence_to_json,
    mapping,
    moment,
    options_from_json,
    options_to_json,
    text,
)
from fwctl.records import lockfile
from fwctl.records.lockfile import LockFile
from fwctl.spec.document import from_document, to_document
from fwctl.spec.model import Evidence, Spec

FORMAT_VERSION = "1.0"
KIND = "fwctl-plan"
LARGEST_BYTES = 64 * 2**20
_KEYS = {"format_version", "kind", "created", "versions", "plan", "plan_sha256", "inputs"}
_INPUTS = {"spec", "options", "prices", "fit", "evidence", "lock"}


@dataclass(frozen=True, slots=True)
class Inputs:
    """What a plan is computed from, live state, capabilities and clock apart."""

    spec: Spec
    options: PlanOptions
    prices: PriceList
    fit: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    lock: LockFile | None = None

    def plan(
        self,
        live: LiveState,
        *,
        caps: Capabilities,
        now: datetime,
        traffic: Mapping[str, float | None] | None = None,
        starts: Mapping[str, Sequence[float]] | None = None,
    ) -> Plan:
        """The plan of these inputs against live state."""
        return make_plan(
            self.spec,
            live,
            caps=caps,
            options=self.options,
            prices=self.prices,
            now=now,
            fit=self.fit,
            evidence=self.evidence,
            lock=self.lock,
            traffic=traffic,
            starts=starts,
        )


@dataclass(frozen=True, slots=True)
class StoredPlan:
    """A plan file that was read: `plan` is the JSON of the plan as reviewed, `spec_sha256` the digests of
    the spec files it was made from."""

    plan: Mapping[str, Any]
    created: datetime
    versions: Mapping[str, str]
    _inputs: Mapping[str, Any] = field(repr=False)

    @property
    def digest(self) -> str:
        return str(self.plan["digest"])

    @property
    def spec_sha256(self) -> Mapping[str, str]:
        return mapping(mapping(self._inputs["spec"], "the spec").get("sha256", {}), "sha256")

    def inputs(self, environ: Mapping[str, str]) -> Inputs:
        """The inputs with `${env:...}` resolved. Raises InvalidSpecError for a variable that is not set
        and for anything that `dumps` cannot have written."""
        rows = self._inputs
        fit = {name: mapping(row, f"fit of {name}") for name, row in mapping(rows["fit"], "fit").items()}
        lock = rows["lock"]
        return Inputs(
            spec=from_document(rows["spec"], environ),
            options=options_from_json(rows["options"]),
            prices=price_list.from_json(rows["prices"]),
            fit=fit,
            evidence=evidence_from_json(rows["evidence"]),
            lock=None if lock is None else lockfile.loads(text(lock, "lock"), "fwctl.lock in the plan file"),
        )


def dumps(plan: Plan, inputs: Inputs, *, created: datetime, versions: Mapping[str, str]) -> str:
    """The text of a plan file."""
    shown = plan_to_json(plan)
    document = {
        "format_version": FORMAT_VERSION,
        "kind": KIND,
        "created": created.isoformat(),
        "versions": dict(sorted(versions.items())),
        "plan": shown,
        "plan_sha256": _sha256(shown),
        "inputs": {
            "spec": to_document(inputs.spec),
            "options": options_to_json(inputs.options),
            "prices": inputs.prices.to_json(),
            "fit": {name: dict(row) for name, row in sorted(inputs.fit.items())},
            "evidence": evidence_to_json(inputs.evidence),
            "lock": None if inputs.lock is None else lockfile.dumps(inputs.lock),
        },
    }
    return json.dumps(document, indent=1, sort_keys=True, allow_nan=False) + "\n"


def loads(content: str | bytes, source: str) -> StoredPlan:
    """The plan in a file's content. Raises InvalidSpecError that names the file and what is wrong."""
    try:
        return _loads(content)
    except InvalidSpecError as error:
        raise InvalidSpecError(f"{source}: {error.message}", next_steps=error.next_steps) from None


def _loads(content: str | bytes) -> StoredPlan:
    document = _json(content)
    if document.get("kind") != KIND:
        raise damaged("it is no plan file of fwctl")
    version = text(document.get("format_version"), "format_version")
    if version.partition(".")[0] != FORMAT_VERSION.partition(".")[0]:
        raise InvalidSpecError(
            f"the plan file has format {version[:20]!r}, this fwctl reads {FORMAT_VERSION}",
            next_steps=("use the fwctl that wrote it, or plan again",),
        )
    missing = sorted(_KEYS - set(document))
    if missing:
        raise damaged(f"{missing[0]!r} is missing")
    inputs = mapping(document["inputs"], "inputs")
    absent = sorted(_INPUTS - set(inputs))
    if absent:
        raise damaged(f"{absent[0]!r} is missing")
    versions = mapping(document["versions"], "versions")
    return StoredPlan(
        plan=_plan(document["plan"], document["plan_sha256"]),
        created=moment(document["created"], "created"),
        versions={key: text(value, "a version") for key, value in versions.items()},
        _inputs=inputs,
    )


def _plan(value: Any, sha256: Any) -> dict[str, Any]:
    """The plan's JSON when its digest is that of its own changes, and all else is as it was written."""
    plan = mapping(value, "the plan")
    try:
        actual = digest_of_document(plan)
    except (KeyError, TypeError, AttributeError, ValueError, IndexError):
        raise damaged("its changes are not readable") from None
    if plan.get("digest") != actual:
        raise damaged("its changes do not have the digest it names")
    if _sha256(plan) != sha256:
        raise damaged("its plan is not as it was written")
    return plan


def _sha256(plan: Mapping[str, Any]) -> str:
    """Of everything that people are shown; the digest is of what will be done."""
    return hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()


def _json(content: str | bytes) -> dict[str, Any]:
    if len(content) > LARGEST_BYTES:
        raise damaged(f"it is larger than {LARGEST_BYTES // 2**20} MiB")
    try:
        return mapping(decoded(content), "it")
    except JsonTextError as error:
        raise damaged(str(error)) from None
