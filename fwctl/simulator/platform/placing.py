"""How a create or update request becomes a full deployment: shape, hardware, precision, defaults."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

from fwctl.simulator.platform import models, schema, shapes
from fwctl.simulator.platform.autoscaling import DEFAULT_TARGETS, DEFAULT_WINDOWS_S
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import wire_duration

Doc = dict[str, Any]

PINS = ("acceleratorType", "acceleratorCount", "precision")
_SPECULATION = ("draftModel", "draftTokenCount", "ngramSpeculationLength")
_AREAS = {"US": "US", "EUROPE": "EU", "APAC": "AP", "CANADA": "NA", "GLOBAL": ""}
DEFAULT_REGION = "US_IOWA_1"


@dataclass(frozen=True, slots=True)
class CreateOptions:
    """Query parameters of a create call, which are not stored."""

    deployment_id: str = ""
    validate_only: bool = False
    accept_shapeless_risk: bool = False
    disable_speculative_decoding: bool = False
    skip_shape_validation: bool = False


def seal_keys(doc: Doc) -> None:
    """Keep direct-route keys out of clear text in the state file; answers still carry them."""
    keys = doc.pop("directRouteApiKeys", None)
    if keys is not None:
        doc["_sim"]["directRouteApiKeys"] = [base64.b64encode(key.encode()).decode() for key in keys]


def unseal(keys: list[str]) -> list[str]:
    """Direct-route keys as they were given."""
    return [base64.b64decode(key).decode() for key in keys]


def complete(world: World, model: Doc, body: Doc, options: CreateOptions) -> Doc:
    """The deployment that a create request asks for, with everything the server fills in."""
    doc = {key: value for key, value in body.items() if value not in (None, "", [], {})}
    if doc.get("preemptible") and world.caller.role != "admin":
        raise PlatformError("PermissionDenied", "preemptible deployments require an admin API key")
    _replica_defaults(world, doc)
    _placement_default(world, doc)
    _policy_defaults(doc)
    if options.disable_speculative_decoding and any(doc.get(field) for field in _SPECULATION):
        raise invalid("speculative decoding cannot be both disabled and configured")
    if doc.get("deploymentShape"):
        if options.accept_shapeless_risk:
            raise invalid("accept_shapeless_risk and deployment_shape cannot both be set")
        _check_pins(world, doc)
        version = shapes.resolve(
            world, doc["deploymentShape"], model, doc, skip_validation=options.skip_shape_validation
        )
        apply_shape(world, doc, version, body)
    else:
        _shapeless(world, model, doc, options)
    if options.disable_speculative_decoding:
        for field in _SPECULATION:
            doc.pop(field, None)
    _check_draft(world, doc)
    check_hardware(world, models.base_of(world, model), doc)
    return doc


def _replica_defaults(world: World, doc: Doc) -> None:
    lowest = doc.setdefault("minReplicaCount", 0)
    if "maxReplicaCount" not in doc:
        zero = lowest > 0 and world.profile["max_replica_default"] == "zero"
        doc["maxReplicaCount"] = lowest if zero else max(lowest, 1)


def _policy_defaults(doc: Doc) -> None:
    policy: Doc = {name: wire_duration(seconds) for name, seconds in DEFAULT_WINDOWS_S.items()}
    policy |= doc.get("autoscalingPolicy", {})
    if not policy.get("loadTargets"):
        policy["loadTargets"] = dict(DEFAULT_TARGETS)
    doc["autoscalingPolicy"] = policy


def _placement_default(world: World, doc: Doc) -> None:
    if not doc.get("placement"):
        if world.profile["region_unset"] == "default_region":
            doc["placement"] = {"region": DEFAULT_REGION}
        else:
            doc["placement"] = {"multiRegion": "GLOBAL"}


def _check_pins(world: World, doc: Doc) -> None:
    given = [field for field in PINS if doc.get(field)]
    if given and world.profile["pins_with_shape"] == "refuse":
        raise invalid(_pin_text(world, given))


def _pin_text(world: World, fields: list[str]) -> str:
    listed = ", ".join(schema.snake(field) for field in fields)
    return {
        "a": f"{listed} cannot be specified together with deployment_shape",
        "b": f"invalid deployment: deployment_shape conflicts with {listed}",
    }[world.profile["error_texts"]]


def apply_shape(world: World, doc: Doc, version: Doc, body: Doc) -> None:
    """Take over the snapshot; what the request sets on top stays where the platform allows it."""
    snapshot = version["snapshot"]
    pinned = [field for field in shapes.conflicts(snapshot, body) if field in PINS]
    if pinned and world.profile["pins_with_shape"] == "equal":
        raise invalid(_pin_text(world, pinned))
    own_speculation = any(body.get(field) for field in _SPECULATION)
    for field in shapes.CARRIED:
        if field in _SPECULATION and own_speculation:
            continue
        if not body.get(field) and field in snapshot:
            doc[field] = snapshot[field]
    doc["deploymentShape"] = version["name"]


def _shapeless(world: World, model: Doc, doc: Doc, options: CreateOptions) -> None:
    if world.profile["shapeless"] == "refuse" and not options.accept_shapeless_risk:
        texts = {
            "a": "a deployment shape is required; set accept_shapeless_risk to create one without",
            "b": "deployment_shape must be specified unless accept_shapeless_risk is set",
        }
        raise invalid(texts[world.profile["error_texts"]])
    base = models.base_of(world, model)
    if not doc.get("acceleratorType"):
        doc["acceleratorType"] = _default_accelerator(world, base)
    accelerator = doc["acceleratorType"]
    if accelerator not in world.catalogue.accelerators:
        raise PlatformError("Internal", "Internal error occurred")
    precision = doc.get("precision") or base.get("baseModelDetails", {}).get("defaultPrecision", "BF16")
    doc["precision"] = precision
    doc.setdefault("acceleratorCount", models.estimated_accelerators(world, base, accelerator, precision))
    if not any(doc.get(field) for field in _SPECULATION) and base.get("defaultDraftModel"):
        doc["draftModel"] = base["defaultDraftModel"]
        doc["draftTokenCount"] = base["defaultDraftTokenCount"]


def _default_accelerator(world: World, base: Doc) -> str:
    if world.profile["accelerator_default"] == "a100":
        return "NVIDIA_A100_80GB"
    if base.get("kind") != "EMBEDDING_MODEL":
        raise invalid("accelerator_type must be specified for non-embeddings engines")
    return "NVIDIA_H100_80GB"


def _check_draft(world: World, doc: Doc) -> None:
    if doc.get("draftModel"):
        draft = models.get(world, doc["draftModel"])
        if models.is_addon(draft) and world.profile["lora_as_draft"] == "refuse":
            raise invalid(f"draft model {draft['name']} must be a base model, not an addon")


def check_hardware(world: World, base: Doc, doc: Doc) -> None:
    """Precision, addons, size and place agree with model and accelerator."""
    precision, accelerator = doc["precision"], doc["acceleratorType"]
    count = doc["acceleratorCount"]
    served = base.get("supportedPrecisions", ())
    if not doc.get("deploymentShape") and served and not _serves(precision, served):
        raise invalid(
            f"precision {precision} is not supported by model {base['name']}, prepare the model first"
        )
    _check_addons(world, base, doc)
    if count & (count - 1) or count > 64 or base.get("_sim", {}).get("broken"):
        raise PlatformError("Internal", "Internal error occurred")
    if not doc.get("deploymentShape") and not doc.get("disableDeploymentSizeValidation"):
        memory_bytes = world.catalogue.accelerators[accelerator]["memoryGb"] * 1e9
        if models.weight_bytes(base, precision) > count * memory_bytes:
            needed = models.estimated_accelerators(world, base, accelerator, precision)
            raise invalid(f"accelerator_count {count} is too small for model {base['name']}, needs {needed}")
    if doc.get("maxContextLength", 0) > base.get("contextLength", 2**31):
        raise invalid(f"max_context_length is above the model's {base['contextLength']}")
    _check_place(world, doc)


def _serves(precision: str, served: list[str]) -> bool:
    return precision in served or precision.split("_", 1)[0] in served


def _check_addons(world: World, base: Doc, doc: Doc) -> None:
    if not doc.get("enableAddons") or world.profile["addons_on_quantised"] == "accept":
        return
    quantised = "addons cannot be enabled with quantized precisions (FP8/FP4)"
    if doc["precision"] not in {"BF16", "FP16"}:
        raise invalid(quantised)
    draft = models.find(world, doc["draftModel"]) if doc.get("draftModel") else None
    drafter_precision = (draft or {}).get("baseModelDetails", {}).get("defaultPrecision", "BF16")
    if drafter_precision not in {"BF16", "FP16"} or base.get("_sim", {}).get("quantisedDrafter"):
        raise invalid(f"draft model precision validation failed: {quantised}")


def regions_for(world: World, placement: Doc, accelerator: str) -> list[str]:
    """Single regions of a placement that have the accelerator."""
    allowed = _single_regions(placement)
    prefix = _AREAS.get(placement.get("multiRegion", ""), "")
    return [
        region
        for region, accelerators in world.catalogue.regions.items()
        if accelerator in accelerators and (region in allowed if allowed else region.startswith(prefix))
    ]


def _check_residency(world: World, placement: Doc) -> None:
    """`policy residency set US|EU` limits placement to that area."""
    area = world.tx.meta(f"residency/{world.caller.account}")
    if not area:
        return
    inside = [placement.get("multiRegion") in {area, {"EU": "EUROPE"}.get(area)}]
    inside += [region.startswith(f"{area}_") for region in _single_regions(placement)]
    if not any(inside):
        raise invalid(f"placement is outside of the residency area {area}")


def _single_regions(placement: Doc) -> list[str]:
    return placement.get("regions") or [placement[key] for key in ("region",) if placement.get(key)]


def _check_place(world: World, doc: Doc) -> None:
    placement = doc["placement"]
    _check_residency(world, placement)
    found = regions_for(world, placement, doc["acceleratorType"])
    if placement.get("region") and not found:
        raise invalid(
            f"accelerator type {doc['acceleratorType']} is not available in region {placement['region']}"
        )
    if found:
        doc["region"] = found[0]
    if doc.get("directRouteType") == "INTERNET" and placement.get("region"):
        host = placement["region"].lower().replace("_", "-")
        doc["directRouteHandle"] = f"{world.caller.account}.{host}.direct.fireworks.ai"


def fill(world: World, before: Doc, doc: Doc) -> None:
    """What an update without a mask cannot take away, and the defaults of what it did take away."""
    for field in ("deploymentShape", "placement", *PINS):
        if field in before and not doc.get(field):
            doc[field] = before[field]
    _replica_defaults(world, doc)
    _policy_defaults(doc)


def reshape(world: World, before: Doc, doc: Doc, mask: list[str], skip_validation: bool) -> Doc:
    """Apply a new shape of an update, or keep the old one; checks the hardware again."""
    model = models.get(world, doc["baseModel"])
    wanted = doc.get("deploymentShape")
    given = {field: doc[field] for field in mask if field in shapes.CARRIED and field in doc}
    if wanted and wanted != before.get("deploymentShape"):
        if any(given.get(field) for field in PINS) and world.profile["pins_with_shape"] == "refuse":
            raise invalid(_pin_text(world, [field for field in PINS if given.get(field)]))
        version = shapes.resolve(world, wanted, model, given, skip_validation=skip_validation)
        if version["name"] != before.get("deploymentShape"):
            for field in shapes.CARRIED:
                if field not in given:
                    doc.pop(field, None)
            apply_shape(world, doc, version, given)
        doc["deploymentShape"] = version["name"]
    _drop_other_speculation(doc, mask)
    _check_draft(world, doc)
    check_hardware(world, models.base_of(world, model), doc)
    return doc


def _drop_other_speculation(doc: Doc, mask: list[str]) -> None:
    """Setting a draft model takes away n-grams and the other way round."""
    if "draftModel" in mask and doc.get("draftModel") and "ngramSpeculationLength" not in mask:
        doc.pop("ngramSpeculationLength", None)
    if "ngramSpeculationLength" in mask and doc.get("ngramSpeculationLength") and "draftModel" not in mask:
        doc.pop("draftModel", None)


def check_changes(world: World, before: Doc, doc: Doc, mask: list[str]) -> None:
    """Changes that the platform may not allow on an existing deployment."""
    changed = [path for path in mask if doc.get(path) != before.get(path)]
    profile = world.profile
    if "acceleratorType" in changed and profile["accelerator_type_update"] == "refuse":
        raise invalid("accelerator_type cannot be changed on an existing deployment")
    if "placement" in changed and profile["region_update"] != "allow":
        raise invalid("placement is immutable")
    same_shape = doc.get("deploymentShape") and doc.get("deploymentShape") == before.get("deploymentShape")
    pins = [field for field in PINS if field in changed]
    if same_shape and pins and profile["pins_on_update"] == "refuse":
        raise invalid(_pin_text(world, pins))
