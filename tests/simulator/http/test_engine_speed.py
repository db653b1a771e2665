"""Speculation, hardware, caches, replicas and runs: arithmetic on a clock that the test moves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Coroutine
from typing import Any

import pytest

from fwctl.simulator.http.engine.answer import CONTENT, Choice, Piece
from fwctl.simulator.http.engine.cache import PrefixCache
from fwctl.simulator.http.engine.hardware import POLICY, Device, ModelSize, Speed, replica_speed
from fwctl.simulator.http.engine.reasoning import reasoning_tokens, style_of
from fwctl.simulator.http.engine.replica import Replica
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.speculation import Drafter, Passes, plan_passes
from fwctl.simulator.http.inference.run import Run, Times, Timing

WORDS = [f"w{number}" for number in range(40)]


def test_without_drafts_every_pass_gives_one_token() -> None:
    passes = plan_passes(WORDS, draw=rng(1))
    assert passes.sizes == [1] * 40
    assert passes.costs == [1.0] * 40
    assert passes.acceptance_text(conditional=False) == ""


def test_a_perfect_prediction_gives_seventeen_tokens_a_pass() -> None:
    passes = plan_passes(WORDS, prediction=WORDS, draw=rng(1))
    # 16 verified and the target's own: 17 + 17 + 6.
    assert passes.sizes == [17, 17, 6]
    assert passes.widths == [17, 17, 7]
    assert passes.matched == 40


def test_a_prediction_is_found_again_after_an_edit() -> None:
    output = [*WORDS[:10], "new", "words", *WORDS[12:]]
    passes = plan_passes(output, prediction=WORDS, draw=rng(1))
    # Ten tokens and the first edited one; the second; w12 and w13 to find the place; the rest.
    assert passes.sizes == [11, 1, 1, 1, 17, 9]
    assert passes.matched == 10 + 26


def test_a_prediction_that_never_fits_costs_passes_only() -> None:
    passes = plan_passes(WORDS, prediction=["other"] * 9, draw=rng(1))
    assert passes.sizes == [1] * 40
    assert passes.matched == 0


def test_a_prediction_that_ends_early_leaves_the_rest_to_the_model() -> None:
    passes = plan_passes(WORDS, prediction=WORDS[:5], draw=rng(1))
    assert passes.sizes == [6] + [1] * 34
    assert passes.matched == 5


def test_ngrams_draft_what_the_prompt_repeats() -> None:
    passes = plan_passes(WORDS, prompt=WORDS, drafter=Drafter(4, ngram=2), draw=rng(1))
    # Two tokens until the place is known, then four drafts and one own token a pass.
    assert passes.sizes[:4] == [1, 1, 5, 5]
    assert passes.hits == [8, 8, 7, 7]
    assert sum(passes.sizes) == 40


def test_ngrams_find_nothing_in_text_that_never_repeats() -> None:
    passes = plan_passes(WORDS, drafter=Drafter(4, ngram=2), draw=rng(1))
    assert passes.sizes == [1] * 40
    assert passes.drafted == 0


@pytest.mark.parametrize(("acceptance", "sizes"), [((1.0,), [5] * 8), ((0.0,), [1] * 40)])
def test_a_draft_model_at_its_limits(acceptance: tuple[float, ...], sizes: list[int]) -> None:
    passes = plan_passes(WORDS, drafter=Drafter(4, acceptance=acceptance, cost=0.1), draw=rng(1))
    assert passes.sizes == sizes
    assert passes.costs == [pytest.approx(1.4)] * len(sizes)
    assert passes.widths == [5] * len(sizes)


def test_acceptance_by_position_is_near_what_was_asked() -> None:
    output = [str(number) for number in range(20_000)]
    passes = plan_passes(output, drafter=Drafter(2, acceptance=(0.8, 0.5)), draw=rng(3))
    # P1 = 0.8, P2 = 0.8 x 0.5.
    assert passes.hits[0] / passes.totals[0] == pytest.approx(0.8, abs=0.02)
    assert passes.hits[1] / passes.totals[1] == pytest.approx(0.4, abs=0.02)
    # 1 + 0.8 + 0.4 tokens a pass.
    assert len(output) / len(passes.sizes) == pytest.approx(2.2, abs=0.05)


def test_both_forms_of_the_acceptance_list() -> None:
    passes = Passes()
    for accepted in (2, 1, 0):
        passes.count(2, accepted)
    assert passes.acceptance_text(conditional=False) == "0:2/3,1:1/3"
    assert passes.acceptance_text(conditional=True) == "0:2/3,1:1/2"


# 8e9 parameters of 2 bytes on a device of 1e12 bytes/s and 1e14 FLOP/s.
SIZE = ModelSize(16e9, 16e9, 8e9, 100_000, 4096)
DEVICE = Device(40e9, 1e12, 1e14)


def test_a_decode_step_reads_weights_and_cache() -> None:
    speed = replica_speed(SIZE, DEVICE, 1)
    # (16e9 + 1000 x 1e5) bytes over 0.65e12 bytes/s, and the fixed cost.
    assert speed.step_s(1, 1000) == pytest.approx(16.1e9 / 0.65e12 + 0.0012)


def test_a_large_batch_is_bound_by_arithmetic() -> None:
    speed = replica_speed(SIZE, Device(40e9, 1e15, 1e14), 1)
    # 2 x 8e9 x 64 FLOP over 0.35e14 FLOP/s.
    assert speed.step_s(64, 0) == pytest.approx(2 * 8e9 * 64 / 0.35e14 + 0.0012)


def test_verifying_drafts_is_free_alone_and_costs_under_load() -> None:
    speed = replica_speed(SIZE, DEVICE, 1)
    assert speed.step_s(1, 0, 5) == speed.step_s(1, 0)
    # 2 x 8e9 x 64 x 5 FLOP over 0.35e14 FLOP/s, far above the 25 ms of memory.
    assert speed.step_s(64, 0, 5) == pytest.approx(2 * 8e9 * 320 / 0.35e14 + 0.0012)


def test_prefill_is_arithmetic_and_two_gpus_halve_it() -> None:
    one, two = replica_speed(SIZE, DEVICE, 1), replica_speed(SIZE, DEVICE, 2)
    assert one.prefill_s(1000) == pytest.approx(2 * 8e9 * 1000 / 0.45e14 + 0.0012)
    assert two.prefill_s(1000) == pytest.approx(8e9 * 1000 / 0.45e14 + 0.0012)


def test_the_pool_is_what_weights_and_overhead_leave() -> None:
    # 0.9 x 40e9 - 3e9 - 16e9 bytes over 1e5 bytes a token.
    assert replica_speed(SIZE, DEVICE, 1).kv_pool_tokens == 170_000
    assert replica_speed(SIZE, Device(1e9, 1e12, 1e14), 1).kv_pool_tokens == 2048


def test_a_mixture_reads_more_experts_the_larger_the_batch_and_never_more_than_all() -> None:
    speed = replica_speed(ModelSize(100e9, 10e9, 5e9, 1, 4096), Device(200e9, 1e12, 1e18), 1)
    steps = [speed.step_s(batch, 0) for batch in (1, 2, 8, 1000)]
    assert steps == sorted(steps)
    assert steps[0] == pytest.approx(10e9 / 0.65e12 + POLICY["step_overhead_s"])
    assert steps[-1] == pytest.approx(100e9 / 0.65e12 + POLICY["step_overhead_s"])


def test_reasoning_follows_the_documented_styles() -> None:
    assert style_of("accounts/fireworks/models/llama-v3p1-8b-instruct") is None
    assert reasoning_tokens("accounts/fireworks/models/llama-v3p1-8b-instruct", "high") == 0
    assert reasoning_tokens("accounts/fireworks/models/qwen3-8b", 17) == 17
    assert reasoning_tokens("accounts/fireworks/models/deepseek-v3p1", None) == 0
    assert style_of("accounts/fireworks/models/qwen3-coder-480b-a35b-instruct") is None


def test_a_cache_matches_whole_blocks_from_the_front() -> None:
    cache = PrefixCache(10_000)
    prompt = [str(number) for number in range(100)]
    assert cache.lookup(prompt, "") == 0
    # Six whole blocks of 16; the last four tokens are always computed.
    assert cache.lookup(prompt, "") == 96
    assert cache.lookup([*prompt[:40], *"xyz" * 20], "") == 32
    assert cache.lookup(["x", *prompt], "") == 0
    assert cache.lookup(prompt, "other") == 0
    assert cache.lookup(prompt[:96], "") == 95
    cache.clear()
    assert cache.lookup(prompt, "") == 0


def test_a_full_cache_forgets_what_was_used_longest_ago() -> None:
    cache = PrefixCache(64)
    one, two = [f"a{n}" for n in range(33)], [f"b{n}" for n in range(33)]
    cache.lookup(one, "")
    cache.lookup(two, "")
    assert cache.lookup(two, "") == 32
    cache.lookup([f"c{n}" for n in range(33)], "")
    assert cache.lookup(one, "") == 0


class Clock:
    """Time that jumps to the earliest moment anybody waits for, once all tasks wait."""

    def __init__(self) -> None:
        self.time = 0.0
        self.waiting: list[tuple[float, asyncio.Future[None]]] = []

    def now(self) -> float:
        return self.time

    def until(self, moment_s: float) -> Awaitable[None]:
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.waiting.append((moment_s, future))
        return future

    async def play(self, *work: Coroutine[Any, Any, Any]) -> list[Any]:
        tasks = [asyncio.ensure_future(item) for item in work]
        while not all(task.done() for task in tasks):
            for _ in range(20):
                await asyncio.sleep(0)
            if self.waiting:
                self.waiting.sort(key=lambda entry: entry[0])
                moment, future = self.waiting.pop(0)
                self.time = max(self.time, moment)
                if not future.done():
                    future.set_result(None)
        return [task.result() for task in tasks]


def flat(step_s: float, pool: int = 1000) -> Speed:
    """A replica whose step lasts `step_s` and whose prefill 1 s per 100 tokens, whatever runs."""

    class Flat(Speed):
        __slots__ = ()

        def prefill_s(self, tokens: int) -> float:
            return tokens / 100

        def step_s(self, running: int, context_tokens: int, width: int = 1) -> float:
            return step_s

    return Flat(SIZE, 1.0, 1.0, pool)


def run_of(replica: Replica, clock: Clock, tokens: int = 3, prompt: int = 100, **timing: Any) -> Run:
    choice = Choice([Piece(CONTENT, "x")] * tokens, "stop")
    passes = plan_passes([piece.text for piece in choice.pieces], draw=rng(1))
    return Run(replica, clock, Timing(**timing), prompt, 0, [choice], [passes], Times(clock.now()))


async def moments(run: Run) -> list[float]:
    return [run.pacer.now() async for _ in run.emissions()]


def test_tokens_come_after_prefill_one_step_apart() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock)
    assert asyncio.run(clock.play(moments(run)))[0] == [1.0, 1.5, 2.0]
    assert (run.times.first_token, run.times.done) == (1.0, 2.0)


def test_speed_divides_every_wait() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock, speed=10.0)
    assert asyncio.run(clock.play(moments(run)))[0] == pytest.approx([0.1, 0.15, 0.2])


def test_fixed_ttft_and_rate_replace_the_model() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock, ttft_s=0.25, tokens_per_s=10.0)
    assert asyncio.run(clock.play(moments(run)))[0] == pytest.approx([0.25, 0.35, 0.45])


def test_without_waiting_everything_comes_at_once() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock, tokens=100, speed=0.0)
    assert set(asyncio.run(clock.play(moments(run)))[0]) == {0.0}


def test_chunks_of_several_tokens_leave_with_their_last_one() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock, tokens=5, tokens_per_chunk=2)
    assert asyncio.run(clock.play(moments(run)))[0] == [1.5, 2.5, 3.0]


def test_prefills_wait_for_each_other() -> None:
    clock, replica = Clock(), Replica(flat(0.5), "h")
    first, second = run_of(replica, clock), run_of(replica, clock)
    asyncio.run(clock.play(moments(first), moments(second)))
    assert (first.times.first_token, second.times.first_token) == (1.0, 2.0)
    assert second.times.prefill_start == 1.0


def test_a_full_pool_makes_the_next_request_wait_in_its_ttft() -> None:
    clock, replica = Clock(), Replica(flat(0.5, pool=150), "h")
    first, second = run_of(replica, clock), run_of(replica, clock)
    asyncio.run(clock.play(moments(first), moments(second)))
    # The first holds 103 of 150 tokens until 2.0; the second needs 103 and then its own second.
    assert second.times.admitted == 2.0
    assert second.times.first_token == 3.0
    assert (replica.load, replica.kv_fraction) == (0, 0.0)


def test_a_request_larger_than_the_pool_runs_alone() -> None:
    clock, replica = Clock(), Replica(flat(0.5, pool=50), "h")
    assert len(asyncio.run(clock.play(moments(run_of(replica, clock))))[0]) == 3


def test_an_empty_answer_is_one_emission_without_tokens() -> None:
    clock = Clock()
    run = run_of(Replica(flat(0.5), "h"), clock, tokens=0)

    async def all_of_it() -> list[Any]:
        return [group async for group in run.emissions()]

    assert asyncio.run(clock.play(all_of_it()))[0] == [[(0, 0, 0, True)]]


def test_closing_a_run_frees_its_place_and_lets_the_next_in() -> None:
    clock, replica = Clock(), Replica(flat(0.5, pool=150), "h")

    async def first_token_only() -> None:
        emissions = run_of(replica, clock, tokens=100, prompt=100).emissions()
        await anext(emissions)
        await emissions.aclose()

    second = run_of(replica, clock)
    asyncio.run(clock.play(first_token_only(), moments(second)))
    assert second.times.admitted == 1.0
    assert replica.load == 0


def test_a_cancelled_waiter_gives_its_turn_away() -> None:
    replica = Replica(flat(0.5, pool=100), "h")

    async def scenario() -> tuple[int, int]:
        await replica.admit(100)
        large = asyncio.ensure_future(replica.admit(100))
        small = asyncio.ensure_future(replica.admit(10))
        await asyncio.sleep(0)
        waiting = replica.waiting
        large.cancel()
        await asyncio.gather(large, return_exceptions=True)
        replica.leave(100)
        await small
        return waiting, replica.running

    assert asyncio.run(scenario()) == (2, 1)


def test_a_waiter_cancelled_just_after_its_turn_came_leaves_again() -> None:
    replica = Replica(flat(0.5, pool=100), "h")

    async def scenario() -> int:
        await replica.admit(100)
        waiter = asyncio.ensure_future(replica.admit(100))
        await asyncio.sleep(0)
        replica.leave(100)
        waiter.cancel()
        await asyncio.gather(waiter, return_exceptions=True)
        return replica.running

    assert asyncio.run(scenario()) == 0


def test_a_replica_with_one_slot_serves_one_request_after_the_other() -> None:
    clock, replica = Clock(), Replica(flat(0.5), "h")
    replica.slots = 1
    first, second = run_of(replica, clock), run_of(replica, clock)
    asyncio.run(clock.play(moments(first), moments(second)))
    # One second of prefill and three tokens half a second apart: the first is done at 2.0.
    assert (first.times.done, second.times.admitted, second.times.done) == (2.0, 2.0, 4.0)
