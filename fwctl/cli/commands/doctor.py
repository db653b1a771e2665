"""`fwctl doctor`."""

from __future__ import annotations

import platform
from typing import TYPE_CHECKING, Any

from fwctl import __version__
from fwctl.cli.command import Call, command
from fwctl.cli.session import open_firectl
from fwctl.env import FIREWORKS_KEY
from fwctl.errors import AuthError, FwctlError
from fwctl.exitcodes import Exit, worst
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.firectl.client import Firectl


@command("fwctl doctor", "fwctl doctor --firectl sim", "fwctl doctor --format json")
def doctor(call: Call) -> Report:
    """Say what fwctl would use: firectl, its abilities, the account, the credentials.

    Nothing is changed. Exit 6 without a usable firectl, 5 when it is not signed in.
    """
    checks = [
        check("fwctl", "pass", f"{__version__} on Python {platform.python_version()}"),
        check("clock", "pass", f"{call.env.clock.now():%Y-%m-%d %H:%M:%S} UTC"),
        _credentials(call),
    ]
    facts: dict[str, Any] = {"path": None, "version": None, "account": None, "capabilities": {}}
    problems: list[FwctlError] = []
    firectl = None
    try:
        firectl = open_firectl(call, call.settings.account or "")
        _firectl(firectl, facts, checks)
        _account(firectl, facts, checks)
    except FwctlError as error:
        problems.append(error)
        checks.append(check("account" if facts["version"] else "firectl", "fail", error.message))
    finally:
        if firectl is not None:
            firectl.close()
    code = worst([Exit.OK, *(error.exit_code for error in problems)])
    return Report(
        "doctor", {"checks": checks, "firectl": facts}, code, error=problems[0] if problems else None
    )


def check(name: str, status: str, message: str) -> dict[str, Any]:
    return {"name": name, "status": status, "message": message, "deployment": None}


def _credentials(call: Call) -> dict[str, Any]:
    if call.env.environ.get(FIREWORKS_KEY):
        how = "by a private file" if call.settings.auth == "file" else "by the environment"
        return check("credentials", "pass", f"FIREWORKS_API_KEY is set and reaches firectl {how}")
    return check("credentials", "unknown", "FIREWORKS_API_KEY is not set; firectl's own sign-in is used")


def _firectl(firectl: Firectl, facts: dict[str, Any], checks: list[dict[str, Any]]) -> None:
    from fwctl.firectl.probe import cache_path

    runner = firectl.runner
    facts["path"] = " ".join(runner.command)
    caps = firectl.capabilities
    facts["version"] = caps.version
    facts["capabilities"] = {
        "tags": caps.has_tags,
        "match": caps.has_match,
        "update_file": caps.update_file,
        "update_region": caps.update_region,
        "show_deleted": caps.show_deleted,
    }
    known = ", ".join(name for name, has in facts["capabilities"].items() if has) or "none of the newer ones"
    status = "pass" if caps.version else "warn"
    checks.append(check("firectl", status, f"{facts['path']}, version {caps.version or 'unknown'}"))
    checks.append(check("abilities", "pass", known))
    cache = cache_path(runner.env.environ, runner.command, caps.version)
    facts["cache"] = str(cache) if cache else None
    checks.append(
        check("cache", "pass", str(cache) if cache else "help pages are not cached: no home folder")
    )


def _account(firectl: Firectl, facts: dict[str, Any], checks: list[dict[str, Any]]) -> None:
    found = firectl.whoami()
    facts["account"] = found.get("account_id")
    if firectl.account and found.get("account_id") not in (None, firectl.account):
        raise AuthError(
            f"--account says {firectl.account!r}, firectl is signed in to {found['account_id']!r}",
            next_steps=["sign in with a key of that account", "or change --account"],
        )
    checks.append(
        check("account", "pass", found.get("account_id") or "signed in; firectl does not name the account")
    )
