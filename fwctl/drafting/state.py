"""Where a pipeline stands: `.fwctl/drafting/<name>/state.json`, replaced in one step.

A step is done when its result stands here under the digest of all that it depends on; anything else is
done again, and whatever it makes on the platform has a name that follows from its content.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from fwctl.errors import FwctlError
from fwctl.records.state_file import damaged, load_state, save_state

FOLDER = "drafting"
FILE = "state.json"
_ANEW = "run it again: what exists on the platform is found by its name"
_PRIVATE = 0o700


class Step(StrEnum):
    """In this order."""

    COLLECT = "collect"
    TRAIN = "train"
    EVALUATE = "evaluate"
    DECIDE = "decide"


@dataclass(frozen=True, slots=True)
class Done:
    """inputs: digest of what the result depends on. result: the JSON of the step."""

    inputs: str
    result: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class State:
    """round: grows when drift starts the pipeline anew."""

    name: str
    account: str
    round: int = 1
    steps: Mapping[str, Done] = field(default_factory=dict)

    def result(self, step: Step, inputs: str | None = None) -> Mapping[str, Any] | None:
        """What a step found; None when it was not done, or from other `inputs`."""
        done = self.steps.get(step)
        return done.result if done is not None and inputs in (None, done.inputs) else None

    def with_step(self, step: Step, inputs: str, result: Mapping[str, Any]) -> State:
        """The step done; what follows it is forgotten."""
        return replace(self, steps={**self.before(step).steps, step.value: Done(inputs, result)})

    def before(self, step: Step) -> State:
        """As if this step and all behind it had not been done."""
        names = [item.value for item in Step]
        kept = names[: names.index(step)]
        return replace(self, steps={name: done for name, done in self.steps.items() if name in kept})

    def again(self) -> State:
        """From the beginning, with the data of today."""
        return replace(self, round=self.round + 1, steps={})


def folder_of(root: Path, name: str) -> Path:
    """Folder of one pipeline, for its owner alone; `root` is `.fwctl/`. Raises FwctlError."""
    path = root / FOLDER / name
    try:
        path.mkdir(parents=True, exist_ok=True, mode=_PRIVATE)
        path.chmod(_PRIVATE)
    except OSError as error:
        raise FwctlError(f"cannot make {path}: {error.strerror or error}") from None
    return path


def save(root: Path, state: State) -> None:
    """On disk before this returns. Raises FwctlError."""
    path = folder_of(root, state.name) / FILE
    save_state(path, asdict(state), mode=0o600)


def load(root: Path, name: str, account: str) -> State:
    """A new one when there is none. Raises FwctlError for a file that this cannot have written, and for one
    of another account."""
    path = root / FOLDER / name / FILE
    state = load_state(path, _from_json, anew=_ANEW) or State(name, account)
    if (state.name, state.account) != (name, account):
        raise damaged(path, f"it is of pipeline {state.name}, account {state.account}", anew=_ANEW)
    return state


def _from_json(document: Any) -> State:
    name, account = document["name"], document["account"]
    if not (isinstance(name, str) and isinstance(account, str)):
        raise TypeError("name")
    steps = {
        Step(key).value: Done(str(row["inputs"]), dict(row["result"]))
        for key, row in document["steps"].items()
    }
    return State(name, account, int(document["round"]), steps)
