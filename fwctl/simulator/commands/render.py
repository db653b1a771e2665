"""Text as firectl prints it: records, tables, `-o json`, `-o flag`."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from fwctl.simulator.commands.context import CommandError, Context
from fwctl.simulator.platform import schema, wire
from fwctl.simulator.platform.listing import Page
from fwctl.simulator.timing import format_go_duration, local_text, parse_wire_duration

Doc = dict[str, Any]

_UPPER = re.compile(r"(?<!^)(?=[A-Z])")
# Order of a record's first lines (docs.fireworks.ai quickstart, a transcript of 2026-07-13); the other
# fields follow in the order of the document.
_FIRST = (
    "name",
    "displayName",
    "createTime",
    "expireTime",
    "purgeTime",
    "deleteTime",
    "createdBy",
    "state",
    "status",
    "minReplicaCount",
    "maxReplicaCount",
    "desiredReplicaCount",
    "replicaCount",
    "readyReplicaCount",
    "autoscalingPolicy",
    "baseModel",
)
_COUNTS = ("minReplicaCount", "maxReplicaCount", "desiredReplicaCount", "replicaCount")
_HIDDEN = ("replicaStats", "updateTime")


def _label(field: str) -> str:
    return " ".join(part[0].upper() + part[1:] for part in _UPPER.split(field))


def _scalar(field: str, value: Any) -> str:
    if field.endswith("Time") and isinstance(value, str):
        return local_text(value)
    if field.endswith("Window") or field == "duration":
        return format_go_duration(parse_wire_duration(value))
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _status(status: Doc) -> str:
    code, message = status.get("code", "OK"), status.get("message", "")
    return code if not message else f"{code}: {message}"


def _lines(doc: Doc, indent: str, keep: Sequence[str]) -> list[str]:
    lines: list[str] = []
    for field, value in doc.items():
        label = f"{indent}{_label(field)}:"
        if field == "status" and isinstance(value, dict):
            lines.append(f"{label} {_status(value)}")
        elif isinstance(value, dict):
            inner = _lines(value, indent + "  ", ()) if field not in wire.MAPS else _map(value, indent + "  ")
            lines += [label, *inner] if inner else []
        elif isinstance(value, list):
            lines += _list(value, label, indent)
        elif field in keep or not (value in ("", 0, None, False) or str(value).endswith("_UNSPECIFIED")):
            lines.append(f"{label} {_scalar(field, value)}")
    return lines


def _map(value: Doc, indent: str) -> list[str]:
    return [f"{indent}{key}: {item}" for key, item in sorted(value.items())]


def _list(rows: list[Any], label: str, indent: str) -> list[str]:
    if not rows:
        return []
    if not isinstance(rows[0], dict):
        return [f"{label} {', '.join(map(str, rows))}"]
    lines = [label]
    for row in rows:
        lines += _lines(row, indent + "  ", ())
    return lines


def record(doc: Doc, profile_zeros: str) -> str:
    """A resource as text lines."""
    shown = {key: value for key, value in doc.items() if key not in _HIDDEN}
    stats = doc.get("replicaStats", {})
    if stats.get("readyReplicaCount"):
        shown["readyReplicaCount"] = stats["readyReplicaCount"]
    ordered = {key: shown[key] for key in _FIRST if key in shown}
    ordered |= {key: value for key, value in shown.items() if key not in ordered}
    return "\n".join(_lines(ordered, "", _COUNTS if profile_zeros == "present" else ()))


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Columns padded to the widest cell, two spaces between, the last one unpadded."""
    widths = [max(len(cell) for cell in column) for column in zip(headers, *rows, strict=True)]
    lines = []
    for row in (headers, *rows):
        cells = [f"{cell:<{width}}" for cell, width in zip(row[:-1], widths, strict=False)]
        lines.append("  ".join([*cells, row[-1]]))
    return "\n".join(lines)


