"""A simulator that listens for the length of a test, in a thread of its own."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from fwctl.simulator.http.server import listening
from fwctl.simulator.state import Store

KEY = "fw_test"
LLAMA = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SERVERLESS = "accounts/fireworks/models/gpt-oss-120b"
MINIMAL = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-minimal"
# A moment at which the clock of a test stands still until the test moves it on.
NOW = "2026-11-30T12:00:00Z"
# Long enough for every start-up stage of a small model.
STARTED_S = 600.0


class Sim:
    """A listening simulator with a client of the admin key."""

    def __init__(self, url: str, home: Path) -> None:
        self.url = url
        self.home = home
        self.http = httpx.Client(base_url=url, headers={"authorization": f"Bearer {KEY}"}, timeout=20)

    def advance(self, seconds: float) -> None:
        """Move the standing clock on."""
        with Store(self.home) as store:
            store.move_clock(seconds, fixed=True)

    def deploy(self, deployment_id: str = "d1", *, ready: bool = True, **fields: Any) -> str:
        """Create a deployment of the small Llama and let it become ready; its full name."""
        body = {"baseModel": LLAMA, "deploymentShape": MINIMAL, "minReplicaCount": 1, **fields}
        answer = self.http.post(f"/v1/accounts/acme/deployments?deploymentId={deployment_id}", json=body)
        assert answer.status_code == 200, answer.text
        if ready:
            self.advance(STARTED_S)
        return str(answer.json()["name"])

    def chat(
        self, model: str = SERVERLESS, *, sim: Mapping[str, str] | None = None, **body: Any
    ) -> httpx.Response:
        """One whole chat answer. sim: knobs, sent as headers."""
        headers = {f"x-sim-{key.replace('_', '-')}": value for key, value in (sim or {}).items()}
        asked = {"model": model, "messages": [{"role": "user", "content": "Say hello."}], **body}
        return self.http.post("/inference/v1/chat/completions", json=asked, headers=headers)

    def stream(self, model: str = SERVERLESS, *, sim: Mapping[str, str] | None = None, **body: Any) -> str:
        """The text of a streamed chat answer."""
        return self.chat(model, sim=sim, stream=True, **body).text


def events(text: str) -> list[Any]:
    """The JSON of every data event; [DONE] stays a string."""
    found = [line.removeprefix("data: ") for line in text.splitlines() if line.startswith("data: ")]
    return [line if line == "[DONE]" else json.loads(line) for line in found]


def content_of(text: str) -> str:
    """The content that a stream's chunks add up to, for choice 0."""
    rows = [row for event in events(text) if event != "[DONE]" for row in event["choices"]]
    return "".join(row["delta"].get("content") or "" for row in rows if row["index"] == 0)


@contextmanager
def serving(folder: Path, **environ: str) -> Iterator[Sim]:
    """A simulator over a state in `folder`, whose answers come without waiting and whose clock stands."""
    settings = {
        "FIRECTL_SIM_HOME": str(folder / "home"),
        "FIRECTL_SIM_INFERENCE_SPEED": "0",
        "FIRECTL_SIM_NOW": NOW,
        **environ,
    }
    settings = {name: value for name, value in settings.items() if value}
    box: dict[str, Any] = {}
    ready = threading.Event()

    async def main() -> None:
        try:
            async with listening("127.0.0.1", 0, environ=settings, cwd=folder) as url:
                box["url"], box["stop"], box["loop"] = url, asyncio.Event(), asyncio.get_running_loop()
                ready.set()
                await box["stop"].wait()
        finally:
            ready.set()

    thread = threading.Thread(target=lambda: asyncio.run(main()), daemon=True)
    thread.start()
    assert ready.wait(20)
    sim = Sim(box["url"], Path(settings["FIRECTL_SIM_HOME"]))
    try:
        yield sim
    finally:
        sim.http.close()
        box["loop"].call_soon_threadsafe(box["stop"].set)
        thread.join(20)
