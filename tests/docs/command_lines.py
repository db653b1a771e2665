"""The `fwctl` lines of a page, in code blocks and in words, as argument lists."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import typer

from fwctl.cli.build import LazyGroup, Run, application
from fwctl.env import Env

FENCE = re.compile(r"^(?P<fence>`{3,})(?P<language>\w*)\n(?P<body>.*?)^(?P=fence)", re.DOTALL | re.MULTILINE)
SPAN = re.compile(r"`([^`\n]+)`")
# What goes to files is no argument; what a shell puts together is one word.
REDIRECTION = re.compile(r"(?<!\S)\d?>{1,2}(&\d|\s*[^\s&;|]+)")
SUBSTITUTION = re.compile(r"\$\((?!\()[^()]*\)")
# Blocks that are no command lines: output alone, files, programs.
OTHER = ("python", "json", "markdown", "rooms")
# These stand for any command.
ANY = ("COMMAND", "WORDS")


def in_blocks(text: str) -> Iterator[str]:
    """Lines of code blocks with their continuations; of `console` blocks only what is typed."""
    for block in FENCE.finditer(text):
        if block["language"] in OTHER:
            continue
        body = re.sub(r"\\\n(?:> )?\s*", " ", block["body"])
        for line in body.splitlines():
            if block["language"] != "console" or line.startswith("$ "):
                yield line.removeprefix("$ ")


def in_words(text: str) -> Iterator[str]:
    """`fwctl …` between backquotes outside of blocks, in one line."""
    for span in SPAN.findall(FENCE.sub("", text)):
        if span.startswith("fwctl "):
            yield span


def arguments(line: str) -> Iterator[list[str]]:
    """What each `fwctl` of a line is given; nothing for a line that shows a form, not a call."""
    line = SUBSTITUTION.sub("X", REDIRECTION.sub("", line)).strip()
    line = re.sub(r"^(- )?(run: )?(- )?", "", line)
    if "fwctl " not in line or "…" in line or "..." in line:
        return
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] | None = None
    try:
        shell = list(lexer)
    except ValueError:
        return  # a quotation that goes on in the next line
    for word in shell:
        if set(word) <= set("();<>|&"):
            if words:
                yield words
            words = None
        elif words is not None:
            words.append("1" if word == "N" else word)
        elif word == "fwctl":
            words = []
        elif not re.match(r"^\w+=", word):
            break  # another program, or prose
    if words:
        yield words


def refusal(words: list[str]) -> str:
    """Why the real command line does not take these words; empty when it does. Nothing is run."""
    if words[0] in ANY or words == ["--version"]:
        return ""
    group = application()
    try:
        context = group.make_context("fwctl", list(words), obj=Run(Env.system()))
        while isinstance(group, LazyGroup) and (rest := [*context._protected_args, *context.args]):
            name, group, rest = group.resolve_command(context, rest)
            context = group.make_context(name, rest, parent=context)
    except typer.Exit:
        return ""  # --help
    except typer.TyperException as error:
        return error.format_message()
    return ""


def problems(path: Path) -> dict[str, str]:
    """Lines of a page that would be refused, and why. A command that is only named needs no arguments."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".yml":
        text = f"```yaml\n{text}```"
    found = {}
    for lines, typed in ((in_blocks(text), True), (in_words(text), False)):
        for words in (words for line in lines for words in arguments(line)):
            why = refusal(words)
            if why and (typed or not why.startswith("Missing")):
                found[f"fwctl {' '.join(words)}"] = why
    return found
