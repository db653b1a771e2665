"""Which models think before they answer, and what `reasoning_effort` each of them takes.

Source: docstring of `reasoning_effort` in fireworks-ai 1.2.30.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from fwctl.simulator.http.engine.fields import RequestError


class Style(NamedTuple):
    """default: effort when none is given. none_allowed: it can be switched off. integers: takes a token
    limit.
    """

    default: str
    none_allowed: bool
    integers: bool


_STYLES: tuple[tuple[re.Pattern[str], Style], ...] = (
    (re.compile(r"gpt-oss"), Style("medium", none_allowed=False, integers=False)),
    (re.compile(r"minimax-m2"), Style("medium", none_allowed=False, integers=False)),
    (
        re.compile(r"qwen3-(?!.*instruct|coder|embedding|reranker)"),
        Style("low", none_allowed=True, integers=True),
    ),
    (re.compile(r"deepseek-v3p1(?!.*terminus-base)"), Style("none", none_allowed=True, integers=True)),
    (
        re.compile(r"deepseek-(?:v3p2|r1|v4)|glm-(?:4p[567]|5)|kimi-k2-thinking"),
        Style("medium", none_allowed=True, integers=True),
    ),
)
# Share of a usual answer's length spent thinking, in tokens.
_TOKENS = {"low": 24, "medium": 64, "high": 192}


def style_of(model: str) -> Style | None:
    """How the model of this full name reasons; None for models that do not."""
    name = model.rsplit("/", 1)[-1].lower()
    return next((style for pattern, style in _STYLES if pattern.search(name)), None)


def reasoning_tokens(model: str, effort: Any) -> int:
    """Tokens of thinking for this request, 0 for none. Raises RequestError on an effort not supported."""
    style = style_of(model)
    if style is None:
        return 0
    if effort is None:
        effort = style.default
    if (effort == "none" and not style.none_allowed) or (isinstance(effort, int) and not style.integers):
        raise RequestError(f"Invalid reasoning effort: {effort}", "reasoning_effort")
    if effort == "none":
        return 0
    return effort if isinstance(effort, int) else _TOKENS[effort]
