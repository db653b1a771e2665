"""Graders that could run away: patterns, schemas and functions of the user, in a child with a time limit.

A regular expression can take exponential time and a function can do anything. The child gets one answer
after the other; one that takes too long is stopped with the child, and the next child goes on behind it.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from fwctl.process import Running
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec

MATCH_LIMIT_S = 1.0
FUNCTION_LIMIT_S = 10.0
START_LIMIT_S = 30.0
# After so many answers that had to be stopped, the grader itself is at fault and the rest is not tried.
MOST_STOPS = 3
LONGEST_PATTERN = 10_000
_TICK_S = 0.05
_CHILD = Path(__file__).with_name("child.py")
_FUNCTION = re.compile(r"(?P<file>.+\.py):(?P<name>[A-Za-z_]\w*)")
# What a child needs to start; keys stay with the parent.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT", "VIRTUAL_ENV")


def check(spec: Spec, response_format: object) -> str | None:
    return _CHECKS[spec.kind](spec, response_format)


def grade(items: Sequence[Item], means: Means) -> Iterator[Mark]:
    """Marks in order; answers with the same code share a child."""
    start = 0
    while start < len(items):
        end = start + 1
        while end < len(items) and _code(items[end].spec) == _code(items[start].spec):
            end += 1
        yield from _grade_alike(items[start:end], means)
        start = end


def function_problem(function: str, means: Means) -> str | None:
    """What keeps a user's function from being called, learned by importing its file in a child."""
    file = _where(function, means)["file"]
    if not Path(file).is_file():
        return f"{file} is no regular file; `function` is named relative to the prompt set"
    marks = list(_attempt([], means, {"kind": "function", **_where(function, means)}, START_LIMIT_S))
    return marks[0].note if marks else None


def _check_regex(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001
    pattern = spec.options.get("pattern", spec.expected)
    if not isinstance(pattern, str) or not pattern or len(pattern) > LONGEST_PATTERN:
        return f"give `pattern`, a regular expression of at most {LONGEST_PATTERN} characters"
    try:
        re.compile(pattern)
    except (re.error, RecursionError, OverflowError) as error:
        return f"the pattern is no regular expression: {error}"
    return None


def _check_schema(spec: Spec, response_format: object) -> str | None:
    from fwctl.inference.structured import schema_of, schema_problem

    schema = spec.options.get("schema")
    if schema is None and isinstance(response_format, Mapping):
        schema = schema_of(response_format)
    if schema is None:
        return "give `schema`, or a response_format with one"
    return schema_problem(schema)


def _check_function(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001
    if not _FUNCTION.fullmatch(str(spec.options.get("function", ""))):
        return "give `function` as file.py:name"
    limit = spec.options.get("time_limit_s", FUNCTION_LIMIT_S)
    return None if 0 < limit <= 3600 else "`time_limit_s` is a number of seconds from 0 to 3600"


_CHECKS = {"regex": _check_regex, "json_schema": _check_schema, "function": _check_function}


def _code(spec: Spec) -> tuple[str, Any]:
    """What one child can grade together."""
    return spec.kind, spec.options.get("function")


def _where(function: str, means: Means) -> dict[str, str]:
    found = _FUNCTION.fullmatch(function)
    assert found
    return {"file": str(means.folder / found["file"]), "name": found["name"]}


def _grade_alike(items: Sequence[Item], means: Means) -> Iterator[Mark]:
    spec = items[0].spec
    head = {"kind": spec.kind}
    limit = MATCH_LIMIT_S
    if spec.kind == "function":
        head |= _where(spec.options["function"], means)
        limit = float(spec.options.get("time_limit_s", FUNCTION_LIMIT_S))
    done = stops = 0
    note: str | None = None
    while done < len(items) and stops < MOST_STOPS:
        for mark in _attempt(items[done:], means, head, limit):
            yield mark
            done += 1
            if mark.right is None and mark.note in _STOPPED:
                stops, note = stops + 1, mark.note
    yield from (Mark(None, None, note) for _ in range(len(items) - done))


def _attempt(items: Sequence[Item], means: Means, head: Mapping[str, Any], limit_s: float) -> Iterator[Mark]:
    """Marks of one child, up to the first answer at which it had to be stopped."""
    with tempfile.TemporaryDirectory(prefix="fwctl-grade-") as folder:
        work = Path(folder) / "work.jsonl"
        with work.open("w", encoding="utf-8") as file:
            for row in (head, *(_row(item) for item in items)):
                file.write(json.dumps(row) + "\n")
        environ = {name: means.environ[name] for name in _PASSED_ON if name in means.environ}
        argv = [sys.executable, "-I", str(_CHILD), str(work)]
        try:
            child = Running(argv, env=environ, cwd=means.folder)
        except OSError as error:
            yield Mark(None, None, f"no grading process could be started: {error.strerror or error}")
            return
        with child:
            yield from _marks(child, len(items), limit_s)


_SLOW = "the grader took too long"
_GONE = "the grader ended its process"
_STOPPED = (_SLOW, _GONE)


def _marks(child: Running, count: int, limit_s: float) -> Iterator[Mark]:
    """Read marks as they come. The first line says that the code is loaded."""
    read, since = -1, child.seconds
    while True:
        ended = child.ended(_TICK_S)
        lines = child.output()[0].split("\n")[:-1]
        for line in lines[read + 1 :]:
            row = json.loads(line)
            read, since = read + 1, child.seconds
            if "problem" in row:
                yield from (Mark(None, None, row["problem"]) for _ in range(max(1, count)))
                return
            if read:
                yield Mark(row["right"], row["score"], row["note"])
        if read == count:
            return
        if ended or child.seconds - since > (limit_s if read >= 0 else START_LIMIT_S):
            yield Mark(None, None, _GONE if ended else _SLOW)
            return


def _row(item: Item) -> dict[str, Any]:
    from fwctl.inference.structured import schema_of

    options = dict(item.spec.options)
    if item.spec.kind == "json_schema" and "schema" not in options and item.response_format is not None:
        options["schema"] = schema_of(item.response_format)
    prompt = {"id": item.prompt_id, "messages": list(item.messages)}
    return {"text": item.text, "expected": item.spec.expected, "options": options, "prompt": prompt}
