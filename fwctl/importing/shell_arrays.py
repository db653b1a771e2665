"""Arrays that a shell script writes out: `ARGS=(--deployment-shape fast)`, `ARGS+=(...)`. Pure."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

_START = re.compile(
    r"^(?P<indent>\s*)(?:(?:local|declare|readonly|export|typeset)\s+(?:-\w+\s+)*)?"
    r"(?P<name>[A-Za-z_]\w*)(?P<more>\+?)=\((?P<rest>.*)$"
)
_COMMENT = re.compile(r"(?:^|\s)#.*$")
_USE = re.compile(r'"?\$\{(\w+)\[[@*]\]\}"?')
_LONGEST_LINES = 200
_LONGEST_CHARS = 2000  # flags of one call; anything longer is no list of them


@dataclass(slots=True)
class Array:
    """words: what is certainly in it, as written. whole: nothing is added under a condition."""

    words: str
    indent: int
    whole: bool = True


def arrays(lines: list[tuple[int, str]]) -> dict[str, Array]:
    """Name -> what the text writes into it; one that is set twice, a command or very long is left out."""
    found: dict[str, Array] = {}
    dropped: set[str] = set()
    texts = [line for _, line in lines]
    for index, line in enumerate(texts):
        start = _START.match(line)
        if start is None:
            for name in re.findall(r"\b(\w+)\+=\(", line):  # behind a condition
                if name in found:
                    found[name].whole = False
            continue
        name, indent = start["name"], len(start["indent"])
        body = _body([start["rest"], *texts[index + 1 : index + _LONGEST_LINES]])
        known = found.get(name)
        if body is None or re.match(r"""["']?\S*firectl""", body) or (known and not start["more"]):
            dropped.add(name)
        elif known is None:
            found[name] = Array(body, indent)
        elif indent > known.indent:
            known.whole = False
        else:
            known.words += f" {body}"
    return {
        name: array
        for name, array in found.items()
        if name not in dropped and len(array.words) <= _LONGEST_CHARS
    }


def _body(lines: list[str]) -> str | None:
    """The words up to the closing bracket; None when it does not end a line."""
    parts: list[str] = []
    for line in lines:
        text = _COMMENT.sub("", line).strip()
        if text.endswith(")"):
            return " ".join([*parts, text[:-1].strip()]).strip()
        parts.append(text)
    return None


def with_arrays(line: str, known: Mapping[str, Array]) -> str:
    """The line with arrays written out; one that may hold more stays behind its words."""

    def written(use: re.Match[str]) -> str:
        array = known.get(use[1])
        if array is None:
            return use.group()
        return array.words if array.whole else f"{array.words} {use.group()}"

    return _USE.sub(written, line)
