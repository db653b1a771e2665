"""What a live deployment costs now. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fwctl.catalog.prices import PriceList
from fwctl.live.model import LiveDeployment, ShapeVersion

Shapes = Mapping[str, Sequence[ShapeVersion] | None]


def usd_per_replica_hour(item: LiveDeployment, prices: PriceList, shapes: Shapes) -> float | None:
    """Dollars an hour of one replica; None when type, count or price is unknown. shapes: as live state has
    them, for what the deployment itself does not say."""
    values = {**_snapshot(item, shapes), **item.fields}
    price, gpus = prices.price(values.get("accelerator.type")), values.get("accelerator.count")
    return None if price is None or not isinstance(gpus, int) else price * gpus


def usd_per_hour(item: LiveDeployment, prices: PriceList, shapes: Shapes) -> float | None:
    """Dollars an hour of the replicas that are ready now: 0 for none, whatever one costs."""
    if not item.replicas.ready:
        return 0.0
    each = usd_per_replica_hour(item, prices, shapes)
    return None if each is None else each * item.replicas.ready


def _snapshot(item: LiveDeployment, shapes: Shapes) -> Mapping[str, object]:
    name = str(item.fields.get("shape", ""))
    versions = shapes.get(name.partition("/versions/")[0]) or ()
    return next((version.snapshot for version in versions if version.name == name), {})
