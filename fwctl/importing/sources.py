"""Scripts, Makefiles, workflows, notebooks, Markdown and Python -> firectl calls with their places. Pure."""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from fwctl.importing.words import Word, commands_in, reference, word

LARGEST_BYTES = 16 * 2**20
_LIST = re.compile(r"""\[\s*(?=[^\[\]]{0,40}firectl)|firectl\w*\s*=\s*\[(?=\s*["'])""")
_COMMENT = re.compile(r"\s*(?:#|//)\s*!?\s*[$]?\s*\S*firectl")
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
    """One firectl call: words after the binary. commented: it stands in a comment of its file."""

    file: str
    line: int
    words: tuple[Word, ...]
    commented: bool = False


@dataclass(frozen=True, slots=True)
class Beside:
    """A line that is about deployments without calling firectl."""

    file: str
    line: int
    code: str
    message: str


def read(file: str, text: str) -> list[Found | Beside]:
    """Everything of interest in one file, in its order."""
    lines = _notebook(text) if file.endswith(".ipynb") else list(enumerate(text.splitlines(), 1))
    makefile = bool(re.search(r"(?:^|[/\\])(?:GNU)?[Mm]akefile$|\.mk$", file))
    found: list[Found | Beside] = list(_lists(file, lines))
    taken = {item.line for item in found}
    for number, line in _logical(lines):
        if number in taken:
            continue
        commented = _COMMENT.match(line) is not None
        calls = [
            Found(file, number, tuple(words), commented) for _, words in commands_in(line, makefile=makefile)
        ]
        found += calls
        if not calls or any(pattern.search(line) for pattern, *_ in _BESIDE[1:]):
            found += _beside(file, number, line)
    return sorted(found, key=lambda item: item.line)


def _beside(file: str, number: int, line: str) -> Iterator[Beside]:
    for pattern, code, message in _BESIDE:
        if pattern.search(line):
            yield Beside(file, number, code, message)
            return


def _logical(lines: list[tuple[int, str]]) -> Iterator[tuple[int, str]]:
    """Lines with their continuations; a comment of a shell goes on only through a backslash."""
    held, start = "", 0
    for number, line in lines:
        text = line.lstrip("> ") if held else line
        start = start or number
        if re.search(r"(?<!\\)(?:\\\\)*\\\s*$", line):
            held += re.sub(r"\\\s*$", "", text) + " "
            continue
        yield start, held + re.sub(r"^\s*#", "", text) if held.lstrip().startswith("#") else held + text
        held, start = "", 0
    if held:
        yield start, held


def _notebook(text: str) -> list[tuple[int, str]]:
    """Lines of all cells with the line of the file that holds each; the text itself when it is no JSON."""
    try:
        cells = json.loads(text)["cells"]
        sources = [cell["source"] for cell in cells]
        joined = [part if isinstance(part, str) else "".join(part) for part in sources]
    except (ValueError, KeyError, TypeError, RecursionError):
        return list(enumerate(text.splitlines(), 1))
    lines: list[tuple[int, str]] = []
    cursor = 0
    for line in (line for cell in joined for line in [*cell.split("\n"), ""]):
        for form in {json.dumps(line)[1:-1], json.dumps(line, ensure_ascii=False)[1:-1]} if line else ():
            place = text.find(form, cursor)
            if place >= 0:
                cursor = place
                break
        lines.append((text.count("\n", 0, cursor) + 1, line))
    return lines


def _lists(file: str, lines: list[tuple[int, str]]) -> Iterator[Found]:
    """Python lists such as ["firectl", "deployment", "create", model]."""
    text = "\n".join(line for _, line in lines)
    for match in _LIST.finditer(text):
        start = match.end() - len(match.group()) + match.group().index("[")
        words = _list_words(text[start : start + 4000])
        if words is None:
            continue
        if re.search(r"(?:^|[/\\])firectl(?:\.exe)?$", words[0].text) or "FIRECTL" in words[0].text.upper():
            words = words[1:]
        elif match.group().startswith("["):
            continue
        index = text.count("\n", 0, start)
        yield Found(file, lines[index][0], tuple(words))


def _list_words(text: str) -> list[Word] | None:
    """Words of the list that begins here, None when it is no Python list."""
    depth = 0
    position = -1
    for character in text:
        position += 1
        depth += {"[": 1, "]": -1}.get(character, 0)
        if depth == 0:
            break
    else:
        return None
    try:
        tree = ast.parse(text[: position + 1], mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return [_element(item) for item in tree.elts] if isinstance(tree, ast.List) and tree.elts else None


def _element(item: ast.expr) -> Word:
    if isinstance(item, ast.Constant):
        return word(str(item.value)) if isinstance(item.value, str) else Word(str(item.value))
    if isinstance(item, ast.JoinedStr):
        return word("".join(_piece(part) for part in item.values))
    if isinstance(item, ast.Starred):
        return Word(ast.unparse(item)[:60], array=True)
    if isinstance(item, ast.Name | ast.Attribute):
        return Word(reference(ast.unparse(item).split(".")[-1]))
    if isinstance(item, ast.Call) and ast.unparse(item.func) == "str" and len(item.args) == 1:
        return _element(item.args[0])
    if isinstance(item, ast.Subscript):
        return Word(reference(ast.unparse(item.value).split(".")[-1] + "_" + ast.unparse(item.slice)))
    return Word(ast.unparse(item)[:60], computed=True)


def _piece(part: ast.expr) -> str:
    if isinstance(part, ast.Constant):
        return str(part.value)
    assert isinstance(part, ast.FormattedValue)
    return reference(ast.unparse(part.value).split(".")[-1])
