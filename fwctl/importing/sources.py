"""Scripts, Makefiles, workflows, notebooks, pages and programs -> firectl calls with their places. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from fwctl.importing import markup, python_source, yaml_source
from fwctl.importing.arguments import argument_lists
from fwctl.importing.assignments import Known, assignments, binaries, with_binaries
from fwctl.importing.python_source import Piece
from fwctl.importing.shell_arrays import arrays, with_arrays
from fwctl.importing.words import BATCH, MAKE, POWERSHELL, SHELL, Word, commands_in

LARGEST_BYTES = 16 * 2**20
Lines = list[tuple[int, str]]

_COMMENT = re.compile(r"\s*(?:#|//|::|REM\s)\s*!?\s*[$]?\s*\S*firectl")
_PRINTS = re.compile(r"(?:^|[;&|{(]|\bthen|\belse|\bdo)\s*@?(?:echo|printf)\s(?:(?!\$\()[^;&|`])*$")
_GOES_ON = re.compile(r"\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b|>>?\s*[^&\s]")
_NAMED_LIST = re.compile(r"""firectl\w*\s*=\s*\[(?=\s*["'])""")
_CONTINUED = {
    POWERSHELL: re.compile(r"\s`\s*$"),
    BATCH: re.compile(r"\^\s*$"),
}
_BACKSLASH = re.compile(r"(?<!\\)(?:\\\\)*\\\s*$")
_BESIDE = (
    (
        re.compile(r"api\.fireworks\.ai|\b(?:GET|POST|PUT|PATCH|DELETE)\b.*/deploy\w+|deployments\.create\("),
        "rest_call",
        "a REST or SDK call, not a firectl line; after it has run, `fwctl import ID` writes what it made",
    ),
    (
        re.compile(r"(?:pip|pipx|brew|choco|npm|apt(?:-get)?) +(?:install|tap) .*firectl"),
        "install_line",
        "installs firectl; it is no pip package: `brew install fw-ai/firectl/firectl`",
    ),
)


@dataclass(frozen=True, slots=True)
class Found:
    """One firectl call: words after the binary. commented, printed: it stands in a comment of its file, or
    in what an `echo` shows. retyped: a text program had changed its quotes, dashes or blanks."""

    file: str
    line: int
    words: tuple[Word, ...]
    commented: bool = False
    printed: bool = False
    retyped: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """A line that is about deployments without calling firectl."""

    file: str
    line: int
    code: str
    message: str


@dataclass(slots=True)
class Source:
    """What one file says. known: variable (`${env:NAME}`) -> the value that the file gives it."""

    file: str
    items: list[Found | Beside] = field(default_factory=list)
    known: dict[str, Known] = field(default_factory=dict)


def read(file: str, text: str) -> Source:
    """Everything of interest in one file, in its order."""
    text = text.replace("\r\n", "\n").removeprefix("\ufeff")
    source = Source(file)
    name = re.split(r"[/\\]", file)[-1].lower()
    kind = next((kind for pattern, kind in _KINDS if pattern.search(name)), _unnamed)
    kind(source, text)
    source.items = sorted(dict.fromkeys(source.items), key=lambda item: item.line)
    return source


def _script(source: Source, text: str, dialect: str = SHELL) -> None:
    lines = list(enumerate(text.split("\n"), 1))
    _lists(source, text)
    _lines(source, lines, dialect)


def _unnamed(source: Source, text: str) -> None:
    """A script, unless all of it is Python that calls firectl."""
    if python_source.pieces(text):
        _python(source, text)
    else:
        _script(source, text)


def _lines(source: Source, lines: Lines, dialect: str = SHELL) -> None:
    """Lines for a shell."""
    source.known |= assignments(lines)
    names, known_arrays = binaries(lines), arrays(lines)
    taken = {item.line for item in source.items}
    for number, raw in _logical(lines, dialect):
        line = markup.straight(raw)
        if number in taken:
            continue
        commented = _COMMENT.match(line) is not None
        text = re.sub(r"^\t[@+-]+", "", line) if dialect == MAKE else line
        text = with_arrays(with_binaries(text, names), known_arrays)
        calls = [
            Found(source.file, number, tuple(words), commented, _is_printed(text, at), line != raw)
            for at, words in commands_in(text, dialect=dialect)
        ]
        source.items += calls
        if not calls or any(pattern.search(line) for pattern, *_ in _BESIDE[1:]):
            source.items += _beside(source.file, number, line)


def _is_printed(line: str, at: int) -> bool:
    """True for a call in the text of an `echo` that goes to no other command and no file."""
    return _PRINTS.search(line[:at]) is not None and not _GOES_ON.search(line[at:])


def _beside(file: str, number: int, line: str) -> Iterator[Beside]:
    for pattern, code, message in _BESIDE:
        if pattern.search(line):
            yield Beside(file, number, code, message)
            return


def _logical(lines: Lines, dialect: str) -> Iterator[tuple[int, str]]:
    """Lines with their continuations; a comment of a shell goes on only through a backslash."""
    ends = _CONTINUED.get(dialect, _BACKSLASH)
    held, start = "", 0
    for number, line in lines:
        text = line.lstrip("> ") if held else line
        start = start or number
        if ends.search(line):
            held += ends.sub("", text).removesuffix("\\") + " "
            continue
        yield start, held + re.sub(r"^\s*#", "", text) if held.lstrip().startswith("#") else held + text
        held, start = "", 0
    if held:
        yield start, held


def _lists(source: Source, text: str) -> None:
    """Argument lists of a language that has no reader of its own."""
    for offset, words in argument_lists(text):
        source.items.append(Found(source.file, text.count("\n", 0, offset) + 1, tuple(words)))
    for found in _NAMED_LIST.finditer(text):
        tail = re.sub(r"^\w+\s*=\s*", "", text[found.start() : found.start() + 4000])
        words = next((words for _, words in argument_lists('"firectl", ' + tail)), [])
        source.items.append(Found(source.file, text.count("\n", 0, found.start()) + 1, tuple(words)))


def _pieces(source: Source, pieces: list[Piece], lines: Lines) -> None:
    """What a reader of a language found, and the comments and REST calls that it does not see."""
    for piece in pieces:
        if piece.words:
            source.items.append(Found(source.file, piece.line, tuple(piece.words)))
        else:
            numbered = list(zip(piece.lines, piece.text.split("\n"), strict=False))
            inner = Source(source.file)
            _lines(inner, numbered)
            source.items += inner.items
            source.known |= inner.known
    source.known |= {name: value for name, value in assignments(lines).items() if name not in source.known}
    taken = {item.line for item in source.items}
    for number, line in lines:
        if number not in taken and _COMMENT.match(line):
            source.items += [
                Found(source.file, number, tuple(words), commented=True) for _, words in commands_in(line)
            ]
        elif number not in taken:
            source.items += _beside(source.file, number, line)


def _python(source: Source, text: str) -> None:
    found = python_source.pieces(text)
    if found is None:
        _script(source, text)
    else:
        _pieces(source, found, list(enumerate(text.split("\n"), 1)))


def _yaml(source: Source, text: str) -> None:
    found = yaml_source.pieces(text)
    if found is None:
        _script(source, text)
    else:
        _pieces(source, found, list(enumerate(text.split("\n"), 1)))


def _markup(source: Source, text: str) -> None:
    _lines(source, list(markup.code_lines(enumerate(text.split("\n"), 1))))
    _lists(source, text)


def _notebook(source: Source, text: str) -> None:
    """Cells: `!firectl` lines and `%%bash` cells for a shell, the rest as Python."""
    try:
        cells = json.loads(text)["cells"]
        found = [(str(cell.get("cell_type")), cell["source"]) for cell in cells]
        sources = [(kind, part if isinstance(part, str) else "".join(part)) for kind, part in found]
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        _script(source, text)
        return
    cursor = 0
    for kind, cell in sources:
        lines: Lines = []
        for line in cell.split("\n"):
            cursor = _place(text, line, cursor)
            lines.append((text.count("\n", 0, cursor) + 1, line))
        _cell(source, kind, lines)


def _place(text: str, line: str, cursor: int) -> int:
    """Where a line of a cell stands in the file, from `cursor` on."""
    for form in {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]} if line else ():
        place = text.find(form, cursor)
        if place >= 0:
            return place
    return cursor


def _cell(source: Source, kind: str, lines: Lines) -> None:
    if kind == "markdown":
        _lines(source, list(markup.code_lines(lines)))
        return
    magic = re.compile(r"^\s*[!%]")
    inside = False
    code = []
    for _, line in lines:
        shell = inside or magic.match(line) is not None
        inside = shell and _BACKSLASH.search(line) is not None
        code.append("pass" if shell else line)
    found = None if lines[0][1].startswith("%%") else python_source.pieces("\n".join(code))
    if found is None:
        _lines(source, lines)
        return
    numbers = [number for number, _ in lines]
    for piece in found:
        piece.line = numbers[min(piece.line, len(numbers)) - 1]
        piece.lines = tuple(numbers[min(line, len(numbers)) - 1] for line in piece.lines)
    shell_lines = [pair for pair, text in zip(lines, code, strict=True) if text == "pass" != pair[1]]
    plain = [pair for pair, text in zip(lines, code, strict=True) if text == pair[1]]
    _lines(source, shell_lines)
    _pieces(source, found, plain)


_KINDS: tuple[tuple[re.Pattern[str], Callable[[Source, str], None]], ...] = (
    (re.compile(r"\.ipynb$"), _notebook),
    (re.compile(r"\.pyi?$"), _python),
    (re.compile(r"\.(?:ya?ml|json)$"), _yaml),
    (re.compile("|".join(re.escape(suffix) + "$" for suffix in markup.SUFFIXES)), _markup),
    (re.compile(r"^(?:gnu)?makefile$|\.mk$"), lambda source, text: _script(source, text, MAKE)),
    (re.compile(r"\.ps[md]?1$"), lambda source, text: _script(source, text, POWERSHELL)),
    (re.compile(r"\.(?:bat|cmd)$"), lambda source, text: _script(source, text, BATCH)),
)
