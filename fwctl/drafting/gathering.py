"""Step 1 as a step: the files of the pipeline's folder, and whether they hold enough."""

from __future__ import annotations

import json
import secrets
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from fwctl.drafting.adapt import Adapt, Collecting
from fwctl.drafting.collect import HOLDOUT_FILE, TRAIN_FILE, Source, collect
from fwctl.drafting.desk import Desk
from fwctl.drafting.findings import LONGEST_LIST, Rule, rules
from fwctl.errors import FwctlError, UsageError
from fwctl.speculation.tokens import Tokenizer, exact, load_tokenizers

LARGEST_NAMES_BYTES = 16 * 2**20
LEAST_HOLDOUT = 12  # requests, so that there is something to judge on
_DATA = "data"


def data_folder(folder: Path) -> Path:
    """Where the files of recorded traffic lie."""
    return folder / _DATA


def gather(adapt: Adapt, folder: Path, desk: Desk) -> dict[str, Any]:
    """Collect, and say what is there: the report of `collect`, `digest` of the training file, `missing`.

    Raises UsageError for bad files, FwctlError when they cannot be written.
    """
    want = adapt.collecting
    source = Source(want.traces, adapt.folder, want.models, want.since)
    desk.say(f"collecting from {', '.join(want.traces[:3])}{' ...'[: 4 * (len(want.traces) > 3)]}")
    try:
        report = collect(
            source,
            data_folder(folder),
            rules=_rules(want, adapt.folder) if want.anonymise else None,
            key=secrets.token_bytes(32),
            tokenizer=_tokenizer(want, adapt.folder),
        )
    except OSError as error:
        raise FwctlError(f"cannot write {data_folder(folder)}: {error.strerror or error}") from None
    train = data_folder(folder) / TRAIN_FILE
    return {
        **report,
        "anonymised": want.anonymise,
        "files": {
            name: str(data_folder(folder) / file)
            for name, file in (("train", TRAIN_FILE), ("holdout", HOLDOUT_FILE))
        },
        "digest": _file_digest(train),
        "train_tokens": _all_tokens(train, _tokenizer(want, adapt.folder)),
        "missing": missing(report, want),
    }


def missing(report: dict[str, Any], want: Collecting) -> list[str]:
    """What there is too little of, each with how much more it takes."""
    found = []
    for have, least, what in (
        (report["conversations"], want.least_conversations, "conversations"),
        (report["answer_tokens"]["train"], want.least_tokens, "answer tokens to train on"),
        (report["requests"]["holdout"], LEAST_HOLDOUT, "requests to judge on"),
    ):
        if have < least:
            found.append(f"{have:,} {what}, {least - have:,} fewer than the {least:,} it takes")
    return found


def unchanged(result: dict[str, Any]) -> bool:
    """Whether the files are still those of the result."""
    train, holdout = Path(result["files"]["train"]), Path(result["files"]["holdout"])
    return holdout.is_file() and train.is_file() and _file_digest(train) == result["digest"]


def _rules(want: Collecting, folder: Path) -> tuple[Rule, ...]:
    names: list[str] = []
    if want.names:
        path = folder / want.names
        try:
            if not path.is_file():
                raise UsageError(f"collect.names: {want.names} is no file")
            if path.stat().st_size > LARGEST_NAMES_BYTES:
                raise UsageError(
                    f"collect.names: {want.names} is larger than a list of {LONGEST_LIST:,} names"
                )
            names = path.read_text(encoding="utf-8", errors="replace").splitlines()
        except OSError as error:
            raise UsageError(f"collect.names: {want.names}: {error.strerror or error}") from None
    return rules(names, want.rules)


def _tokenizer(want: Collecting, folder: Path) -> Tokenizer | None:
    return exact(folder / want.tokenizer, load_tokenizers()) if want.tokenizer else None


def _file_digest(path: Path) -> str:
    found = sha256()
    with path.open("rb") as file:
        while block := file.read(2**20):
            found.update(block)
    return found.hexdigest()[:16]


def _all_tokens(path: Path, tokenizer: Tokenizer | None) -> int:
    """Tokens of a training file, questions included: what training is billed by."""
    from fwctl.speculation.tokens import approximate

    ids = (tokenizer or approximate()).ids
    return sum(len(ids(str(message.get("content") or ""))) for row in _rows(path) for message in row)


def _rows(path: Path) -> Iterator[list[dict[str, Any]]]:
    with path.open(encoding="utf-8", errors="replace") as lines:
        for line in lines:
            yield json.loads(line)["messages"]
