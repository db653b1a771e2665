"""The pause of the garbage collector."""

from __future__ import annotations

import gc

import pytest

from fwctl.collector import collector_paused


def test_the_collector_is_off_inside_and_on_again_afterwards() -> None:
    with collector_paused():
        assert not gc.isenabled()
    assert gc.isenabled()


def test_a_nested_pause_does_not_end_the_outer_one() -> None:
    with collector_paused():
        with collector_paused():
            pass
        assert not gc.isenabled()


def test_a_failure_inside_ends_the_pause() -> None:
    with pytest.raises(KeyError), collector_paused():
        raise KeyError
    assert gc.isenabled()
