"""JSON out of firectl's stdout, whatever is printed around it (pure).

A document starts at the beginning of a line. Text that begins like JSON and is not complete is an
error, never an empty result: absent data must not look like an absent deployment.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NoReturn

from fwctl.errors import FirectlFailedError
from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.text import only_notices
from fwctl.redact import MASK, Redactor

_SHOWN_CHARS = 200
_QUOTED_FROM_CHARS = 20_000  # masked before the cut, so that no half of a secret is shown
_MAX_DEPTH = 60  # of a document; firectl's own objects are about 6 deep
_START = re.compile(r"^\ufeff?[ \t]*(?=\{\s*[\"}]|\[\s*[\[\]{])", re.MULTILINE)
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
# Objects whose keys are data, not field names.
_MAPS = frozenset({"annotations", "load_targets", "labels", "tags", "default_sampling_params"})
# int64 fields: protobuf's JSON writes them as strings (OpenAPI "Gateway REST API" 5.10.0).
_INT64 = frozenset({"parameter_count", "max_value", "value", "usage"})
_SENSITIVE = frozenset({"direct_route_api_keys", "api_key", "key_value", "secret_value"})
_WHOLE_NUMBER = re.compile(r"-?\d{1,18}")


class UnreadableError(FirectlFailedError):
    """Output that is not what the call promises. The message quotes nothing until `quoting` is asked,
    because the text is not masked yet."""

    error_class = ErrorClass.UNKNOWN.value

    def __init__(self, what: str, text: str) -> None:
        super().__init__(
            what,
            next_steps=(
                "Run the command again; `fwctl doctor` shows which firectl is used and its version.",
            ),
        )
        self._text = text

    def quoting(self, redactor: Redactor) -> FirectlFailedError:
        """The same error with the first 200 characters of the output, masked before they are cut."""
        shown = redactor.mask(" ".join(self._text[:_QUOTED_FROM_CHARS].split()))[:_SHOWN_CHARS]
        error = FirectlFailedError(
            f"{self.message}: {shown!r}" if shown else self.message, next_steps=self.next_steps
        )
        error.error_class = self.error_class
        return error


class _NotJsonError(ValueError):
    """What the decoder accepts and JSON does not allow: NaN, a key twice."""


def documents(text: str) -> list[Any]:
    """Every JSON document of the text, in order. Raises FirectlFailedError for an incomplete one."""
    return [value for value in _decoded(text) if not _is_log_line(value)]


def parse_list(text: str, key: str) -> tuple[list[dict[str, Any]], str, int | None]:
    """Rows, next page token and total size of a list in either wrapping.

    key: the snake_case name of the wrapper's list, such as `deployments`. A blank answer (notices
    apart) is an empty list, as firectl prints it for an empty result. Raises FirectlFailedError for
    everything else that is not a list.
    """
    found = documents(text)
    if not found and only_notices(text):
        return [], "", None
    value = _single(found, text)
    if isinstance(value, dict):
        value = canonical_keys(value)
        rows = value.get(key, [] if not set(value) - {"total_size", "next_page_token"} else None)
        if not isinstance(rows, list):
            _fail("firectl's answer has no list of " + key.replace("_", " "), text)
        token, total = str(value.get("next_page_token") or ""), _total(value.get("total_size"), text)
    else:
        rows, token, total = canonical_keys(value), "", None
    if not all(isinstance(row, dict) for row in rows):
        _fail("firectl's list holds something that is no object", text)
    return rows, token, total


def parse_object(text: str) -> dict[str, Any]:
    """The one object of a get. Raises FirectlFailedError when there is none, or a list."""
    found = documents(text)
    if not found and only_notices(text):
        _fail("firectl printed nothing where an object was expected", text)
    value = _single(found, text)
    if not isinstance(value, dict) or not set(value) - {"code", "message", "details"}:
        _fail("firectl's answer is not an object", text)
    result: dict[str, Any] = canonical_keys(value)
    return result


def canonical_keys(value: Any) -> Any:
    """The same value with snake_case field names throughout, int64 texts as numbers and sensitive
    values masked. Unknown fields stay; keys of maps are data and stay as they are."""
    return _canonical(value, {})


def _canonical(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, list):
        return [_canonical(item, names) for item in value]
    if not isinstance(value, dict):
        return value
    result: dict[str, Any] = {}
    for key, item in value.items():
        name = names.get(key)
        if name is None:
            name = names[key] = snake_case(key)
        new = _field(name, item, names)
        if name in result and result[name] != new:
            _fail(f"firectl's answer has two different values for {name!r}", "")
        result[name] = new
    return result


def snake_case(name: str) -> str:
    """`maxReplicaCount` -> `max_replica_count`; a name in snake_case stays as it is."""
    return _CAMEL.sub("_", name).lower()


def _field(name: str, value: Any, names: dict[str, str]) -> Any:
    if name in _MAPS and isinstance(value, dict):
        return dict(value)
    if name in _SENSITIVE:
        return [MASK] * len(value) if isinstance(value, list) else MASK
    if name in _INT64 and isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        return int(value)
    return _canonical(value, names) if isinstance(value, list | dict) else value


def _decoded(text: str) -> Iterator[Any]:
    decoder = json.JSONDecoder(object_pairs_hook=_unique, parse_constant=_no_constant, parse_float=_finite)
    position = 0
    while start := _START.search(text, position):
        at = start.end()
        try:
            value, end = decoder.raw_decode(text, at)
            _check_depth(value)
        except RecursionError:
            _fail("firectl's JSON is nested too deeply", text[at:])
        except json.JSONDecodeError as error:
            _fail(_what_is_wrong(error), text[at:])
        except ValueError as error:
            _fail(f"firectl's JSON is broken ({error})", text[at:])
        if text[end:].lstrip(" \t")[:1] in tuple(",:]}[{"):
            _fail("firectl's JSON is broken (more follows its end)", text[at:])
        yield value
        position = end


def _what_is_wrong(error: json.JSONDecodeError) -> str:
    rest = error.doc[error.pos :].rstrip()
    if not rest or (error.msg.startswith("Unterminated string") and "\n" not in rest):
        return "firectl's JSON is cut off"
    return f"firectl's JSON is broken ({error.msg})"


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise _NotJsonError("a key stands twice")
    return result


def _no_constant(name: str) -> NoReturn:
    raise _NotJsonError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if number in (float("inf"), float("-inf")):
        raise _NotJsonError(f"{text[:20]} is too large a number")
    return number


def _check_depth(value: Any) -> None:
    level = [value]
    for _ in range(_MAX_DEPTH):
        level = [
            child
            for item in level
            for child in (item.values() if isinstance(item, dict) else item)
            if isinstance(child, dict | list)
        ]
        if not level:
            return
    raise RecursionError


def _is_log_line(value: Any) -> bool:
    """A structured log record, as some builds print on stdout: it is no answer."""
    return isinstance(value, dict) and "level" in value and bool({"msg", "message"} & set(value))


def _single(found: list[Any], text: str) -> Any:
    if not found:
        _fail("firectl printed text instead of JSON", text)
    if len(found) > 1:
        _fail(f"firectl printed {len(found)} JSON documents instead of one", text)
    return found[0]


def _total(value: Any, text: str) -> int | None:
    if value is None:
        return None
    if isinstance(value, str) and _WHOLE_NUMBER.fullmatch(value):
        value = int(value)
    if not isinstance(value, int) or isinstance(value, bool):
        _fail("firectl's total_size is no number", text)
    return value


def _fail(what: str, text: str) -> NoReturn:
    raise UnreadableError(what, text)
