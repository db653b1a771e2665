"""The steps in order, each from where an earlier run ended.

A step whose inputs are as they were is not done again. Whatever a step makes on the platform is looked
for before it is made, so a run may end at any point and be started again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fwctl.drafting import gathering, training
from fwctl.drafting.adapt import Adapt, digest
from fwctl.drafting.asking import Asked, adapters_of, ask, reserved
from fwctl.drafting.deciding import decide
from fwctl.drafting.desk import Desk
from fwctl.drafting.evaluating import Trial, evaluate
from fwctl.drafting.replaying import asked, replayed
from fwctl.drafting.state import State, Step, folder_of, load, save
from fwctl.drafting.trial import arms_of, experiment_of, write_suite
from fwctl.errors import RefusedError, WaitTimeoutError
from fwctl.measure.suite import Suite
from fwctl.measure.suite import load as load_suite
from fwctl.quality.experiments.run import Course
from fwctl.spec.model import Deployment
from fwctl.units import format_usd

OFFER = (
    "this account has reserved capacity: Fireworks offers adaptive speculation to such customers itself, at "
    "no extra cost, on traffic that the platform logs; ask them before you pay for jobs of your own"
)


class Pipeline:
    """One file's pipeline. ask_course: confirms an experiment that is about to create deployments."""

    def __init__(
        self,
        adapt: Adapt,
        entry: Deployment,
        desk: Desk,
        ask_course: Callable[[Course], None],
        *,
        allow_unknown_price: bool = False,
    ) -> None:
        self.adapt = adapt
        self.entry = entry
        self.desk = desk
        self.ask_course = ask_course
        self.allow_unknown_price = allow_unknown_price
        self.state: State = load(desk.root, adapt.name, adapt.account)

    @property
    def folder(self) -> Path:
        return folder_of(self.desk.root, self.adapt.name)

    def forget(self, step: Step) -> None:
        """This step and what follows it are to be done again."""
        self._set(self.state.again() if step is Step.COLLECT else self.state.before(step))

    def run(self) -> State:
        """All steps. Raises FwctlError; what was done until then stands in the state."""
        for step in Step:
            self.step(step)
        return self.state

    def step(self, step: Step) -> Mapping[str, Any]:
        """One step, or what it found before. Raises RefusedError when those before it are not done."""
        inputs = self._inputs(step)
        found = self.state.result(step, inputs)
        if found is not None and (step is not Step.COLLECT or gathering.unchanged(dict(found))):
            return found
        self._set(self.state.before(step))
        self.desk.reached(f"before {step}")
        result = _STEPS[step](self)
        self._set(self.state.with_step(step, inputs, result))
        self.desk.reached(f"{step} done")
        return result

    def _inputs(self, step: Step) -> str:
        """Digest of what the result of a step depends on."""
        adapt = self.adapt
        if step is Step.COLLECT:
            return digest(step, self.state.round, asdict(adapt.collecting))
        before = self.state.steps.get(list(Step)[list(Step).index(step) - 1])
        if before is None:
            previous = list(Step)[list(Step).index(step) - 1]
            raise RefusedError(
                f"{previous} has to be done first", next_steps=[f"fwctl speculate {previous} -f {adapt.file}"]
            )
        margins = {"margin": adapt.evaluating.margin, "quality_margin": adapt.evaluating.quality_margin}
        if step is Step.TRAIN:
            return digest(step, before.inputs, before.result["digest"], asdict(adapt.training))
        if step is Step.EVALUATE:
            # What is promoted changes the speculation of the spec, and that is no reason to measure again.
            fields = {
                path: value
                for path, value in self.entry.fields.items()
                if not path.startswith("speculation.")
            }
            want = {**asdict(adapt.evaluating), "margin": None}
            return digest(step, before.inputs, fields, want)
        return digest(step, before.inputs, margins)

    def _set(self, state: State) -> None:
        if state != self.state or not state.steps:
            save(self.desk.root, state)
        self.state = state

    def _holdout(self) -> Path:
        return Path(self.state.steps[Step.COLLECT].result["files"]["holdout"])

    def collect(self) -> dict[str, Any]:
        found = gathering.gather(self.adapt, self.folder, self.desk)
        if found["missing"]:
            raise RefusedError(
                "too little data: " + "; ".join(found["missing"]),
                next_steps=["collect more traffic, or lower collect.least_conversations and least_tokens"],
            )
        return found

    def train(self) -> dict[str, Any]:
        """Raises RefusedError when the platform refuses what would be trained, with the replay's result."""
        if reserved(self.desk):
            self.desk.say(OFFER)
        collected = self.state.steps[Step.COLLECT].result
        answers, bases, unproven = self._proven()
        evidence = {"asked": [item.to_json() for item in answers]}
        if not bases:
            self._refuse(answers)
        trainer = training.Trainer(
            self._only(bases),
            self.desk,
            f"{self.adapt.name}-{digest('dataset', collected['digest'])}",
            Path(collected["files"]["train"]),
            int(collected["requests"]["train"]),
            self._ask,
            unproven,
        )
        self._confirm(trainer, int(collected["train_tokens"]), unproven)
        jobs = trainer.run()
        if trainer.refused:
            self._refuse([*answers, *trainer.asked])
        if not any(job.completed for job in jobs):
            self._nothing_trained(jobs)
        return {
            "asked": evidence["asked"] + [item.to_json() for item in trainer.asked],
            "dataset": {"id": trainer.dataset, "examples": trainer.examples},
            "jobs": [job.to_json() for job in jobs],
            "cost_usd": training.cost_usd(trainer.adapt, int(collected["train_tokens"])),
        }

    def _only(self, bases: tuple[str, ...]) -> Adapt:
        return replace(self.adapt, training=replace(self.adapt.training, base_models=bases))

    def _proven(self) -> tuple[list[Asked], tuple[str, ...], frozenset[str]]:
        """Answers; base models that are worth a job; those whose adapters nobody could ask about."""
        answers, bases, unproven = [], [], set()
        adapters = adapters_of(self.desk.platform, self.adapt.training.base_models)
        for base in self.adapt.training.base_models:
            answers.append(self._ask(base))
            if answers[-1].accepted is not False and base in adapters:
                answers.append(self._ask(adapters[base]))
            elif answers[-1].accepted is not False:
                unproven.add(base)
            if answers[-1].accepted is not False:
                bases.append(base)
        return answers, tuple(bases), frozenset(unproven)

    def _ask(self, model: str) -> Asked:
        count = self.adapt.evaluating.draft_tokens[0]
        arms = arms_of(self.entry, {"ask": model}, (count,))
        suite = Suite(self.folder / "ask.jsonl", "ask", 0)
        entry = experiment_of(self.adapt, self.entry, arms, suite, self.desk.environ).entry(arms[-1].name)
        return ask(self.desk.platform, entry, f"{self.adapt.name}-ask", model)

    def _refuse(self, answers: list[Asked]) -> None:
        """Raises RefusedError with the platform's words and what drafts without a draft model would give."""
        said = "; ".join(f"{item.model}: {item.message}" for item in answers if item.accepted is False)
        found = replayed(self.adapt, self._holdout())["recommendation"]
        raise RefusedError(
            f"the platform does not take it as a draft model: {said}",
            next_steps=[
                f"without a draft model the hold-out says {found['source']}: {found['reason']}",
                f"fwctl speculate replay {self._holdout()}",
            ],
        )

    def _confirm(self, trainer: training.Trainer, tokens: int, unproven: frozenset[str]) -> None:
        missing = trainer.missing()
        if not missing:
            return
        usd = training.cost_usd(trainer.adapt, tokens)
        for job in missing:
            self.desk.say(f"job {job.id}: {job.base_model}, {job.epochs} x {tokens:,} tokens")
        for base in sorted(unproven):
            self.desk.say(
                f"nobody could say yet whether an adapter of {base} may draft: its first job is started "
                "alone, and the platform is asked about the model before any other"
            )
        price = (
            "its price is unknown (train.usd_per_million_tokens)"
            if usd is None
            else f"{format_usd(usd)} in all"
        )
        self.desk.say(f"training: {price}")
        self.desk.confirm(f"upload the data and start {len(missing)} jobs")

    def _nothing_trained(self, jobs: list[training.Job]) -> None:
        said = "; ".join(f"{job.id}: {job.state.lower()} {job.message}".strip() for job in jobs)
        if any(job.state == "TIMED_OUT" for job in jobs):
            raise WaitTimeoutError(f"no job has ended yet: {said}", next_steps=["run it again: it waits on"])
        raise RefusedError(
            f"no candidate could be trained: {said}",
            next_steps=[
                "firectl supervised-fine-tuning-job delete ID, then run it again, or other base models"
            ],
        )

    def evaluate(self) -> dict[str, Any]:
        jobs = self.state.steps[Step.TRAIN].result["jobs"]
        models = {job["short"]: job["model"] for job in jobs if training.Job(**job).completed}
        path = write_suite(self.adapt, self._holdout(), self.folder)
        if self.adapt.evaluating.suite:
            path = self.adapt.folder / self.adapt.evaluating.suite
        self.desk.say("replaying the hold-out")
        generic = {f"generic {base}": base for base in dict.fromkeys(job["base_model"] for job in jobs)}
        replay = {
            **replayed(self.adapt, self._holdout()),
            "draft_models": asked(self.adapt, self._holdout(), {**generic, **models}, self.desk),
        }
        arms = arms_of(self.entry, models, self.adapt.evaluating.draft_tokens)
        trial = Trial(self.adapt, self.entry, arms, load_suite(path), self.allow_unknown_price)
        return {"replay": replay, **evaluate(trial, self.desk, self.ask_course)}

    def decide(self) -> dict[str, Any]:
        return decide(self.state.steps[Step.EVALUATE].result, self.adapt.evaluating)


_STEPS: Mapping[Step, Callable[[Pipeline], dict[str, Any]]] = {
    Step.COLLECT: Pipeline.collect,
    Step.TRAIN: Pipeline.train,
    Step.EVALUATE: Pipeline.evaluate,
    Step.DECIDE: Pipeline.decide,
}
