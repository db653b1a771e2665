"""Waiting for moments, and knobs."""

from __future__ import annotations

import asyncio

import pytest

from fwctl.simulator.http import knobs
from fwctl.simulator.http.pacing import WallPacer


def test_waiters_wake_in_order_of_their_moments_and_not_early() -> None:
    woken: list[tuple[str, float]] = []

    async def wait(pacer: WallPacer, name: str, moment: float) -> None:
        await pacer.until(moment)
        woken.append((name, pacer.now() - moment))

    async def scenario() -> None:
        pacer = WallPacer()
        start = pacer.now()
        await asyncio.gather(
            wait(pacer, "third", start + 0.006),
            wait(pacer, "first", start + 0.002),
            wait(pacer, "past", start - 1),
            wait(pacer, "second", start + 0.004),
        )

    asyncio.run(scenario())
    assert [name for name, _ in woken] == ["past", "first", "second", "third"]
    assert all(late > -0.001 for _, late in woken)


def test_a_cancelled_waiter_holds_nobody_up() -> None:
    async def scenario() -> bool:
        pacer = WallPacer()
        first = asyncio.ensure_future(pacer.until(pacer.now() + 0.002))
        second = asyncio.ensure_future(pacer.until(pacer.now() + 0.004))
        third = asyncio.ensure_future(pacer.until(pacer.now() + 0.005))
        await asyncio.sleep(0)
        first.cancel()
        second.cancel()
        await asyncio.gather(first, second, return_exceptions=True)
        await third
        return third.done()

    assert asyncio.run(scenario())


def test_a_request_s_own_knob_wins_over_the_server_s_and_the_default() -> None:
    server = knobs.from_environ({"FIRECTL_SIM_TTFT_MS": "5", "FIRECTL_SIM_STAMP": "no", "OTHER": "x"})
    assert (server["ttft_ms"], server["stamp"], server["tokens_per_chunk"]) == (5.0, False, 1)
    asked = server.with_request(
        {"X-Sim-TTFT-MS": "7", "x-sim-unknown": "1"}, {"sim_stamp": "1", "other": "2"}
    )
    assert (asked["ttft_ms"], asked["stamp"]) == (7.0, True)
    assert server.with_request({"accept": "*/*"}, {}) is server


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("usage", "sometimes"),
        ("tokens_per_chunk", "0"),
        ("tokens_per_chunk", "1.5"),
        ("prediction_match", "2"),
    ],
)
def test_a_knob_says_what_it_takes(name: str, value: str) -> None:
    with pytest.raises(knobs.KnobError, match=f"FIRECTL_SIM_{name.upper()} is"):
        knobs.from_environ({f"FIRECTL_SIM_{name.upper()}": value})
