"""The table of rules for `fwctl rules`, and its pages for docs/rules/."""

from __future__ import annotations

import inspect
import re

from fwctl.errors import UsageError
from fwctl.spec.closest import did_you_mean
from fwctl.spec.rules import check  # noqa: F401 - importing it registers every rule
from fwctl.spec.rules.registry import RULES, Rule

_FAMILIES = (
    ("FW1", "Reading YAML"),
    ("FW2", "Fields"),
    ("FW3", "Rules across fields"),
    ("FW4", "Advice"),
    ("FW5", "Checks against the platform"),
    ("FW6", "Routes"),
)
_LABEL = re.compile(r"^(What it checks|Why it is bad|Example|Use instead)::? ?", re.MULTILINE)


def rules() -> tuple[Rule, ...]:
    """Every rule by code."""
    return tuple(RULES[code] for code in sorted(RULES))


def rule(code: str) -> Rule:
    """One rule. Raises UsageError with the nearest code."""
    found = RULES.get(code.upper())
    if found is None:
        near = did_you_mean(code, RULES)
        raise UsageError(
            f"there is no rule {code!r}", next_steps=[*([near] if near else []), "`fwctl rules` lists all"]
        )
    return found


def sections(found: Rule) -> dict[str, str]:
    """Text of each part of a page by its label, and the first line as `title`."""
    title, _, body = inspect.cleandoc(found.page).partition("\n")
    parts = _LABEL.split(body)
    result = {"title": title.rstrip(".")}
    for label, text in zip(parts[1::2], parts[2::2], strict=True):
        result[label] = inspect.cleandoc("\n" + text.strip("\n")) if text.startswith("\n") else text.strip()
    return result


def is_code(found: Rule, label: str) -> bool:
    """True when that part of the page is YAML and not prose."""
    return f"{label}::" in found.page


def page(found: Rule) -> str:
    """The page of docs/rules/<code>.md."""
    parts = sections(found)
    lines = [f"# {found.code}: {parts['title']}", "", f"Severity: {found.severity.value}."]
    if found.needs:
        lines[-1] += " Parts of it need measurements and are silent where none are read."
    for label in ("What it checks", "Why it is bad", "Example", "Use instead"):
        text = parts.get(label, "")
        shown = f"```yaml\n{text}\n```" if is_code(found, label) else text[:1].upper() + text[1:]
        lines += ["", f"## {label}", "", shown]
    return "\n".join([*lines, ""])


def index() -> str:
    """docs/rules/README.md."""
    lines = [
        "# Rules",
        "",
        "Every problem that fwctl reports has a code that does not change.",
        "`fwctl rules CODE` prints the page of a code.",
        "",
        "A warning is silenced on its line, or on the next line when the comment stands alone:",
        "",
        "```yaml",
        "replicas: {min: 0, max: 2}  # fwctl: ignore[FW401] nightly job",
        "```",
        "",
        "Errors cannot be silenced; `--strict` turns warnings into errors.",
    ]
    for prefix, title in _FAMILIES:
        lines += ["", f"## {title}", "", "| code | severity | rule |", "|---|---|---|"]
        lines += [
            f"| [{found.code}]({found.code}.md) | {found.severity.value} | {found.title} |"
            for found in rules()
            if found.code.startswith(prefix)
        ]
    return "\n".join([*lines, ""])
