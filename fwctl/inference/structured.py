"""Structured output: tell the model the schema, and judge what came back in the right order.

Order of checks: finish_reason, empty content, JSON, schema. A cut-off answer that happens to parse is
still cut off. Nothing here repairs an answer, and no message holds text of a model.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any
from urllib.parse import unquote

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.inference.grammar import problems

WHITESPACE_RUN = 256
# Models that reason unless they are told not to. Source: docstring of `reasoning_effort` in fireworks-ai
# 1.2.30, and names that say it themselves.
REASONING_MODELS = re.compile(
    r"gpt-oss|minimax-m|deepseek-(?:r1|v3p2|v4)|glm-(?:4p[567]|5)|qwen3-(?!.*(?:instruct|coder|embedding|reranker))"
    r"|thinking|qwq|magistral",
    re.IGNORECASE,
)

RUNAWAY = Failure(ErrorClass.INVALID_JSON, "the answer ran away into whitespace")

Messages = Sequence[Mapping[str, Any]]


def schema_of(response_format: Mapping[str, Any]) -> Mapping[str, Any] | None:
    """The JSON Schema of a response format, in both places where servers look for it."""
    inner = response_format.get("json_schema")
    found = inner.get("schema", inner) if isinstance(inner, Mapping) else response_format.get("schema")
    return found if isinstance(found, Mapping) else None


def with_instruction(messages: Messages, response_format: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The messages with one more at the start that names the format; constrained decoding alone does not
    show the model its schema."""
    kind = response_format.get("type")
    if kind == "grammar" or kind not in ("json_object", "json_schema"):
        return list(messages)
    text = "Answer with one JSON value and nothing else."
    if (schema := schema_of(response_format)) is not None:
        text += " It must follow this JSON Schema: " + json.dumps(schema, sort_keys=True)
    return [{"role": "system", "content": text}, *messages]


def warnings(
    model: str,
    response_format: Mapping[str, Any],
    messages: Messages,
    body: Mapping[str, Any] = MappingProxyType({}),
) -> list[str]:
    """What is likely to go wrong with this request, for people. body: the rest of the request."""
    kind, found = response_format.get("type"), []
    asked = body.get("reasoning_effort") is not None or body.get("thinking") is not None
    if kind == "json_schema" and REASONING_MODELS.search(model) and not asked:
        found.append(
            "json_schema keeps a reasoning model from reasoning; "
            "use json_object with the schema in the prompt and check the answer afterwards, "
            "or give reasoning_effort"
        )
    prompt = json.dumps([item.get("content") for item in messages])
    if kind in ("json_object", "json_schema") and "json" not in prompt.lower():
        found.append("the prompt does not mention JSON; the model may emit whitespace up to max_tokens")
    if kind == "grammar":
        found += [f"the grammar: {problem}" for problem in problems(str(response_format.get("grammar", "")))]
    return found


def runs_away(parts: Sequence[str]) -> bool:
    """True when an answer, given in pieces, ends in so much whitespace that nothing else will come."""
    run = 0
    for part in reversed(parts):
        bare = part.rstrip()
        run += len(part) - len(bare)
        if bare or run >= WHITESPACE_RUN:
            break
    return run >= WHITESPACE_RUN


_THOUGHT = re.compile(r"\s*<think>.*?(?:</think>\s*|\Z)", re.DOTALL)


def after_reasoning(text: str) -> str:
    """An answer without the `<think>` block that some models put before it, empty when it never ends.

    Source: docs.fireworks.ai, structured responses, "Reasoning Model JSON Mode".
    """
    found = _THOUGHT.match(text)
    return text[found.end() :] if found else text


def judge(text: str, finish_reason: str | None, response_format: Mapping[str, Any]) -> Failure | None:
    """The failure of a complete answer under its response format, None when it is as asked.

    Raises ModuleNotFoundError when a schema is to be checked and jsonschema is not installed.
    """
    if finish_reason == "length":
        return Failure(ErrorClass.LENGTH, "the answer was cut off at max_tokens")
    text = after_reasoning(text)
    if not text.strip():
        return Failure(ErrorClass.EMPTY, "the answer is empty")
    if response_format.get("type") not in ("json_object", "json_schema"):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Failure(ErrorClass.INVALID_JSON, "the answer is not JSON")
    schema = schema_of(response_format)
    return _against(value, schema) if schema is not None else None


def schema_problem(schema: Mapping[str, Any]) -> str | None:
    """What keeps a schema from being checked against; None when nothing does.

    References to other documents are refused: checking an answer never opens a connection.
    """
    from jsonschema.exceptions import SchemaError
    from jsonschema.validators import validator_for

    try:
        validator_for(schema).check_schema(dict(schema))
        references = list(_references(schema, schema))
    except SchemaError as error:
        at = "/" + "/".join(str(part) for part in error.absolute_path)
        return f"the schema is not a valid JSON Schema: {error.message[:120]} at {at[:120]}"
    except RecursionError:
        return "the schema is not a valid JSON Schema: it is nested too deeply"
    except re.error as error:
        return f"the schema is not a valid JSON Schema: it has a pattern that is none, {error}"
    for name, root in references:
        if not name.startswith("#"):
            return f"the schema refers to another document, {name[:80]!r}"
        if name.startswith("#/") and not _leads_somewhere(root, name):
            return f"the schema refers to {name[:80]!r}, which it does not have"
    return None


def _leads_somewhere(schema: Any, pointer: str) -> bool:
    """Whether a JSON pointer (`#/$defs/x`, RFC 6901) names a part of the schema."""
    for part in unquote(pointer).split("/")[1:]:
        name = part.replace("~1", "/").replace("~0", "~")
        if isinstance(schema, Mapping) and name in schema:
            schema = schema[name]
        elif isinstance(schema, list) and name.isdecimal() and int(name) < len(schema):
            schema = schema[int(name)]
        else:
            return False
    return True


def _references(schema: Any, root: Any) -> Iterator[tuple[str, Any]]:
    """Every reference with the schema that its pointer begins in: the nearest one with an `$id`."""
    if isinstance(schema, Mapping):
        root = schema if isinstance(schema.get("$id"), str) else root
        for key, value in schema.items():
            if key in ("$ref", "$dynamicRef") and isinstance(value, str):
                yield value, root
            yield from _references(value, root)
    elif isinstance(schema, list):
        for value in schema:
            yield from _references(value, root)


def _against(value: Any, schema: Mapping[str, Any]) -> Failure | None:
    from jsonschema.validators import validator_for

    from fwctl.inference.patterns import checkable, guarded

    if schema_problem(schema) is not None:
        return Failure(ErrorClass.HARNESS, "the schema of the request is not a valid JSON Schema")
    try:
        if not checkable(schema, value):
            return None
        error = next(guarded(validator_for(schema))(dict(schema)).iter_errors(value), None)
    except Exception:
        # A reference to nothing, a pattern that is none: what the library raises is the schema's fault.
        return Failure(ErrorClass.HARNESS, "the schema of the request cannot be checked against")
    if error is None:
        return None
    at = "/" + "/".join(str(part) for part in error.absolute_path)
    return Failure(ErrorClass.SCHEMA_VIOLATION, f"the answer breaks `{error.validator}` at {at[:200]}")


def next_max_tokens(current: int, cap: int) -> int | None:
    """Twice as many tokens for the next try, up to the cap; None when the cap is reached."""
    return min(current * 2, cap) if current < cap else None
