"""Hedges: a second request when the first is slow, within two budgets."""

from __future__ import annotations

import asyncio

from fwctl.routing.model import HedgePolicy, RetryPolicy
from tests.routing.upstreams import HELLO, answers, hangs, routing, says

GOOD = says(*HELLO)
SLOW = HedgePolicy(budget=1.0, after_s=0.02)


def test_without_retry_budget_nothing_is_hedged() -> None:
    async def story() -> None:
        policy = RetryPolicy(budget=0.0, floor_per_s=0.0)
        late = says(*HELLO, gap_s=0.05)
        async with routing(a=late, b=GOOD, route={"hedge": SLOW, "retry": policy}) as box:
            answer, _ = await box.send()
            assert answer.headers["x-fwctl-target"] == "a"
            assert not answer.record.hedged
            assert box.sent() == {"a": 1, "b": 0}

    asyncio.run(story())


def test_a_quantile_needs_answers_before_it_means_anything() -> None:
    async def story() -> None:
        policy = HedgePolicy(budget=1.0, after_quantile=0.95)
        async with routing(a=[GOOD] * 20 + [hangs], b=GOOD, route={"hedge": policy}) as box:
            for _ in range(20):
                assert not (await box.send())[0].record.hedged
            answer, data = await box.send()
            assert answer.record.hedged
            assert (answer.headers["x-fwctl-target"], data) == ("b", b"".join(HELLO))

    asyncio.run(story())


def test_a_hedge_that_fails_leaves_the_first_attempt_alone() -> None:
    async def story() -> None:
        late = says(b": wait\n\n", *HELLO, gap_s=0.1)
        async with routing(a=late, b=answers(500), route={"hedge": SLOW}) as box:
            answer, _ = await box.send()
            assert answer.headers["x-fwctl-target"] == "a"
            assert sorted(box.sent().values()) == [1, 1]

    asyncio.run(story())


def test_when_both_fail_the_client_gets_one_error() -> None:
    async def story() -> None:
        async def late(request: object) -> object:
            await asyncio.sleep(0.1)
            return await answers(500)(request)  # type: ignore[arg-type]

        async with routing(a=late, b=answers(500), route={"hedge": SLOW}) as box:  # type: ignore[arg-type]
            answer, _ = await box.send()
            assert answer.status == 502
            assert answer.record.attempts == 2

    asyncio.run(story())


def test_whole_answers_are_never_hedged() -> None:
    async def story() -> None:
        async with routing(a=GOOD, b=GOOD, route={"hedge": SLOW}) as box:
            await box.send(stream=False)
            assert not box.records[0].hedged

    asyncio.run(story())


def test_a_lone_target_has_nothing_to_hedge_with() -> None:
    async def story() -> None:
        async with routing(a=says(*HELLO, gap_s=0.05), route={"hedge": SLOW}) as box:
            answer, data = await box.send()
            assert (answer.status, data) == (200, b"".join(HELLO))

    asyncio.run(story())
