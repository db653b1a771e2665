"""firectl's commands and flags as the simulator knows them.

This table is deliberately its own: a wrong flag name must not pass on both sides. A test compares it
with the published list in tests/data/published_flags.json. Sources: the command pages of
docs.fireworks.ai (crawls of 2025-11, 2026-04, mid-2026) and the help page captured on 2026-07-13.
"""

from __future__ import annotations

from typing import NamedTuple

ERAS = ("2025", "2026-07", "latest")


class Flag(NamedTuple):
    """kind: bool, string, int32, duration, Map, strings (comma list), stringArray (repeatable).

    eras: the flag pages that have it. switch: a profile switch that must say yes as well.
    """

    name: str
    kind: str
    help: str
    short: str = ""
    eras: tuple[str, ...] = ERAS
    hidden: bool = False
    switch: str = ""
    since: tuple[int, ...] = ()


class Command(NamedTuple):
    """path: noun and verb. least/most: number of positionals. handler: `module:function` below commands.

    since: first version that has it. control: a verb of the simulator itself.
    """

    path: str
    summary: str
    handler: str
    flags: tuple[Flag, ...] = ()
    least: int = 0
    most: int = 0
    mutating: bool = False
    long: str = ""
    examples: tuple[str, ...] = ()
    since: tuple[int, ...] = ()
    control: bool = False
    message: str = ""


GLOBAL = (
    Flag(
        "account-id",
        "string",
        "The Fireworks account ID. If not specified, reads account_id from ~/.fireworks/auth.ini.",
        "a",
    ),
    Flag("api-key", "string", "An API key used to authenticate with Fireworks."),
    Flag("profile", "string", "fireworks auth and settings profile to use.", "p"),
    Flag("server", "string", "The gateway address.", "s", hidden=True),
)
DRY_RUN = Flag("dry-run", "bool", "Print the request proto without running it.")
OUTPUT = Flag("output", "string", 'Set the output format to "text", "json", or "flag".', "o")
PLAIN = (DRY_RUN, OUTPUT)
LIST = (
    Flag("filter", "string", "Only resources satisfying the provided filter will be listed."),
    Flag("no-paginate", "bool", "List all resources without pagination."),
    Flag("order-by", "string", 'A comma-separated list of fields to order by, with " desc" for descending.'),
    Flag("page-size", "int32", "The maximum number of resources to list."),
    Flag("page-token", "string", "The page to list. A number from 0 to the total number of pages."),
    DRY_RUN,
    OUTPUT,
)
WAIT = (
    Flag("wait", "bool", "Wait until the operation is complete."),
    Flag("wait-timeout", "duration", "The maximum time to wait when using --wait flag. (default 1h0m0s)"),
)

# Old spellings of whole commands that do not follow the verb-noun rule.
OLD_COMMANDS = {
    "prepare-model": "model prepare",
    "download billing-metrics": "billing export-metrics",
    "export billing-metrics": "billing export-metrics",
}
# Short forms of the 2025 build only.
OLD_2025 = {"scale": "deployment scale"}
NOUN_ALIASES = {
    "ds": "deployment-shape",
    "ts": "training-shape",
    "sftj": "supervised-fine-tuning-job",
    "rftj": "reinforcement-fine-tuning-job",
    "rlor": "rlor-trainer-job",
}
VERB_ALIASES = {"rm": "delete", "remove": "delete"}


def nouns(commands: dict[str, Command]) -> list[str]:
    """First words of the commands that have more than one word, in order of appearance."""
    return list(dict.fromkeys(path.split()[0] for path in commands if " " in path))
