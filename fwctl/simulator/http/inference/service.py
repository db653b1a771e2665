"""Inference requests from body to answer: limits, target, prompt, replica, stream or whole."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass
from typing import Any

import orjson
from aiohttp import web

from fwctl.simulator.http.backend import Backend, bearer
from fwctl.simulator.http.engine import answer, speculation
from fwctl.simulator.http.engine import request as requests
from fwctl.simulator.http.engine.replica import Pacer
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer
from fwctl.simulator.http.inference import bodies, metrics_of, misbehave, sizes
from fwctl.simulator.http.inference.directory import Directory
from fwctl.simulator.http.inference.embeddings import Embedder
from fwctl.simulator.http.inference.exporter import Exporter
from fwctl.simulator.http.inference.fleet import Fleet, RequestLimit
from fwctl.simulator.http.inference.recorder import Recorder
from fwctl.simulator.http.inference.run import Run, Times, Timing
from fwctl.simulator.http.inference.sink import send_whole
from fwctl.simulator.http.inference.target import SCALING_UP, Target, callable_models
from fwctl.simulator.http.inference.traffic import Log, Sample
from fwctl.simulator.http.knobs import KnobError, Knobs
from fwctl.simulator.http.reply import InferenceError, inference_error, json_reply, request_id
from fwctl.simulator.platform.errors import PlatformError, SuspendedError
from fwctl.simulator.platform.world import Caller

MAX_BODY_BYTES = 64 * 1024 * 1024


@dataclass
class Call:
    """One HTTP request as far as it has been understood."""

    http: web.Request
    id: str
    received_s: float
    knobs: Knobs
    caller: Caller
    request: requests.Request
    headers: dict[str, str]
    fault: misbehave.Fault | None
    target: Target | None = None

    @property
    def affinity(self) -> str | None:
        """What keeps a session on one replica: the cache key, else the user, else the header."""
        asked = self.request
        return asked.cache_key or asked.user or self.http.headers.get("x-session-affinity")


@dataclass
class Prepared:
    """A call with its answer made."""

    call: Call
    run: Run
    env: bodies.Envelope
    echoes: list[str]
    prediction_tokens: int | None

    def usage(self) -> dict[str, Any]:
        output = sum(len(choice.pieces) for choice in self.run.choices)
        return bodies.usage(self.run.prompt_tokens, output, self.run.cached_tokens)


class Service:
    """All inference endpoints of one server."""

    def __init__(self, backend: Backend, knobs: Knobs, pacer: Pacer) -> None:
        self.backend = backend
        self.knobs = knobs
        self.pacer = pacer
        self.tokenizer = Tokenizer()
        self.directory = Directory(backend)
        self.limit = RequestLimit()
        self.fleets: dict[str, Fleet] = {}
        self.log = Log()
        self.recorder = Recorder(backend, self.log)
        self.exporter = Exporter(backend, knobs, self.log, self.fleets)
        self.embedder = Embedder(self.tokenizer)
        self._writes: set[asyncio.Task[None]] = set()

    async def flush(self) -> None:
        """Write the traffic counted so far to the state."""
        await self.recorder.write(self._concurrent())

    def _concurrent(self) -> dict[str, int]:
        return {name: fleet.concurrent for name, fleet in self.fleets.items()}

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
        seen = await self.directory.find(caller, model)
        if seen.suspended:
            raise InferenceError(412, "PRECONDITION_FAILED", SuspendedError(caller.account).message)
        headers = self.limit.take(caller.account, seen.per_minute, time.monotonic())
        if isinstance(seen.target, InferenceError):
            raise seen.target
        return seen.target, headers

    def fleet(self, target: Target) -> Fleet:
        """The replicas of a target. Raises 503 while none is ready."""
        if target.ready < 1:
            raise InferenceError(503, "DEPLOYMENT_SCALING_UP", SCALING_UP)
        speed = sizes.speed_of(target.deployment, target.base)
        fleet = self.fleets.setdefault(target.name, Fleet(target.name))
        fleet.resize(target.ready, (speed, (target.deployment or {}).get("createTime")), speed)
        return fleet

    async def complete(self, http: web.Request, *, chat: bool) -> web.StreamResponse:
        """POST chat/completions and completions."""
        identity = request_id("chatcmpl" if chat else "cmpl")
        target: Target | None = None
        try:
            identity, received_s, knobs, caller, body = await self.open(http, "chatcmpl" if chat else "cmpl")
            fault = await self._fault(knobs, "chat" if chat else "completion", body)
            await misbehave.before_answer(http, fault)
            asked = requests.read(body, chat=chat)
            target, headers = await self.admitted(caller, asked.model)
            call = Call(http, identity, received_s, knobs, caller, asked, headers, fault, target)
            prepared = self.prepare(call, target)
        except misbehave.InterruptedAnswerError as ended:
            return ended.response
        except (requests.RequestError, KnobError) as error:
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

    def prepare(self, call: Call, target: Target) -> Prepared:
        """Make the answer and choose its replica. Raises RequestError, InferenceError, KnobError."""
        asked, knobs = call.request, call.knobs
        fleet = self.fleet(target)
        fleet.check_concurrency((target.deployment or {}).get("maxConcurrencyPerReplica", 0))
        drafter = sizes.drafter_of(target.deployment, knobs)
        prompts = self._prompts(asked)
        context = sizes.context_of(target.deployment, target.base)
        prompts = [_within(prompt, context, asked) for prompt in prompts]
        replica = fleet.choose(call.affinity)
        isolation = f"{call.caller.account}/{target.adapter}/{asked.isolation_key or ''}"
        cached = sum(replica.cache.lookup(prompt, isolation) for prompt in prompts)
        predicted = self._predicted(asked)
        choices: list[answer.Choice] = []
        passes: list[speculation.Passes] = []
        for at, prompt in enumerate(prompts):
            budget = min(asked.max_tokens, max(0, context - len(prompt)))
            key = (knobs["seed"], asked.seed, target.base["name"], target.adapter, prompt)
            for index in range(asked.n):
                choice = self._choice(call, target, key, index=index, predicted=predicted, budget=budget)
                choices.append(choice)
                draw = rng("draft", key, index, at)
                output = [piece.text for piece in choice.pieces]
                passes.append(
                    speculation.plan_passes(
                        output, prompt=prompt, prediction=predicted, drafter=drafter, draw=draw
                    )
                )
        timing = Timing(
            knobs["inference_speed"],
            None if knobs["ttft_ms"] is None else knobs["ttft_ms"] / 1000,
            knobs["tokens_per_second"],
            knobs["tokens_per_chunk"] if asked.stream else 16,
        )
        total = sum(len(prompt) for prompt in prompts)
        run = Run(replica, self.pacer, timing, total, cached, choices, passes, Times(call.received_s))
        ids = self.tokenizer.ids(prompts[0]) if asked.return_token_ids or asked.raw_output else []
        env = bodies.Envelope(call.id, asked.model, int(time.time()), asked.chat, self.tokenizer, ids)
        echoes = ["".join(prompt) if asked.echo else "" for prompt in prompts for _ in range(asked.n)]
        return Prepared(call, run, env, echoes, len(predicted) if asked.prediction is not None else None)

    def _prompts(self, asked: requests.Request) -> list[list[str]]:
        if asked.chat:
            return [self.tokenizer.split(requests.rendered(asked))]
        return [
            self.tokenizer.split(prompt)
            if isinstance(prompt, str)
            else [self.tokenizer.text_of([n]) for n in prompt]
            for prompt in asked.prompts
        ]

    def _predicted(self, asked: requests.Request) -> Sequence[str]:
        """Tokens of the prediction; it is cut at max_tokens, as documented."""
        if asked.prediction is None:
            return ()
        text = (
            asked.prediction
            if isinstance(asked.prediction, str)
            else self.tokenizer.text_of(asked.prediction)
        )
        return self.tokenizer.split(text)[: asked.max_tokens]

    def _choice(
        self, call: Call, target: Target, key: object, *, index: int, predicted: Sequence[str], budget: int
    ) -> answer.Choice:
        asked, knobs = call.request, call.knobs
        repeated = misbehave.answer_words(call.fault)
        if repeated:
            return answer.Choice([answer.Piece(answer.CONTENT, repeated[0])] * budget, "length")
        if call.fault and call.fault.kind == "empty":
            return answer.Choice([], "stop")
        wishes = answer.Wishes(knobs["output_tokens"], knobs["answer"], knobs["prediction_match"])
        return answer.make_choice(
            asked,
            target.base["name"],
            key,
            index=index,
            predicted=predicted,
            wishes=wishes,
            budget=budget,
        )

    async def answer(self, prepared: Prepared) -> web.StreamResponse:
        """Send the answer, whole or as a stream; a client that leaves stops it."""
        call, status = prepared.call, 499
        try:
            if call.request.stream:
                response = await self._stream(prepared)
            else:
                response = await self._whole(prepared)
            status = 200
        except misbehave.InterruptedAnswerError as ended:
            status, response = 500, ended.response
        finally:
            assert call.target is not None
            self._count(call.target, status, prepared.run)
        return response

    def metrics(self, prepared: Prepared) -> dict[str, Any]:
        deployment = prepared.call.target.deployment if prepared.call.target else None
        return metrics_of.complete(
            prepared.run,
            now=self.pacer.now(),
            deployment=deployment["name"] if deployment else None,
            prediction_tokens=prepared.prediction_tokens,
            conditional=prepared.call.knobs["acceptance_format"] == "conditional",
        )

    async def _whole(self, prepared: Prepared) -> web.StreamResponse:
        call, run = prepared.call, prepared.run
        async with aclosing(run.emissions()) as emissions:
            async for _ in emissions:
                pass
        metrics = self.metrics(prepared)
        usage = {} if call.fault and call.fault.kind == "no-usage" else prepared.usage()
        body = bodies.whole(call.request, prepared.env, run.choices, usage, prepared.echoes)
        if not usage:
            del body["usage"]
        if call.request.perf_metrics:
            body["perf_metrics"] = metrics
        if call.knobs["stamp"]:
            body["sim_stamp"] = self.stamp(call)
        headers = call.headers | metrics_of.headers(metrics)
        return await send_whole(call.http, orjson.dumps(body), headers, call.fault)

    def stamp(self, call: Call) -> dict[str, Any]:
        """The server's own clock: when the request came and when this leaves, both in nanoseconds."""
        return {
            "received_monotonic_ns": int(call.received_s * 1e9),
            "sent_monotonic_ns": time.monotonic_ns(),
            "sent_wall_ns": time.time_ns(),
        }

    async def _stream(self, prepared: Prepared) -> web.StreamResponse:
        from fwctl.simulator.http.inference.stream import Stream

        return await Stream(self, prepared).send()

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
                raise requests.RequestError("model must be a non-empty string", "model")
            target, headers = await self.admitted(caller, body["model"])
            self.fleet(target)
            answer_body = self.embedder.answer(body, body["model"])
        except misbehave.InterruptedAnswerError as ended:
            return ended.response
        except requests.RequestError as error:
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


def _within(prompt: list[str], context: int, asked: requests.Request) -> list[str]:
    """The prompt as far as the request allows it. Raises 400 when the context overflows."""
    if asked.truncate_prompt_to is not None and len(prompt) > asked.truncate_prompt_to:
        prompt = prompt[-asked.truncate_prompt_to :]
    room = asked.max_tokens if asked.on_overflow == "error" else 0
    if len(prompt) + max(room, 0) > context or len(prompt) >= context:
        wanted = f"{len(prompt)} prompt tokens" + (f" and {room} output tokens" if room else "")
        raise InferenceError(
            400,
            "context_length_exceeded",
            f"The request needs {wanted}, which is more than the model's context length of {context}. "
            "Please reduce the length of the messages or completion.",
            param="messages" if asked.chat else "prompt",
        )
    return prompt
