"""The table of graders. A new grader is one module and one row."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from types import MappingProxyType
from typing import Protocol, cast

from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec

NUMBER = (int, float)


class Module(Protocol):
    """What the module of every grader offers."""

    def check(self, spec: Spec, response_format: object) -> str | None:
        """What is wrong with the options or the expected answer, before anything is sent."""

    def grade(self, items: Sequence[Item], means: Means) -> Iterable[Mark]:
        """One mark for each item, in order."""


@dataclass(frozen=True, slots=True)
class Grader:
    """One row. options: name -> types of its value. needs_expected: a prompt without `expected` is wrong.
    endpoint: the option of the command line that names the server it asks."""

    module: str
    summary: str
    options: Mapping[str, tuple[type, ...]] = field(default_factory=lambda: MappingProxyType({}))
    needs_expected: bool = True
    endpoint: str | None = None


GRADERS: dict[str, Grader] = {
    "exact": Grader("text", "the whole answer, spaces at its ends aside", {"ignore_case": (bool,)}),
    "contains": Grader(
        "text",
        "the expected text, or every one of a list, is in the answer",
        {"ignore_case": (bool,), "any": (bool,)},
    ),
    "regex": Grader(
        "boxed",
        "a Python regular expression is found in the answer; stopped after a second",
        {"pattern": (str,), "ignore_case": (bool,), "full": (bool,)},
        needs_expected=False,
    ),
    "numeric": Grader(
        "numeric",
        "the last number of the answer, within a tolerance",
        {"abs": NUMBER, "rel": NUMBER, "decimal": (str,)},
    ),
    "json": Grader(
        "json_fields",
        "JSON with equal fields; the score is the share of them",
        {"fields": (list,), "extra": (bool,), "abs": NUMBER, "fenced": (bool,)},
    ),
    "json_schema": Grader(
        "boxed",
        "JSON that follows a schema, by default that of the request",
        {"schema": (dict,)},
        needs_expected=False,
    ),
    "similarity": Grader(
        "similarity",
        "cosine of embeddings of the answer and the expected text",
        {"threshold": NUMBER},
        endpoint="--embed-url",
    ),
    "judge": Grader(
        "judge",
        "a model says whether the answer is as good as the expected one",
        {"rubric": (str,)},
        needs_expected=False,
        endpoint="--judge-url",
    ),
    "function": Grader(
        "boxed",
        "a Python function of yours, `file.py:function`, called in a process of its own",
        {"function": (str,), "threshold": NUMBER, "time_limit_s": NUMBER},
        needs_expected=False,
    ),
}


def module_of(kind: str) -> Module:
    """The code of a grader of the table."""
    return cast(Module, import_module(f"fwctl.quality.graders.{GRADERS[kind].module}"))


def read(grader: object, expected: object, default: str | None) -> Spec | str | None:
    """The grader of a prompt, None when it names none and expects nothing, or what is wrong with it.

    grader: a name or an object with `type` and options. default: for prompts that only expect something.
    """
    if grader is None:
        return None if expected is None else Spec(default or "exact", expected)
    if isinstance(grader, str):
        grader = {"type": grader}
    if not isinstance(grader, Mapping) or not isinstance(grader.get("type"), str):
        return "`grader` is a name, or an object with a `type`"
    kind = grader["type"]
    row = GRADERS.get(kind)
    if row is None:
        return f"there is no grader {kind[:40]!r}; there are {', '.join(GRADERS)}"
    options = {str(name): value for name, value in grader.items() if name != "type"}
    for name, value in options.items():
        types = row.options.get(name)
        if types is None:
            known = ", ".join(row.options) or "none"
            return f"the grader {kind} has no option {name[:40]!r}; its options: {known}"
        if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
            return f"the option {name} of the grader {kind} is of the wrong type"
    return Spec(kind, expected, options)


def problem(spec: Spec, response_format: object) -> str | None:
    """What keeps the grader from grading this prompt; None when nothing does."""
    if GRADERS[spec.kind].needs_expected and spec.expected is None:
        return f"the grader {spec.kind} needs `expected`"
    return module_of(spec.kind).check(spec, response_format)
