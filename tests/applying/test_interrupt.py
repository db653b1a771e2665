"""Ctrl-C: nothing new is started, what runs is awaited, the report says where everything stands."""

from __future__ import annotations

import os
import signal

from fwctl.applying.interrupt import Interrupt
from fwctl.applying.model import CallResult, Outcome
from fwctl.exitcodes import Exit
from fwctl.planning.model import Step
from tests.applying.fakes import Bench, FakeClock, FakePlatform, Fault, creating, entry, error, plan, spec


class StopsDuringCall(FakePlatform):
    """Somebody presses Ctrl-C while the nth call runs."""

    interrupt: Interrupt
    nth: int = 1

    def call(self, step: Step) -> CallResult:
        result = super().call(step)
        if len(self.calls) == self.nth:
            self.interrupt.request()
        return result


def stopping(bench: Bench, nth: int = 1) -> Interrupt:
    platform = StopsDuringCall(faults=bench.platform.faults)
    platform.interrupt, platform.nth = Interrupt(), nth
    bench.platform = platform
    return platform.interrupt


def test_the_running_call_ends_and_nothing_new_begins(bench: Bench) -> None:
    interrupt = stopping(bench)
    names = ["a", "b", "c"]
    result = bench.apply(
        plan(*map(creating, names)), spec(*map(entry, names)), parallelism=1, interrupt=interrupt
    )
    assert bench.called() == ["deployment create a"]
    outcomes = [r.outcome for r in result.results]
    assert outcomes == [Outcome.IN_PROGRESS, Outcome.NOT_STARTED, Outcome.NOT_STARTED]
    assert result.exit_code is Exit.INTERRUPTED
    assert result.next_steps == ("fwctl wait a", "fwctl apply  # does what is left")


def test_a_refusal_that_arrives_after_the_interrupt_still_counts(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("quota", "quota exceeded"))]
    interrupt = stopping(bench)
    result = bench.apply(plan(creating("a")), spec(entry("a")), interrupt=interrupt)
    assert result.results[0].outcome is Outcome.FAILED
    assert result.exit_code is Exit.INTERRUPTED


def test_a_call_that_was_killed_is_left_open_for_the_next_run(bench: Bench) -> None:
    bench.platform.faults = [Fault("deployment create", 1, error("unknown", "interrupted"), effect=True)]
    interrupt = stopping(bench)
    result = bench.apply(plan(creating("a")), spec(entry("a")), interrupt=interrupt)
    assert result.results[0].outcome is Outcome.IN_PROGRESS
    assert bench.called() == ["deployment create a"]


def test_a_wait_ends_at_once_and_the_deployment_is_left_alone(bench: Bench) -> None:
    bench.platform.start_reads = 10_000
    interrupt = Interrupt()
    bench.clock.on_sleep = lambda: interrupt.request() if bench.clock.elapsed_s > 60 else None
    result = bench.apply(plan(creating("a")), spec(entry("a")), interrupt=interrupt)
    assert result.exit_code is Exit.INTERRUPTED
    assert bench.clock.elapsed_s < 62
    assert bench.called() == ["deployment create a"]


def test_a_sigterm_exits_143(bench: Bench) -> None:
    interrupt = Interrupt()
    interrupt.request(signal.SIGTERM)
    result = bench.apply(plan(creating("a")), spec(entry("a")), interrupt=interrupt)
    assert result.exit_code is Exit.TERMINATED
    assert bench.called() == []


def test_the_second_ctrl_c_asks_to_kill() -> None:
    interrupt = Interrupt()
    interrupt.request()
    assert (interrupt.stop.is_set(), interrupt.kill.is_set()) == (True, False)
    interrupt.request()
    assert interrupt.kill.is_set()


def test_signals_become_requests_and_the_old_handlers_come_back() -> None:
    interrupt = Interrupt()
    before = signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)
    with interrupt.installed():
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.stop.is_set()
        os.kill(os.getpid(), signal.SIGTERM)
        assert (interrupt.kill.is_set(), interrupt.exit_code) == (True, Exit.TERMINATED)
    assert (signal.getsignal(signal.SIGINT), signal.getsignal(signal.SIGTERM)) == before


def test_a_sleep_ends_when_somebody_asks_to_stop() -> None:
    clock, interrupt = FakeClock(), Interrupt()
    interrupt.sleep(clock, 1.0)
    assert clock.elapsed_s == 1.0
    interrupt.request()
    interrupt.sleep(clock, 10.0)
    assert clock.elapsed_s == 1.0
