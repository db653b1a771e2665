"""firectl calls in Python: argument lists, strings for a shell, calls of helpers. Pure, nothing is run."""

from __future__ import annotations

import ast
import re
import warnings
from dataclasses import dataclass, field

from fwctl.importing.words import BINARY, Word, reference, word

_NAME = re.compile(r"(?i)firectl")
_BINARY = re.compile(r"(?:^|[/\\])firectl(?:\.exe)?$")
_FORMAT = re.compile(r"%(?:\((\w+)\))?[-+0-9.]*[sdrif]|\{(\w*)[^{}]*\}")


@dataclass(slots=True)
class Piece:
    """A command that a program runs: its words after the binary, or text for a shell. lines: of the
    file, one for each line of the text."""

    line: int
    words: list[Word] = field(default_factory=list)
    text: str = ""
    lines: tuple[int, ...] = ()


def pieces(text: str) -> list[Piece] | None:
    """Everything in a program that calls firectl; None when this is no Python."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)
            tree = ast.parse(text)
        reader = _Reader(text.split("\n"))
        reader.visit(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return reader.found


class _Reader(ast.NodeVisitor):
    def __init__(self, source: list[str]) -> None:
        self.source = source
        self.found: list[Piece] = []
        self.named: dict[str, list[Word]] = {}

    def visit_Assign(self, node: ast.Assign) -> None:
        target = node.targets[0]
        name = ast.unparse(target) if isinstance(target, ast.Name | ast.Attribute) else ""
        words = _list_words(node.value, named=bool(_NAME.search(name)))
        if words is None:
            self.visit(node.value)
        else:
            self._take(node.lineno, words)
            self.named[name] = words

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        self._extend(ast.unparse(node.target), node.value)

    def visit_Call(self, node: ast.Call) -> None:
        method = node.func.attr if isinstance(node.func, ast.Attribute) else ""
        if method in ("extend", "append") and len(node.args) == 1 and isinstance(node.func, ast.Attribute):
            item = node.args[0]
            given = item if method == "extend" else ast.List([item], ast.Load())
            self._extend(ast.unparse(node.func.value), given)
            return
        words = _call_words(node)
        if words is not None:
            self._take(node.lineno, words)
        else:
            self._expression(node)

    def generic_visit(self, node: ast.AST) -> None:
        """Strings and lists say something as a whole; only then their parts are looked at."""
        if isinstance(node, ast.List | ast.Tuple | ast.JoinedStr | ast.BinOp | ast.Constant):
            self._expression(node)
        else:
            super().generic_visit(node)

    def _expression(self, node: ast.expr) -> None:
        words = _list_words(node)
        if words is not None:
            self._take(node.lineno, words)
            return
        text = _text(node)
        if text is None or not BINARY.search(text):
            super().generic_visit(node)
            return
        self.found.append(Piece(node.lineno, text=text, lines=self._lines(node, text)))

    def _lines(self, node: ast.expr, text: str) -> tuple[int, ...]:
        """For each line of a text, the line of the file that holds the same mention of firectl."""
        span = range(node.lineno, (node.end_lineno or node.lineno) + 1)
        places = [number for number in span for _ in _NAME.findall(self.source[number - 1])]
        lines, seen = [], 0
        for line in text.split("\n"):
            count = len(_NAME.findall(line))
            lines.append(places[seen] if count and seen < len(places) else node.lineno)
            seen += count
        return tuple(lines)

    def _take(self, line: int, words: list[Word]) -> None:
        self.found.append(Piece(line, words))

    def _extend(self, name: str, node: ast.expr) -> None:
        """`cmd += [...]` belongs to the list that `cmd` was."""
        words = self.named.get(name)
        if words is None:
            self.visit(node)
        elif isinstance(node, ast.List | ast.Tuple):
            words += [_element(item) for item in node.elts]
        else:
            words.append(Word(ast.unparse(node)[:60], array=True))


def _list_words(node: ast.expr, *, named: bool = False) -> list[Word] | None:
    """Words after the binary of a list or a sum of lists. named: the variable says that it is firectl's."""
    items = _items(node)
    if not items:
        return None
    if _is_binary(items[0]):
        return [_element(item) for item in items[1:]]
    strings = named and all(isinstance(item, ast.Constant) for item in items)
    return [_element(item) for item in items] if strings else None


