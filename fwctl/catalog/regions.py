"""Which accelerators a region offers, as the platform last published it.

docs.fireworks.ai, deployments/regions, read April 2026. The page drifts and is not complete: a region or
an accelerator that it does not name says nothing, so only a contradiction counts.
"""

from __future__ import annotations

from collections.abc import Mapping

READ = "2026-04"

_A100, _H100, _H200, _B200 = (
    "NVIDIA_A100_80GB",
    "NVIDIA_H100_80GB",
    "NVIDIA_H200_141GB",
    "NVIDIA_B200_180GB",
)
ACCELERATORS_OF: Mapping[str, tuple[str, ...]] = {
    "US_ARIZONA_1": (_H100,),
    "US_CALIFORNIA_1": (_H200,),
    "US_GEORGIA_2": (_B200,),
    "US_GEORGIA_3": (_H200,),
    "US_ILLINOIS_1": (_H100,),
    "US_ILLINOIS_2": (_A100,),
    "US_IOWA_1": (_H100,),
    "US_OHIO_1": (_B200,),
    "US_UTAH_1": (_B200,),
    "US_TEXAS_2": (_H100,),
    "US_VIRGINIA_1": (_H100, _H200),
    "US_WASHINGTON_2": (_H100,),
    "US_WASHINGTON_3": (_B200,),
    "US_WASHINGTON_4": (_B200,),
    "EU_FRANKFURT_1": (_H100,),
    "EU_ICELAND_1": (_H200,),
    "EU_ICELAND_2": (_B200, _H200),
    "AP_TOKYO_1": (_H100,),
    "AP_TOKYO_2": (_H200,),
}
_LISTED = frozenset(name for names in ACCELERATORS_OF.values() for name in names)


def offers(region: str, accelerator: str) -> bool | None:
    """True or False where the page says so, None where it does not know the region or the type."""
    if region not in ACCELERATORS_OF or accelerator not in _LISTED:
        return None
    return accelerator in ACCELERATORS_OF[region]


def regions_with(accelerator: str) -> tuple[str, ...]:
    """The regions that the page lists for an accelerator, sorted."""
    return tuple(sorted(name for name, offered in ACCELERATORS_OF.items() if accelerator in offered))
