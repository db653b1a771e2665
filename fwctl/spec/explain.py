"""`fwctl explain`: what the field table says about one path."""

from __future__ import annotations

from typing import Any

from fwctl.catalog.enums import VALUES
from fwctl.catalog.field import Effect, Field, Kind, Owner
from fwctl.catalog.fields import FIELDS
from fwctl.errors import UsageError
from fwctl.spec.amounts import LARGEST_INT
from fwctl.spec.closest import did_you_mean
from fwctl.spec.groups import Group, deployment_group, group_of, run_group

_OWNERS = {
    Owner.SHAPE: "the deployment shape: with a shape this is an assertion that the plan checks",
    Owner.SPEC: "the spec",
    Owner.FWCTL: "fwctl: never sent to the platform",
}
_EFFECTS = {
    Effect.NONE: "nothing on a running deployment",
    Effect.IN_PLACE: "in place, without a restart",
    Effect.ROLLING_RESTART: "a rolling restart",
    Effect.REPLACE: "a replacement of the deployment (lifecycle.on_immutable_change)",
    Effect.BLOCKED: "blocked: the platform has no way to change it",
}
_COMPLETE = "what is declared is the whole truth: other entries are removed"


def explain(path: str) -> dict[str, Any]:
    """What is known about a field or a group, as plain values.

    path: `deployments.*.replicas.min`, `replicas.min`, `settings.prices`, a JSON Pointer, or empty for
    the top. A group lists its keys. Raises UsageError with the nearest path.
    """
    parts = [part for part in path.replace("/", ".").split(".") if part]
    member, full = _find(parts, path)
    return _group(member, full) if isinstance(member, Group) else _field(member, full)


def _find(parts: list[str], asked: str) -> tuple[Group | Field, str]:
    if not parts:
        return run_group(), ""
    if parts[0] in ("deployments", "defaults") and len(parts) > 1 - (parts[0] == "defaults"):
        skipped = 2 if parts[0] == "deployments" else 1
        prefix = "deployments.*" if skipped == 2 else "defaults"
        return _walk(deployment_group(), parts[skipped:], asked, prefix)
    if parts[0] in run_group().children:
        return _walk(run_group(), parts, asked, "")
    return _walk(deployment_group(), parts, asked, "deployments.*")


def _walk(group: Group, parts: list[str], asked: str, prefix: str) -> tuple[Group | Field, str]:
    member: Group | Field = group
    for at, part in enumerate(parts):
        if isinstance(member, Field) and member.children:
            if part in ("*", "[]") or part.isdigit():
                continue
            member = group_of(member.children)
        if isinstance(member, Field) and member.kind in (Kind.TAGS, Kind.TARGETS) and at == len(parts) - 1:
            break
        if not isinstance(member, Group) or part not in member.children:
            raise _unknown(asked, part, member)
        member = member.children[part]
    return member, ".".join([prefix, *parts] if prefix else parts)


def _unknown(asked: str, part: str, near: Group | Field) -> UsageError:
    known = list(near.children) if isinstance(near, Group) else []
    suggestion = did_you_mean(part, known)
    steps = [suggestion] if suggestion else []
    if known:
        steps.append("keys here: " + ", ".join(known))
    return UsageError(f"there is no field {asked!r}", next_steps=[*steps, "`fwctl explain` lists all fields"])


def _group(group: Group, path: str) -> dict[str, Any]:
    keys = {}
    for key, member in group.children.items():
        keys[key] = member.doc if isinstance(member, Field) else "a mapping: " + ", ".join(member.children)
    return {"path": path, "type": "mapping", "keys": keys}


def _field(row: Field, path: str) -> dict[str, Any]:
    """Absent facts are left out."""
    facts: dict[str, Any] = {
        "path": path,
        "type": row.kind.value,
        "doc": row.doc,
        "required": row.required or None,
        "bounds": bounds(row),
        "values": list(VALUES[row.enum]) if row.enum else None,
        "example": row.example,
        "owner": _OWNERS[row.owner] if row in FIELDS or not row.managed else None,
        "change": _EFFECTS[row.effect] if row in FIELDS and row.managed else None,
        "changes_output": row.output or None,
        "complete": _COMPLETE if row.complete else None,
        "sensitive": row.sensitive or None,
        "flag_at_create": row.create,
        "flag_at_update": row.update,
        "sent_by": row.via,
        "live_field": row.live,
        "since_firectl": row.since,
        "note": row.note,
        "keys": {child.path: child.doc for child in row.children} or None,
    }
    return {name: value for name, value in facts.items() if value is not None}


def bounds(row: Field) -> str | None:
    """The bounds of a field in words, None when it has none."""
    if row.kind is Kind.DURATION:
        low = f"{row.minimum:g}s" if row.minimum else "0s"
        return f"{low} to {row.maximum:g}s" if row.maximum is not None else f"at least {low}"
    if row.kind in (Kind.INT, Kind.NUMBER):
        highest = row.maximum if row.maximum is not None or row.kind is Kind.NUMBER else LARGEST_INT
        low = f"{row.minimum:g}" if row.minimum is not None else "0"
        return f"{low} to {highest:.0f}" if highest is not None else f"at least {low}"
    if row.max_length is not None:
        return f"at most {row.max_length} characters"
    return f"at most {row.max_items} entries" if row.max_items is not None else None


def explain_text(facts: dict[str, Any]) -> str:
    """The facts for people, one a line."""
    lines = [facts["path"] or "a spec file", ""]
    if "doc" in facts:
        lines += [facts["doc"], ""]
    for name, value in facts.items():
        if name in ("path", "doc", "keys"):
            continue
        words = ", ".join(map(str, value)) if isinstance(value, list) and name == "values" else value
        lines.append(f"{name.replace('_', ' ')}: {'yes' if words is True else words}")
    if "keys" in facts:
        lines += ["keys:", *(f"  {key}: {doc}" for key, doc in facts["keys"].items())]
    return "\n".join(lines)