def _json_value(ctx: Context, message: str, doc: Doc) -> Any:
    value: Any = doc
    if ctx.profile["json_zeros"] == "present" and message and schema.is_message(message):
        value = wire.full(message, doc)
    elif ctx.profile["json_zeros"] == "dropped":
        value = wire.compact(doc)
    if ctx.profile["json_int64"] == "number":
        value = _numbers(value)
    return wire.snake_keys(value) if ctx.profile["json_case"] == "snake" else value


def _numbers(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            key: int(item) if key == "parameterCount" and item else _numbers(item)
            for key, item in value.items()
        }
    return [_numbers(item) for item in value] if isinstance(value, list) else value


def _dump(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False)


def _as_flags(doc: Doc) -> str:
    words = []
    for field, value in wire.compact(doc).items():
        if not isinstance(value, dict | list):
            words.append(f"--{schema.snake(field).replace('_', '-')}={_scalar(field, value)}")
    return " ".join(words)


def print_one(ctx: Context, doc: Doc, text: str | None = None) -> None:
    """One resource in the format that `-o` asks for; `text` replaces the plain record."""
    check_output(ctx)
    if ctx.output == "json":
        ctx.print(_dump(_json_value(ctx, ctx.command.message, doc)))
    elif ctx.output == "flag":
        ctx.print(_as_flags(doc))
    else:
        ctx.print(record(doc, ctx.profile["text_zeros"]) if text is None else text)


def print_page(ctx: Context, page: Page, key: str, text: str, *, numbered: bool = False) -> None:
    """A list. `key`: the name of the list in a wrapped JSON answer. numbered: `Page 1 of 1` always."""
    check_output(ctx)
    if any(rule["kind"] == "lose_page" for rule in ctx.faults):
        page = page._replace(items=page.items[: len(page.items) // 2])
    if ctx.output == "flag":
        for doc in page.items:
            ctx.print(_as_flags(doc))
        return
    if ctx.output == "json":
        _print_json_page(ctx, page, key)
        return
    ctx.print(text)
    if not page.items:
        return
    ctx.print("")
    if numbered or page.pages > 1:
        ctx.print(f"Page {page.number} of {page.pages}")
    if page.next_token:
        ctx.print(f"Next page token: {page.next_token}")
    ctx.print(f"Total size: {page.total}")


def _print_json_page(ctx: Context, page: Page, key: str) -> None:
    rows = [_json_value(ctx, ctx.command.message, doc) for doc in page.items]
    if not rows and ctx.profile["json_empty_list"] == "nothing":
        return
    if ctx.profile["json_list"] == "array":
        ctx.print(_dump(rows))
        return
    snake = ctx.profile["json_case"] == "snake"
    wrapped: Doc = {key if snake else schema.camel(key): rows}
    if page.next_token:
        wrapped["next_page_token" if snake else "nextPageToken"] = page.next_token
    wrapped["total_size" if snake else "totalSize"] = page.total
    ctx.print(_dump(wrapped))


def check_output(ctx: Context) -> None:
    """Raises CommandError on a format firectl does not have."""
    allowed = ("text", "json", "flag") if ctx.profile["output_flag"] == "flags" else ("text", "json")
    if ctx.output not in allowed:
        raise CommandError(f'invalid output format "{ctx.output}", must be one of {{{", ".join(allowed)}}}')


def prototext(name: str, message: Doc) -> str:
    """A request as `--dry-run` prints it."""
    return f"{name} {{\n" + "\n".join(_proto_lines(message, "  ")) + "\n}"


def _proto_lines(message: Doc, indent: str) -> list[str]:
    lines: list[str] = []
    for field, value in message.items():
        key = schema.snake(field)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, dict):
                lines += [f"{indent}{key} {{", *_proto_lines(item, indent + "  "), f"{indent}}}"]
            elif isinstance(item, str) and not re.fullmatch(r"[A-Z][A-Z0-9_]+", item):
                lines.append(f"{indent}{key}: {json.dumps(item, ensure_ascii=False)}")
            else:
                lines.append(f"{indent}{key}: {_scalar(field, item) if isinstance(item, bool) else item}")
    return lines
