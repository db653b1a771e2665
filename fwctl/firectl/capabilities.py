"""What the installed firectl can do, read from its version and its help pages (pure).

Where a help page could not be read the answer falls back on the version in which the vendor's
documentation (docs.fireworks.ai, read 2026-11-30) says the feature came.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from fwctl.errors import FirectlTooOldError, UsageError

# Help pages that decide something; the rest of firectl's surface has been stable. Each is one more call
# where nothing is cached yet.
HELP_PAGES: tuple[str, ...] = (
    "deployment create",
    "deployment update",
    "deployment list",
    "deployment tag set",
    "deployment-shape-version match",
)

TAGS_SINCE = "1.8.3"  # deployment tags page
MATCH_SINCE = "1.8.5"  # first build with `deployment-shape-version match`

INSTALL_HINT = (
    "Upgrade with `firectl upgrade`, or install it anew: curl -sSL https://cli.fireworks.ai/install.sh | bash"
)

_FLAG = re.compile(r"^\s*(?:-(?P<short>\w), |\s+)(?P<name>--[a-z][a-z0-9-]*)", re.MULTILINE)
_USAGE = re.compile(
    r"^Usage:[ \t]*\n?[ \t]*(?:\S*firectl\S*)[ \t]+(?P<words>[a-z][a-z -]*?)[ \t]*(?:[\[<].*)?$", re.MULTILINE
)
_VERSION = re.compile(r"^\s*(?:firectl )?(?:version )?v?(\d+\.\d+\.\d+)\s*$", re.IGNORECASE | re.MULTILINE)
_REQUIREMENT = re.compile(r"\s*(>=|<=|==|>|<|=)?\s*v?(\d+(?:\.\d+){0,2})\s*")


@dataclass(frozen=True, slots=True)
class Capabilities:
    """version: `1.8.9`, empty when it could not be read. flags: the long flags on each command's help
    page; an empty set where the command does not exist; a missing command was not looked at."""

    version: str = ""
    flags: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def has(self, command: str, flag: str) -> bool | None:
        """Whether the installed build knows a flag; None when nobody looked."""
        known = self.flags.get(command)
        return None if known is None else flag in known

    def lacks(self, command: str, flag: str) -> bool:
        """True only when the help page was read and does not show the flag."""
        return self.has(command, flag) is False

    def at_least(self, version: str) -> bool:
        """True for this version and later ones; an unknown version counts as the newest."""
        return not self.version or version_key(self.version) >= version_key(version)

    @property
    def has_tags(self) -> bool:
        page = self.flags.get("deployment tag set")
        return self.at_least(TAGS_SINCE) if page is None else bool(page)

    @property
    def has_match(self) -> bool:
        page = self.flags.get("deployment-shape-version match")
        return self.at_least(MATCH_SINCE) if page is None else bool(page)

    @property
    def update_file(self) -> bool:
        """`deployment update --file`: believed only where the help page shows it."""
        return self.has("deployment update", "--file") is True

    @property
    def update_region(self) -> bool:
        """`deployment update --region`: believed only where the help page shows it."""
        return self.has("deployment update", "--region") is True

    @property
    def show_deleted(self) -> bool:
        return not self.lacks("deployment list", "--show-deleted")


def version_key(version: str) -> tuple[int, ...]:
    """`1.8.10` -> (1, 8, 10), so that versions compare as numbers."""
    return tuple(int(part) for part in re.findall(r"\d+", version)[:3])


def parse_version(text: str) -> str | None:
    """The version in the output of `firectl version`: a line that holds nothing else."""
    found = _VERSION.search(text)
    return found[1] if found else None


def parse_help(command: str, text: str) -> frozenset[str]:
    """The long flags of a help page; empty when the page belongs to another command (cobra prints the
    parent's page for a subcommand it does not know). Both word orders are read."""
    usage = _USAGE.search(text)
    if not usage or sorted(usage["words"].split()) != sorted(command.split()):
        return frozenset()
    return frozenset(match["name"] for match in _FLAG.finditer(text))


def require(caps: Capabilities, requirement: str | None) -> None:
    """Check `settings.require_firectl`, for example `>=1.8.2` or `>=1.8, <2`.

    Raises FirectlTooOldError when the installed version is outside, UsageError when the text is not a
    requirement. An unknown installed version passes nothing but an empty requirement.
    """
    for part in (requirement or "").split(","):
        if not part.strip():
            continue
        found = _REQUIREMENT.fullmatch(part)
        if not found:
            raise UsageError(f"{part.strip()!r} is not a version requirement; write for example >=1.8.2")
        if not caps.version or not _holds(found[1] or ">=", version_key(caps.version), version_key(found[2])):
            raise FirectlTooOldError(
                f"the spec requires firectl {requirement}, the installed one is "
                f"{caps.version or 'of an unknown version'}",
                next_steps=[INSTALL_HINT, "`fwctl doctor` shows which firectl is used."],
            )


def _holds(operator: str, have: tuple[int, ...], want: tuple[int, ...]) -> bool:
    have = have[: len(want)] if operator in {"=", "=="} else have
    want = (*want, 0, 0)[:3] if operator not in {"=", "=="} else want
    return {
        ">=": have >= want,
        "<=": have <= want,
        ">": have > want,
        "<": have < want,
        "=": have == want,
        "==": have == want,
    }[operator]
