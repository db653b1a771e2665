"""One request on its way: which target next, and when to stop trying."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.routing import answers
from fwctl.routing.answers import Tried
from fwctl.routing.breaker import Ticket
from fwctl.routing.choose import in_order, session_of
from fwctl.routing.fleet import Fleet
from fwctl.routing.health import Access, Health
from fwctl.routing.jsonbytes import dumps
from fwctl.routing.model import Route, Target
from fwctl.routing.needs import adapted, needs_of
from fwctl.routing.outcome import Outcome, Verdict, outcome_of
from fwctl.routing.record import PASSED_ON, Record
from fwctl.routing.upstream import Call, Opened, Refused

_FIRST_BACKOFF_S = 0.1
# Between the choice of a target and a task's start another request may have become its one probe.
_TAKEN = Refused(Failure(ErrorClass.OVERLOADED, "another request probes the target"))
_STATUS = {
    ErrorClass.RATE_LIMITED: 429,
    ErrorClass.TIMEOUT_TTFT: 504,
    ErrorClass.TIMEOUT_CONNECT: 504,
    ErrorClass.OVERLOADED: 503,
    ErrorClass.SCALING_UP: 503,
}


@dataclass(frozen=True, slots=True)
class Request:
    """What a client wants. path: below /v1. body: its JSON object, `model` is the name of a route.

    headers: those that are sent on, lower case. kind: the client's word for this kind of request.
    """

    path: str
    body: Mapping[str, Any]
    headers: Mapping[str, str] = field(default_factory=dict)
    kind: str | None = None


@dataclass(frozen=True, slots=True)
class Landed:
    """An attempt that has content."""

    target: Target
    health: Health
    ticket: Ticket
    opened: Opened
    adapted: str

    def release(self) -> None:
        """Let it go unused: somebody else was first."""
        self.opened.response.close()
        self.health.settle(self.ticket, Verdict.NOTHING, 0.0)


@dataclass(frozen=True, slots=True)
class Error:
    """An error for the client; `body` is JSON, or the target's own words."""

    code: str
    status: int
    body: bytes
    content_type: str = "application/json"
    retry_after_s: float | None = None


Attempt = Callable[["Flight", tuple[Target, bool]], Awaitable[Landed | Refused]]


