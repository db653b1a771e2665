"""The Deployment message that flags and a config file describe."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.commands.context import CommandError, Context
from fwctl.simulator.platform import names, protojson, schema, validation
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import wire_duration

Doc = dict[str, Any]

# Flag -> field; a dotted path reaches into a message. Flags not here are handled by name.
_FIELDS = {
    "accelerator-count": "acceleratorCount",
    "accelerator-type": "acceleratorType",
    "cluster-id": "cluster",
    "deployment-shape": "deploymentShape",
    "deployment-template": "deploymentTemplate",
    "description": "description",
    "direct-route-api-keys": "directRouteApiKeys",
    "direct-route-type": "directRouteType",
    "display-name": "displayName",
    "draft-token-count": "draftTokenCount",
    "enable-addons": "enableAddons",
    "enable-hot-load": "enableHotLoad",
    "enable-hot-reload-latest-addon": "enableHotReloadLatestAddon",
    "enable-mtp": "enableMtp",
    "enable-session-affinity": "enableSessionAffinity",
    "hot-load-bucket-type": "hotLoadBucketType",
    "hot-load-bucket-url": "hotLoadBucketUrl",
    "hot-load-transition-type": "hotLoadTransitionType",
    "load-targets": "autoscalingPolicy.loadTargets",
    "long-prompt": "autoTune.longPrompt",
    "max-concurrency-per-replica": "maxConcurrencyPerReplica",
    "max-context-length": "maxContextLength",
    "max-replica-count": "maxReplicaCount",
    "max-with-revocable-replica-count": "maxWithRevocableReplicaCount",
    "min-replica-count": "minReplicaCount",
    "ngram-speculation-length": "ngramSpeculationLength",
    "precision": "precision",
    "preemptible": "preemptible",
    "scale-down-window": "autoscalingPolicy.scaleDownWindow",
    "scale-to-zero-window": "autoscalingPolicy.scaleToZeroWindow",
    "scale-up-window": "autoscalingPolicy.scaleUpWindow",
}
_ENUMS = {
    "acceleratorType": "AcceleratorType",
    "precision": "Precision",
    "directRouteType": "DirectRouteType",
    "hotLoadBucketType": "HotLoadBucketType",
    "hotLoadTransitionType": "HotLoadTransitionType",
}


def _put(body: Doc, path: str, value: Any) -> None:
    field, _, inner = path.partition(".")
    if inner:
        body.setdefault(field, {})[inner] = value
    else:
        body[field] = value


def _check_enum(flag: str, field: str, value: str) -> None:
    known = schema.enum(_ENUMS[field]) if field in _ENUMS else ()
    if known and value not in known:
        listed = ", ".join(item for item in known if not item.endswith("_UNSPECIFIED"))
        raise CommandError(f'invalid value "{value}" for --{flag}, must be one of {{{listed}}}')


def request(ctx: Context, world: World) -> tuple[Doc, list[str]]:
    """The Deployment that file and flags describe, and the paths they set (flags win)."""
    body: Doc = {}
    if "file" in ctx.flags:
        body = _read_file(ctx, str(ctx.flags["file"]))
    mask = list(body)
    for flag, field in _FIELDS.items():
        if flag in ctx.flags:
            value = ctx.flags[flag]
            _check_enum(flag, field, str(value))
            _put(body, field, wire_duration(value) if field.endswith("Window") else value)
            mask.append(field)
    if "draft-model" in ctx.flags:
        text = str(ctx.flags["draft-model"])
        body["draftModel"] = names.qualify(text, ctx.account, "models", "model") if text else ""
        mask.append("draftModel")
    region = ctx.flags.get("region", ctx.flags.get("multi-region"))
    if region is not None:
        body["placement"] = validation.placement(region, world.catalogue.regions) if region else _GLOBAL
        mask.append("placement")
    if "scaling-schedules" in ctx.flags:
        rows = protojson.parse("Deployment", f'{{"scalingSchedules": {ctx.flags["scaling-schedules"]}}}')
        body |= rows
        mask.append("scalingSchedules")
    if "expire-time" in ctx.flags:
        instant = str(ctx.flags["expire-time"]).replace(" ", "T") + "Z"
        body |= protojson.convert("Deployment", {"expireTime": instant})
        mask.append("expireTime")
    return body, mask


# An explicitly empty --region means GLOBAL, also where an absent one takes a default region.
_GLOBAL = {"multiRegion": "GLOBAL"}


def _read_file(ctx: Context, path: str) -> Doc:
    try:
        text = (ctx.cwd / path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = "no such file or directory" if isinstance(error, FileNotFoundError) else "cannot be read"
        raise CommandError(f"error reading config file: open {path}: {reason}") from None
    return protojson.parse("Deployment", text)
