"""Rules about names, IDs, lengths and tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fwctl.catalog.enums import SHAPE_PRESETS
from fwctl.catalog.fields import BY_PATH, FIELDS
from fwctl.errors import Severity
from fwctl.spec import names
from fwctl.spec.closest import did_you_mean
from fwctl.spec.report import shown
from fwctl.spec.rules.registry import deployment_rule
from fwctl.spec.view import Finding, View

_ID_WORDS = "1 to 63 lower-case letters, digits and hyphens, beginning and ending with a letter or digit"
# Controls (C0, C1), line separators, and marks that turn the direction of text around.
_CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
_LINES = {ord("\n"): " ", ord("\t"): " "}
_LONGEST_BLUE_GREEN_ID = 58  # a replacement appends a hyphen and four characters to the ID
_NEEDS = {
    "models": "a model name, accounts/<account>/models/<model>",
    "deploymentShapes": "a shape name, accounts/<account>/deploymentShapes/<shape>",
}


def name_problem(name: str, kind: str, pattern: re.Pattern[str]) -> str | None:
    """What is wrong with a full resource name of this kind."""
    if pattern.fullmatch(name):
        return None
    other = names.kind_of(name)
    if other is not None and other != kind:
        return f"is a name of {other}, not of {kind}"
    if "#" in name:
        return "is a model string of a request; name the model alone"
    return f"is not {_NEEDS[kind]}"


@deployment_rule("FW310", Severity.ERROR)
def names_and_lengths(d: View) -> Iterator[Finding]:
    """A name, an ID, a length or a tag that the platform does not take.

    What it checks: logical names, `id` and `router` are 1 to 63 lower-case letters, digits and hyphens
    (58 with `on_immutable_change: blue_green`); `model`, `draft_model`, `addons.load` and `shape` are
    resource names of the right kind; `display_name` has at most 63 characters, `description` at most 799
    (200 are kept for the ownership marker), neither has control characters; tags follow the platform's
    rules, do not begin with `fwctl.` and are at most 58 (6 of the 64 are fwctl's); `stack` has at most 20
    of `[a-z0-9-]`; `overrides` and `lifecycle.ignore` name fields.

    Why it is bad: the platform refuses it, or a name of the wrong kind fails only after minutes.

    Example::

        model: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct

    Use instead::

        model: accounts/fireworks/models/llama-v3p1-8b-instruct
    """
    for check in (_identity, _resources, _texts, _tags, _field_names):
        yield from check(d)


def _identity(d: View) -> Iterator[Finding]:
    if not names.ID.fullmatch(d.name):
        near = names.as_id(d.name)
        yield d.finding(
            (),
            f"deployment name {shown(d.name)} is not {_ID_WORDS}",
            f"for example {near}" if near else None,
        )
    for path in ("id", "router"):
        value = d.get(path)
        if value is not None and not names.ID.fullmatch(value):
            near = names.as_id(value)
            yield d.finding(
                path, f"{path} {shown(value)} is not {_ID_WORDS}", f"for example {near}" if near else None
            )
    given = d.deployment_id
    if (
        d.get("lifecycle.on_immutable_change") == "blue_green"
        and given
        and len(given) > _LONGEST_BLUE_GREEN_ID
    ):
        yield d.finding(
            "id",
            f"the deployment ID has {len(given)} characters; "
            f"{_LONGEST_BLUE_GREEN_ID} is the most with blue_green",
            "a replacement appends five characters to it: shorten it, or write id:",
        )


def _resources(d: View) -> Iterator[Finding]:
    for path in ("model", "speculation.draft_model"):
        value = d.get(path)
        if value is not None:
            yield from _model(d, path, value)
    for at, value in enumerate(d.get("addons.load") or ()):
        yield from _model(d, d.item("addons.load", at), value)
    shape = d.get("shape")
    if shape and shape not in (*SHAPE_PRESETS, "none"):
        problem = name_problem(shape, "deploymentShapes", names.SHAPE)
        if problem is not None:
            near = did_you_mean(shape, (*SHAPE_PRESETS, "none"))
            yield d.finding("shape", f"shape {shown(shape)} {problem}", near or _presets())
    for path, pattern, words in (
        ("template", names.TEMPLATE, "a deployment template's name"),
        ("cluster", names.CLUSTER, "a cluster's ID"),
        ("hot_load.bucket_url", names.URL, "a URL such as s3://bucket/path"),
    ):
        value = d.get(path)
        if value is not None and not pattern.fullmatch(value):
            yield d.finding(path, f"{path} {shown(value)} is not {words}")


def _presets() -> str:
    return "`fwctl shapes MODEL` lists them; or write " + ", ".join(SHAPE_PRESETS)


def _model(d: View, path: str, value: str) -> Iterator[Finding]:
    if names.BARE.fullmatch(value):
        return  # a bare name is FW409
    problem = name_problem(value, "models", names.MODEL)
    if problem is not None:
        yield d.finding(path, f"{_base(path)} {shown(value)} {problem}", _full_name(value))


def _full_name(value: str) -> str | None:
    last = value.partition("#")[0].rpartition("/")[2]
    return f"for example accounts/fireworks/models/{last}" if names.BARE.fullmatch(last) else None


def _base(path: str) -> str:
    return "addons.load" if path.startswith("addons.load.") else path


def _texts(d: View) -> Iterator[Finding]:
    for path in ("display_name", "description"):
        value = d.get(path)
        if value is None:
            continue
        most = BY_PATH[path].max_length or 0
        if len(value) > most:
            yield d.finding(path, f"{path} has {len(value)} characters; {most} is the most", "shorten it")
        if _CONTROL.search(value.translate(_LINES) if path == "description" else value):
            yield d.finding(path, f"{path} holds a control character", "write plain text")


def _tags(d: View) -> Iterator[Finding]:
    tags = d.get("tags")
    if tags is None:
        return
    most = BY_PATH["tags"].max_items or 0
    if len(tags) > most:
        yield d.finding("tags", f"{len(tags)} tags; {most} is the most (fwctl keeps 6 of the platform's 64)")
    prefix = "tags."
    for path in [path for path in d.checked.places if path.startswith(prefix)]:
        problem = tag_problem(path.removeprefix(prefix), tags.get(path.removeprefix(prefix)))
        if problem is not None:
            yield d.finding(path, problem)


def tag_problem(key: str, value: str | None) -> str | None:
    """What is wrong with one tag; None as value: it was reported already."""
    if key.startswith(names.OWN_TAG):
        return f"tag {shown(key)}: keys that begin with {names.OWN_TAG} are fwctl's own"
    if not names.TAG_KEY.fullmatch(key):
        return (
            f"tag key {shown(key)} is not 1 to 121 of letters, digits and - _ . /, "
            "beginning and ending with a letter or digit"
        )
    if value is None:
        return None
    if not value or len(value) > names.LONGEST_TAG_VALUE or value != value.strip():
        return (
            f"the value of tag {key} must have 1 to {names.LONGEST_TAG_VALUE} characters and no outer spaces"
        )
    return f"the value of tag {key} holds a control character" if _CONTROL.search(value) else None


def _field_names(d: View) -> Iterator[Finding]:
    yield from _known(d, "overrides", _SHAPE_OWNED, "a field that a shape has")
    yield from _known(d, "lifecycle.ignore", _MANAGED, "a managed field")


def _known(d: View, path: str, known: frozenset[str], words: str) -> Iterator[Finding]:
    for at, name in enumerate(d.get(path) or ()):
        if name not in known:
            near = did_you_mean(name, known)
            yield d.finding(d.item(path, at), f"{path}: {shown(name)} is not {words}", near)


def _with_groups(wanted: Callable[[str], bool]) -> frozenset[str]:
    """Paths of the table and of the groups they stand in."""
    found: set[str] = set()
    for row in FIELDS:
        if wanted(row.path):
            found.update((row.path, row.path.partition(".")[0]))
    return frozenset(found)


_SHAPE_OWNED = _with_groups(lambda path: BY_PATH[path].owner == "shape")
_MANAGED = _with_groups(lambda path: BY_PATH[path].managed)


@deployment_rule("FW409", Severity.WARNING)
def bare_model_name(d: View) -> Iterator[Finding]:
    """A bare model name.

    What it checks: `model`, `draft_model` and `addons.load` are full resource names.

    Why it is bad: firectl looks a bare name up in your own account. If you meant one of the vendor's
    models it is not found, and the spec means something else in every account.

    Example::

        model: llama-v3p1-8b-instruct

    Use instead::

        model: accounts/fireworks/models/llama-v3p1-8b-instruct
    """
    found = [(path, d.get(path)) for path in ("model", "speculation.draft_model")]
    found += [(d.item("addons.load", at), value) for at, value in enumerate(d.get("addons.load") or ())]
    for path, value in found:
        if value and names.BARE.fullmatch(value):
            yield d.finding(
                path,
                f"bare model name {shown(value)} means your own account",
                f"write accounts/fireworks/models/{value} for the vendor's model",
            )
