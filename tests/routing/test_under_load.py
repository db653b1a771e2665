"""Many requests at a time: attempts stay few, nothing is lost, nothing is left behind."""

from __future__ import annotations

import asyncio
import gc
import random
import tracemalloc
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from fwctl.routing.engine import Request
from fwctl.routing.model import BreakerPolicy, Timeouts
from tests.routing.serving import config, proxying
from tests.routing.upstreams import (
    DONE,
    HELLO,
    ROLE,
    Act,
    Box,
    answers,
    chunk,
    drops,
    hangs,
    routing,
    says,
    upstreams,
)

GOOD = says(*HELLO)
BODY = {"model": "chat", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


async def many(count: int, at_a_time: int, one: Callable[[int], Awaitable[None]]) -> None:
    numbers = iter(range(count))

    async def worker() -> None:
        for number in numbers:
            await one(number)

    await asyncio.gather(*(worker() for _ in range(at_a_time)))


def test_two_thousand_requests_with_the_first_target_down_cost_at_most_a_tenth_more_attempts() -> None:
    async def story() -> None:
        async with routing(a=[GOOD] * 200 + [drops], b=GOOD, breaker=BreakerPolicy(open_for_s=0.3)) as box:
            await many(200, 16, lambda _: ask(box))
            box.records.clear()
            await many(2000, 16, lambda _: ask(box))
            assert [record.outcome for record in box.records] == ["ok"] * 2000
            attempts = sum(record.attempts for record in box.records)
            assert 2000 < attempts <= 2200

    asyncio.run(story())


async def ask(box: Box) -> None:
    async with await box.router.send(Request("chat/completions", BODY)) as answer:
        await answer.read()


def test_in_a_full_outage_targets_get_far_fewer_attempts_than_there_are_requests() -> None:
    async def story() -> None:
        async with routing(a=drops, b=drops, breaker=BreakerPolicy()) as box:
            await many(500, 16, lambda _: ask(box))
            assert all(record.outcome != "ok" for record in box.records)
            assert sum(record.attempts for record in box.records) < 150

    asyncio.run(story())


FAULTS: list[Act] = [
    GOOD,
    GOOD,
    GOOD,
    drops,
    hangs,
    says(ROLE, chunk("x"), drop=True),
    says(ROLE, chunk("x"), hang=True),
    says(ROLE, DONE),
    answers(500),
    answers(503, b"DEPLOYMENT_SCALING_UP"),
    answers(429),
    answers(400, b'{"error":{"message":"no"}}'),
]


def chaos(seed: int) -> Act:
    choice = random.Random(seed)

    async def act(request: Any) -> Any:
        return await choice.choice(FAULTS)(request)

    return act


async def storm(box: Box, count: int, seed: int) -> None:
    """Requests of which one in five leaves at a random moment."""
    choice = random.Random(seed)

    async def one(_number: int) -> None:
        task = asyncio.ensure_future(ask(box))
        if choice.random() < 0.2:
            await asyncio.sleep(choice.random() * 0.03)
            task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    await many(count, 32, one)


def open_files() -> int:
    """Descriptors of this process, 0 where the system does not tell."""
    folder = Path("/proc/self/fd")
    return len(list(folder.iterdir())) if folder.is_dir() else 0


async def leaves_nothing_behind(count: int, rounds: int) -> list[int]:
    """Runs storms; traced memory after each, in bytes."""
    sizes = []
    quick = Timeouts(connect_s=1.0, first_token_s=0.03, idle_s=0.03)
    tasks = len(asyncio.all_tasks())
    descriptors = open_files()
    async with routing(a=chaos(1), b=chaos(2), timeouts=quick, route={"total_s": 0.5}) as box:
        for seed in range(rounds):
            await storm(box, count // rounds, seed)
            gc.collect()
            assert len(box.records) == count // rounds
            for place in box.places.values():
                place.bodies.clear()
                place.headers.clear()
            box.records.clear()
            sizes.append(tracemalloc.get_traced_memory()[0])
            waiting = [health.waiting for health in box.router.fleet._healths.values()]
            assert waiting == [0] * len(waiting)
    async with asyncio.timeout(5):
        while len(asyncio.all_tasks()) > tasks:
            await asyncio.sleep(0.01)
        while open_files() > descriptors:
            await asyncio.sleep(0.01)
    return sizes


def test_after_random_faults_and_disconnects_no_task_connection_or_descriptor_is_left() -> None:
    asyncio.run(leaves_nothing_behind(300, 3))


async def proxy_leaves_nothing_behind(folder: Path, count: int) -> None:
    """The same through the server, with clients that hang up."""
    tasks, descriptors = len(asyncio.all_tasks()), open_files()
    limits = "    timeouts: {first_token: 50ms, idle: 50ms, total: 1s}\n"
    choice = random.Random(3)
    async with (
        upstreams(a=chaos(1), b=chaos(2)) as (base, _),
        proxying(folder, config(base, "a", "b", route=limits)) as it,
    ):

        async def one(_number: int) -> None:
            task = asyncio.ensure_future(it.post())
            if choice.random() < 0.2:
                await asyncio.sleep(choice.random() * 0.03)
                task.cancel()
            await asyncio.gather(task, return_exceptions=True)

        await many(count, 16, one)
        assert it.server.proxy is not None
        async with asyncio.timeout(5):
            await it.server.proxy.idle()
        assert "fwctl_route_in_flight 0.0" in (await it.get("/metrics"))[1]
    async with asyncio.timeout(5):
        while len(asyncio.all_tasks()) > tasks or open_files() > descriptors:
            await asyncio.sleep(0.01)


def test_clients_that_hang_up_leave_nothing_in_the_server(tmp_path: Path) -> None:
    asyncio.run(proxy_leaves_nothing_behind(tmp_path, 150))


@pytest.mark.deep
def test_three_thousand_clients_that_hang_up_leave_nothing_in_the_server(tmp_path: Path) -> None:
    asyncio.run(proxy_leaves_nothing_behind(tmp_path, 3000))


@pytest.mark.deep
def test_ten_thousand_requests_with_random_faults_leave_nothing_and_memory_flat() -> None:
    tracemalloc.start()
    try:
        sizes = asyncio.run(leaves_nothing_behind(10_000, 10))
    finally:
        tracemalloc.stop()
    assert max(sizes[2:]) < min(sizes[2:]) + 2 * 2**20
