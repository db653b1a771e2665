"""Help pages in cobra's form."""

from __future__ import annotations

from fwctl.simulator.commands.deployment_flags import ACCELERATORS, PRECISIONS
from fwctl.simulator.commands.parse import Invocation
from fwctl.simulator.commands.registry import commands, exists, flags_of
from fwctl.simulator.commands.table import GLOBAL, LIST, PLAIN, Command, Flag
from fwctl.simulator.profiles import Profile

_SHARED = {flag.name for flag in (*LIST, *PLAIN)}


def _flag_lines(flags: list[Flag], profile: Profile) -> list[str]:
    """Cobra's two columns: names padded to the longest, three spaces, the help text."""
    rows = []
    for flag in sorted(flags, key=lambda flag: flag.name):
        short = f"-{flag.short}, " if flag.short else "    "
        kind = "" if flag.kind == "bool" else f" {flag.kind}"
        text = flag.help.replace("{ACCELERATORS}", "{" + ACCELERATORS[profile["era"]] + "}")
        text = text.replace("{PRECISIONS}", "{" + PRECISIONS[profile["era"]] + "}")
        rows.append((f"  {short}--{flag.name}{kind}", text))
    width = max(len(name) for name, _ in rows)
    return [f"{name:<{width}}   {text}" for name, text in rows]


def _global_lines(shared: list[Flag], profile: Profile) -> list[str]:
    visible = [flag for flag in (*GLOBAL, *shared) if not flag.hidden]
    return ["Global Flags:", *_flag_lines(visible, profile)]


def _command_page(command: Command, old: bool, profile: Profile) -> str:
    noun, _, verb = command.path.partition(" ")
    spelled = f"{verb} {noun}" if old and verb else command.path
    flags = flags_of(command, profile)
    moved = [flag for flag in flags if flag.name in _SHARED] if old or profile["era"] == "2025" else []
    own = [flag for flag in flags if flag not in moved]
    own.append(Flag("help", "bool", f"help for {spelled.split()[-1]}", "h"))
    lines = [command.long or command.summary, "", "Usage:", f"  firectl {spelled} [flags]", ""]
    if command.examples:
        lines += ["Examples:", *command.examples, ""]
    lines += ["Flags:", *_flag_lines(own, profile), "", *_global_lines(moved, profile)]
    return "\n".join(lines)


def _index(rows: list[tuple[str, str]]) -> list[str]:
    width = max(len(name) for name, _ in rows)
    return [f"  {name:<{width}}  {text}" for name, text in rows]


def _topic_page(topic: str, profile: Profile) -> str:
    depth = len(topic.split())
    rows: dict[str, str] = {}
    for path, command in commands().items():
        words = path.split()
        if exists(command, profile) and words[:depth] == topic.split() and len(words) > depth:
            rows.setdefault(words[depth], command.summary)
    lines = [
        f"Commands for {topic}.",
        "",
        "Usage:",
        f"  firectl {topic} [command]",
        "",
        "Available Commands:",
    ]
    lines += [
        *_index(sorted(rows.items())),
        "",
        "Flags:",
        f"  -h, --help   help for {topic.rsplit(maxsplit=1)[-1]}",
        "",
    ]
    lines += [
        *_global_lines([], profile),
        "",
        f'Use "firectl {topic} [command] --help" for more information about a command.',
    ]
    return "\n".join(lines)


def _root_page(profile: Profile) -> str:
    rows: dict[str, str] = {}
    for path, command in commands().items():
        if exists(command, profile):
            noun = path.split()[0]
            rows.setdefault(noun, command.summary if " " not in path else f"Commands for {noun}.")
    visible = [*(flag for flag in GLOBAL if not flag.hidden), Flag("help", "bool", "help for firectl", "h")]
    lines = ["Command line interface to Fireworks AI.", "", "Usage:", "  firectl [command]", ""]
    lines += ["Available Commands:", *_index(sorted(rows.items())), "", "Flags:"]
    lines += [
        *_flag_lines(visible, profile),
        "",
        'Use "firectl [command] --help" for more information about a command.',
    ]
    return "\n".join(lines)


def page(invocation: Invocation, profile: Profile) -> str:
    """The help page that the command line asks for."""
    if invocation.command is not None:
        return _command_page(invocation.command, invocation.old, profile)
    return _topic_page(invocation.topic, profile) if invocation.topic else _root_page(profile)
