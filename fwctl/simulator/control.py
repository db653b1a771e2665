"""Control of a simulator home from outside: what `fwctl sim reset|status` and tests call."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from fwctl.simulator import calls, faults
from fwctl.simulator.profiles import load
from fwctl.simulator.state import DATABASE, Store
from fwctl.simulator.timing import Clock, rfc3339

KINDS = ("deployments", "deployedModels", "models", "routers", "reservations")


def reset(home: Path) -> None:
    """Empty the state of this home: resources, clock, faults, call log. The folder stays."""
    home.mkdir(parents=True, exist_ok=True)
    with Store(home) as store:
        store.clear()
    calls.clear(home)


def status(home: Path, profile: str = "latest") -> dict[str, Any]:
    """Size, clock and open questions of a home, as one JSON-able object; a home that never was is empty."""
    chosen = load(profile)
    if not (home / DATABASE).exists():
        return {"home": str(home), "exists": False, "profile": profile, "resources": {}}
    with Store(home) as store:
        anchor = store.anchor(None, fixed=False)
        with store.read() as tx:
            counts = {kind: sum(1 for _ in tx.all(kind)) for kind in KINDS}
            rules = len(faults.rules(tx, None))
    return {
        "home": str(home),
        "exists": True,
        "profile": profile,
        "version": chosen["version"],
        "now": rfc3339(Clock(anchor).now()),
        "speed": anchor.speed,
        "resources": counts,
        "faults": rules,
        "calls": len(calls.read(home)),
    }
