"""A streamed answer: role chunk, token chunks at their moments, finish chunk, usage, [DONE]."""

from __future__ import annotations

from contextlib import aclosing
from typing import Any

from aiohttp import web

from fwctl.simulator.http.engine.replica import Pacer
from fwctl.simulator.http.inference import metrics_of
from fwctl.simulator.http.inference.bodies import Chunks
from fwctl.simulator.http.inference.call import Prepared
from fwctl.simulator.http.inference.run import Emission
from fwctl.simulator.http.inference.sink import Sink


class Stream:
    def __init__(self, prepared: Prepared, pacer: Pacer) -> None:
        self._pacer = pacer
        self._prepared = prepared
        self._call = prepared.call
        self._run = prepared.run
        self._chunks = Chunks(prepared.call.request, prepared.env, prepared.run.choices, prepared.echoes)
        self._open = len(prepared.run.choices)
        self._usage = self._usage_place()
        self._stamped = bool(prepared.call.knobs["stamp"])

    def _usage_place(self) -> str:
        fault = self._call.fault
        if fault is not None and fault.kind == "no-usage":
            return "none"
        place: str = self._call.knobs["usage"]
        if place != "auto":
            return place
        wanted = self._call.request.include_usage
        return "finish" if wanted is None else "after" if wanted else "none"

    def _extra(self) -> dict[str, Any]:
        return {"sim_stamp": self._prepared.stamp()} if self._stamped else {}

    async def send(self) -> web.StreamResponse:
        """Send everything. Raises InterruptedAnswerError; cancellation frees the replica."""
        response = web.StreamResponse(headers={"cache-control": "no-cache", **self._call.headers})
        response.content_type = "text/event-stream"
        sink = Sink(self._call.http, response, self._call.fault)
        if self._call.knobs["early_role"]:
            await self._begin(sink)
        async with aclosing(self._run.emissions()) as emissions:
            async for group in emissions:
                if not response.prepared:
                    response.headers.update(metrics_of.headers(metrics_of.early(self._run)))
                    await self._begin(sink)
                for emission in group:
                    await self._send_tokens(sink, emission)
        if self._usage == "after":
            await sink.event(self._chunks.event([], {"usage": self._prepared.usage(), **self._extra()}))
        await sink.end()
        return response

    async def _begin(self, sink: Sink) -> None:
        await sink.begin()
        if self._prepared.env.chat:
            await sink.event(self._chunks.role(self._extra()))

    async def _send_tokens(self, sink: Sink, emission: Emission) -> None:
        choice = self._run.choices[emission.choice]
        fault = self._call.fault
        finish = choice.finish_reason if emission.last else None
        extra = self._extra()
        if self._usage == "every":
            extra["usage"] = self._prepared.usage()
        if emission.end > emission.start and not emission.last:
            await sink.event(self._chunks.tokens(emission.choice, emission.start, emission.end, extra, None))
            return
        if emission.end > emission.start:
            await sink.event(self._chunks.tokens(emission.choice, emission.start, emission.end, extra, None))
        self._open -= 1
        if not self._open:
            if self._usage in {"finish", "every"}:
                extra["usage"] = self._prepared.usage()
            if self._call.request.perf_metrics:
                extra["perf_metrics"] = self._prepared.metrics(self._pacer.now())
        if fault is not None and fault.kind == "no-finish":
            return
        await sink.event(
            self._chunks.tokens(emission.choice, emission.end, emission.end, extra, finish), last=True
        )
