"""All commands, and which of them and of their flags a build has."""

from __future__ import annotations

from functools import cache

from fwctl.simulator.commands import account_table, deployment_table, extra_tables, other_tables, sim_table
from fwctl.simulator.commands.table import Command, Flag
from fwctl.simulator.profiles import Profile


@cache
def commands() -> dict[str, Command]:
    """Path -> command, in the order of help pages."""
    rows = (
        *deployment_table.COMMANDS,
        *other_tables.SHAPES,
        *extra_tables.METRICS,
        *other_tables.LORA,
        *other_tables.MODELS,
        *account_table.COMMANDS,
        *extra_tables.COMMANDS,
        *sim_table.COMMANDS,
    )
    return {row.path: row for row in rows}


def exists(command: Command, profile: Profile) -> bool:
    return not command.since or profile.version >= command.since


def has_flag(flag: Flag, profile: Profile) -> bool:
    """True when the build of the profile has the flag."""
    if flag.switch and profile[flag.switch] in {"no", "no_flag"}:
        return False
    if flag.since and profile.version < flag.since:
        return False
    return profile["era"] in flag.eras


def flags_of(command: Command, profile: Profile) -> list[Flag]:
    return [flag for flag in command.flags if has_flag(flag, profile)]
