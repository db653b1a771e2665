"""What the environment tells the simulator. Every variable is documented in docs/simulator.md."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from fwctl.simulator.timing import parse_rfc3339

HOME_NAME = ".firectl-sim"
DEFAULT_ACCOUNT = "acme"
# Keys that every simulator knows; they open nothing outside it.
DEFAULT_KEYS = {"fw_test": "admin", "fw_readonly": "readonly"}
ADMIN_ROLES = ("admin", "user", "readonly")


class SettingsError(Exception):
    """A variable of the simulator has a value that it cannot use."""


class Settings(NamedTuple):
    """home: folder of the state. speed: simulated seconds per real second. fixed_now_s: a clock that
    stands still. profile: name and overrides. keys: key -> role. auth: signed_in, signed_out.
    """

    home: Path
    speed: float | None
    fixed_now_s: float | None
    profile: str
    keys: dict[str, str]
    auth: str
    account: str
    suspended: bool
    blocked: bool
    catalogues: tuple[Path, ...]
    faults_file: Path | None


def _number(environ: Mapping[str, str], name: str) -> float | None:
    text = environ.get(name, "")
    if not text:
        return None
    try:
        value = float(text)
    except ValueError:
        raise SettingsError(f"{name} is {text!r}; write a number, for example 60") from None
    if not 0 < value < 1e9:
        raise SettingsError(f"{name} is {text!r}; it must be above 0 and below 1e9")
    return value


def _instant(environ: Mapping[str, str], name: str) -> float | None:
    text = environ.get(name, "")
    if not text:
        return None
    try:
        return parse_rfc3339(text)
    except ValueError:
        raise SettingsError(f"{name} is {text!r}; write an instant such as 2026-11-30T12:00:00Z") from None


def _keys(text: str) -> dict[str, str]:
    """`key=role,key=role`; a key without a role is an admin's."""
    keys = {}
    for part in filter(None, text.split(",")):
        key, _, role = part.partition("=")
        if (role or "admin") not in ADMIN_ROLES:
            raise SettingsError(f"FIRECTL_SIM_KEYS: a role is one of {', '.join(ADMIN_ROLES)}")
        keys[key] = role or "admin"
    return keys


def _flag(environ: Mapping[str, str], name: str) -> bool:
    return environ.get(name, "").lower() not in {"", "0", "false", "no"}


def from_environ(environ: Mapping[str, str], cwd: Path) -> Settings:
    """Settings of one call. Raises SettingsError on a value that makes no sense."""
    home = Path(environ.get("FIRECTL_SIM_HOME") or HOME_NAME)
    auth = environ.get("FIRECTL_SIM_AUTH") or "signed_in"
    if auth not in {"signed_in", "signed_out"}:
        raise SettingsError(f"FIRECTL_SIM_AUTH is {auth!r}; it is signed_in or signed_out")
    faults = environ.get("FIRECTL_SIM_FAULTS")
    return Settings(
        home=cwd / home,
        speed=_number(environ, "FIRECTL_SIM_SPEED"),
        fixed_now_s=_instant(environ, "FIRECTL_SIM_NOW"),
        profile=environ.get("FIRECTL_SIM_PROFILE") or "latest",
        keys={**DEFAULT_KEYS, **_keys(environ.get("FIRECTL_SIM_KEYS", ""))},
        auth=auth,
        account=environ.get("FIRECTL_SIM_ACCOUNT") or DEFAULT_ACCOUNT,
        suspended=_flag(environ, "FIRECTL_SIM_SUSPENDED"),
        blocked=_flag(environ, "FIRECTL_SIM_BLOCKED"),
        catalogues=tuple(cwd / p for p in environ.get("FIRECTL_SIM_CATALOG", "").split(os.pathsep) if p),
        faults_file=cwd / faults if faults else None,
    )
