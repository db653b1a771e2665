"""Inference requests from body to answer: limits, target, prompt, replica, stream or whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from contextlib import aclosing
from typing import Any

import orjson
from aiohttp import web

from fwctl.simulator.http.backend import Backend, bearer
from fwctl.simulator.http.engine import request as requests
from fwctl.simulator.http.engine.fields import RequestError
from fwctl.simulator.http.engine.replica import Pacer
from fwctl.simulator.http.inference import bodies, metrics_of, misbehave
from fwctl.simulator.http.inference.call import Call, Prepared
from fwctl.simulator.http.inference.directory import Directory
from fwctl.simulator.http.inference.embeddings import Embedder
from fwctl.simulator.http.inference.exporter import Exporter
from fwctl.simulator.http.inference.fleet import RequestLimit
from fwctl.simulator.http.inference.prepare import Preparer
from fwctl.simulator.http.inference.recorder import Recorder
from fwctl.simulator.http.inference.run import Run
from fwctl.simulator.http.inference.sink import send_whole
from fwctl.simulator.http.inference.stream import Stream
from fwctl.simulator.http.inference.target import Target, callable_models
from fwctl.simulator.http.inference.traffic import Log, Sample
from fwctl.simulator.http.knobs import KnobError, Knobs
from fwctl.simulator.http.reply import InferenceError, inference_error, json_reply, request_id
from fwctl.simulator.platform.errors import PlatformError, SuspendedError
from fwctl.simulator.platform.world import Caller

MAX_BODY_BYTES = 64 * 1024 * 1024


class Service:
    """All inference endpoints of one server."""

    def __init__(self, backend: Backend, knobs: Knobs, pacer: Pacer, known: Mapping[str, str]) -> None:
        self.backend = backend
        self.knobs = knobs
        self.pacer = pacer
        self.directory = Directory(backend)
        self.limit = RequestLimit()
        self.preparer = Preparer(pacer, known)
        self.log = Log()
        self.recorder = Recorder(backend, self.log)
        self.exporter = Exporter(backend, knobs, self.log, self.preparer.fleets)
        self.embedder = Embedder(self.preparer.tokenizer)
        self._writes: set[asyncio.Task[None]] = set()

    async def flush(self) -> None:
        """Write the traffic counted so far to the state."""
        await self.recorder.write(self.preparer.concurrent())

    async def run(self) -> None:
        """Look at the replicas and write the traffic once a second, until cancelled."""
        while True:
            await asyncio.sleep(1.0)
            self.exporter.look()
            await self.flush()

    async def close(self) -> None:
        await asyncio.gather(*self._writes, return_exceptions=True)
        await self.flush()

    async def open(self, http: web.Request, prefix: str) -> tuple[str, float, Knobs, Caller, Any]:
        """What every endpoint begins with: key, knobs, body. Raises InferenceError."""
        received_s = self.pacer.now()
        try:
            knobs = self.knobs.with_request(http.headers, http.query)
            caller = await self.backend.caller(bearer(http.headers))
        except KnobError as error:
            raise InferenceError(400, "INVALID_ARGUMENT", str(error)) from None
        except PlatformError as error:
            raise InferenceError(401, "UNAUTHORIZED", error.message) from None
        raw = await http.read()
        try:
            body = orjson.loads(raw)
        except orjson.JSONDecodeError as error:
            raise InferenceError(400, "INVALID_ARGUMENT", f"the body is not JSON: {error}") from None
        return request_id(prefix), received_s, knobs, caller, body

    async def _glimpse(self, caller: Caller, body: Any) -> Target | None:
        """Whom the body means, so that refusals count as errors of that deployment."""
        model = body.get("model") if isinstance(body, dict) else None
        if not isinstance(model, str):
            return None
        seen = await self.directory.find(caller, model, self.preparer.concurrent())
        return seen.target if isinstance(seen.target, Target) else None

    async def _fault(self, knobs: Knobs, endpoint: str, body: Any) -> misbehave.Fault | None:
        """The fault of this request: its own knob's, else the first stored rule that hits it."""
        if knobs["fault"]:
            return misbehave.parse(knobs["fault"])
        model = body.get("model") if isinstance(body, dict) else None
        for rule in await self.backend.faults(f"inference {endpoint} {model}"):
            fault = misbehave.from_rule(rule)
            if fault is not None:
                return fault
        return None

    async def admitted(self, caller: Caller, model: str) -> tuple[Target, dict[str, str]]:
        """The target of a model string after the account's checks; the rate headers."""
        seen = await self.directory.find(caller, model, self.preparer.concurrent())
        if seen.suspended:
            raise InferenceError(412, "PRECONDITION_FAILED", SuspendedError(caller.account).message)
        headers = self.limit.take(caller.account, seen.per_minute, time.monotonic())
        if isinstance(seen.target, InferenceError):
            raise seen.target
        return seen.target, headers

    async def complete(self, http: web.Request, *, chat: bool) -> web.StreamResponse:
        """POST chat/completions and completions."""
        identity = request_id("chatcmpl" if chat else "cmpl")
        target: Target | None = None
        try:
            identity, received_s, knobs, caller, body = await self.open(http, "chatcmpl" if chat else "cmpl")
            target = await self._glimpse(caller, body)
            fault = await self._fault(knobs, "chat" if chat else "completion", body)
            await misbehave.before_answer(http, fault)
            asked = requests.read(body, chat=chat)
            target, headers = await self.admitted(caller, asked.model)
            call = Call(http, identity, received_s, knobs, caller, asked, headers, fault, target)
            prepared = self.preparer.prepare(call)
        except misbehave.InterruptedAnswerError as ended:
            if target is not None:
                self._count(target, max(500, ended.response.status), None)
            return ended.response
        except (RequestError, KnobError) as error:
            param = getattr(error, "param", None)
            return self._refuse(
                InferenceError(400, "INVALID_ARGUMENT", str(error), param=param), identity, target
            )
        except InferenceError as error:
            return self._refuse(error, identity, target)
        return await self.answer(prepared)

    def _refuse(self, error: InferenceError, identity: str, target: Target | None) -> web.Response:
        if target is not None:
            self._count(target, error.status, None)
        return inference_error(error, identity)

    async def answer(self, prepared: Prepared) -> web.StreamResponse:
        """Send the answer, whole or as a stream; a client that leaves stops it."""
        call, status = prepared.call, 499
        try:
            if call.request.stream:
                response = await Stream(prepared, self.pacer).send()
            else:
                response = await self._whole(prepared)
            status = 200
        except misbehave.InterruptedAnswerError as ended:
            status, response = 500, ended.response
        finally:
            self._count(call.target, status, prepared.run)
        return response

    async def _whole(self, prepared: Prepared) -> web.StreamResponse:
        call, run = prepared.call, prepared.run
        async with aclosing(run.emissions()) as emissions:
            async for _ in emissions:
                pass
        metrics = prepared.metrics(self.pacer.now())
        usage = {} if call.fault and call.fault.kind == "no-usage" else prepared.usage()
        body = bodies.whole(call.request, prepared.env, run.choices, usage, prepared.echoes)
        if not usage:
            del body["usage"]
        if call.request.perf_metrics:
            body["perf_metrics"] = metrics
        if call.knobs["stamp"]:
            body["sim_stamp"] = prepared.stamp()
        headers = call.headers | metrics_of.headers(metrics)
        return await send_whole(call.http, orjson.dumps(body), headers, call.fault)

    def _count(self, target: Target, status: int, run: Run | None) -> None:
        """Enter a finished request in the log."""
        now = self.pacer.now()
        sample = Sample(now, target.name, target.base["name"], _account(target), status)
        if run is not None and run.times.admitted:
            times, output = run.times, sum(run.emitted)
            after_first = now - times.prefill_end
            sample = sample._replace(
                prompt_tokens=run.prompt_tokens,
                cached_tokens=run.cached_tokens,
                output_tokens=output,
                ttft_ms=(times.prefill_end - times.received) * 1000,
                total_ms=(now - times.received) * 1000,
                queue_ms=(times.prefill_start - times.received) * 1000,
                prefill_ms=(times.prefill_end - times.prefill_start) * 1000,
                per_token_ms=after_first * 1000 / max(1, output - 1),
                drafted=sum(passes.drafted for passes in run.passes),
                accepted=sum(sum(passes.hits) for passes in run.passes),
            )
        self._enter(sample)

    def _enter(self, sample: Sample) -> None:
        self.log.add(sample)
        if self.recorder.due(sample.deployment):
            task = asyncio.get_running_loop().create_task(self.flush())
            self._writes.add(task)
            task.add_done_callback(self._writes.discard)

    async def embed(self, http: web.Request) -> web.StreamResponse:
        """POST embeddings."""
        identity = request_id("embd")
        try:
            identity, received_s, knobs, caller, body = await self.open(http, "embd")
            await misbehave.before_answer(http, await self._fault(knobs, "embedding", body))
            if not isinstance(body, dict) or not isinstance(body.get("model"), str):
                raise RequestError("model must be a non-empty string", "model")
            target, headers = await self.admitted(caller, body["model"])
            self.preparer.fleet(target)
            answer_body = self.embedder.answer(body, body["model"])
        except misbehave.InterruptedAnswerError as ended:
            return ended.response
        except RequestError as error:
            return inference_error(
                InferenceError(400, "INVALID_ARGUMENT", str(error), param=error.param), identity
            )
        except InferenceError as error:
            return inference_error(error, identity)
        tokens = answer_body["usage"]["prompt_tokens"]
        total_ms = (self.pacer.now() - received_s) * 1000
        name, base = target.name, target.base["name"]
        self._enter(Sample(self.pacer.now(), name, base, _account(target), 200, tokens, total_ms=total_ms))
        return json_reply(answer_body, headers=headers)

    async def models(self, http: web.Request) -> web.StreamResponse:
        """GET models: what this key can send requests to."""
        try:
            caller = await self.backend.caller(bearer(http.headers))
        except PlatformError as error:
            return inference_error(InferenceError(401, "UNAUTHORIZED", error.message), request_id("models"))
        rows = await self.backend.run(callable_models, caller)
        return json_reply({"object": "list", "data": rows})


def _account(target: Target) -> str:
    return target.name.split("/", 2)[1]
