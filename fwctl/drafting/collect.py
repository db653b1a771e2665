"""Step 1: recorded traffic to training and hold-out files, without what points at people.

Only answers of the very target teach its drafter. Conversations are split, not requests, so that no
question of the hold-out was trained on in another turn.
"""

from __future__ import annotations

import hmac
import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from fwctl.drafting.anonymise import Anonymiser, Survey, each_text
from fwctl.drafting.findings import Rule
from fwctl.drafting.pseudonyms import digest
from fwctl.speculation.reading import Part, parts, read
from fwctl.speculation.tokens import Tokenizer, approximate
from fwctl.speculation.trace import Trace, UnusableTraceError
from fwctl.speculation.trace import read as read_trace

TRAIN_FILE, HOLDOUT_FILE, TOKENS_FILE = "train.jsonl", "holdout.jsonl", "tokens.jsonl"
HOLDOUT_OF = 5  # every fifth conversation is held out
_MODE = 0o600
TRUNCATED, DUPLICATE, OLDER = "truncated answer", "duplicate", "older than --since"
OTHER_MODEL, NO_MODEL = "answer of another model", "no model named"


@dataclass(frozen=True, slots=True)
class Source:
    """files: as `speculate replay` takes them. models: names under which the target answers, as logs write
    them; empty: every answer is the target's. since: RFC 3339; the target answered otherwise before.
    """

    files: tuple[str, ...]
    folder: Path
    models: tuple[str, ...] = ()
    since: str | None = None


@dataclass(slots=True)
class Collected:
    """Counts of one collection; requests by type and by part."""

    left_out: Counter[str] = field(default_factory=Counter)
    requests: dict[str, Counter[str]] = field(default_factory=dict)
    tokens: Counter[str] = field(default_factory=Counter)
    conversations: set[int] = field(default_factory=set)
    with_token_ids: int = 0


