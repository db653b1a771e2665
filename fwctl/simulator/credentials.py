"""Who calls: key, account and role, from flags, environment and ~/.fireworks, in firectl's order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import Caller
from fwctl.simulator.profiles import Profile
from fwctl.simulator.settings import Settings
from fwctl.simulator.state import Tx

AUTH_FILE = "auth.ini"
SETTINGS_FILE = "settings.ini"
# Variables that make the guard refuse; the real one's names are not known, so there is none by default.
READS_HOME = "HOME"


class NotSignedInError(Exception):
    """There is no key and nobody signed in."""


def digest(key: str) -> str:
    """How the state remembers a key."""
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


def fireworks_home(environ: Mapping[str, str]) -> Path | None:
    home = environ.get(READS_HOME) or environ.get("USERPROFILE")
    return Path(home) / ".fireworks" if home else None


def _files(environ: Mapping[str, str]) -> dict[str, str]:
    folder = fireworks_home(environ)
    if folder is None:
        return {}
    return read_ini(folder / SETTINGS_FILE) | read_ini(folder / AUTH_FILE)


def find_key(flags: Mapping[str, Any], environ: Mapping[str, str], profile: Profile) -> str | None:
    """`--api-key`, then FIREWORKS_API_KEY where the build reads it, then set-api-key's file."""
    if flags.get("api-key"):
        return str(flags["api-key"])
    if profile.yes("env_api_key") and environ.get("FIREWORKS_API_KEY"):
        return environ["FIREWORKS_API_KEY"]
    return _files(environ).get("api_key") or None


def role_of(tx: Tx, settings: Settings, key: str) -> tuple[str, str] | None:
    """Account and role of a key, None when no such key exists."""
    if key in settings.keys:
        return settings.account, settings.keys[key]
    stored = tx.get("keys", digest(key))
    return (stored["account"], stored["role"]) if stored else None


def identify(
    tx: Tx, settings: Settings, profile: Profile, flags: Mapping[str, Any], environ: Mapping[str, str]
) -> Caller:
    """The caller. Raises NotSignedInError, or Unauthenticated for an unknown key."""
    key = find_key(flags, environ, profile)
    if key is None:
        if settings.auth == "signed_out":
            raise NotSignedInError
        return Caller(settings.account)
    found = role_of(tx, settings, key)
    if found is None:
        raise PlatformError("Unauthenticated", "API key not valid")
    return Caller(*found)
