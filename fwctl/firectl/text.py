"""firectl's text output: colours, notices, and the few answers that have no JSON form (pure).

Texts and their streams: public transcripts of firectl runs, July to September 2026.
"""

from __future__ import annotations

import re

_ANSI = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_]")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_RECORD = re.compile(r"^(?P<key>[A-Za-z][A-Za-z ]*?):[ \t]*(?P<value>.*)$")
_TOTAL = re.compile(r"^Total size: (\d+)\s*$", re.MULTILINE)
_ACCOUNT_WORD = re.compile(r"(?:✔|\baccount) ([a-z0-9-]+)\b")
_ACCOUNT = re.compile(r"accounts/([a-z0-9-]+)")

# Lines that firectl prints beside an answer. They are skipped only where the answer may be empty.
_NOTICES = re.compile(
    r"^(?:✔ .*"
    r"|DEPRECATION WARNING:.*|e\.g\. firectl .*|You can see a list of available nouns.*"
    r"|(?:\d{4}/\d\d/\d\d \d\d:\d\d:\d\d )?WARNING:.*"
    r"|.*\b(?:new|newer|latest) version\b.*|.*\bupdate (?:is )?available\b.*|.*\bfirectl upgrade\b.*)$",
    re.IGNORECASE,
)
_HEADER = re.compile(r"(?:[A-Z]+ )?NAME\b")
_SHOWN_CHARS = 500
_LINE_LIMIT = 2000  # a longer line is no notice


def without_ansi(text: str) -> str:
    """Text without colours and other terminal control; a carriage return starts a new line."""
    if "\x1b" in text:
        text = _ANSI.sub("", text)
    return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))


def last_line(text: str) -> str:
    """The last line that is not blank, at most 500 characters of it."""
    return text.rstrip().rpartition("\n")[2].strip()[:_SHOWN_CHARS]


def only_notices(text: str) -> bool:
    """True when nothing is left once blank lines and known notices are taken out."""
    return all(
        not line.strip() or (len(line) < _LINE_LIMIT and _NOTICES.match(line.strip()))
        for line in text.splitlines()
    )


def is_header_only(text: str) -> bool:
    """True for the table of an empty list: one line of column names."""
    lines = [line for line in text.splitlines() if not only_notices(line)]
    return len(lines) == 1 and _HEADER.match(lines[0]) is not None


def total_size(text: str) -> int | None:
    """N of the `Total size: N` line below a list; the last one counts."""
    found = _TOTAL.findall(text)
    return int(found[-1]) if found else None


def parse_record(text: str) -> dict[str, str]:
    """A `Key: value` record as get and create print it: keys in snake_case, nested ones after their
    parent's key and a dot. Lines of any other form (hints, warnings) are skipped."""
    record: dict[str, str] = {}
    parent = ""
    for line in text.splitlines():
        found = _RECORD.match(line.strip()) if len(line) < _LINE_LIMIT else None
        if not found:
            continue
        key = found["key"].lower().replace(" ", "_")
        if line[0] in " \t" and parent:
            key = f"{parent}.{key}"
        else:
            parent = key
        record.setdefault(key, found["value"].strip())
    return record


def parse_whoami(text: str) -> dict[str, str]:
    """What `firectl whoami` tells. Its format is not documented: `Account ID: x` is read, else a
    resource name or the account behind a check mark. Keys: `account_id` and whatever else is named."""
    record = parse_record(text)
    account = record.get("account_id") or record.get("account") or record.get("account_name") or ""
    if not account:
        named = _ACCOUNT.search(text) or _ACCOUNT_WORD.search(text)
        account = named[1] if named else ""
    account = account.removeprefix("accounts/").split()[0] if account else ""
    return {**record, "account_id": account} if account else record
