"""Text of deployments: the table, the shape hint, tags. Forms as captured on 2026-07-13."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.commands.render import table
from fwctl.simulator.platform.names import id_of
from fwctl.simulator.timing import local_text

Doc = dict[str, Any]

_YELLOW, _GREEN, _RESET = "\x1b[33m", "\x1b[32m", "\x1b[0m"
_PRESETS = (
    "Deployment shapes are validated preset configurations created by the team at Fireworks AI. "
    "We recommend using deployment shapes for production deployments."
)
_COMPATIBLE = (
    "Here are some compatible deployment shapes for your selected model {model} (use firectl create "
    "deployment <model-id> --deployment-shape <shape-name> to create a deployment with a specific shape):"
)
COLUMNS = (
    "NAME",
    "BASE MODEL",
    "REPLICAS",
    "GPUS/REPLICA",
    "ACCELERATOR",
    "REGION",
    "CREATE TIME",
    "CREATED BY",
    "SHAPE",
    "STATE",
    "ENABLE MULTI-REGION SHARDING",
)


def _row(doc: Doc) -> list[str]:
    display = doc.get("displayName")
    placement = doc.get("placement", {})
    region = placement.get("multiRegion") or placement.get("region") or ",".join(placement.get("regions", ()))
    return [
        id_of(doc["name"]) + (f" ({display})" if display else ""),
        doc["baseModel"],
        f"{doc['replicaCount']} [{doc.get('minReplicaCount', 0)},{doc.get('maxReplicaCount', 0)}]",
        str(doc.get("acceleratorCount", 0)),
        doc.get("acceleratorType", ""),
        region,
        local_text(doc["createTime"]),
        doc.get("createdBy", ""),
        doc.get("deploymentShape", ""),
        "" if doc["state"] == "READY" else doc["state"],
        "true" if placement.get("multiRegion") else "false",
    ]


def listing(docs: list[Doc]) -> str:
    """The table; a READY deployment has a blank STATE."""
    return table(COLUMNS, [_row(doc) for doc in docs])


def hint_block(model: str, snapshots: list[Doc]) -> str:
    """Coloured even when piped, as captured."""
    lines = [f"{_YELLOW}{_PRESETS}{_RESET}", f"{_YELLOW}{_COMPATIBLE.format(model=model)}"]
    rows = [
        f"{_GREEN}  - {shape['name']} - {shape['acceleratorCount']}x {shape['acceleratorType']}, "
        f"{shape['precision']}, {shape.get('presetType', 'PRESET_TYPE_UNSPECIFIED')}{_RESET}"
        for shape in snapshots
    ]
    return "\n".join([*lines, _RESET + "\n".join(rows)])


def tags(pairs: dict[str, str]) -> str:
    return table(("KEY", "VALUE"), sorted(pairs.items()))
