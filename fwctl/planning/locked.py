"""What the specs want written down in `fwctl.lock`."""

from __future__ import annotations

from fwctl.live.normalise import full_name
from fwctl.planning.shapes import NO_SHAPE
from fwctl.records.resolve import Wanted
from fwctl.spec.model import Deployment, Spec


def wanted_of(spec: Spec) -> list[Wanted]:
    """The shape and model of each deployment, and its draft model, by logical name."""
    return [item for entry in spec.deployments.values() for item in _wanted(entry, spec.account)]


def _wanted(entry: Deployment, account: str) -> list[Wanted]:
    shape, model = str(entry.fields.get("shape", NO_SHAPE)), str(entry.fields["model"])
    draft = entry.fields.get("speculation.draft_model")
    found = [Wanted(entry.name, shape, full_name(model, account))]
    return [*found, Wanted(entry.name, NO_SHAPE, full_name(str(draft), account))] if draft else found
