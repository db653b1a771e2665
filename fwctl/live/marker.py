"""fwctl's ownership marker: text behind a deployment's description, and tags where firectl has them.

Description: `<user text> [fwctl prod/chat role=next protect hold=20261201T0800Z ... d=0a1b2c3d4e5f]`.
Tags (`fwctl.owner`, `fwctl.state`, `fwctl.f1` ...): the same, and six hex digits for each managed field.
A deployment that was made by hand may hold anything here, so reading never fails: what is not exactly a
marker is the user's own text.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from fwctl.live.model import Marker
from fwctl.redact import Secret

TAG_PREFIX = "fwctl."
TAG_VALUE_CHARS = 128  # deployment tags page of docs.fireworks.ai, read 2026-11-30
MAX_TAGS = 6
_DIGEST_CHARS = 12
FIELD_DIGEST_CHARS = 6
_MARKER = re.compile(
    r"(?:^|[ \n])\[fwctl (?P<stack>[a-z0-9-]{1,20})/(?P<name>[a-z0-9][a-z0-9-]{0,62})"
    r"(?P<rest>(?: [^\s\[\]]+)*)\]\s*\Z"
)
_TIME = "%Y%m%dT%H%MZ"


def split_description(text: str) -> tuple[str, Marker | None]:
    """The user's own text, and the marker behind it (None when there is none)."""
    found = _MARKER.search(text)
    if found is None:
        return text, None
    marker = _parse(found["stack"], found["name"], found["rest"].split())
    return text[: found.start()], marker


def join_description(text: str, marker: Marker | None) -> str:
    """The description to send: the user's text with the marker behind it."""
    if marker is None:
        return text
    return f"{text} {format_marker(marker)}" if text else format_marker(marker)


def format_marker(marker: Marker) -> str:
    """The bracketed text; at most 199 characters, so that one blank before it fits the reserve."""
    return " ".join([f"[fwctl {marker.stack}/{marker.name}", *_words(marker)]) + "]"


def _words(marker: Marker) -> list[str]:
    values = {
        "role": marker.role,
        "protect": marker.protect or None,
        "hold": marker.hold_until and marker.hold_until.astimezone(UTC).strftime(_TIME),
        "exp": marker.expires and marker.expires.astimezone(UTC).strftime(_TIME),
        "step": marker.step,
        "n": marker.attempt or None,
        "tags": marker.tagged or None,
        "d": marker.digest,
    }
    return [key if value is True else f"{key}={value}" for key, value in values.items() if value is not None]


def _parse(stack: str, name: str, words: Sequence[str]) -> Marker:
    """Words that are unknown or broken are left out: a newer fwctl may have written them."""
    pairs = dict(word.partition("=")[::2] for word in words)
    attempt = pairs.get("n", "")
    digest = pairs.get("d", "")
    return Marker(
        stack=stack,
        name=name,
        role=pairs.get("role") or None,
        protect="protect" in pairs,
        hold_until=_time(pairs.get("hold")),
        expires=_time(pairs.get("exp")),
        step=pairs.get("step") or None,
        attempt=int(attempt) if re.fullmatch(r"[0-9]{1,4}", attempt) else 0,
        tagged="tags" in pairs,
        digest=digest if re.fullmatch(r"[0-9a-f]{12}", digest) else None,
    )


def _time(text: str | None) -> datetime | None:
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC) if text else None
    except ValueError:
        return None


def format_tags(marker: Marker) -> dict[str, str]:
    """The `fwctl.*` tags of a marker, at most six of at most 128 characters.

    No comma stands in a value: whether firectl splits `--tag` at commas is not published.
    """
    tags = {f"{TAG_PREFIX}owner": f"{marker.stack}/{marker.name}"}
    words = _words(marker)
    if words:
        tags[f"{TAG_PREFIX}state"] = " ".join(words)
    entries = sorted(f"{field_code(path)}={digest}" for path, digest in marker.field_digests.items())
    per_tag = (TAG_VALUE_CHARS + 1) // (len(entries[0]) + 1) if entries else 1
    for start in range(0, len(entries), per_tag):
        tags[f"{TAG_PREFIX}f{start // per_tag + 1}"] = ".".join(entries[start : start + per_tag])
    return tags


def read_tags(tags: Mapping[str, str], paths: Sequence[str]) -> Marker | None:
    """The marker in a deployment's tags, None when there is none or it is not well formed.

    paths: every field path that a digest may stand for.
    """
    stack, _, name = tags.get(f"{TAG_PREFIX}owner", "").partition("/")
    if not _MARKER.search(f"[fwctl {stack}/{name}]"):
        return None
    marker = _parse(stack, name, tags.get(f"{TAG_PREFIX}state", "").split())
    return _with_digests(marker, _field_digests(tags, paths))


def _field_digests(tags: Mapping[str, str], paths: Sequence[str]) -> dict[str, str]:
    path_of = {field_code(path): path for path in paths}
    found: dict[str, str] = {}
    for key, value in tags.items():
        if re.fullmatch(r"fwctl\.f[1-9]", key):
            for entry in value.split("."):
                code, _, digest = entry.partition("=")
                if code in path_of and re.fullmatch(r"[0-9a-f]{6}", digest):
                    found[path_of[code]] = digest
    return dict(sorted(found.items()))


def _with_digests(marker: Marker, digests: Mapping[str, str]) -> Marker:
    from dataclasses import replace

    return replace(marker, field_digests=digests)


def combine(text: Marker | None, tags: Marker | None) -> Marker | None:
    """One marker of the two: the text decides, because every change writes it first. Tags that an older
    firectl could not rewrite are out of date and count for nothing."""
    if text is None:
        return tags
    if tags is None or not text.tagged or (tags.stack, tags.name) != (text.stack, text.name):
        return text
    return _with_digests(text, tags.field_digests)


@lru_cache(maxsize=512)
def field_code(path: str) -> str:
    """Three lower-case base-32 digits that stand for a field path in a tag."""
    import base64

    return base64.b32encode(hashlib.sha256(path.encode()).digest())[:3].decode().lower()


def value_digest(value: Any, salt: str = "") -> str:
    """Six hex digits of the SHA-256 of a canonical value; secrets are salted with their owner."""
    return _hash(value, salt)[:FIELD_DIGEST_CHARS]


def values_digest(values: Mapping[str, Any], salt: str = "") -> str:
    """Twelve hex digits over all managed values together, for the description marker."""
    return digests(values, salt)[0]


def digests(values: Mapping[str, Any], salt: str = "") -> tuple[str, dict[str, str]]:
    """The digest of all values together, and of each by path."""
    hashes = {path: _hash(value, salt) for path, value in values.items()}
    each = {path: digest[:FIELD_DIGEST_CHARS] for path, digest in hashes.items()}
    return _hash(hashes, salt)[:_DIGEST_CHARS], each


def _hash(value: Any, salt: str) -> str:
    if isinstance(value, str | int):
        return _hash_plain(value)
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=lambda v: _secret(v, salt))
    return hashlib.sha256(text.encode()).hexdigest()


@lru_cache(maxsize=4096, typed=True)
def _hash_plain(value: str | int) -> str:
    """Most values of a spec are words and numbers that many deployments share."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def _secret(value: Any, salt: str) -> str:
    """A keyed hash of a secret, so that equal keys of two deployments do not show as equal."""
    if isinstance(value, Secret):
        return hmac.new(f"fwctl {salt}".encode(), (value.value or "").encode(), hashlib.sha256).hexdigest()
    raise TypeError(f"no canonical form for {type(value).__name__}")
