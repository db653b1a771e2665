"""Weights and KV memory of a model on accelerators: verdict, capacity, what would fit.

Pure arithmetic. Where a config comes from is the business of `fwctl.hub` and the caller.
"""

from __future__ import annotations

from fwctl.fit.check import check, quick
from fwctl.fit.errors import ArchitectureError, FitError, RequestError
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.request import Adapters, Drafter, FitRequest, Offer, Workload
from fwctl.fit.result import Evidence, FitResult, Verdict

__all__ = [
    "Adapters",
    "ArchitectureError",
    "Drafter",
    "Evidence",
    "FitError",
    "FitRequest",
    "FitResult",
    "Offer",
    "RequestError",
    "Verdict",
    "Workload",
    "architecture_from_config",
    "check",
    "quick",
]