def collect(
    source: Source,
    out: Path,
    *,
    rules: Sequence[Rule] | None,
    key: bytes,
    tokenizer: Tokenizer | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> dict[str, Any]:
    """Write train.jsonl (chat messages for fine-tuning) and holdout.jsonl (traces for replays).

    rules: what is replaced; None replaces nothing and, where token ids were recorded, also writes
    tokens.jsonl with `input_ids` and `loss_mask`. key: random bytes that hide what stands for what; forget
    them. Files are complete or absent. Returns the report. Raises UsageError for bad files, OSError.
    """
    todo = parts(source.files, source.folder)
    tell = progress or (lambda *_: None)
    tokenizer = tokenizer or approximate()
    survey = Survey(rules or ())
    if rules is not None:
        for number, part in enumerate(todo):
            for _, trace in _eligible(part, source, Counter(), set()):
                each_text(_spoken(trace), survey.read_text)
            tell(number + 1, 2 * len(todo))
    change = Anonymiser(survey, key).text if rules is not None else str
    found = Collected()
    seen: set[int] = set()
    out.mkdir(parents=True, exist_ok=True, mode=0o700)
    with ExitStack() as stack:
        files = Files(stack, out, token_ids=rules is None)
        for number, part in enumerate(todo, len(todo)):
            for item, trace in _eligible(part, source, found.left_out, seen):
                files.write(_exported(item, trace, change, key), found, tokenizer)
            tell(number + 1, 2 * len(todo))
        files.finish()
    return _report(found, survey if rules is not None else None)


def _eligible(
    part: Part, source: Source, left_out: Counter[str], seen: set[int]
) -> Iterator[tuple[dict[str, Any], Trace]]:
    for item in read(part):
        try:
            trace = read_trace(item)
        except UnusableTraceError as error:
            left_out[str(error)] += 1
            continue
        reason = _unfit(item, source) or _seen(trace, seen)
        if reason:
            left_out[reason] += 1
        else:
            yield item, trace


def _unfit(item: Mapping[str, Any], source: Source) -> str | None:
    if _finish_reason(item) == "length":
        return TRUNCATED
    if source.since and str(item.get("created_at") or "") < source.since:
        return OLDER
    if not source.models:
        return None
    answered = item.get("target") or item.get("model")
    if answered is None:
        return NO_MODEL
    return None if answered in source.models else OTHER_MODEL


def _finish_reason(item: Mapping[str, Any]) -> Any:
    given = item.get("finish_reason")
    response = item.get("response")
    choices = response.get("choices") if isinstance(response, dict) else None
    first = choices[0] if isinstance(choices, list) and choices else None
    return given or (first.get("finish_reason") if isinstance(first, dict) else None)


def _seen(trace: Trace, seen: set[int]) -> str | None:
    """The same words asked and answered; blanks do not count."""
    mark = digest(" ".join(f"{trace.prompt}\0{trace.completion}".split()))
    if mark in seen:
        return DUPLICATE
    seen.add(mark)
    return None


def _spoken(trace: Trace) -> dict[str, Any]:
    """What of a line goes into a file: texts of the request and of the answer."""
    return {
        "messages": list(trace.messages),
        "completion": trace.completion,
        "prediction": trace.fields.get("prediction"),
    }


def _exported(
    item: Mapping[str, Any], trace: Trace, change: Callable[[str], str], key: bytes
) -> dict[str, Any]:
    """One trace. The conversation is a number of this run that leads nowhere."""
    conversation = hmac.digest(key, trace.cluster.to_bytes(8, "big"), "sha256").hex()[:16]
    spoken = {name: value for name, value in _spoken(trace).items() if value is not None}
    line = {
        "id": conversation + hmac.digest(key, trace.id.encode("utf-8", "replace"), "sha256").hex()[:8],
        "conversation_id": conversation,
        "type": trace.type,
        **each_text(spoken, change),
    }
    ids = [item.get(name) for name in ("prompt_token_ids", "token_ids")]
    if all(isinstance(part, list) and part for part in ids):
        line |= {"prompt_token_ids": ids[0], "token_ids": ids[1]}
    return line


class Files:
    """The files of a collection, written beside their names and moved there at the end."""

    def __init__(self, stack: ExitStack, out: Path, *, token_ids: bool) -> None:
        self._out = out
        self._token_ids = token_ids
        names = [TRAIN_FILE, HOLDOUT_FILE, *([TOKENS_FILE] if token_ids else [])]
        for name in (TRAIN_FILE, HOLDOUT_FILE, TOKENS_FILE):  # also when it ends early, and of an earlier run
            (out / name).unlink(missing_ok=True)
            stack.callback((out / f".{name}").unlink, missing_ok=True)
        self._open: dict[str, TextIO] = {
            name: stack.enter_context(_private(out / f".{name}")) for name in names
        }

    def write(self, line: dict[str, Any], found: Collected, tokenizer: Tokenizer) -> None:
        """One trace, into the files of its part."""
        prompt_ids, answer_ids = line.pop("prompt_token_ids", None), line.pop("token_ids", None)
        trace = read_trace(line)
        part = "train" if (trace.cluster >> 32) % HOLDOUT_OF else "holdout"
        found.requests.setdefault(trace.type, Counter())[part] += 1
        found.tokens[part] += len(tokenizer.ids(trace.completion))
        found.conversations.add(trace.cluster)
        if part == "holdout":
            self._put(HOLDOUT_FILE, line)
            return
        answer = {"role": "assistant", "content": trace.completion}
        self._put(TRAIN_FILE, {"messages": [*line["messages"], answer]})
        if self._token_ids and prompt_ids and answer_ids:
            found.with_token_ids += 1
            mask = [0] * len(prompt_ids) + [1] * len(answer_ids)
            self._put(TOKENS_FILE, {"input_ids": [*prompt_ids, *answer_ids], "loss_mask": mask})

    def _put(self, name: str, line: Mapping[str, Any]) -> None:
        self._open[name].write(json.dumps(line, ensure_ascii=False) + "\n")

    def finish(self) -> None:
        """Make the files what they are called."""
        for name, file in self._open.items():
            file.flush()
            os.fsync(file.fileno())
            (self._out / f".{name}").replace(self._out / name)


def _private(path: Path) -> TextIO:
    path.unlink(missing_ok=True)
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, _MODE)
    return os.fdopen(handle, "w", encoding="utf-8", errors="replace")


def _report(found: Collected, survey: Survey | None) -> dict[str, Any]:
    counts = {name: dict(sorted(parts_.items())) for name, parts_ in sorted(found.requests.items())}
    return {
        "requests": {part: sum(row.get(part, 0) for row in counts.values()) for part in ("train", "holdout")},
        "answer_tokens": {part: found.tokens[part] for part in ("train", "holdout")},
        "conversations": len(found.conversations),
        "by_type": counts,
        "left_out": dict(sorted(found.left_out.items())),
        "with_token_ids": found.with_token_ids,
        "replaced": survey.report() if survey else None,
    }
