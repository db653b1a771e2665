"""What time does to a deployment: start-up stages, roll-outs, scaling, idleness, deletion, purge.

`settle` brings a stored document to a moment; it is a pure function of document, moment and profile,
so that reading never has to write. All times in `_sim` are epoch seconds.
"""

from __future__ import annotations

from typing import Any

from fwctl.simulator.platform import autoscaling
from fwctl.simulator.profiles import Profile
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

DAY_S = 86_400.0
HOLD_S = 7 * DAY_S  # a deleted deployment keeps its ID (public transcript of 2026-07-13)
IDLE_DELETE_S = 7 * DAY_S  # min-0 deployments without traffic (docs.fireworks.ai, deployments page)
_LIVE = ("CREATING", "READY", "UPDATING")
OK = {"code": "OK", "message": ""}


def stage_seconds(parameter_count: int) -> list[float]:
    """Seconds pending, downloading and initialising of one replica.

    One-GPU deployments were READY after 15 s to 5.75 min in public logs; larger models take longer.
    """
    billions = parameter_count / 1e9
    return [10.0, 20.0 + min(billions, 240.0), 25.0 + min(billions / 4, 120.0)]


def start(doc: Doc, kind: str, now: float, profile: Profile) -> None:
    """Begin a create or undelete: replicas start, the state becomes CREATING."""
    sim = doc["_sim"]
    lowest = autoscaling.floor(doc, now)
    first = 1 if profile.yes("first_replica") and doc.get("maxReplicaCount", 0) else 0
    serving_s = sum(sim["stages"])
    wait_s = serving_s if profile.yes("ready_means_serving") and max(lowest, first) else sim["stages"][0]
    sim |= {
        "op": {"kind": kind, "startS": now, "readyS": now + wait_s},
        "replicas": [],
        "desired": 0,
        "load": {},
        "loadSinceS": now,
        "idleSinceS": now + serving_s,
        "settledS": now,
    }
    autoscaling.set_desired(sim, max(lowest, first), now)
    doc["state"] = "CREATING"
    doc["status"] = dict(OK)


def roll(doc: Doc, now: float) -> None:
    """Begin a roll-out: the state is UPDATING until new replicas have passed all stages."""
    sim = doc["_sim"]
    seconds = sum(sim["stages"]) if sim["replicas"] else sim["stages"][0]
    sim["op"] = {"kind": "update", "startS": now, "readyS": now + seconds}
    doc["state"] = "UPDATING"


def begin_delete(doc: Doc, at: float, profile: Profile, *, hard: bool) -> None:
    """Soft: DELETING, then DELETED until the purge. Hard: DELETING, then gone."""
    seconds = profile.number("hard_delete_s" if hard else "deleting_s")
    sim = doc["_sim"]
    autoscaling.set_desired(sim, 0, at)
    sim["op"] = {"kind": "purge" if hard else "delete", "startS": at, "readyS": at + seconds}
    doc["state"] = "DELETING"
    doc["deleteTime"] = rfc3339(at)
    doc["purgeTime"] = rfc3339(at + (seconds if hard else HOLD_S))
    sim["purgeS"] = at + (seconds if hard else HOLD_S)


def fail(doc: Doc, at: float, code: str, message: str) -> None:
    """The operation in flight ends in FAILED, with a status for people."""
    doc["state"] = "FAILED"
    doc["status"] = {"code": code, "message": message}
    doc["_sim"].pop("op", None)
    autoscaling.set_desired(doc["_sim"], 0, at)


def _operation(doc: Doc, now: float) -> None:
    """Finish the operation in flight when its time has come."""
    op = doc["_sim"].get("op")
    if op is None:
        return
    failure = op.get("fail")
    if failure and now >= failure["atS"]:
        fail(doc, failure["atS"], failure["code"], failure["message"])
    elif now >= op["readyS"] and not op.get("stalled"):
        doc["state"] = "DELETED" if op["kind"] in {"delete", "purge"} else "READY"
        doc["_sim"].pop("op")


def _idle_deletion(doc: Doc, now: float, profile: Profile) -> None:
    due = doc["_sim"]["idleSinceS"] + IDLE_DELETE_S
    if doc["state"] == "READY" and doc.get("minReplicaCount", 0) == 0 and now >= due:
        autoscaling.run(doc, min(due, now))
        begin_delete(doc, due, profile, hard=False)


def _present(doc: Doc, now: float) -> None:
    """The output-only fields that depend on the moment."""
    sim = doc["_sim"]
    pending_s, downloading_s, initialising_s = sim["stages"]
    stalled = sim.get("op", {}).get("stalled") or sim.get("starved")
    counts = {"pending": 0, "downloading": 0, "initialising": 0, "ready": 0}
    for started in sim["replicas"]:
        age = now - started
        if age < pending_s or stalled:
            counts["pending"] += 1
        elif age < pending_s + downloading_s:
            counts["downloading"] += 1
        elif age < pending_s + downloading_s + initialising_s:
            counts["initialising"] += 1
        else:
            counts["ready"] += 1
    doc["replicaCount"] = len(sim["replicas"])
    doc["desiredReplicaCount"] = sim["desired"]
    doc["replicaStats"] = {
        "pendingSchedulingReplicaCount": counts["pending"],
        "downloadingModelReplicaCount": counts["downloading"],
        "initializingReplicaCount": counts["initialising"],
        "readyReplicaCount": counts["ready"],
        "revocableReplicaCount": max(0, len(sim["replicas"]) - doc.get("maxReplicaCount", 0)),
        "effectiveReplicaCount": counts["ready"],
    }


def settle(doc: Doc, now: float, profile: Profile) -> Doc | None:
    """The document as it is at `now` (changed in place), None once it has been purged."""
    _operation(doc, now)
    if doc["state"] in _LIVE:
        _idle_deletion(doc, now, profile)
        if doc["state"] in _LIVE:
            autoscaling.run(doc, now)
        else:
            _operation(doc, now)
    if now >= doc["_sim"].get("purgeS", now + 1):
        return None
    _present(doc, now)
    return doc


def public(doc: Doc) -> Doc:
    """The document without the simulator's own part."""
    return {key: value for key, value in doc.items() if key != "_sim"}
