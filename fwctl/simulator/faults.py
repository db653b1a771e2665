"""Faults on purpose: what may go wrong with a child process, switched on by command and count.

A rule has `kind`, `match` (pattern over the command path and its words), `nth` (first matching call it
hits, from 1), `times` (how many; 0: all from there) and the parameters of its kind. Rules come from
`firectl-sim faults add`, and from the JSON or YAML file that FIRECTL_SIM_FAULTS names. Counters live in
the state, so several processes share them.
"""

from __future__ import annotations

import fnmatch
import json
import os
import signal
import sys
import time
from pathlib import Path
from typing import Any, TextIO

from fwctl.simulator import httpfaults
from fwctl.simulator.state import Store, Tx

Rule = dict[str, Any]

# Kind -> what it does; docs/simulator.md prints this table.
KINDS: dict[str, str] = {
    "error": "fails with `code` and `message`, before the effect or after it (`when`)",
    "hang": "sleeps `seconds` of real time (3600) before or after the effect (`when`)",
    "slow": "sleeps `seconds` of real time (1) and goes on",
    "crash": "kills itself with SIGKILL before or after the effect (`when`)",
    "exit": "ends with `exit_code` and no message, before or after the effect (`when`)",
    "noise": "prints `message`, or `bytes` of filler, on `stream` before anything else",
    "truncate": "keeps only the first `bytes` (40) of stdout",
    "garbage": "prints bytes that are no UTF-8 on `stream` before anything else",
    "empty": "prints nothing on stdout",
    "hold_pipe": "leaves a child behind that holds the pipes open for `seconds` (30)",
    "lose_page": "drops the last half of a list's rows and says nothing",
    "mutate": "changes deployment `name` field `field` to `value` before the command runs",
    "fails_later": "lets a create, update or undelete begin, and end in FAILED with `code` and `message` "
    "after `after_s` (30) simulated seconds",
    "vanish": "removes deployment `name` before the command runs",
}
_FIRST_WHEN = {"error": "before", "hang": "before", "crash": "after", "exit": "after"}
_FILLER = "x" * 79 + "\n"
_REAL_DEFAULT_S = {"hang": 3600.0, "slow": 1.0, "hold_pipe": 30.0}


class FaultError(Exception):
    """A rule cannot be used; the message names it."""


def check(rule: Rule) -> Rule:
    """The rule with its defaults. Raises FaultError."""
    kind = rule.get("kind")
    if kind not in KINDS and kind not in httpfaults.KINDS:
        known = ", ".join(dict.fromkeys([*KINDS, *httpfaults.KINDS]))
        raise FaultError(f"a fault's kind is one of {known}, not {kind!r}")
    when = rule.get("when", _FIRST_WHEN.get(kind, "before"))
    if when not in {"before", "after"}:
        raise FaultError(f"fault {kind}: when is before or after, not {when!r}")
    if rule.get("stream", "stdout") not in {"stdout", "stderr"}:
        raise FaultError(f"fault {kind}: stream is stdout or stderr")
    numbers: dict[str, float] = {}
    try:
        numbers |= {"nth": int(rule.get("nth", 1)), "times": int(rule.get("times", 1))}
        if "seconds" in rule or kind in _REAL_DEFAULT_S:
            numbers["seconds"] = float(rule.get("seconds", _REAL_DEFAULT_S.get(kind, 1.0)))
    except (TypeError, ValueError):
        raise FaultError(f"fault {kind}: nth, times and seconds are numbers") from None
    return {"match": "*", "stream": "stdout"} | rule | {"when": when} | numbers


def read_file(path: Path) -> list[Rule]:
    """Rules of a JSON or YAML file: a list, or an object with `faults`. Raises FaultError."""
    try:
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text) if path.suffix == ".json" else _yaml(text)
    except (OSError, ValueError) as error:
        raise FaultError(f"the faults file {path} cannot be read: {error}") from None
    if isinstance(rows, dict):
        rows = rows.get("faults")
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise FaultError(f"the faults file {path} must hold a list of rules")
    return [check(row) for row in rows]


def _yaml(text: str) -> Any:
    import yaml

    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise ValueError(str(error)) from None


def rules(tx: Tx, file: Path | None) -> list[tuple[str, Rule]]:
    """Every rule with the key of its counter."""
    stored: list[Rule] = tx.meta("faults") or []
    found = [(f"s{rule['id']}", rule) for rule in stored]
    if file is not None:
        found += [(f"f{at}", rule) for at, rule in enumerate(read_file(file))]
    return found


def add(tx: Tx, rule: Rule) -> int:
    """Store a rule; returns its number."""
    stored = tx.meta("faults") or []
    number = max((row["id"] for row in stored), default=0) + 1
    tx.set_meta("faults", [*stored, check(rule) | {"id": number}])
    return number


def clear(tx: Tx) -> None:
    tx.set_meta("faults", [])
    tx.set_meta("fault_counts", {})


def _hits(rule: Rule, count: int) -> bool:
    first, times = rule["nth"], rule["times"]
    return bool(count >= first and (times == 0 or count < first + times))


def due(store: Store, file: Path | None, words: str) -> list[Rule]:
    """The rules that hit this call; counts it for every rule that matches `words`."""
    with store.read() as tx:
        if not rules(tx, file):
            return []
    with store.write() as tx:
        counts: dict[str, int] = tx.meta("fault_counts") or {}
        found = []
        for key, rule in rules(tx, file):
            if fnmatch.fnmatchcase(words, rule["match"]):
                counts[key] = counts.get(key, 0) + 1
                if _hits(rule, counts[key]):
                    found.append(rule)
        tx.set_meta("fault_counts", counts)
    return found


def counts(tx: Tx) -> dict[str, int]:
    return tx.meta("fault_counts") or {}


def _hold_pipe(seconds: float) -> None:
    """A grandchild that inherits stdout and stderr and outlives this process."""
    code = f"import time; time.sleep({seconds})"
    import subprocess

    subprocess.Popen([sys.executable, "-c", code], start_new_session=True)


def act(found: list[Rule], when: str, stdout: TextIO, stderr: TextIO) -> Rule | None:
    """Do what the rules of this moment ask for; returns the error or exit that ends the command."""
    for rule in found:
        kind = rule["kind"]
        if kind == "noise" and when == "before":
            _noise(rule, stdout if rule["stream"] == "stdout" else stderr)
        elif kind == "garbage" and when == "before":
            _garbage(stdout if rule["stream"] == "stdout" else stderr)
        elif kind == "slow" and when == "before":
            time.sleep(rule["seconds"])
        elif kind == "hold_pipe" and when == "before":
            _hold_pipe(rule["seconds"])
        elif rule["when"] != when:
            continue
        elif kind == "hang":
            stdout.flush()
            time.sleep(rule["seconds"])
        elif kind == "crash":
            stdout.flush()
            stderr.flush()
            os.kill(os.getpid(), signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM)
        elif kind in {"error", "exit"}:
            return rule
    return None


def _noise(rule: Rule, stream: TextIO) -> None:
    size = int(rule.get("bytes", 0))
    text = rule.get("message", "") + "\n" if rule.get("message") else ""
    stream.write(text + _FILLER * (size // len(_FILLER)) + _FILLER[: size % len(_FILLER)])
    stream.flush()


def _garbage(stream: TextIO) -> None:
    stream.flush()
    raw = getattr(stream, "buffer", None)
    if raw is not None:
        raw.write(b"\xff\xfe\x00\x80garbage\n")
        raw.flush()
