"""Who calls: key, account and role, from flags, environment and auth.ini files, in firectl's order."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import Caller
from fwctl.simulator.profiles import Profile
from fwctl.simulator.settings import Settings
from fwctl.simulator.state import Tx

AUTH_FILE = "auth.ini"
_SIGNED_IN = "signed_in"


class NotSignedInError(Exception):
    """There is no key and nobody signed in."""


def digest(key: str) -> str:
    """How the state remembers a key."""
    import hashlib  # 2.5 ms of a call that needs it only with a key

    return hashlib.sha256(key.encode()).hexdigest()


def read_ini(path: Path) -> dict[str, str]:
    """`key = value` lines without sections, as firectl's files have them; {} when unreadable."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError):
        return {}
    pairs = (
        line.partition("=") for line in lines if "=" in line and not line.lstrip().startswith(("#", ";"))
    )
    return {key.strip(): value.strip() for key, _, value in pairs}


def keep_key(home: Path, key: str) -> None:
    """Remember a key for later calls in the simulator's own auth.ini, mode 600."""
    handle = os.open(home / AUTH_FILE, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"api_key = {key}\n")


def sign_in(tx: Tx) -> None:
    """From now on calls without a key are signed in, FIRECTL_SIM_AUTH=signed_out or not."""
    tx.set_meta(_SIGNED_IN, True)


def role_of(tx: Tx, settings: Settings, key: str) -> tuple[str, str] | None:
    """Account and role of a key, None when no such key exists."""
    if key in settings.keys:
        return settings.account, settings.keys[key]
    stored = tx.get("keys", digest(key))
    return (stored["account"], stored["role"]) if stored else None


def _given_key(flags: Mapping[str, Any], environ: Mapping[str, str], profile: Profile) -> str | None:
    if flags.get("api-key"):
        return str(flags["api-key"])
    return (environ.get("FIREWORKS_API_KEY") or None) if profile.yes("env_api_key") else None


def _kept_key(tx: Tx, settings: Settings, environ: Mapping[str, str]) -> str | None:
    """A key of the simulator's auth.ini or of ~/.fireworks/auth.ini.

    A real key in the latter is none of the simulator's, so it is passed over, not refused.
    """
    own = read_ini(settings.home / AUTH_FILE).get("api_key")
    if own:
        return own
    user_home = environ.get("HOME") or environ.get("USERPROFILE")
    key = read_ini(Path(user_home) / ".fireworks" / AUTH_FILE).get("api_key") if user_home else None
    return key if key and role_of(tx, settings, key) else None


def identify(
    tx: Tx, settings: Settings, profile: Profile, flags: Mapping[str, Any], environ: Mapping[str, str]
) -> Caller:
    """`--api-key`, then FIREWORKS_API_KEY where the build reads it, then kept keys, then the sign-in.

    Raises NotSignedInError, or Unauthenticated for an unknown key.
    """
    key = _given_key(flags, environ, profile) or _kept_key(tx, settings, environ)
    if key is None:
        if settings.auth == "signed_out" and not tx.meta(_SIGNED_IN):
            raise NotSignedInError
        return Caller(settings.account)
    found = role_of(tx, settings, key)
    if found is None:
        raise PlatformError("Unauthenticated", "API key not valid")
    return Caller(*found)
