"""JSON from outside, read strictly: what two readers could take differently is refused. Pure."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_LONGEST_NUMBER = 4300  # digits; Python refuses longer ones, whose conversion takes quadratic time
_SHOWN = 60  # letters of a key


class JsonTextError(ValueError):
    """What is wrong with a text, for people; of the text itself it holds the name of a key at most."""


def decoded(text: bytes | str) -> Any:
    """The value of a text in UTF-8; a byte order mark in front of it is dropped.

    Raises JsonTextError for what is no JSON, and for keys that stand twice, NaN, numbers of thousands of
    digits, and nesting beyond what Python can follow.
    """
    try:
        plain = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        byte = error.object[error.start]
        raise JsonTextError(f"byte {error.start + 1} (0x{byte:02x}) is not UTF-8") from None
    try:
        return json.loads(plain.rstrip(" \t\r\n"), object_pairs_hook=_unique, parse_constant=_no_constant)
    except JsonTextError as error:
        raise JsonTextError(f"this is not JSON: {error}") from None
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if error.lineno > 1 else ""
        what = error.msg.removesuffix(" at")
        raise JsonTextError(f"this is not JSON: {what} at {line}column {error.colno}") from None
    except RecursionError:
        raise JsonTextError("this is not JSON: it is nested too deeply") from None
    except ValueError:
        raise JsonTextError(f"this is not JSON: a number has more than {_LONGEST_NUMBER} digits") from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for at, name in enumerate(names) if name in names[:at])
        raise JsonTextError(f"the key {twice[:_SHOWN]!r} stands twice in an object")
    return found


def _no_constant(word: str) -> NoReturn:
    raise JsonTextError(f"{word} is not a number")
