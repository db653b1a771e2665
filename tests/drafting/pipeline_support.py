"""A platform that trains, deploys and answers in memory, and a pipeline on it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwctl.drafting.adapt import Adapt
from fwctl.drafting.adapt_file import load_adapt
from fwctl.drafting.pipeline import Pipeline
from fwctl.errors import FirectlFailedError
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.outcome import Outcome
from fwctl.quality.experiments.model import Experiment
from fwctl.spec.load import load
from fwctl.spec.model import Deployment
from tests.planning.support import Platform
from tests.quality.experiments.support import FakeWorld, Killed, Witness

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SMALL = "accounts/fireworks/models/llama-v3p2-1b-instruct"
OTHER = "accounts/fireworks/models/llama-v3p2-3b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
SPEC = f"""\
apiVersion: fwctl/v1
account: acme
stack: prod
deployments:
  chat:
    model: {MODEL}
    shape: {SHAPE}
    speculation: {{mode: draft, draft_model: {SMALL}, draft_tokens: 4}}
    overrides: [speculation]
    precision: FP8
    region: US
    replicas: {{min: 1, max: 2}}
    traffic: interactive
"""
TEXT = f"""\
apiVersion: fwctl/v1
kind: Adapt
account: acme
stack: prod
name: tuned
deployment: chat
specs: [chat.yaml]
collect:
  traces: [traces.jsonl]
  least_conversations: 50
  least_tokens: 500
train:
  base_models: [{SMALL}]
  epochs: [1, 2]
  usd_per_million_tokens: 0.5
evaluate:
  draft_tokens: [3, 5]
  requests: 40
  repeat: 1
  spend_cap: $60
