"""What runs costs what its replicas cost; what is not known is never 0."""

from __future__ import annotations

from datetime import date
from typing import Any

from fwctl.catalog.prices import PriceList
from fwctl.live.cost import usd_per_hour, usd_per_replica_hour
from fwctl.live.model import LiveDeployment, Replicas, ShapeVersion

PRICES = PriceList({"NVIDIA_H100_80GB": 8.0}, date(2026, 10, 1))
SHAPE = "accounts/a/deploymentShapes/s"
VERSION = ShapeVersion(
    *(f"{SHAPE}/versions/v1", SHAPE, "v1", True, True, "m", None),
    {"accelerator.type": "NVIDIA_H100_80GB", "accelerator.count": 4},
)


def live(ready: int, **fields: Any) -> LiveDeployment:
    named = {key.replace("_", "."): value for key, value in fields.items()}
    return LiveDeployment("n", "d", "a", "READY", named, replicas=Replicas(ready=ready))


def test_ready_replicas_cost_their_gpus() -> None:
    item = live(3, accelerator_type="NVIDIA_H100_80GB", accelerator_count=2)
    assert (usd_per_replica_hour(item, PRICES, {}), usd_per_hour(item, PRICES, {})) == (16.0, 48.0)


def test_what_the_deployment_does_not_say_its_version_of_the_shape_does() -> None:
    item = live(1, shape=f"{SHAPE}/versions/v1")
    assert usd_per_hour(item, PRICES, {SHAPE: (VERSION,)}) == 32.0
    own = live(1, shape=f"{SHAPE}/versions/v1", accelerator_count=1)
    assert usd_per_hour(own, PRICES, {SHAPE: (VERSION,)}) == 8.0
    assert usd_per_hour(item, PRICES, {SHAPE: None}) is None


def test_an_unknown_price_is_unknown_unless_nothing_runs() -> None:
    fields = {"accelerator_type": "NVIDIA_GB900", "accelerator_count": 1}
    assert usd_per_hour(live(1, **fields), PRICES, {}) is None
    assert usd_per_hour(live(0, **fields), PRICES, {}) == 0.0