class Flight:
    """Runs the attempts of one request. `run` gives a landed attempt or an error."""

    def __init__(self, fleet: Fleet, route: Route, request: Request, record: Record) -> None:
        self.fleet = fleet
        self.route = route
        self.request = request
        self.record = record
        self.loop = fleet.loop
        self.deadline = self.loop.time() + route.total_s
        self.needs = needs_of(request.body)
        session = session_of(request.headers, request.body)
        self.order = in_order(route, self.needs, session, fleet.chance)
        self.asked: set[str] = set()
        self.reserved = False
        self.first: Refused | None = None

    async def run(self, attempt: Attempt) -> Landed | Error:
        """Try targets until one answers, nothing is left, or nothing more is allowed. attempt: makes the next
        one, alone or hedged."""
        if not self.order:
            missing = ", ".join(sorted(self.needs))
            return self._error(answers.BAD_REQUEST, f"no target of this route has: {missing}", 400)
        self.fleet.budget.request(self.loop.time())
        try:
            while True:
                picked = self.pick()
                if picked is None:
                    return self._nothing_left()
                if self.record.tried and not self._may_go_on():
                    return self._no_budget()
                found = await attempt(self, picked)
                if isinstance(found, Landed):
                    return found
                error = await self._after(found)
                if error is not None:
                    return error
        finally:
            if self.reserved:
                self.fleet.budget.give_back(self.loop.time())

    async def _after(self, refused: Refused) -> Error | None:
        """What a failed attempt means for the request: an error, or None to go on."""
        self.first = self.first or refused
        outcome = outcome_of(refused.failure.error_class, refused.status)
        if refused.failure.error_class is ErrorClass.TIMEOUT_TOTAL or self.loop.time() >= self.deadline:
            return self._error(answers.DEADLINE, "the deadline of the request is over", 504)
        if not outcome.moves_on:
            self.record.outcome = PASSED_ON
            return Error(PASSED_ON, refused.status or 502, refused.body, refused.content_type)
        if len(self.record.tried) >= self.route.retry.max_attempts:
            return self._nothing_left()
        if len(self.order) == 1:
            if outcome.verdict is not Verdict.BROKEN:
                return self._nothing_left()
            self.asked.clear()
            spread = _FIRST_BACKOFF_S * 2.0 ** (len(self.record.tried) - 1)
            await asyncio.sleep(min(self.fleet.chance() * spread, self.deadline - self.loop.time()))
        return None

    def pick(self) -> tuple[Target, bool] | None:
        """The next target, and whether it is a desperate choice. None when none takes a request."""
        now = self.loop.time()
        first = self.order[0]
        if not self.asked and self.access(first, now) is Access.READY:
            return first, False
        left = [target for target in self.order if target.name not in self.asked]
        access = {target.name: self.access(target, now) for target in left}
        sure = [target for target in left if access[target.name] in (Access.READY, Access.BACK)]
        for target in left:
            if access[target.name] is Access.READY:
                return target, False
            if access[target.name] is Access.PROBE and (not sure or self._reserve(now)):
                return target, False
        if sure:
            return sure[0], False
        for target in left:
            if self.access(target, now, desperate=True) is not Access.NO:
                return target, True
        return None

    def health(self, target: Target) -> Health:
        """The state of a target for requests of this kind."""
        return self.fleet.health(target, self.route, self.request.path)

    def access(self, target: Target, now: float, *, desperate: bool = False) -> Access:
        """How willing a target is, its account's limit included."""
        if self.fleet.payer(target).refuses(now, desperate=desperate):
            return Access.NO
        return self.health(target).access(now, desperate=desperate)

    def _reserve(self, now: float) -> bool:
        """A probe may fail, so the attempt that would follow is set aside first."""
        if len(self.record.tried) + 2 > self.route.retry.max_attempts:
            return False
        self.reserved = self.reserved or self.fleet.budget.take(now)
        return self.reserved

    def _may_go_on(self) -> bool:
        if self.reserved:
            self.reserved = False
            return True
        return self.fleet.budget.take(self.loop.time())

    async def attempt(self, target: Target, desperate: bool, *, hedge: bool = False) -> Landed | Refused:
        """Send to one target. Whatever happens, its ticket is settled or belongs to the result.

        Raises ValueError for a body that cannot be written.
        """
        self.asked.add(target.name)
        health = self.health(target)
        started = self.loop.time()
        body, changes = adapted(self.request.body, target, self.needs)
        call = Call(
            self.request.path,
            dumps(body),
            self.fleet.headers(target, self.request.headers),
            self.record.stream,
            self.deadline,
            self._answer_s(started),
        )
        ticket = health.admit(started, desperate=desperate)
        if ticket is None:
            return _TAKEN
        try:
            found = await self.fleet.upstream.open(call, target)
        except BaseException:
            health.stops_waiting()
            health.settle(ticket, Verdict.NOTHING, self.loop.time())
            self._note(target, "cancelled", None, started, hedge=hedge)
            raise
        if isinstance(found, Refused):
            self._refused(target, health, ticket, found, started, hedge=hedge)
            return found
        self._note(target, None, 200, started, hedge=hedge)
        now = self.loop.time()
        if self.record.stream:
            health.first_token(ticket, now - started, now)
        else:
            health.stops_waiting()
            health.settle(ticket, Verdict.OK, now)
        return Landed(target, health, ticket, found, changes)

    def _answer_s(self, now: float) -> float:
        """A whole answer may take what is left, or half of it while another target could follow."""
        left = max(0.0, self.deadline - now)
        others = len(self.asked) < len(self.order) and len(self.asked) < self.route.retry.max_attempts
        return left / 2 if others else left

    def _refused(
        self, target: Target, health: Health, ticket: Ticket, found: Refused, started: float, *, hedge: bool
    ) -> None:
        now = self.loop.time()
        outcome = outcome_of(found.failure.error_class, found.status)
        if found.failure.error_class is ErrorClass.TIMEOUT_TOTAL and not self.record.tried:
            outcome = Outcome(Verdict.BROKEN, moves_on=False)
        health.stops_waiting()
        health.settle(ticket, outcome.verdict, now, retry_after_s=found.retry_after_s)
        if found.limited_by == "account":
            self.fleet.payer(target).shed(now, found.retry_after_s)
        self._note(target, found.failure.error_class.value, found.status, started, hedge=hedge)

    def _note(
        self, target: Target, word: str | None, status: int | None, started: float, *, hedge: bool
    ) -> None:
        self.record.tried.append(Tried(target.name, word, status, self.loop.time() - started, hedge))

    def _error(self, code: str, message: str, status: int, retry_after_s: float | None = None) -> Error:
        self.record.outcome = code
        body = answers.error_body(code, message, status, self.record.tried)
        return Error(code, status, body, retry_after_s=retry_after_s)

    def _no_budget(self) -> Error:
        """The first error goes back, so that an outage is not made worse by retries."""
        assert self.first is not None
        what = self.first.failure
        message = f"{what.message}; no further attempt, because the retry budget is used up"
        status = _STATUS.get(what.error_class, 502)
        return self._error(answers.BUDGET_EXHAUSTED, message, status, self.first.retry_after_s)

    def _nothing_left(self) -> Error:
        now = self.loop.time()
        limits = [(self.fleet.payer(target), self.health(target)) for target in self.order]
        waits = [max(payer.wait_s(now), health.wait_s(now)) for payer, health in limits]
        shed = all(payer.is_shed(now) or health.is_shed(now) for payer, health in limits)
        last = self.first.failure.error_class if self.first is not None else None
        status = _STATUS.get(last, 502) if last is not None else 429 if shed else 503
        count = len(self.record.tried)
        message = f"no target of the route could answer ({count} tried)"
        return self._error(answers.ALL_TARGETS_FAILED, message, status, min(waits))
