"""What the regions page says about accelerators, and what it leaves open."""

from __future__ import annotations

from fwctl.catalog.enums import ACCELERATORS, SINGLE_REGIONS
from fwctl.catalog.regions import ACCELERATORS_OF, offers, regions_with


def test_the_page_is_believed_where_it_names_both() -> None:
    assert offers("US_IOWA_1", "NVIDIA_H100_80GB") is True
    assert offers("US_UTAH_1", "NVIDIA_H100_80GB") is False


def test_a_region_or_accelerator_that_it_does_not_name_is_open() -> None:
    assert offers("US_NEVADA_1", "NVIDIA_H100_80GB") is None
    assert offers("US_IOWA_1", "NVIDIA_B300_288GB") is None


def test_regions_with_an_accelerator_are_listed_in_order() -> None:
    assert regions_with("NVIDIA_A100_80GB") == ("US_ILLINOIS_2",)
    assert regions_with("NVIDIA_H200_141GB")[:2] == ("AP_TOKYO_2", "EU_ICELAND_1")


def test_every_name_of_the_table_is_one_that_specs_may_use() -> None:
    assert set(ACCELERATORS_OF) <= set(SINGLE_REGIONS)
    assert {name for names in ACCELERATORS_OF.values() for name in names} <= set(ACCELERATORS)
