"""Changes that are interrupted: each goes from one set of specs to another."""

from __future__ import annotations

from typing import Any, NamedTuple

from fwctl.spec.model import Deployment, Spec
from tests.contract.apply_support import BF16, OTHER_MODEL, OTHER_SHAPE, entry, spec, values

RECREATE: dict[str, Any] = {"lifecycle__on_immutable_change": "recreate"}
BESIDE: dict[str, Any] = {"lifecycle__on_immutable_change": "blue_green"}
LORA = "accounts/acme/models/support-lora"
QWEN = values(model=OTHER_MODEL, shape=OTHER_SHAPE)
MULTI_LORA = values(shape=BF16, region=None, addons__mode="multi_lora")
ROUTED = values(router="front")


class Story(NamedTuple):
    """before is applied undisturbed; getting from there to after is what is disturbed."""

    before: tuple[Deployment, ...]
    after: tuple[Deployment, ...]
    plan_options: dict[str, Any] = {}  # noqa: RUF012

    @property
    def wanted(self) -> Spec:
        return spec(*self.after)


STORIES = {
    "create": Story((), (entry("a", values(tags={"team": "x"})), entry("b"))),
    "update": Story(
        (entry("a", values(tags={"team": "x"})),),
        (entry("a", values(replicas__max=2, display_name="A", tags={"team": "y"})),),
    ),
    "restart": Story(
        (entry("a"),), (entry("a", values(max_context_length=4096), overrides=("max_context_length",)),)
    ),
    "park": Story(
        (entry("a"),),
        (entry("a", values(replicas__min=0, replicas__max=0)),),
        {"allow_scale_down": ("a",)},
    ),
    "prune": Story((entry("a"), entry("b")), (entry("a"),), {"prune": True, "allow_delete": ("b",)}),
    "adapters": Story((entry("a", MULTI_LORA),), (entry("a", {**MULTI_LORA, "addons.load": [LORA]}),)),
    "router": Story((), (entry("a", ROUTED), entry("b", ROUTED))),
    "recreate": Story((entry("a", **RECREATE),), (entry("a", QWEN, **RECREATE),)),
    "blue-green": Story((entry("a", **BESIDE),), (entry("a", QWEN, **BESIDE),)),
}
