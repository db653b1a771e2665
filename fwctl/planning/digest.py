"""The digest that a review signs, and the fingerprint of what the plan saw."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.live.model import LiveDeployment
from fwctl.planning.model import Plan
from fwctl.redact import MASK, Secret

# Kinds of change that ask nothing of the platform: a wait that ends in between must not void a review.
UNREVIEWED = ("no-op", "wait")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys and no blanks; whole floats as integers, secrets as the mask."""
    return json.dumps(
        _plain(value), sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    )


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return MASK if isinstance(value, Secret) else value


def digest(plan: Plan) -> str:
    """SHA-256 over account, stack and the sorted (address, deployment_id, actions, fields[path, before,
    after]) of every change that asks something of the platform; nothing else, so comments, prices,
    versions and clocks do not change it."""
    rows = [
        (
            change.address,
            change.deployment_id,
            list(change.actions),
            [[item.path, item.before, item.after] for item in change.fields],
        )
        for change in plan.changes
    ]
    return _digest(plan.account, plan.stack, rows)


def digest_of_document(document: Mapping[str, Any]) -> str:
    """The digest of a plan's JSON form, from its changes. Raises KeyError and the like when it has none."""
    rows = [
        (
            str(change["address"]),
            str(change["deployment_id"]),
            list(change["actions"]),
            [[item["path"], item["before"], item["after"]] for item in change["fields"]],
        )
        for change in document["changes"]
    ]
    return _digest(document["account"], document["stack"], rows)


Row = tuple[str, str, list[str], list[list[Any]]]


def _digest(account: str, stack: str, rows: Iterable[Row]) -> str:
    reviewed = [
        [address, deployment_id, actions, sorted(fields, key=_first)]
        for address, deployment_id, actions, fields in sorted(rows, key=lambda row: row[:2])
        if actions[0] not in UNREVIEWED
    ]
    return hashlib.sha256(canonical_json([account, stack, reviewed]).encode()).hexdigest()


def _first(row: Sequence[Any]) -> str:
    return str(row[0])


def live_fingerprint(deployments: Iterable[LiveDeployment]) -> str:
    """SHA-256 over identity, ownership, life-cycle and managed-kind fields of the deployments a plan is
    about; replica counts, times and status are left out, because they move by themselves."""
    rows = [
        [item.deployment_id, item.state in ("DELETED", "DELETING"), _marker_row(item), dict(item.fields)]
        for item in sorted(deployments, key=lambda item: item.deployment_id)
    ]
    return hashlib.sha256(canonical_json(rows).encode()).hexdigest()


def _marker_row(item: LiveDeployment) -> list[Any]:
    marker = item.marker
    if marker is None:
        return []
    return [marker.stack, marker.name, marker.role, marker.protect, marker.digest]
