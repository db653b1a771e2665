"""Names of resources: what they look like and how to tell one kind from another."""

from __future__ import annotations

import re

# Resource IDs of the platform: the SDK's check and the pattern people use with it (fireworks-ai 1.2.30).
ID = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", re.ASCII)
STACK = re.compile(r"[a-z0-9-]{1,20}", re.ASCII)
_SEGMENT = r"[A-Za-z0-9](?:[A-Za-z0-9._-]{0,126}[A-Za-z0-9])?"
BARE = re.compile(_SEGMENT, re.ASCII)
MODEL = re.compile(rf"accounts/{_SEGMENT}/models/{_SEGMENT}", re.ASCII)
SHAPE = re.compile(rf"accounts/{_SEGMENT}/deploymentShapes/{_SEGMENT}(?:/versions/{_SEGMENT})?", re.ASCII)
TEMPLATE = re.compile(rf"(?:accounts/{_SEGMENT}/deploymentTemplates/)?{_SEGMENT}", re.ASCII)
CLUSTER = re.compile(rf"(?:accounts/{_SEGMENT}/clusters/)?{_SEGMENT}", re.ASCII)
URL = re.compile(r"[a-z][a-z0-9+.-]{1,15}://[^\s/]+(?:/\S*)?", re.ASCII)
# Tags: tags page of docs.fireworks.ai (firectl 1.8.3); fwctl.* are fwctl's own.
TAG_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,119}[A-Za-z0-9])?", re.ASCII)
LONGEST_TAG_VALUE = 128
OWN_TAG = "fwctl."


def as_id(text: str) -> str | None:
    """The ID nearest to a name people would like to use, None when nothing is left of it."""
    lowered = re.sub(r"[^a-z0-9]+", "-", text.lower()[:63]).strip("-")
    return lowered if ID.fullmatch(lowered) else None


def kind_of(name: str) -> str | None:
    """`models`, `deploymentShapes` … of a full resource name, None when it is none."""
    parts = name.split("/")
    return parts[2] if len(parts) >= 4 and parts[0] == "accounts" else None
