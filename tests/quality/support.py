"""Graders without a run around them."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from fwctl.quality.graders import module_of, problem, read
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec


def spec_of(grader: Any, expected: Any = None) -> Spec:
    """The checked grader of a prompt."""
    spec = read(grader, expected, None)
    assert isinstance(spec, Spec), spec
    assert problem(spec, None) is None, problem(spec, None)
    return spec


def wrong(grader: Any, expected: Any = None, response_format: Any = None) -> str:
    """What is said about a grader that cannot work."""
    spec = read(grader, expected, None)
    return str(problem(spec, response_format)) if isinstance(spec, Spec) else str(spec)


def means(folder: Path = Path()) -> Means:
    return Means(folder, os.environ)


def marks(grader: Any, expected: Any, *answers: str, use: Means | None = None) -> list[Mark]:
    """The marks of some answers to one prompt."""
    spec = spec_of(grader, expected)
    items = [Item(spec, answer, [{"role": "user", "content": "?"}], prompt_id="p") for answer in answers]
    return list(module_of(spec.kind).grade(items, use or means()))


def rights(grader: Any, expected: Any, *answers: str, use: Means | None = None) -> list[bool | None]:
    return [mark.right for mark in marks(grader, expected, *answers, use=use)]
