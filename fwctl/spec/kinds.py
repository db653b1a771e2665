"""Files of a kind of their own (Targets, Routes, Experiment, Adapt), read as specs are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from fwctl.catalog.field import Field
from fwctl.errors import Diagnostic, InvalidSpecError, Severity
from fwctl.spec.files import Given, read_file
from fwctl.spec.nodes import place
from fwctl.spec.parse import ParsedFile, parse_all
from fwctl.spec.reader import Reader
from fwctl.spec.report import Report, shown
from fwctl.spec.rules.check import run_rules
from fwctl.spec.sections import read_run

T = TypeVar("T")
Found = tuple[T | None, tuple[Diagnostic, ...]]


def is_kind(file: ParsedFile, kind: str, what: str, report: Report) -> bool:
    """True for a file of this kind; another one is reported. what: its content, such as `routes stand`."""
    assert file.root is not None
    if file.kind == kind:
        return True
    entry = file.root.entries.get("kind")
    span = place(*entry) if entry else file.start
    word = f"not {shown(file.kind)}" if entry else "and this file names no kind"
    report.add("FW205", span, f"{what} in a file of kind {kind}, {word}", suggestion=f"kind: {kind}")
    return False


def parse_kind(given: Given, kind: str, what: str, report: Report, environ: Mapping[str, str]) -> ParsedFile:
    """The tree of one file, with its kind and the keys that it shares with specs checked and reported."""
    (file,) = parse_all([given], None, report)
    if file.root is not None and is_kind(file, kind, what, report):
        run = read_run([file], report, environ, need_secrets=False, account=None, evidence=None)
        run_rules(run.view, report)
    return file


def require_rows(rows: Iterable[Field], reader: Reader, file: ParsedFile) -> None:
    """FW204 for each row that the file must have, the account among them."""
    for row in rows:
        if (row.required or row.path == "account") and row.path not in reader.checked.places:
            example = f"for example {row.path}: {row.example}" if row.example else None
            reader.problem("FW204", file.start, f"the file needs {row.path}", example)


def wrong(
    reader: Reader, file: ParsedFile, code: str, message: str, *, path: str, suggestion: str | None = None
) -> None:
    """A problem at this path of the file, at its beginning where the path is not written."""
    span = reader.checked.places.get(path, file.start)
    reader.problem(code, span, message, suggestion, path=path if path in reader.checked.places else "")


def load_kind(
    path: Path, shown_as: str | None, check: Callable[[Given], Found[T]], *, what: str, page: str
) -> T:
    """Read and check one file. shown_as: its name in messages. what: `experiment`. page: where its form is
    told. Raises InvalidSpecError with every problem."""
    given = replace(read_file(path), file=shown_as or str(path))
    value, found = check(given)
    if value is None:
        errors = sum(item.severity is Severity.ERROR for item in found)
        raise InvalidSpecError(
            f"{given.file} is no valid {what}: {errors} error{'s'[: errors != 1]}",
            next_steps=[f"see {page}, The file"],
            diagnostics=found,
        )
    return value
