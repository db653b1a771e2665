"""Does the platform take this model as a draft model? Asked with `deployment create --validate-only`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fwctl.catalog.fields import BY_PATH
from fwctl.drafting.desk import Desk, Platform
from fwctl.errors import FirectlFailedError, FwctlError
from fwctl.firectl.errors import ErrorClass
from fwctl.quality.experiments.patch import PINS
from fwctl.spec.model import Deployment

# What the platform says about the request itself; anything else says nothing about the draft model.
_REFUSALS = frozenset(
    {ErrorClass.INVALID, ErrorClass.PRECONDITION, ErrorClass.NOT_FOUND, ErrorClass.PERMISSION}
)
_CREATE, _FLAG = "deployment create", "--validate-only"


@dataclass(frozen=True, slots=True)
class Asked:
    """accepted: None when nobody could say. message: the platform's words, or why it was not asked."""

    model: str
    accepted: bool | None
    message: str = ""

    def to_json(self) -> dict[str, Any]:
        return {"model": self.model, "accepted": self.accepted, "message": self.message}


def ask(platform: Platform, entry: Deployment, deployment_id: str, model: str) -> Asked:
    """entry: the candidate that would draft with `model`. Raises FwctlError when firectl cannot be used, and
    when the platform would refuse the deployment whatever drafts in it."""
    if platform.capabilities.lacks(_CREATE, _FLAG):
        return Asked(model, None, f"the installed firectl has no {_FLAG}")
    # Pins beside a shape are not sent; a plan compares them instead.
    pins = PINS if entry.fields.get("shape", "none") != "none" else ()
    fields = {
        path: value for path, value in entry.fields.items() if BY_PATH[path].managed and path not in pins
    }
    outcome = platform.perform(_CREATE, deployment_id, {**fields, "validate_only": True})
    if outcome.ok:
        return Asked(model, True)
    if outcome.error_class in _REFUSALS:
        plain = {path: value for path, value in fields.items() if not path.startswith("speculation.")}
        platform.perform(_CREATE, deployment_id, {**plain, "validate_only": True}).checked()
        return Asked(model, False, outcome.message)
    if outcome.error_class in (ErrorClass.QUOTA, ErrorClass.CAPACITY):
        return Asked(model, None, outcome.message)
    raise outcome.error()


def adapters_of(platform: Platform, base_models: Sequence[str]) -> dict[str, str]:
    """Base model -> an adapter of it that the account has already: it tells before any is trained."""
    found: dict[str, str] = {}
    for row in platform.list_models():
        details = row.get("peft_details")
        base = details.get("base_model") if isinstance(details, dict) else None
        if base in base_models and row.get("state", "READY") == "READY":
            found.setdefault(str(base), str(row.get("name")))
    return found


def reserved(desk: Desk) -> bool | None:
    """Whether the account has reserved capacity; None when it may not be read."""
    try:
        return bool(desk.platform.list_reservations())
    except FirectlFailedError:
        return None


def is_missing(error: FwctlError) -> bool:
    """Whether a read failed because there is no such thing."""
    return getattr(error, "error_class", None) == ErrorClass.NOT_FOUND.value
