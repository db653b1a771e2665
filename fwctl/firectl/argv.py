"""Command lines for firectl: (verb, target, {spec path: value}, capabilities) -> argv (pure).

The verbs are firectl's own words. Which flag carries a field stands in `catalog.fields`; this module
knows the few fields that are not simply a flag. Source: firectl's command pages (docs.fireworks.ai,
read 2026-11-30) and the help page captured on 2026-07-13.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fwctl.catalog.enums import is_multi_region
from fwctl.catalog.field import Field, Kind, Owner
from fwctl.catalog.fields import BY_PATH, PLATFORM_FIELDS
from fwctl.errors import FirectlTooOldError, UsageError
from fwctl.firectl.capabilities import INSTALL_HINT, Capabilities
from fwctl.firectl.spelling import Words, file_value, flag_words
from fwctl.firectl.verbs import VERBS

CREATE, UPDATE = "deployment create", "deployment update"
FILE_PLACEHOLDER = "<private file>"  # stands for the path of the 0600 file until the call is made


# Options that are no field of the spec.
_EXTRA = {
    CREATE: {"validate_only": "--validate-only", "dry_run": "--dry-run"},
    UPDATE: {"dry_run": "--dry-run"},
}

# Fields whose value is not the flag's value: (verb, path, value) -> words; missing means no words.
# The draft model and the n-gram length exclude each other, so a mode that takes over clears the other.
_SPECIAL: Mapping[tuple[str, str, Any], Words] = {
    (CREATE, "speculation.mode", "disabled"): ["--disable-speculative-decoding"],
    (UPDATE, "speculation.mode", "draft"): ["--ngram-speculation-length", "0"],
    (UPDATE, "speculation.mode", "ngram"): ["--draft-model", ""],
    (CREATE, "addons.mode", "multi_lora"): ["--enable-addons"],
    (UPDATE, "addons.mode", "multi_lora"): ["--enable-addons"],
    (UPDATE, "addons.mode", "live_merge"): ["--enable-addons=false"],
}
_SPECIAL_PATHS = frozenset(path for _, path, _ in _SPECIAL)
_NOT_FLAGS = frozenset({"model", "id", "accept_shapeless_risk"})
_PLATFORM_PATHS = frozenset(row.path for row in PLATFORM_FIELDS)


@dataclass(frozen=True, slots=True)
class Part:
    """One field of a create or update: its flag and words, or `in_file` when it travels by `--file`."""

    path: str
    flag: str
    words: tuple[str, ...] = ()
    in_file: bool = False


def build(
    verb: str,
    target: str | None,
    fields: Mapping[str, Any],
    caps: Capabilities,
    *,
    account: str,
) -> list[str]:
    """The words behind `firectl` for one call, always with `-a ACCOUNT`; no secret is among them.

    verb: firectl's own words, such as `deployment create` or `load-lora`. target: the ID or name it is
    about; for load-lora and unload-lora the deployment, with the LoRA in `fields["addons.load"]` (one
    entry). fields: canonical values by spec path, or the options of `VERBS` and `validate_only`,
    `dry_run`. Where `file_content` is not None the words hold `--file FILE_PLACEHOLDER`.

    Raises UsageError for a verb, field or option that does not exist, FirectlTooOldError for a field
    that the installed build cannot carry.
    """
    if verb in (CREATE, UPDATE):
        words = _deployment(verb, target, fields, caps)
    elif verb in VERBS:
        words = _other(verb, target, fields)
    else:
        raise UsageError(f"fwctl does not know the firectl command {verb!r}")
    return [*words, "-a", account]


def file_content(verb: str, fields: Mapping[str, Any], caps: Capabilities) -> dict[str, Any] | None:
    """What the private `--file` of this call holds, under the platform's snake_case names (protobuf's
    JSON accepts both casings), or None when the call needs none. Secrets are revealed."""
    if verb not in (CREATE, UPDATE):
        return None
    rows = [BY_PATH[part.path] for part in _parts(verb, fields, caps) if part.in_file]
    return {str(row.live): file_value(row, fields[row.path]) for row in rows} or None


def missing_flags(verb: str, fields: Mapping[str, Any], caps: Capabilities) -> tuple[tuple[str, str], ...]:
    """(spec path, flag) of every field that the installed build cannot carry."""
    if verb in {"deployment tag set", "deployment tag unset"}:
        return () if caps.has_tags else (("tags", verb),)
    if verb not in (CREATE, UPDATE):
        return ()
    return tuple(
        (part.path, part.flag) for part in _parts(verb, fields, caps) if _is_missing(verb, part, caps)
    )


def _deployment(verb: str, target: str | None, fields: Mapping[str, Any], caps: Capabilities) -> Words:
    missing = missing_flags(verb, fields, caps)
    if missing:
        raise FirectlTooOldError(
            f"the installed firectl {caps.version} cannot carry "
            + ", ".join(f"{path} ({verb} {flag})" for path, flag in missing),
            deployment=target,
            next_steps=[INSTALL_HINT, "`fwctl doctor` shows what the installed firectl lacks."],
        )
    words = [*verb.split(), *_head(verb, target, fields)]
    parts = _parts(verb, fields, caps)
    for part in parts:
        words += part.words
    if any(part.in_file for part in parts):
        words += ["--file", FILE_PLACEHOLDER]
    return words + [flag for option, flag in _EXTRA[verb].items() if fields.get(option)]


def _head(verb: str, target: str | None, fields: Mapping[str, Any]) -> Words:
    if verb == UPDATE:
        return [_argument(verb, target)]
    model = _argument(verb, fields.get("model"))
    deployment_id = target or fields.get("id")
    return [model, "--deployment-id", str(deployment_id)] if deployment_id else [model]


def _parts(verb: str, fields: Mapping[str, Any], caps: Capabilities) -> list[Part]:
    """What each field of the call becomes, in the order of the field table."""
    unknown = [path for path in fields if path not in _PLATFORM_PATHS and path not in _EXTRA[verb]]
    if unknown:
        raise UsageError(f"{unknown[0]!r} is no field that {verb} can carry")
    rows = [row for row in PLATFORM_FIELDS if row.path in fields and row.path not in _NOT_FLAGS]
    parts = [part for row in rows if (part := _part(verb, row, fields, caps))]
    if verb == CREATE and fields.get("shape", "none") == "none" and fields.get("accept_shapeless_risk"):
        flag = BY_PATH["accept_shapeless_risk"].create or ""
        parts.append(Part("accept_shapeless_risk", flag, (flag,)))
    return parts


def _part(verb: str, row: Field, fields: Mapping[str, Any], caps: Capabilities) -> Part | None:
    value = fields[row.path]
    if row.via not in (None, "--file") or (row.path == "shape" and value == "none"):
        return None  # carried by a call of its own, or by the risk flag
    flag = (row.create if verb == CREATE else row.update) or "--file"
    if row.path in _SPECIAL_PATHS:
        words = _SPECIAL.get((verb, row.path, value))
        return Part(row.path, words[0].split("=")[0], tuple(words)) if words else None
    if row.sensitive or flag == "--file":
        return Part(row.path, "--file", in_file=True)
    if row.kind is Kind.REGION:
        return Part(row.path, *_region(verb, flag, row, value, caps))
    if verb == CREATE and row.kind is Kind.BOOL and not value and row.owner is not Owner.SHAPE:
        return None  # the platform's default; older builds may not know the flag
    return Part(row.path, flag, tuple(flag_words(row, flag, value)))


def _region(verb: str, flag: str, row: Field, value: str, caps: Capabilities) -> tuple[str, tuple[str, ...]]:
    """Builds of 2025 have a flag of its own for areas and want the enum's spelling."""
    if not caps.has(verb, "--multi-region"):
        return flag, tuple(flag_words(row, flag, value))
    flag = "--multi-region" if is_multi_region(value) else flag
    return flag, (flag, value)


