"""What reading a set of scripts has found so far, and how a flag becomes a value of an entry."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from fwctl.importing.assignments import Known, is_private
from fwctl.importing.grammar import GONE, ROWS, Call
from fwctl.importing.model import Draft, Entry, Remark
from fwctl.importing.values import LEFT_OUT, value_of
from fwctl.importing.words import Word, is_open, reference

_REFERENCE = re.compile(r"\$\{env:(\w+)\}")


@dataclass
class Work:
    draft: Draft
    account: str | None = None
    file: str = ""
    line: int = 0
    by_target: dict[str, Entry] = field(default_factory=dict)
    models: dict[str, Entry] = field(default_factory=dict)
    known: dict[str, Known] = field(default_factory=dict)
    mentioned: set[str] = field(default_factory=set)

    def say(self, code: str, message: str, entry: Entry | None = None) -> None:
        self.draft.remarks.append(Remark(self.file, self.line, code, message))
        if entry is not None:
            entry.comments.append(f"{self.file}:{self.line}: {message}")

    def mention(self, item: Word, entry: Entry | None = None) -> None:
        """One remark for each variable of a word: who sets it, as far as these files tell."""
        made = {reference(name.strip("<>{}").split(".")[-1]) for name in item.made}
        defaults = dict(item.defaults)
        for name in _REFERENCE.findall(item.text):
            text = reference(name)
            if text in made or text in self.mentioned:
                continue
            self.mentioned.add(text)
            self.say("variable", f"{text} must be set when fwctl runs{self._known(text, defaults)}", entry)
            value = self._value(text, defaults)
            if value is not None and not is_private(name):
                self.draft.variables[name] = value

    def _known(self, text: str, defaults: dict[str, str]) -> str:
        found = self.known.get(text)
        if is_private(text):
            return ""
        if found is not None and found.loop:
            return f"; line {found.line} runs it over {found.loop[:80]}: one entry for all of them"
        if found is not None and found.value is not None:
            return f"; line {found.line} sets it to {found.value}"
        if text in defaults:
            return f"; here it is {defaults[text]} unless it is set"
        return f"; what line {found.line} sets is computed" if found else "; nothing here sets it"

    def _value(self, text: str, defaults: dict[str, str]) -> str | None:
        found = self.known.get(text)
        return (found.value if found else None) or defaults.get(text)

    def resolved(self, item: Word) -> str | None:
        """The text of a word with every variable filled in; None when one is not known."""
        defaults = dict(item.defaults)
        text = _REFERENCE.sub(lambda found: self._value(found.group(), defaults) or found.group(), item.text)
        return None if is_open(text) else text


def target_of(call: Call) -> Word | None:
    return call.positionals[0] if call.positionals else None


def key_of(text: str) -> str:
    return text.rsplit("/", 1)[-1].removeprefix("${env:").removesuffix("}").lower()


_UNSAID = frozenset({"--wait", "--wait-timeout", "--dry-run", "--validate-only", "--accept-shapeless-risk"})


def take_flags(work: Work, call: Call, entry: Entry) -> None:
    for flag, item in call.flags:
        row = ROWS.get("--region" if flag == "--multi-region" else flag)
        if flag == "--file":
            work.say(
                "file_flag", "--file: the fields of that JSON file are not read; add them by hand", entry
            )
        if flag == "--deployment-id" and item is not None and item.made:
            names = " ".join(item.made)
            work.say("placeholder", f"--deployment-id {names} is a placeholder: put the real ID in", entry)
        if flag == "--deployment-id" and item is not None and item.computed:
            work.say("computed", f"--deployment-id {item.text} exists only when the script runs", entry)
        if row is None or flag in _UNSAID or flag in GONE or row.path == "id":
            continue
        value, problems = value_of(row, flag, item, work.resolved(item) if item else None)
        for code, message in problems:
            work.say(code, message, entry)
        if value is LEFT_OUT:
            continue
        if item is not None and is_open(str(value)):
            work.mention(item, entry)
        if row.sensitive and row.path in entry.values:
            entry.values[row.path] = [*entry.values[row.path], *value]
        else:
            entry.values[row.path] = value