"""


_OK = Outcome((), True, 0.1, 0)


class FakeFirectl:
    """Datasets, jobs and models. refused: models that may not draft. fails: jobs that end in failure.
    job_looks: looks at a job until it has ended. lost: calls whose answer is lost after their effect."""

    def __init__(self) -> None:
        self.datasets: dict[str, dict[str, Any]] = {}
        self.jobs: dict[str, dict[str, Any]] = {}
        self.looks: dict[str, int] = {}
        self.refused: set[str] = set()
        self.fails: set[str] = set()
        self.lost: set[str] = set()
        self.made: list[str] = []
        self.asked: list[str] = []
        self.job_looks = 2
        self.reservations: list[dict[str, Any]] = []
        self.adapters: list[dict[str, Any]] = []
        self.capabilities = Capabilities()

    def perform(self, verb: str, target: str | None, fields: Mapping[str, Any]) -> Outcome:
        key = str(target)
        if verb == "deployment create":
            assert fields["validate_only"] is True
            assert "precision" not in fields  # a pin beside a shape
            if "speculation.draft_model" not in fields:
                return _failed(ErrorClass.INVALID, "no such region") if "all" in self.refused else _OK
            model = str(fields["speculation.draft_model"])
            self.asked.append(model)
            base = self._base(model)
            if {model, "all"} & self.refused or (base and "addons" in self.refused):
                return _failed(ErrorClass.INVALID, f"draft model {model} must be a base model, not an addon")
            return _OK
        kept = self.datasets if verb == "dataset create" else self.jobs
        if key in kept:
            return _failed(ErrorClass.ALREADY_EXISTS, f"{key} already exists")
        self.made.append(f"{verb} {key}")
        if verb == "dataset create":
            (path,) = fields["file"]
            count = len(Path(path).read_text().splitlines())
            kept[key] = {"state": "READY", "example_count": str(count)}
        else:
            assert fields["dataset"] in self.datasets
            model = f"accounts/acme/models/{fields['output_model']}"
            kept[key] = {**fields, "state": "JOB_STATE_RUNNING", "output_model": model}
        if verb in self.lost:
            self.lost.remove(verb)
            return _failed(ErrorClass.TIMEOUT, "firectl gave no answer")
        return _OK

    def _base(self, model: str) -> str | None:
        for job in self.jobs.values():
            if job["output_model"] == model:
                return str(job["base_model"])
        found = [row["peft_details"]["base_model"] for row in self.adapters if row["name"] == model]
        return str(found[0]) if found else None

    def get_dataset(self, dataset_id: str) -> dict[str, Any]:
        return _found(self.datasets, dataset_id)

    def get_tuning_job(self, job_id: str) -> dict[str, Any]:
        row = _found(self.jobs, job_id)
        self.looks[job_id] = self.looks.get(job_id, 0) + 1
        if row["state"] == "JOB_STATE_RUNNING" and self.looks[job_id] > self.job_looks:
            bad = str(row["epochs"]) in self.fails or row["base_model"] in self.fails
            row["state"] = "JOB_STATE_FAILED" if bad else "JOB_STATE_COMPLETED"
            row["status"] = {"message": "the loss is not a number" if bad else ""}
        return dict(row)

    def get_model(self, name: str) -> dict[str, Any]:
        sizes = {MODEL: "8000000000", SMALL: "1000000000", OTHER: "3000000000"}
        if base := self._base(name):
            return {"name": name, "peft_details": {"base_model": base}}
        return {"name": name, "base_model_details": {"parameter_count": sizes[name]}}

    def list_models(self) -> list[dict[str, Any]]:
        return self.adapters

    def list_reservations(self) -> list[dict[str, Any]]:
        return self.reservations


def _found(kept: Mapping[str, dict[str, Any]], key: str) -> dict[str, Any]:
    if key in kept:
        return kept[key]
    error = FirectlFailedError(f"{key} not found")
    error.error_class = ErrorClass.NOT_FOUND.value
    raise error


def _failed(error_class: ErrorClass, message: str) -> Outcome:
    return Outcome((), False, 0.1, 1, error_class=error_class, message=message)


class Deployments(Platform):
    """Knows the small models, and whatever a job has made."""

    def get_model(self, name: str) -> Mapping[str, Any]:
        if name in (SMALL, OTHER) or "/acme/models/tuned-" in name:
            return {"name": name, "kind": "HF_BASE_MODEL", "context_length": 131072, "state": "READY"}
        return super().get_model(name)


@dataclass
class DraftWorld(FakeWorld):
    """accepts: conditional acceptance of tuned drafters; the untuned one of today accepts 0.6."""

    accepts: float = 0.85

    def measure(
        self, experiment: Experiment, candidates: Mapping[str, str], out: Path, number: int
    ) -> Mapping[str, Any]:
        out.mkdir(parents=True, exist_ok=True)
        self.reached(f"load {number}")
        lines = experiment.suite.read_text().splitlines()
        prompts = [json.loads(line)["id"] for line in lines]
        rows = [
            self._answer(experiment, name, prompt, at)
            for name in candidates
            for at, prompt in enumerate(prompts)
        ]
        (out / "records.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
        return {"interrupted": False, "valid": True, "invalid_reasons": [], "replicas": []}

    def _answer(self, experiment: Experiment, name: str, prompt: str, at: int) -> dict[str, Any]:
        fields = experiment.entry(name).fields
        count = int(fields.get("speculation.draft_tokens") or 0)
        tuned = "/acme/" in str(fields.get("speculation.draft_model"))
        share = (self.accepts if tuned else 0.6) + (at % 5 - 2) * 0.01
        passes = 100
        reached = [round(passes * share ** (i + 1)) for i in range(count)]
        tokens = 1 + sum(reached) / passes
        tpot_s = 0.010 * (1 + count / 8) / tokens
        server = {
            "speculation-acceptance": ",".join(f"{i}:{hits}/{passes}" for i, hits in enumerate(reached))
        }
        return {
            "target": name,
            "prompt_id": prompt,
            "repeat": 0,
            "measured": True,
            "error_class": None,
            "ttft_s": 0.05,
            "tpot_s": tpot_s,
            "total_s": 0.05 + 100 * tpot_s,
            "output_tokens": 100,
            "server": server if count else {},
        }


@dataclass
class FakeDesk(Witness):
    """agrees: what somebody answers."""

    folder: Path
    platform: FakeFirectl = field(default_factory=FakeFirectl)
    agrees: bool = True
    questions: list[str] = field(default_factory=list)
    environ: Mapping[str, str] = field(default_factory=dict)
    poll_s: float = 30.0
    deployments: Deployments = field(default_factory=Deployments)
    accepts: float = 0.85

    def __post_init__(self) -> None:
        self.root = self.folder / ".fwctl"
        self.world = DraftWorld(self.folder, self.deployments, accepts=self.accepts)
        self.world.kill = self.kill

    def confirm(self, question: str) -> None:
        self.questions.append(question)
        if not self.agrees:
            raise Killed

    def draft_key(self, url: str) -> str | None:
        return None

    @property
    def live(self) -> list[str]:
        """IDs of deployments that are there."""
        return [
            str(row["name"]).rpartition("/")[2] for row in self.deployments.rows if row["state"] == "READY"
        ]


def traces(count: int = 120) -> str:
    rows = [
        {
            "id": f"r{at}",
            "conversation_id": f"c{at}",
            "messages": [{"role": "user", "content": f"Where is parcel {at}?"}],
            "completion": f"Parcel number {at} is on its way and will arrive within five working days.",
        }
        for at in range(count)
    ]
    return "".join(json.dumps(row) + "\n" for row in rows)


def write_files(folder: Path, text: str = TEXT, *, count: int = 120) -> tuple[Adapt, Deployment]:
    (folder / "chat.yaml").write_text(SPEC)
    (folder / "adapt.yaml").write_text(text)
    (folder / "traces.jsonl").write_text(traces(count))
    adapt = load_adapt(folder / "adapt.yaml", environ={}, shown_as="adapt.yaml")
    spec = load([folder / "chat.yaml"], environ={}).spec
    assert spec is not None
    return adapt, spec.deployments["chat"]


def pipeline(desk: FakeDesk, text: str = TEXT, **choices: Any) -> Pipeline:
    adapt, entry = write_files(desk.folder, text, **choices)
    return Pipeline(adapt, entry, desk, lambda _: desk.confirm("create the candidates"))