def _is_missing(verb: str, part: Part, caps: Capabilities) -> bool:
    if verb == UPDATE and part.path == "region":
        return not caps.update_region
    if verb == UPDATE and part.in_file and not BY_PATH[part.path].sensitive:
        return not caps.update_file
    return caps.lacks(verb, part.flag)


def _other(name: str, target: str | None, fields: Mapping[str, Any]) -> Words:
    verb = VERBS[name]
    words = name.split()
    if verb.target == "" and (target or not name.endswith(" list")):
        words.append(_argument(name, target))
    if verb.argument:
        words.append(_only(name, fields.get(verb.argument)))
    if verb.target:
        words += [verb.target, _argument(name, target)]
    for option, value in fields.items():
        if option == verb.argument:
            continue
        if option not in verb.options:
            raise UsageError(f"{option!r} is no option of {name}")
        words += _option(verb.options[option], value, joined=option in verb.joined)
    return [*words, "-o", "json"] if verb.reads else words


def _option(flag: str, value: Any, *, joined: bool) -> Words:
    if value is None:
        return []
    if isinstance(value, bool):
        return [flag] if value else [f"{flag}=false"]
    if isinstance(value, Mapping) and flag == "--tag":
        return [word for key in sorted(value) for word in (flag, f"{key}={value[key]}")]
    if isinstance(value, str | int | float):
        return [flag, str(value)]
    items = [str(item) for item in value]
    if joined:
        return [flag, ",".join(items)]
    return [word for item in sorted(items) for word in (flag, item)]


def _argument(verb: str, value: Any) -> str:
    """A positional word; one that firectl would read as a flag is refused."""
    text = "" if value is None else str(value)
    if not text or text.startswith("-"):
        raise UsageError(f"{verb} needs a name, not {text!r}")
    return text


def _only(verb: str, value: Sequence[str] | None) -> str:
    if value is None or isinstance(value, str) or len(value) != 1:
        raise UsageError(f"{verb} takes exactly one of it, not {value!r}")
    return _argument(verb, value[0])
