"""firectl calls in YAML and JSON: workflow steps, folded scalars, argument lists. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.importing.python_source import Piece
from fwctl.importing.words import word

_MENTION = "firectl"
_DEEPEST = 200


def pieces(text: str) -> list[Piece] | None:
    """Scalars that mention firectl and lists that begin with it; None when this is no YAML."""
    import yaml

    loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        documents = list(yaml.compose_all(text, Loader=loader))
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    if not any(isinstance(item, yaml.MappingNode | yaml.SequenceNode) for item in documents):
        return None  # one plain scalar: any text is that
    seen: set[int] = set()
    found = [piece for item in documents for piece in _walk(item, text, seen, 0)]
    return sorted(found, key=lambda piece: piece.line)


def _walk(node: Any, text: str, seen: set[int], depth: int) -> Iterator[Piece]:
    if node is None or id(node) in seen or depth > _DEEPEST:
        return
    seen.add(id(node))
    if node.id == "scalar":
        if _MENTION in node.value:
            yield _scalar(node, text)
        return
    children = [part for pair in node.value for part in pair] if node.id == "mapping" else node.value
    if node.id == "sequence" and _is_call(children):
        words = [word(item.value) for item in children[1:] if item.id == "scalar"]
        yield Piece(children[0].start_mark.line + 1, words)
        return
    for child in children:
        yield from _walk(child, text, seen, depth + 1)


def _is_call(children: list[Any]) -> bool:
    return (
        len(children) > 1
        and children[0].id == "scalar"
        and children[0].value.rsplit("/", 1)[-1] in ("firectl", "firectl.exe")
    )


def _scalar(node: Any, text: str) -> Piece:
    """The n-th mention in the value stands where the n-th mention in the file does."""
    start, end = node.start_mark, node.end_mark
    span = text.split("\n")[start.line : end.line + 1]
    span[0] = span[0][start.column :]
    places = [start.line + 1 + n for n, line in enumerate(span) for _ in range(line.count(_MENTION))]
    lines, seen = [], 0
    for line in node.value.split("\n"):
        count = line.count(_MENTION)
        lines.append(places[min(seen, len(places) - 1)] if count and places else start.line + 1)
        seen += count
    return Piece(start.line + 1, text=node.value, lines=tuple(lines))
