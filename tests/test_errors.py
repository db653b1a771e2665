from __future__ import annotations

import pytest

from fwctl import errors
from fwctl.errors import Diagnostic, FwctlError, Position, Severity

# docs/json.md: the codes that others build on, and the exit code that goes with each.
CODES = {
    "InvalidSpecError": ("invalid_spec", 3),
    "RefusedError": ("refused", 4),
    "AuthError": ("auth", 5),
    "FirectlMissingError": ("firectl_missing", 6),
    "FirectlTooOldError": ("firectl_too_old", 6),
    "FirectlBlockedError": ("firectl_blocked", 6),
    "FirectlFailedError": ("firectl_failed", 1),
    "WaitTimeoutError": ("timeout", 7),
    "StalePlanError": ("stale_plan", 8),
    "UsageError": ("usage", 64),
    "InterruptedByUserError": ("interrupted", 130),
    "NetworkError": ("network", 1),
}


@pytest.mark.parametrize("name", CODES)
def test_each_error_has_its_code_and_its_exit_code(name):
    kind = getattr(errors, name)
    assert (kind.code, int(kind.exit_code)) == CODES[name]


def test_an_error_is_its_message_and_serialises_with_its_next_steps():
    error = FwctlError("went wrong", deployment="chat", next_steps=["do this", "or that"])
    assert str(error) == "went wrong"
    assert error.error_class is None
    assert error.to_json() == {
        "code": "firectl_failed",
        "message": "went wrong",
        "deployment": "chat",
        "next_steps": ["do this", "or that"],
    }


def test_a_diagnostic_serialises_with_its_place():
    at = Position("a.yaml", 3, 5, 3, 9)
    diagnostic = Diagnostic(
        Severity.ERROR, "FW302", "min above max", "chat", "/x", at, "swap them", "docs/FW302"
    )
    assert diagnostic.to_json() == {
        "severity": "error",
        "code": "FW302",
        "message": "min above max",
        "deployment": "chat",
        "path": "/x",
        "file": "a.yaml",
        "line": 3,
        "column": 5,
        "end_line": 3,
        "end_column": 9,
        "suggestion": "swap them",
        "docs": "docs/FW302",
    }


def test_a_diagnostic_without_a_place_says_null():
    found = Diagnostic(Severity.NOTE, "FW108", "unset").to_json()
    assert {found[key] for key in ("file", "line", "column", "end_line", "end_column", "path")} == {None}
