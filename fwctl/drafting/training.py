"""Step 2: a dataset and fine-tuning jobs, each made once whatever happens in between.

IDs follow from content, so a run that died looks for what it would make before it makes it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from fwctl.drafting.adapt import Adapt, digest
from fwctl.drafting.asking import Asked, is_missing
from fwctl.drafting.desk import Desk
from fwctl.errors import FwctlError, RefusedError
from fwctl.firectl.errors import ErrorClass

DATASET, JOB = "dataset create", "supervised-fine-tuning-job create"
COMPLETED = frozenset({"COMPLETED", "EARLY_STOPPED"})
FAILED = frozenset({"FAILED", "CANCELLED", "EXPIRED", "DELETING", "FAILED_CLEANING_UP"})
TELL_EVERY_S = 300.0
_READY_WAIT_S = 1800.0
_STATE = "JOB_STATE_"
_TIMED_OUT = "TIMED_OUT"  # this run waited long enough; the job may still run


@dataclass(frozen=True, slots=True)
class Job:
    """One candidate. short: its name in this pipeline, `c1`. state: without `JOB_STATE_`."""

    short: str
    id: str
    base_model: str
    epochs: int
    model: str
    state: str = "ABSENT"
    message: str = ""

    @property
    def completed(self) -> bool:
        return self.state in COMPLETED

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(slots=True)
class Trainer:
    """ask: what the platform says to a drafter of this model, for models that nobody has asked about yet.

    unproven: base models of which no adapter was there to ask with; their first job is the question.
    """

    adapt: Adapt
    desk: Desk
    dataset: str
    train_file: Path
    examples: int
    ask: Callable[[str], Asked]
    unproven: frozenset[str] = frozenset()
    asked: list[Asked] = field(default_factory=list)
    refused: str = ""

    def missing(self) -> list[Job]:
        """Jobs that would be started; all of them while the dataset is not there. Reads only."""
        jobs = planned(self.adapt, self.dataset)
        return jobs if self._dataset() is None else [job for job in jobs if self._job(job) is None]

    def run(self) -> list[Job]:
        """All jobs to their ends; a candidate that fails is not the end. Raises FwctlError for what can be
        gone on with, RefusedError for names that are taken by something else."""
        self._ensure_dataset()
        jobs = planned(self.adapt, self.dataset)
        first = [job for job in jobs if job.base_model in self.unproven][:1]
        done = self._finish(first)
        if first and done[0].completed:
            answer = self.ask(done[0].model)
            self.asked.append(answer)
            if answer.accepted is False:
                self.refused = answer.message
                return [*done, *(job for job in jobs if job not in first)]
        return done + self._finish([job for job in jobs if job not in first])

    def _finish(self, jobs: list[Job]) -> list[Job]:
        started = [self._ensure_job(job) for job in jobs]
        return self._wait(started)

    def _ensure_dataset(self) -> None:
        row = self._dataset()
        if row is None:
            self.desk.say(f"uploading dataset {self.dataset}: {self.examples:,} examples")
            self.desk.reached("before upload")
            outcome = self.desk.platform.perform(
                DATASET, self.dataset, {"file": [str(self.train_file.resolve())]}
            )
            self.desk.reached("uploaded")
            if not outcome.ok and not outcome.ambiguous and outcome.error_class != ErrorClass.ALREADY_EXISTS:
                raise outcome.error()
            row = self._dataset()
            if row is None:
                raise (
                    outcome.error() if not outcome.ok else FwctlError(f"dataset {self.dataset} is not there")
                )
        self._require_same(row)

    def _dataset(self) -> Mapping[str, Any] | None:
        return _read(lambda: self.desk.platform.get_dataset(self.dataset))

    def _require_same(self, row: Mapping[str, Any]) -> None:
        """Waits for an upload that is under way; refuses a dataset that is another one."""
        clock = self.desk.world.clock
        end = clock.monotonic() + _READY_WAIT_S
        while str(row.get("state", "READY")) == "UPLOADING" and clock.monotonic() < end:
            clock.sleep(self.desk.poll_s)
            row = self._dataset() or {"state": "absent"}
        steps = [f"firectl dataset delete {self.dataset}", "then run it again"]
        if str(row.get("state", "READY")) != "READY":
            message = f"dataset {self.dataset} is {row.get('state')}: its upload was cut off"
            raise RefusedError(message, next_steps=steps)
        count = row.get("example_count")
        if count is not None and str(count) != str(self.examples):
            raise RefusedError(
                f"dataset {self.dataset} holds {count} examples, not the {self.examples} of this pipeline",
                next_steps=steps,
            )

    def _ensure_job(self, job: Job) -> Job:
        row = self._job(job)
        if row is None:
            words = {
                "base_model": job.base_model,
                "dataset": self.dataset,
                "output_model": job.model.rpartition("/")[2],
                "epochs": job.epochs,
            }
            if self.adapt.training.lora_rank is not None:
                words["lora_rank"] = self.adapt.training.lora_rank
            self.desk.say(f"starting job {job.id}: {job.base_model}, {job.epochs} epochs")
            self.desk.reached("before job")
            outcome = self.desk.platform.perform(JOB, job.id, words)
            self.desk.reached("job made")
            if not outcome.ok:
                row = self._job(job)  # it may have been made all the same
                if row is None and outcome.error_class in _CANDIDATE:
                    return replace(job, state="REFUSED", message=outcome.message)
                if row is None:
                    raise outcome.error()
        return job if row is None else self._same(job, row)

    def _same(self, job: Job, row: Mapping[str, Any]) -> Job:
        for key, wanted in (("base_model", job.base_model), ("dataset", self.dataset)):
            found = str(row.get(key, wanted))
            if found.rpartition("/")[2] != wanted.rpartition("/")[2]:
                raise RefusedError(
                    f"job {job.id} exists with {key} {found}, not {wanted}",
                    next_steps=[f"firectl supervised-fine-tuning-job delete {job.id}", "then run it again"],
                )
        return _seen(job, row)

    def _job(self, job: Job) -> Mapping[str, Any] | None:
        return _read(lambda: self.desk.platform.get_tuning_job(job.id))

    def _wait(self, jobs: list[Job]) -> list[Job]:
        clock = self.desk.world.clock
        began = told = clock.monotonic()
        while True:
            open_ = [job for job in jobs if not _ended(job)]
            if not open_:
                return jobs
            if clock.monotonic() - began > self.adapt.training.timeout_s:
                return [job if _ended(job) else replace(job, state=_TIMED_OUT) for job in jobs]
            clock.sleep(self.desk.poll_s)
            fresh = [job if _ended(job) else _seen(job, self._job(job) or {}) for job in jobs]
            for before, job in zip(jobs, fresh, strict=True):
                if _ended(job) and not _ended(before):
                    self.desk.say(f"job {job.id}: {job.state.lower()}{job.message and ': ' + job.message}")
                    self.desk.reached("job ended")
            jobs = fresh
            if clock.monotonic() - told > TELL_EVERY_S:
                told = clock.monotonic()
                self.desk.say(f"{len(open_)} of {len(jobs)} jobs run since {(told - began) / 60:.0f} min")


_CANDIDATE = frozenset({ErrorClass.INVALID, ErrorClass.PRECONDITION, ErrorClass.NOT_FOUND})


def planned(adapt: Adapt, dataset: str) -> list[Job]:
    """Every base model with every number of epochs, cheapest first as the file gives them."""
    found: list[Job] = []
    for base in adapt.training.base_models:
        for epochs in adapt.training.epochs:
            key = f"{adapt.name}-{digest(dataset, base, epochs, adapt.training.lora_rank)}"
            model = f"accounts/{adapt.account}/models/{key}"
            found.append(Job(f"c{len(found) + 1}", key, base, epochs, model))
    return found


def cost_usd(adapt: Adapt, tokens: int) -> float | None:
    """Of all jobs together; None when the price is unknown."""
    price = adapt.training.usd_per_million_tokens
    if price is None:
        return None
    return price * tokens / 1e6 * sum(adapt.training.epochs) * len(adapt.training.base_models)


def _seen(job: Job, row: Mapping[str, Any]) -> Job:
    status = row.get("status")
    said = str(status.get("message") or "") if isinstance(status, Mapping) else ""
    state = str(row.get("state", "RUNNING")).removeprefix(_STATE)
    model = str(row.get("output_model") or job.model)
    return replace(job, state=state, message=said, model=model)


def _ended(job: Job) -> bool:
    return job.state in COMPLETED | FAILED | {"REFUSED", _TIMED_OUT}


def _read(call: Callable[[], dict[str, Any]]) -> Mapping[str, Any] | None:
    try:
        return call()
    except FwctlError as error:
        if is_missing(error):
            return None
        raise
