"""`fwctl validate`."""

from __future__ import annotations

from fwctl.cli.arguments import Paths, Strict
from fwctl.cli.command import Call, command
from fwctl.cli.session import check_account, load_specs
from fwctl.errors import Diagnostic, InvalidSpecError, Severity
from fwctl.exitcodes import Exit
from fwctl.report.diagnostics import count_line
from fwctl.report.model import Report
from fwctl.spec.model import Loaded


@command(
    "fwctl validate",
    "fwctl validate configs/chat.yaml --strict",
    "fwctl validate --format json",
    formats=("text", "json", "markdown"),
)
def validate(call: Call, *, paths: Paths = None, strict: Strict = False) -> Report:
    """Check specs: YAML, schema, rules across fields, advice.

    It needs no account and no network. Every problem of every file is told in one pass, with line,
    column, fix and the page of its rule. Exit 3 when there is an error.
    """
    loaded = load_specs(call, paths or [], strict=strict)
    if loaded.spec is not None:
        check_account(call, loaded.spec.account)
    return report_of(loaded, loaded.diagnostics)


def report_of(loaded: Loaded, diagnostics: tuple[Diagnostic, ...]) -> Report:
    names = sorted(loaded.spec.deployments) if loaded.spec else []
    errors = [item for item in diagnostics if item.severity is Severity.ERROR]
    error = InvalidSpecError(f"the specs are not valid: {count_line(errors)}") if errors else None
    return Report(
        "validate",
        {"files": list(loaded.files), "deployments": names},
        Exit.INVALID_SPEC if errors else Exit.OK,
        diagnostics,
        error,
    )
