"""A prompt set as an evaluation sees it: every prompt with its grader, checked before anything is sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from fwctl.errors import UsageError
from fwctl.inference.grammar import problems as grammar_problems
from fwctl.inference.structured import warnings
from fwctl.measure.places import Places
from fwctl.measure.suite import Prompt, Suite
from fwctl.measure.target import Target
from fwctl.quality.graders import GRADERS, problem, read
from fwctl.quality.graders.boxed import function_problem
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Spec
from fwctl.units import counted


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt and how it is graded; `spec` is None for a prompt that only has to be answered."""

    prompt: Prompt
    spec: Spec | None


@dataclass(frozen=True, slots=True)
class Cases:
    """The checked prompts of a suite, read from its file when they are needed: a million of them take 16 MB.

    digest: of the graders with everything that decides a mark. sent: of what is asked, without what is
    expected. by_type: graded prompts of each type. formats: how many ask for a response format. default: see
    `load_cases`.
    """

    suite: Suite
    digest: str
    sent: str
    by_type: Mapping[str, int]
    formats: int
    default: str | None
    places: Places = field(repr=False)

    def __iter__(self) -> Iterator[Case]:
        """All in the order of the file."""
        return (self._case(prompt) for prompt in self.suite.prompts())

    def find(self, prompt_id: str) -> Case | None:
        """The prompt with this id. Raises UsageError when the file cannot be read any more."""
        found = (self.suite.at(place) for place in self.places.of(prompt_id))
        return next((self._case(prompt) for prompt in found if prompt.id == prompt_id), None)

    def _case(self, prompt: Prompt) -> Case:
        spec = read(prompt.grader, prompt.expected, self.default)
        return Case(prompt, spec if isinstance(spec, Spec) else None)


def load_cases(suite: Suite, means: Means, *, default: str | None = None) -> Cases:
    """Read and check the graders of a suite.

    default: grader of prompts that name none but expect something. Raises UsageError, naming the prompt.
    """
    places, by_type, formats = Places(), Counter[str](), 0
    digest, sent = sha256(), sha256()
    functions: set[str] = set()
    for place, prompt in suite.placed():
        spec = read(prompt.grader, prompt.expected, default)
        if isinstance(spec, Spec):
            wrong = problem(spec, prompt.body.get("response_format")) or _unserved(spec, means)
        else:
            wrong = spec
        if wrong is None and isinstance(spec, Spec) and spec.kind == "function":
            function = spec.options["function"]
            wrong = function_problem(function, means) if function not in functions else None
            functions.add(function)
        if wrong is not None:
            raise UsageError(
                f"{suite.path}: prompt {prompt.id[:80]!r}: {wrong}", next_steps=["see docs/eval.md, Graders"]
            )
        assert not isinstance(spec, str)
        places.add(prompt.id, place)
        formats += prompt.body.get("response_format") is not None
        sent.update(json.dumps([prompt.id, prompt.body], sort_keys=True).encode() + b"\n")
        if spec is not None:
            by_type[prompt.type] += 1
            row = [prompt.id, spec.kind, spec.expected, dict(spec.options)]
            digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    for model in (means.judge, means.embeddings):
        digest.update(repr(model and (model.model, model.endpoint.url)).encode())
    for function in sorted(functions):
        digest.update((means.folder / function.rpartition(":")[0]).read_bytes())
    marks, asked = (f"sha256:{item.hexdigest()}" for item in (digest, sent))
    return Cases(suite, marks, asked, by_type, formats, default, places)


def _unserved(spec: Spec, means: Means) -> str | None:
    option = GRADERS[spec.kind].endpoint
    served = {"--judge-url": means.judge, "--embed-url": means.embeddings}
    if option is None or served[option] is not None:
        return None
    return (
        f"the grader {spec.kind} asks a model: give {option} and {option.replace('url', 'model')}, "
        f"or {option.removesuffix('-url')} with the name of a target"
    )


def request_warnings(cases: Cases, targets: Sequence[Target]) -> list[str]:
    """What is likely to go wrong with the requests of a run, each with how many prompts it is about."""
    counts: Counter[str] = Counter()
    for target, _, body in structured(cases, targets):
        for warning in warnings(str(body.get("model")), body["response_format"], body["messages"], body):
            counts[f"{target.name}: {warning}"] += 1
    return [f"{text} ({counted(count, 'prompt')})" for text, count in sorted(counts.items())]


def require_grammars(cases: Cases, targets: Sequence[Target]) -> None:
    """Raises UsageError for a grammar with an undefined rule, or one that cannot be read: no request with
    it can succeed."""
    for _, case, body in structured(cases, targets):
        _check_grammar(cases.suite, case.prompt.id, body["response_format"])


def structured(cases: Cases, targets: Sequence[Target]) -> Iterator[tuple[Target, Case, dict[str, Any]]]:
    """Every request with a response format, with its body."""
    ask_always = any("response_format" in target.body({"messages": []}) for target in targets)
    for case in cases if cases.formats or ask_always else ():
        for target in targets:
            body = target.body(case.prompt.body)
            if isinstance(body.get("response_format"), Mapping):
                yield target, case, body


def _check_grammar(suite: Suite, prompt_id: str, wanted: Mapping[str, Any]) -> None:
    if wanted.get("type") != "grammar":
        return
    wrong = grammar_problems(str(wanted.get("grammar", "")))
    if wrong:
        raise UsageError(
            f"{suite.path}: prompt {prompt_id[:80]!r}: the grammar, {wrong[0]}",
            next_steps=["correct the grammar; nothing was sent"],
        )
