"""The router: OpenAI-compatible requests in, an answer of the first target that can give one out.

```python
async with Router(load_routes(Path("routes.yaml"), os.environ, Path.cwd())) as router:
    async with await router.send(Request("chat/completions", {"model": "chat", ...})) as answer:
        async for piece in answer: ...
```
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping
from types import TracebackType
from typing import Any, Self

from fwctl.inference.failures import ErrorClass, Failure
from fwctl.routing import answers, record
from fwctl.routing.answers import error_body
from fwctl.routing.breaker import State
from fwctl.routing.fleet import Fleet, Headers, headers_for
from fwctl.routing.flight import Error, Flight, Landed, Request
from fwctl.routing.hedging import Hedges
from fwctl.routing.jsonbytes import dumps, loads
from fwctl.routing.model import Routes
from fwctl.routing.outcome import Verdict, outcome_of
from fwctl.routing.record import Observer, Record, nobody
from fwctl.routing.stream import Stream, renaming

__all__ = ["Answer", "Request", "Router"]

STREAM_TYPE = "text/event-stream; charset=utf-8"


class Answer:
    """What goes back. Iterate over it for the body; close it, or use it with `async with`.

    status and headers are those for the client. The body of a stream ends early, with an error event and
    without [DONE], when the target breaks off.
    """

    def __init__(self, status: int, headers: dict[str, str], body: bytes | Stream, noted: Record) -> None:
        self.status = status
        self.headers = headers
        self.body = body
        self.record = noted

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if isinstance(self.body, bytes):
            yield self.body
            return
        async for piece in self.body:
            yield piece

    async def read(self) -> bytes:
        """The whole body."""
        return b"".join([piece async for piece in self])

    def close(self) -> None:
        """Let the target go; a stream that has not ended counts as left by the client."""
        if isinstance(self.body, Stream):
            self.body.close()

    async def __aenter__(self) -> Answer:
        return self

    async def __aexit__(self, *exc: object) -> None:
        self.close()


class Router:
    """Routes requests of one process. Make it inside a running loop and close it.

    observer: called with the record of every request at its end. seed: for tests, fixes the jitter. headers:
    what a target receives, from those of the client.
    """

    def __init__(
        self,
        routes: Routes,
        *,
        observer: Observer = nobody,
        seed: int | None = None,
        headers: Headers = headers_for,
    ) -> None:
        self.routes = routes
        self.fleet = Fleet(routes, random.Random(seed).random, headers)  # noqa: S311 - jitter, not secrets
        self.loop = self.fleet.loop
        self._hedges = Hedges()
        self._observer = observer

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection."""
        await self.fleet.close()

    def reload(self, routes: Routes) -> None:
        """Other routes from now on; running requests keep theirs, targets that stay keep their state."""
        self.routes = routes
        self.fleet.reload(routes)

    async def send(self, request: Request) -> Answer:
        """Answer one request. Only cancellation is raised; failures are answers with an error body."""
        started = self.loop.time()
        body = request.body
        noted = Record(str(body.get("model")), request.path, bool(body.get("stream")), request.kind)
        route = self.routes.routes.get(noted.route)
        if route is None:
            noted.route = "unknown"
            noted.outcome = answers.UNKNOWN_ROUTE
            names = ", ".join(self.routes.routes)
            words = f"there is no route of this name; model is one of: {names}"
            return self._failed(Error(noted.outcome, 404, error_body(noted.outcome, words, 404)), noted)
        flight = Flight(self.fleet, route, request, noted)
        try:
            found = await flight.run(self._hedges.attempt)
        except ValueError as error:
            noted.outcome = answers.BAD_REQUEST
            data = error_body(noted.outcome, f"the request cannot be sent on: {error}", 400)
            found = Error(noted.outcome, 400, data)
        except asyncio.CancelledError:
            noted.outcome = record.CLIENT_GONE
            noted.total_s = self.loop.time() - started
            self._observer(noted)
            raise
        noted.total_s = self.loop.time() - started
        return (
            self._failed(found, noted) if isinstance(found, Error) else self._landed(flight, found, started)
        )

    def states(self) -> list[tuple[str, str, State]]:
        """Route, target and state of its breaker, for the metrics page."""
        return self.fleet.states(self.routes)

    def _failed(self, error: Error, noted: Record) -> Answer:
        noted.status = error.status
        headers = {"content-type": error.content_type, "x-fwctl-attempts": str(noted.attempts)}
        if error.code in (answers.ALL_TARGETS_FAILED, answers.BUDGET_EXHAUSTED):
            # OpenAI's clients retry by themselves, which would multiply the attempts of an outage.
            headers["x-should-retry"] = "false"
        if error.code == record.PASSED_ON and noted.tried:
            noted.target = headers["x-fwctl-target"] = noted.tried[-1].target
        if error.retry_after_s:
            headers["retry-after"] = str(max(1, round(error.retry_after_s + 0.499)))
        self._observer(noted)
        return Answer(error.status, headers, error.body, noted)

    def _landed(self, flight: Flight, landed: Landed, started: float) -> Answer:
        noted, target = flight.record, landed.target
        noted.target, noted.adapted = target.name, landed.adapted
        headers = {"x-fwctl-target": target.name, "x-fwctl-attempts": str(noted.attempts)}
        if landed.adapted:
            headers["x-fwctl-adapted"] = landed.adapted
        shown = flight.route.name if flight.route.report_model == "route" else None
        if not noted.stream:
            headers["content-type"] = "application/json"
            body = _whole(landed.opened.data, shown, noted)
            self._observer(noted)
            return Answer(200, headers, body, noted)
        noted.first_token_s = noted.total_s
        headers["content-type"] = STREAM_TYPE
        headers["cache-control"] = "no-cache"
        many = flight.request.body.get("n")
        stream = Stream(
            landed.opened,
            wanted=many if isinstance(many, int) and many > 0 else 1,
            idle_s=target.timeouts.idle_s,
            deadline=flight.deadline,
            rename=renaming(landed.opened.model, shown) if shown is not None else (),
            ended=lambda scanner, failure, left: self._ended(
                landed, noted, started, scanner.usage, failure=failure, left=left
            ),
        )
        return Answer(200, headers, stream, noted)

    def _ended(
        self,
        landed: Landed,
        noted: Record,
        started: float,
        usage: Mapping[str, Any] | None,
        *,
        failure: Failure | None,
        left: bool,
    ) -> None:
        """A stream is over: settle with its target, tell the observer."""
        now = self.loop.time()
        noted.total_s = now - started
        noted.usage = usage
        verdict = Verdict.NOTHING if left else Verdict.OK
        if left:
            noted.outcome = record.CLIENT_GONE
        elif failure is not None:
            late = failure.error_class is ErrorClass.TIMEOUT_TOTAL
            noted.outcome = answers.DEADLINE if late else answers.UPSTREAM_CUT
            verdict = outcome_of(failure.error_class).verdict
        landed.health.settle(landed.ticket, verdict, now, cut=True)
        self._observer(noted)


def _whole(data: bytes, shown: str | None, noted: Record) -> bytes:
    """The body of a whole answer: unchanged, or with the route's name as its model."""
    payload = loads(data)
    if isinstance(usage := payload.get("usage"), dict):
        noted.usage = usage
    if shown is None:
        return data
    return dumps({**payload, "model": shown})