def _items(node: ast.expr) -> list[ast.expr] | None:
    if isinstance(node, ast.List | ast.Tuple):
        return list(node.elts)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left = _items(node.left)
        if left is not None:
            right = _items(node.right)
            return left + (right if right is not None else [ast.Starred(node.right, ast.Load())])
    return None


def _is_binary(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return isinstance(node.value, str) and _BINARY.search(node.value) is not None
    if isinstance(node, ast.Call) and ast.unparse(node.func) in ("str", "shutil.which", "which"):
        return bool(node.args) and _is_binary(node.args[0])
    return isinstance(node, ast.Name | ast.Attribute) and bool(_NAME.search(ast.unparse(node)))


def _call_words(node: ast.Call) -> list[Word] | None:
    """`run("firectl", "deployment", ...)` and helpers such as `run_firectl("deployment", ...)`."""
    arguments: list[ast.expr] = list(node.args)
    if len(arguments) > 1 and isinstance(arguments[0], ast.Constant) and _is_binary(arguments[0]):
        return [_element(item) for item in arguments[1:]] if _is_text(arguments[1]) else None
    called = isinstance(node.func, ast.Name | ast.Attribute) and _NAME.search(ast.unparse(node.func))
    if not called or not arguments:
        return None
    inner = _items(arguments[0])
    items = inner if inner is not None and len(arguments) == 1 else arguments
    if len(items) < 2 or not all(_is_text(item) for item in items[:2]):
        return None
    return [_element(item) for item in items]


def _is_text(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, str)


def _element(item: ast.expr) -> Word:
    if isinstance(item, ast.Starred):
        return Word(ast.unparse(item)[:60], array=True)
    if isinstance(item, ast.Constant) and not isinstance(item.value, str):
        return Word(str(item.value))
    if isinstance(item, ast.Call) and ast.unparse(item.func) == "str" and len(item.args) == 1:
        return _element(item.args[0])
    text = _text(item)
    if text is None:
        return Word(ast.unparse(item)[:60], computed=True)
    return word(text) if isinstance(item, ast.Constant) else _filled(text)


def _filled(text: str) -> Word:
    """Text that was put together: only its `${NAME}` are open, braces in it are the program's own."""
    if "$(" in text:
        return Word(text[:60], computed=True)
    return Word(re.sub(r"\$\{(\w+)\}", lambda found: reference(found[1]), text))


def _text(node: ast.expr) -> str | None:
    """The text of an expression, with `${NAME}` where the program puts a variable; None for anything else."""
    if isinstance(node, ast.Constant):
        return node.value if isinstance(node.value, str) else None
    if isinstance(node, ast.JoinedStr):
        return "".join(_piece(part) for part in node.values)
    if isinstance(node, ast.Name | ast.Attribute):
        return _variable(node)
    if isinstance(node, ast.Subscript):
        return _item(node)
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _text(node.left), _text(node.right)
        return None if left is None or right is None else left + right
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mod):
        values = node.right.elts if isinstance(node.right, ast.Tuple) else [node.right]
        return _formatted(node.left, values)
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "format":
        return _formatted(node.func.value, node.args)
    return None


def _piece(part: ast.expr) -> str:
    if isinstance(part, ast.FormattedValue):
        return _text(part.value) or f"$({_clean(ast.unparse(part.value))})"
    return str(part.value) if isinstance(part, ast.Constant) else ""


def _variable(node: ast.expr) -> str:
    return "${" + _clean(ast.unparse(node).split(".")[-1]) + "}"


def _item(node: ast.Subscript) -> str:
    whole, key = ast.unparse(node.value).split(".")[-1], ast.unparse(node.slice)
    return "${" + _clean(key if whole == "environ" else f"{whole}_{key}") + "}"


def _clean(text: str) -> str:
    return re.sub(r"\W+", "_", text).strip("_")[:60] or "VALUE"


def _formatted(template: ast.expr, values: list[ast.expr]) -> str | None:
    """`"... %s" % (a, b)` and `"... {}".format(a, b)`."""
    text = _text(template)
    if text is None:
        return None
    rest = iter(values)

    def fill(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name and not name.isdigit():
            return "${" + name + "}"
        value = next(rest, None)
        return found.group() if value is None else _text(value) or f"$({_clean(ast.unparse(value))})"

    return _FORMAT.sub(fill, text)
