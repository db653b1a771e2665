"""What a request needs, which targets can serve it, and how its body is adapted to a target.

What only makes an answer faster or tidier is adapted or dropped, and said in a header; what would change
the answer's meaning makes a target unfit for the request.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.inference.structured import schema_of, with_instruction
from fwctl.routing.model import Target

# Dropped or replaced for a target that lacks them; every other capability makes it unfit.
SOFT = frozenset({"prediction", "json_schema", "json_object"})
_FORMATS = ("json_schema", "json_object", "grammar")


def needs_of(body: Mapping[str, Any]) -> frozenset[str]:
    """Capabilities that a request body asks for."""
    found = {name for name in ("tools", "logprobs", "prediction") if body.get(name)}
    form = body.get("response_format")
    kind = form.get("type") if isinstance(form, dict) else None
    if kind in _FORMATS:
        found.add(kind)
    if isinstance(many := body.get("n"), int) and many > 1:
        found.add("n")
    if _shows_images(body.get("messages")):
        found.add("vision")
    return frozenset(found)


def _shows_images(messages: Any) -> bool:
    for message in messages if isinstance(messages, list) else ():
        content = message.get("content") if isinstance(message, dict) else None
        if isinstance(content, list):
            kinds = [part.get("type") for part in content if isinstance(part, dict)]
            if "image_url" in kinds:
                return True
    return False


def fits(target: Target, needs: frozenset[str]) -> bool:
    """True when the target can serve a request with these needs, adapted or not."""
    return not (needs & target.lacks) - SOFT


def adapted(body: Mapping[str, Any], target: Target, needs: frozenset[str]) -> tuple[dict[str, Any], str]:
    """The body for this target, and what was changed, for the header `x-fwctl-adapted`."""
    found = {**body, "model": target.model}
    lacking = needs & target.lacks
    if not lacking:
        return found, ""
    changes = []
    if "prediction" in lacking:
        del found["prediction"]
        changes.append("prediction=dropped")
    if lacking & {"json_schema", "json_object"}:
        changes.append("response_format=" + _reformat(found, target))
    return found, ", ".join(changes)


def _reformat(body: dict[str, Any], target: Target) -> str:
    """Say the format in words, and ask for plain JSON where the target has that."""
    form = body["response_format"]
    if isinstance(body.get("messages"), list):
        body["messages"] = with_instruction(body["messages"], form)
    if schema_of(form) is not None and "json_object" not in target.lacks:
        body["response_format"] = {"type": "json_object"}
        return "json_object"
    del body["response_format"]
    return "dropped"
