"""Runs procedures side by side: bounded calls, one shared reader, one clock, one place for events.

Everything here happens in the calling thread, except the calls to the platform themselves.
"""

from __future__ import annotations

import contextlib
import queue
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from fwctl.applying.calls import Caller
from fwctl.applying.effects import (
    ActionFailedError,
    Ask,
    Call,
    Effect,
    Ended,
    Look,
    Poll,
    Procedure,
    StoppedError,
)
from fwctl.applying.events import Events
from fwctl.applying.model import ApplyOptions, CallResult, Outcome, Platform, Problem, Result
from fwctl.applying.problems import STOPPING_CLASSES, TRANSIENT_CLASSES, from_error
from fwctl.applying.schedule import RING, Item, Key, Schedule
from fwctl.env import Clock
from fwctl.errors import FwctlError


@dataclass(slots=True)
class _Task:
    """An item under way."""

    item: Item
    steps: Procedure[Ended]
    began_s: float
    fresh: bool = True  # no poll has answered since it began or wrote something


@dataclass(slots=True)
class _Queues:
    """Where tasks stand while they wait for something."""

    calls: deque[tuple[_Task, Call]] = field(default_factory=deque)
    looks: list[_Task] = field(default_factory=list)
    polls: list[_Task] = field(default_factory=list)
    pauses: list[tuple[float, _Task]] = field(default_factory=list)


