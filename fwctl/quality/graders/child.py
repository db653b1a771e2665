"""The process in which patterns, schemas and functions of the user meet answers.

Run as a file by an isolated interpreter: `python -I child.py work.jsonl`. It imports nothing of fwctl.
The first line of the work names the kind and the function; each further line is one answer. Every line
of stdout is one JSON object; whatever the user's code prints goes to stderr.
"""

from __future__ import annotations

import json
import math
import os
import re
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

Mark = dict[str, Any]
LONGEST_NOTE = 200


def mark(right: bool | None, score: float | None = None, note: str | None = None) -> Mark:
    return {"right": right, "score": score, "note": note}


def regex(row: dict[str, Any]) -> Mark:
    options = row["options"]
    flags = re.IGNORECASE if options.get("ignore_case") else 0
    pattern = re.compile(options.get("pattern", row["expected"]), flags)
    found = pattern.fullmatch(row["text"].strip()) if options.get("full") else pattern.search(row["text"])
    return mark(found is not None, float(found is not None))


def json_schema(row: dict[str, Any]) -> Mark:
    from jsonschema.validators import validator_for

    try:
        value = json.loads(row["text"])
    except (ValueError, RecursionError):
        return mark(right=False, score=0.0, note="the answer is not JSON")
    schema = row["options"]["schema"]
    error = next(validator_for(schema)(schema).iter_errors(value), None)
    if error is None:
        return mark(right=True, score=1.0)
    place = "/".join(str(part) for part in error.absolute_path)
    return mark(
        right=False, score=0.0, note=f"the answer breaks `{error.validator}` at /{place}"[:LONGEST_NOTE]
    )


def function(path: str, name: str) -> Callable[[dict[str, Any]], Mark]:
    """The user's function as a grader. Raises whatever its file raises on import."""
    import importlib.util

    sys.path.insert(0, str(Path(path).parent))
    spec = importlib.util.spec_from_file_location("fwctl_user_grader", path)
    if spec is None or spec.loader is None:
        raise ImportError("the file cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    sys.modules["fwctl_user_grader"] = module
    spec.loader.exec_module(module)
    found = getattr(module, name, None)
    if not callable(found):
        raise AttributeError(f"the file has no function {name!r}")

    def call(row: dict[str, Any]) -> Mark:
        return verdict(found(row["text"], row["expected"], row["prompt"]), row["options"])

    return call


def verdict(value: Any, options: dict[str, Any]) -> Mark:
    """True or False, a score from 0 to 1, or an object with `right` or `score` and a `note`."""
    note = None
    if isinstance(value, dict):
        note = str(value["note"])[:LONGEST_NOTE] if value.get("note") is not None else None
        value = value.get("right", value.get("score"))
    if isinstance(value, bool):
        return mark(value, float(value), note)
    if isinstance(value, int | float) and math.isfinite(value) and 0 <= value <= 1:
        return mark(value >= options.get("threshold", 1.0), float(value), note)
    told = f"the function returned {type(value).__name__}, not True, False or a score from 0 to 1"
    return mark(None, note=told)


def failure(error: BaseException, path: str | None) -> str:
    """One line: what was raised and where in the user's file."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    place = f" at {Path(path).name}:{frames[-1].lineno}" if frames and path else ""
    told = " ".join(str(error).split())
    return f"{type(error).__name__}{place}: {told}"[:LONGEST_NOTE]


def main(argv: list[str]) -> None:
    """Grade line by line, so that the reader knows at which answer it stopped."""
    # An interrupt ends this process at once, whatever the user's code would make of it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    results = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def say(row: Mark) -> None:
        results.write(json.dumps(row) + "\n")
        results.flush()

    with open(argv[1], encoding="utf-8") as work:  # noqa: PTH123 - starts sooner
        head = json.loads(next(work))
        path = head.get("file")
        try:
            kinds = {"regex": regex, "json_schema": json_schema}
            grade = kinds[head["kind"]] if path is None else function(path, head["name"])
        except BaseException as error:  # the user's file may raise anything, SystemExit too
            say({"problem": failure(error, path)})
            return
        say({"ready": True})
        for line in work:
            try:
                row = grade(json.loads(line))
            except BaseException as error:
                row = mark(None, note=failure(error, path))
            say(row)


if __name__ == "__main__":
    main(sys.argv)
