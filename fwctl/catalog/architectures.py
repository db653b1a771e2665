"""Architectures of models that people deploy: config.json numbers by platform, hub and other names.

The table is JSON and is read at the first question, because most commands never ask.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

_PLATFORM = re.compile(r"^accounts/(?:fireworks|[^/]+)/models/(?P<name>[^/@]+)$")
_HUB_URL = re.compile(r"^https?://(?:www\.)?(?:huggingface\.co|hf\.co)/(?P<name>[^/]+/[^/?#]+)")


class Model(NamedTuple):
    """One row. hub: the repository whose config.json this is; names: platform names without the
    account; also: other repositories of the same architecture."""

    hub: str
    names: tuple[str, ...]
    also: tuple[str, ...]
    source: str
    config: Mapping[str, Any]


@cache
def models() -> tuple[Model, ...]:
    """All rows."""
    text = files("fwctl.catalog").joinpath("architectures.json").read_text(encoding="utf-8")
    return tuple(
        Model(row["hub"], tuple(row["names"]), tuple(row["also"]), row["source"], row["config"])
        for row in json.loads(text)["models"]
    )


@cache
def _index() -> dict[str, Model]:
    index: dict[str, Model] = {}
    for model in models():
        for name in (model.hub, *model.names, *model.also):
            index[name.lower()] = model
        for hub in (model.hub, *model.also):
            index.setdefault(hub.split("/", 1)[1].lower(), model)
    return index


def entry(name: str) -> Model | None:
    """The row of a platform name (full or bare), a hub id or URL, or a repository's bare name.

    A model in another account than `fireworks` is only found by its hub name: who says it is the same
    architecture there?
    """
    key = name.strip()
    platform = _PLATFORM.match(key)
    if platform is not None:
        key = platform["name"] if key.startswith("accounts/fireworks/") else ""
    url = _HUB_URL.match(key)
    if url is not None:
        key = url["name"]
    return _index().get(key.lower()) if key else None


def find(name: str) -> Mapping[str, Any] | None:
    """The config of a model by any of its names; None when the catalogue does not have it."""
    found = entry(name)
    return None if found is None else found.config
