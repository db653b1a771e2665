"""A locustfile in the way of public load tests: requests, iter_lines, time to the first content."""

from __future__ import annotations

import json
import time

from locust import HttpUser, constant, events, task


class Streams(HttpUser):
    """One stream after the other."""

    wait_time = constant(0)

    @task
    def stream(self) -> None:
        """Reports the time to the first content as a request named `ttft`."""
        body = {"model": "paced", "stream": True, "messages": [{"role": "user", "content": "-"}]}
        began, seen = time.perf_counter(), False
        response = self.client.post("/v1/chat/completions", json=body, stream=True, name="all")
        for line in response.iter_lines():
            if seen or not line.startswith(b"data: {"):
                continue
            if json.loads(line[6:])["choices"][0]["delta"].get("content"):
                seen = True
                events.request.fire(
                    request_type="SSE",
                    name="ttft",
                    response_time=(time.perf_counter() - began) * 1000,
                    response_length=0,
                    exception=None,
                    context={},
                )
