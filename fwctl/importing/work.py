"""What reading a set of scripts has found so far, and how a flag becomes a value of an entry."""

from __future__ import annotations

from dataclasses import dataclass, field

from fwctl.importing.grammar import GONE, ROWS, Call
from fwctl.importing.model import Draft, Entry, Remark
from fwctl.importing.values import LEFT_OUT, value_of
from fwctl.importing.words import Word


@dataclass
class Work:
    draft: Draft
    account: str | None = None
    file: str = ""
    line: int = 0
    by_target: dict[str, Entry] = field(default_factory=dict)
    models: dict[str, Entry] = field(default_factory=dict)

    def say(self, code: str, message: str, entry: Entry | None = None) -> None:
        self.draft.remarks.append(Remark(self.file, self.line, code, message))
        if entry is not None:
            entry.comments.append(f"{self.file}:{self.line}: {message}")


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
        value, problems = value_of(row, flag, item)
        for code, message in problems:
            work.say(code, message, entry)
        if value is LEFT_OUT:
            continue
        if row.sensitive and row.path in entry.values:
            entry.values[row.path] = [*entry.values[row.path], *value]
        else:
            entry.values[row.path] = value
