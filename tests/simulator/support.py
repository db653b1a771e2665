"""One call of firectl-sim in this process, and worlds for the platform's rules."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from fwctl.simulator import catalogue, profiles
from fwctl.simulator.commands.app import NOTICE, run
from fwctl.simulator.platform import deployments
from fwctl.simulator.platform.placing import CreateOptions
from fwctl.simulator.platform.world import Caller, World
from fwctl.simulator.state import Doc

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
MODEL_70B = "accounts/fireworks/models/llama-v3p1-70b-instruct"
SHAPES = "accounts/fireworks/deploymentShapes"
FAST = f"{SHAPES}/llama-v3p1-8b-instruct-fast"
BF16 = f"{SHAPES}/llama-v3p1-8b-instruct-bf16"
ADAPTER = "accounts/acme/models/support-lora"
NOW = "2026-11-30T12:00:00Z"
NOW_S = 1_796_040_000.0  # 2026-11-30T12:00:00Z: 20,787 days and 12 hours after the epoch

_CATALOGUE = catalogue.load()


class MemoryTx:
    """A transaction of `simulator.state` over dicts."""

    def __init__(self) -> None:
        self._docs: dict[tuple[str, str], str] = {}
        self._meta: dict[str, Any] = {}

    def get(self, kind: str, name: str) -> Doc | None:
        text = self._docs.get((kind, name))
        return None if text is None else json.loads(text)

    def put(self, kind: str, name: str, doc: Doc) -> None:
        self._docs[kind, name] = json.dumps(doc)

    def remove(self, kind: str, name: str) -> None:
        self._docs.pop((kind, name), None)

    def all(self, kind: str) -> Iterator[Doc]:
        for key in sorted(key for key in self._docs if key[0] == kind):
            yield json.loads(self._docs[key])

    def meta(self, key: str) -> Any:
        return self._meta.get(key)

    def set_meta(self, key: str, value: Any) -> None:
        self._meta[key] = value


class Result(NamedTuple):
    """stderr is without the simulator's notice."""

    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


class Sim:
    """A home folder with a clock that only moves when told to."""

    def __init__(self, folder: Path, **environ: str) -> None:
        self.folder = folder
        self.home = folder / ".firectl-sim"
        self.environ = {"FIRECTL_SIM_NOW": NOW, "HOME": str(folder / "nobody"), **environ}

    def __call__(self, *argv: str, stdin: str = "", **environ: str) -> Result:
        out, err = io.StringIO(), io.StringIO()
        code = run(argv, {**self.environ, **environ}, self.folder, (io.StringIO(stdin), out, err))
        text = err.getvalue()
        assert text.startswith(NOTICE)
        return Result(code, out.getvalue(), text.removeprefix(NOTICE))

    def ok(self, *argv: str, **environ: str) -> Result:
        result = self(*argv, **environ)
        assert result.code == 0, result
        return result

    def create(self, deployment_id: str, *flags: str, model: str = MODEL, shape: str = FAST) -> Result:
        words = ["deployment", "create", model, "--deployment-id", deployment_id]
        return self.ok(*words, *(["--deployment-shape", shape] if shape else []), *flags)

    def get(self, deployment_id: str) -> Any:
        return self.ok("deployment", "get", deployment_id, "-o", "json").json

    def later(self, duration: str) -> None:
        self.ok("sim", "clock-advance", duration)


def world(profile: str = "latest", *, role: str = "admin", tx: MemoryTx | None = None) -> World:
    """An empty account at NOW."""
    return World(tx or MemoryTx(), NOW_S, profiles.load(profile), _CATALOGUE, Caller("acme", role))


def after(start: World, seconds: float) -> World:
    return start._replace(now=start.now + seconds)


def create(start: World, deployment_id: str = "chat", **body: Any) -> dict[str, Any]:
    """A deployment of llama 8B on its fast shape unless the body says otherwise."""
    options = CreateOptions(deployment_id=deployment_id, accept_shapeless_risk="shapeless" in body)
    wanted = {"baseModel": MODEL} | ({} if body.pop("shapeless", None) else {"deploymentShape": FAST}) | body
    return deployments.create(start, "acme", wanted, options)


def name(deployment_id: str = "chat") -> str:
    return f"accounts/acme/deployments/{deployment_id}"