class Engine:
    """Carries out items once; `run` answers with one result for each, in the order given."""

    def __init__(
        self,
        items: Sequence[Item],
        *,
        platform: Platform,
        clock: Clock,
        options: ApplyOptions,
        caller: Caller,
        events: Events,
    ) -> None:
        self._items = list(items)
        self._platform = platform
        self._clock = clock
        self._options = options
        self._caller = caller
        self._events = events
        self._schedule = Schedule(items, wait=options.wait)
        self._results: dict[Key, Result] = {}
        self._active: dict[Key, _Task] = {}
        self._at = _Queues()
        self._answers: queue.SimpleQueue[Callable[[], None]] = queue.SimpleQueue()
        self._busy_calls: set[Key] = set()
        self._looking: set[Key] = set()
        self._jobs = 0
        self._reading = False
        self._next_poll_s = clock.monotonic() + options.poll_interval_s
        self._halt: str | None = None

    def run(self) -> list[Result]:
        with ThreadPoolExecutor(self._options.parallelism + 2) as pool:
            self._pool = pool
            while self._schedule.todo or self._active:
                self._leave_if_interrupted()
                self._start_items()
                self._dispatch()
                self._await_something()
        return [self._results[item.key] for item in self._items]

    def _start_items(self) -> None:
        while self._start_or_drop_one():
            pass

    def _start_or_drop_one(self) -> bool:
        """Begins an item, or ends one that will not begin; False when neither can be said of any."""
        left = self._schedule.todo
        if not left:
            return False
        hopeless = self._schedule.hopeless()
        if self._halt is not None:
            self._finish(left[0], 0.0, Ended(Outcome.NOT_STARTED, self._halt))
        elif hopeless is not None:
            self._skip(*hopeless)
        elif self._places_taken() >= self._options.parallelism:
            return False
        elif (item := self._schedule.ready()) is not None:
            self._begin(item)
        elif not self._active:
            self._skip(left[0], RING)
        else:
            return False
        return True

    def _places_taken(self) -> int:
        """Items that are in a call, are about to make one, or keep their place."""
        waiting = {task.item.key for task, _ in self._at.calls}
        kept = {task.item.key for task in self._active.values() if task.item.exclusive}
        return len(self._busy_calls | self._looking | waiting | kept)

    def _begin(self, item: Item) -> None:
        self._schedule.begin(item)
        task = _Task(item, item.procedure(), self._clock.monotonic())
        self._active[item.key] = task
        self._events.emit("started", item, actions=list(item.actions))
        self._resume(task, None)

    def _skip(self, item: Item, why: str) -> None:
        self._finish(item, 0.0, Ended(Outcome.SKIPPED, problem=Problem("firectl_failed", why)))

    def _resume(self, task: _Task, value: Any) -> None:
        self._advance(task, lambda: task.steps.send(value))

    def _throw(self, task: _Task, error: Exception) -> None:
        self._advance(task, lambda: task.steps.throw(error))

    def _advance(self, task: _Task, go: Callable[[], Effect]) -> None:
        try:
            self._queue(task, go())
        except StopIteration as end:
            self._close(task, end.value)
        except ActionFailedError as failed:
            self._close(task, Ended(Outcome.FAILED, problem=failed.problem))
        except FwctlError as error:
            self._close(task, Ended(Outcome.FAILED, problem=from_error(error)))
        except StoppedError:
            note = "left as it is; `fwctl apply` goes on from here"
            self._close(task, Ended(Outcome.IN_PROGRESS, note))

    def _queue(self, task: _Task, effect: Effect) -> None:
        match effect:
            case Call():
                self._at.calls.append((task, effect))
            case Look():
                self._looking.add(task.item.key)
                self._at.looks.append(task)
            case Poll():
                self._at.polls.append(task)
            case Ask(model):
                self._submit(lambda: self._platform.ask(model), lambda got: self._deliver(task, got))
            case _:
                self._at.pauses.append((self._clock.monotonic() + effect.seconds, task))

    def _close(self, task: _Task, ended: Ended) -> None:
        del self._active[task.item.key]
        self._finish(task.item, self._clock.monotonic() - task.began_s, ended)

    def _finish(self, item: Item, seconds: float, ended: Ended) -> None:
        result = Result(
            item.name,
            item.address,
            ended.deployment_id or item.deployment_id,
            item.actions,
            ended.outcome,
            seconds,
            ended.problem,
            ended.note,
        )
        self._results[item.key] = result
        self._schedule.end(item, ended.outcome)
        self._events.finished(item, result)
        if ended.outcome is Outcome.FAILED and ended.problem is not None:
            self._after_failure(item, ended.problem)

    def _after_failure(self, item: Item, problem: Problem) -> None:
        if problem.error_class in STOPPING_CLASSES:
            self._halt = f"every further call would fail like the one of {item.name}"
        elif self._options.fail_fast:
            self._halt = f"{item.name} failed and --fail-fast was given"

    def _dispatch(self) -> None:
        self._dispatch_calls()
        now = self._clock.monotonic()
        due = [task for at, task in self._at.pauses if at <= now]
        self._at.pauses = [(at, task) for at, task in self._at.pauses if at > now]
        for task in due:
            self._resume(task, None)
        if not self._reading and (self._at.looks or self._poll_is_due(now)):
            self._start_reading(now)

    def _dispatch_calls(self) -> None:
        while self._at.calls and len(self._busy_calls) < self._options.parallelism:
            task, call = self._at.calls.popleft()
            self._busy_calls.add(task.item.key)
            self._events.emit("call", task.item, argv=list(self._platform.argv(call.step)))
            self._submit(partial(self._caller.call, task.item, call.step), partial(self._call_returned, task))

    def _call_returned(self, task: _Task, got: Any) -> None:
        self._busy_calls.discard(task.item.key)
        task.fresh = True
        if isinstance(got, CallResult):
            self._events.emit(
                "answer", task.item, error_class=got.error_class, message=got.message, seconds=got.seconds
            )
        self._deliver(task, got)

    def _poll_is_due(self, now: float) -> bool:
        if not self._at.polls:
            return False
        quiet = not self._busy_calls and not self._at.calls
        return now >= self._next_poll_s or (quiet and any(task.fresh for task in self._at.polls))

    def _start_reading(self, now: float) -> None:
        readers, self._at.looks = self._at.looks, []
        pollers, self._at.polls = self._at.polls, []
        self._reading = True
        self._next_poll_s = now + self._options.poll_interval_s
        self._submit(self._platform.read, lambda got: self._read_returned(readers, pollers, got))

    def _read_returned(self, readers: list[_Task], pollers: list[_Task], got: Any) -> None:
        self._reading = False
        if isinstance(got, FwctlError) and getattr(got, "error_class", "") in TRANSIENT_CLASSES:
            self._events.note(f"reading the deployments failed and is tried again: {got.message}")
            self._at.polls += pollers
            pollers = []
        if isinstance(got, FwctlError) and self._options.interrupt.stop.is_set():
            got = StoppedError()
        self._looking -= {task.item.key for task in readers}
        for task in readers + pollers:
            task.fresh = False
            self._deliver(task, got)

    def _deliver(self, task: _Task, got: Any) -> None:
        if isinstance(got, Exception):
            self._throw(task, got)
        else:
            self._resume(task, got)

    def _submit(self, job: Callable[[], Any], then: Callable[[Any], None]) -> None:
        """Runs `job` in a thread; `then` gets its value, or its exception, in this one."""
        self._jobs += 1

        def work() -> None:
            try:
                got = job()
            except Exception as error:
                got = error
            self._answers.put(lambda: then(got))

        self._pool.submit(work)

    def _await_something(self) -> None:
        """Blocks until a job has answered, a poll or pause is due, or a heartbeat must go out."""
        wait_s = self._seconds_until_due()
        if self._jobs:
            with contextlib.suppress(queue.Empty):
                self._take(self._answers.get(timeout=max(wait_s, 0.001)))
        elif self._active:
            self._options.interrupt.sleep(self._clock, wait_s)
        self._events.heartbeat([task.item for task in self._active.values()])

    def _take(self, answer: Callable[[], None]) -> None:
        self._jobs -= 1
        answer()

    def _seconds_until_due(self) -> float:
        now = self._clock.monotonic()
        times = [at for at, _ in self._at.pauses] + [self._events.next_heartbeat_s()]
        if self._at.polls and not self._reading:
            quiet = not self._busy_calls and not self._at.calls
            times.append(now if quiet and any(t.fresh for t in self._at.polls) else self._next_poll_s)
        return max(0.0, min(times) - now)

    def _leave_if_interrupted(self) -> None:
        """Ends what only waits; calls under way are awaited and their answers still count."""
        if not self._options.interrupt.stop.is_set():
            return
        self._halt = self._halt or "interrupted before it began"
        waiting = [*self._at.polls, *self._at.looks]
        waiting += [task for _, task in self._at.pauses] + [task for task, _ in self._at.calls]
        self._at = _Queues()
        self._looking -= {task.item.key for task in waiting}
        for task in waiting:
            self._throw(task, StoppedError())
