"""Live deployments -> a draft whose plan shows no changes. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from fwctl.catalog.enums import is_multi_region
from fwctl.catalog.field import Owner
from fwctl.catalog.fields import BY_PATH
from fwctl.importing.model import Draft, Entry, Remark
from fwctl.live.identity import LEAVING, NEXT, is_candidate
from fwctl.live.model import LiveDeployment, LiveState, ShapeVersion
from fwctl.live.normalise import shape_of, short_id
from fwctl.live.routers import routers_of

_REFERENCE = "${env:"
# The platform refuses these beside a shape, so a value that differs from the shape cannot be written.
_HARDWARE = ("accelerator.type", "accelerator.count", "precision")


# What the platform fills in when nothing was asked (firectl command pages, read 2026-11-30).
_DEFAULTS = {
    "autoscaling.scale_up_window": "30s",
    "autoscaling.scale_down_window": "10m0s",
    "autoscaling.scale_to_zero_window": "1h0m0s",
    "autoscaling.load_targets": {"default": 0.8},
}


def draft_of(live: LiveState, ids: Sequence[str] | None, stack: str | None) -> Draft:
    """The deployments with these IDs or full names, all of them for None. stack: whose to write; None
    takes the stack that most of their markers name."""
    draft = Draft(live.account)
    chosen = list(_chosen(live, ids, draft))
    draft.stack = stack or _stack(chosen)
    draft.comments.append(f"Imported from account {live.account}. A field that is absent is not managed.")
    names: set[str] = set()
    for item in chosen:
        refusal = _refusal(item, draft.stack, names)
        if refusal is not None:
            draft.remarks.append(Remark("", 0, refusal[0], f"{item.deployment_id} {refusal[1]}"))
            continue
        entry = _entry(live, item, draft.remarks)
        names.add(entry.name)
        draft.entries.append(entry)
    return draft


def _chosen(live: LiveState, ids: Sequence[str] | None, draft: Draft) -> Iterable[LiveDeployment]:
    if ids is None:
        yield from (item for _, item in sorted(live.deployments.items()) if item.state not in LEAVING)
        return
    for name in dict.fromkeys(short_id(item.rstrip("/")) for item in ids):
        found = live.deployments.get(name)
        if found is None:
            message = f"there is no deployment {name} in account {live.account}"
            draft.remarks.append(Remark("", 0, "not_found", message))
        else:
            yield found


def _stack(items: Iterable[LiveDeployment]) -> str:
    stacks = Counter(item.marker.stack for item in items if item.marker is not None)
    return min(stacks, key=lambda name: (-stacks[name], name)) if stacks else "default"


def _refusal(item: LiveDeployment, stack: str, names: set[str]) -> tuple[str, str] | None:
    marker = item.marker
    if item.state in LEAVING:
        return "deleted", f"is {item.state}; `fwctl undo {item.deployment_id}` first"
    if not item.fields.get("model"):
        return "no_model", "names no model"
    if marker is not None and marker.stack != stack:
        return "other_stack", f"belongs to stack {marker.stack}; import it with --stack {marker.stack}"
    if is_candidate(item):
        return "experiment", "was made by an experiment; `fwctl experiment list` says which"
    if marker is not None and (marker.role == NEXT or marker.name in names):
        return "replacement", f"is the other half of a replacement of {marker.name}"
    return None


def _entry(live: LiveState, item: LiveDeployment, remarks: list[Remark]) -> Entry:
    name = item.marker.name if item.marker is not None else item.deployment_id
    entry = Entry(name)
    if name != item.deployment_id:
        entry.values["id"] = item.deployment_id
    version = _version(live, item)
    for path, value in item.fields.items():
        _take(entry, (path, value), "shape" in item.fields, version, remarks)
    _shape(entry, item, version, remarks)
    addons = live.loaded_addons.get(item.deployment_id)
    if addons and item.fields.get("addons.mode") == "multi_lora":
        entry.values["addons.load"] = sorted(addons)
    _router(entry, item, routers_of(live).get(item.deployment_id, ()), remarks)
    if item.marker is not None and item.marker.protect:
        entry.values["lifecycle.prevent_destroy"] = True
    if item.state != "READY":
        message = f"{item.deployment_id} is {item.state} now; a plan will say what that needs"
        entry.comments.append(message)
        remarks.append(Remark("", 0, "not_ready", message))
    return entry


def _version(live: LiveState, item: LiveDeployment) -> ShapeVersion | None:
    running = str(item.fields.get("shape", ""))
    known = live.shapes.get(running) or live.shapes.get(shape_of(running)) or ()
    return next((version for version in known if version.name == running), None)


def _take(
    entry: Entry, field: tuple[str, Any], shaped: bool, version: ShapeVersion | None, remarks: list[Remark]
) -> None:
    path, value = field
    row = BY_PATH[path]
    if path == "shape" or _DEFAULTS.get(path) == value or _comes_with_shape(path, value, version):
        return
    if row.sensitive:
        _secret(entry, path, value, remarks)
    elif _REFERENCE in str(value):
        _leave_out(entry, path, "its text looks like a reference to a variable", remarks)
    elif path == "region" and "," in str(value):
        _leave_out(entry, path, f"it lists several regions ({value})", remarks)
    elif row.owner is Owner.SHAPE and shaped and not _asserted(path, value, version):
        _beside_shape(entry, path, value, version, remarks)
    else:
        entry.values[path] = value


def _comes_with_shape(path: str, value: Any, version: ShapeVersion | None) -> bool:
    """True for what the shape brings anyway; its hardware and precision are written down as pins."""
    return version is not None and path not in _HARDWARE and version.snapshot.get(path) == value


def _asserted(path: str, value: Any, version: ShapeVersion | None) -> bool:
    """True when the shape carries the same value, or does not speak of it."""
    return version is not None and version.snapshot.get(path, value) == value


def _beside_shape(
    entry: Entry, path: str, value: Any, version: ShapeVersion | None, remarks: list[Remark]
) -> None:
    if version is None:
        _leave_out(entry, path, f"it is {value}, and the version of its shape could not be read", remarks)
    elif path in _HARDWARE:
        carried = version.snapshot.get(path)
        _leave_out(entry, path, f"it runs with {value}, its shape carries {carried}", remarks)
    else:
        entry.values[path] = value
        overrides = entry.values.setdefault("overrides", [])
        overrides.append(path)


def _shape(entry: Entry, item: LiveDeployment, version: ShapeVersion | None, remarks: list[Remark]) -> None:
    running = item.fields.get("shape")
    if running:
        entry.values["shape"] = shape_of(str(running))
        if version is not None:
            entry.comments.append(f"runs version {version.version} of its shape")
        return
    entry.values |= {"shape": "none", "accept_shapeless_risk": True}
    message = f"runs without a shape; `fwctl shapes {item.fields['model']}` lists those that fit"
    entry.comments.append(message)
    remarks.append(Remark("", 0, "shapeless", f"{item.deployment_id} {message}"))


def _router(entry: Entry, item: LiveDeployment, routers: Sequence[str], remarks: list[Remark]) -> None:
    """A spec names one router, and none for a deployment of one region."""
    if len(routers) == 1 and is_multi_region(str(item.fields.get("region", "GLOBAL"))):
        entry.values["router"] = routers[0]
    elif routers:
        _leave_out(entry, "router", f"it stands behind {' and '.join(routers)}", remarks)


def _secret(entry: Entry, path: str, value: Any, remarks: list[Remark]) -> None:
    """A secret is never read back: the line to fill in stands as a comment, so nothing is managed yet."""
    base = "".join(c if c.isalnum() else "_" for c in entry.name.upper())
    count = len(value) if isinstance(value, list | tuple) else 1
    names = ", ".join(f'"${{env:{base}_KEY{n or ""}}}"' for n in range(count))
    entry.comments.append(f"{path}: [{names}]  # {count} on the platform; move it into the entry to manage")
    remarks.append(
        Remark("", 0, "secret", f"{entry.name}: {path} is never read back; it stands as a comment")
    )


def _leave_out(entry: Entry, path: str, why: str, remarks: list[Remark]) -> None:
    entry.comments.append(f"{path} is left out: {why}")
    remarks.append(Remark("", 0, "left_out", f"{entry.name}: {path} is left out: {why}"))
