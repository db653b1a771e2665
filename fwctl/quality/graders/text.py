"""Graders that compare text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from unicodedata import normalize

from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec, plain


def check(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001 - all graders share it
    if not _wanted(spec):
        return "`expected` is a text or a list of texts, none of them empty"
    return None


def grade(items: Sequence[Item], means: Means) -> Iterator[Mark]:  # noqa: ARG001
    return (_GRADE[item.spec.kind](item) for item in items)


def _exact(item: Item) -> Mark:
    """A list of expected texts holds alternatives."""
    answer = _form(item.text, item.spec)
    return plain(any(answer == _form(text, item.spec) for text in _wanted(item.spec)))


def _contains(item: Item) -> Mark:
    answer = _form(item.text, item.spec)
    found = [_form(text, item.spec) in answer for text in _wanted(item.spec)]
    if item.spec.options.get("any"):
        return plain(any(found))
    return Mark(all(found), sum(found) / len(found))


_GRADE = {"exact": _exact, "contains": _contains}


def _wanted(spec: Spec) -> list[str]:
    texts = spec.expected if isinstance(spec.expected, list) else [spec.expected]
    if isinstance(spec.expected, int | float) and not isinstance(spec.expected, bool):
        texts = [str(spec.expected)]
    return texts if all(isinstance(text, str) and text.strip() for text in texts) else []


def _form(text: str, spec: Spec) -> str:
    """Equal characters in one spelling (NFC), ends trimmed."""
    text = normalize("NFC", text.strip())
    return text.casefold() if spec.options.get("ignore_case") else text
