"""Deployment shapes and their versions: finding, matching and choosing one for a create."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.platform import models, names
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.world import World

Doc = dict[str, Any]

VERSIONS = "deploymentShapeVersions"
PRESETS = {"fast": "FAST", "throughput": "THROUGHPUT", "minimal": "MINIMAL", "cost": "MINIMAL"}
# Snapshot fields that a deployment takes over from its shape version.
CARRIED = (
    "acceleratorType",
    "acceleratorCount",
    "precision",
    "draftModel",
    "draftTokenCount",
    "ngramSpeculationLength",
    "enableAddons",
    "enableSessionAffinity",
    "maxContextLength",
)


def shape_of(version_name: str) -> str:
    """The shape of a version name."""
    return version_name.split("/versions/", 1)[0]


def versions(world: World, shape: str | None = None) -> Iterator[Doc]:
    """Versions of one shape or of all, oldest first within a shape; the state's rows replace or follow."""
    changed = {doc["name"]: doc for doc in world.tx.all(VERSIONS)}
    for doc in world.catalogue.shape_versions(shape):
        yield changed.pop(doc["name"], doc)
    for name, doc in changed.items():
        if shape in (None, shape_of(name)):
            yield doc


def get_version(world: World, name: str) -> Doc:
    """A version by its full name; `…/versions/latest` is the latest validated one. Raises NotFound."""
    shape, _, version = name.partition("/versions/")
    of_shape = list(versions(world, shape))
    if version == "latest":
        found = [doc for doc in of_shape if doc["latestValidated"]]
    else:
        found = [doc for doc in of_shape if doc["name"] == name]
    if not found:
        raise PlatformError("NotFound", f"deployment shape version {name} not found")
    return found[0]


def every_shape(world: World) -> Iterator[Doc]:
    """Every shape as its latest version shows it."""
    latest: dict[str, Doc] = {}
    for doc in versions(world):
        latest[shape_of(doc["name"])] = doc["snapshot"]
    yield from latest.values()


def get_shape(world: World, name: str) -> Doc:
    """A shape as its newest version shows it. Raises NotFound."""
    found: list[Doc] = [doc["snapshot"] for doc in versions(world, name)]
    if not found:
        raise PlatformError("NotFound", f"deployment shape {name} not found")
    return found[-1]


def fits_model(world: World, snapshot: Doc, model: Doc) -> bool:
    """A shape serves its base model, addons of it, and full weights of the same architecture."""
    base = models.base_of(world, model)
    if snapshot["baseModel"] == base["name"]:
        return True
    details = base.get("baseModelDetails", {})
    return (
        names.account_of(base["name"]) != FIREWORKS
        and details.get("modelType") == snapshot.get("modelType")
        and details.get("parameterCount") == snapshot.get("parameterCount")
    )


def match(world: World, model: Doc, *, enable_addons: bool = False) -> list[Doc]:
    """Latest validated versions this account can deploy for the model."""
    rows = [d for d in versions(world) if d["latestValidated"] and fits_model(world, d["snapshot"], model)]
    if enable_addons and world.profile.yes("match_filters_addons"):
        rows = [doc for doc in rows if doc["snapshot"].get("enableAddons")]
    return rows


def _latest_of(world: World, shape: str) -> Doc:
    found = list(versions(world, shape))
    latest = [doc for doc in found if doc["latestValidated"]]
    if not latest:
        raise PlatformError(
            "NotFound", "the deployment shape version does not exist or you do not have access to it"
        )
    return latest[0]


def _by_preset(world: World, text: str, model: Doc) -> Doc:
    preset = PRESETS[text]
    for doc in match(world, model):
        if doc["snapshot"].get("presetType") == preset:
            return doc
    raise invalid(f"no deployment shape with preset {preset} for model {model['name']}")


def resolve(world: World, text: str, model: Doc, body: Doc, *, skip_validation: bool = False) -> Doc:
    """The shape version that `text` (name, version name, default, preset) means for this model."""
    if text == "default":
        return _default(world, model, body)
    if text in PRESETS:
        return _by_preset(world, text, model)
    if "/versions/" in text:
        version = get_version(world, text)
        if not version["validated"] and not skip_validation:
            raise invalid(f"deployment shape version {version['name']} is not validated")
    elif text.startswith("accounts/"):
        version = _latest_of(world, names.qualify(text, "", "deploymentShapes", "deployment shape"))
    else:
        version = _bare(world, text)
    if not fits_model(world, version["snapshot"], model):
        raise invalid(
            f"deployment shape version {version['name']} is for base model "
            f"{version['snapshot']['baseModel']}, not {model['name']}"
        )
    return version


def _bare(world: World, text: str) -> Doc:
    """A bare ID is looked for in the own account, then in Fireworks'."""
    for account in (world.caller.account, FIREWORKS):
        for doc in versions(world, names.join(account, "deploymentShapes", text)):
            if doc["latestValidated"]:
                return doc
    raise PlatformError(
        "NotFound", "the deployment shape version does not exist or you do not have access to it"
    )


def conflicts(snapshot: Doc, body: Doc) -> list[str]:
    """Carried fields that the request sets to another value than the snapshot's."""
    return [key for key in CARRIED if body.get(key) and body[key] != snapshot.get(key)]


def _default(world: World, model: Doc, body: Doc) -> Doc:
    """A validated shape that agrees with the request; otherwise the fields and the shapes are named."""
    rows = match(world, model, enable_addons=bool(body.get("enableAddons")))
    if not rows:
        raise invalid(f"no validated deployment shape for model {model['name']}")
    for doc in sorted(rows, key=lambda doc: doc["snapshot"].get("presetType") != "MINIMAL"):
        if not conflicts(doc["snapshot"], body):
            return doc
    fields = sorted({key for doc in rows for key in conflicts(doc["snapshot"], body)})
    shapes = ", ".join(shape_of(doc["name"]) for doc in rows)
    raise invalid(f"no deployment shape agrees with {', '.join(fields)}; compatible shapes: {shapes}")
