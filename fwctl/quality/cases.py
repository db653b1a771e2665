"""A prompt set as an evaluation sees it: every prompt with its grader, checked before anything is sent."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from fwctl.errors import UsageError
from fwctl.inference.grammar import problems as grammar_problems
from fwctl.inference.structured import warnings
from fwctl.measure.suite import Prompt, Suite
from fwctl.measure.target import Target
from fwctl.quality.graders import GRADERS, problem, read
from fwctl.quality.graders.boxed import function_problem
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Spec


@dataclass(frozen=True, slots=True)
class Case:
    """One prompt and how it is graded; `spec` is None for a prompt that only has to be answered."""

    prompt: Prompt
    spec: Spec | None


@dataclass(frozen=True, slots=True)
class Cases:
    """All prompts of a suite by id. digest: of the graders with everything that decides a mark. sent: of
    what is asked, without what is expected."""

    suite: Suite
    by_id: Mapping[str, Case]
    digest: str
    sent: str

    @property
    def by_type(self) -> dict[str, int]:
        """Graded prompts of each type."""
        return dict(Counter(case.prompt.type for case in self.by_id.values() if case.spec))


def load_cases(suite: Suite, means: Means, *, default: str | None = None) -> Cases:
    """Read and check the graders of a suite.

    default: grader of prompts that name none but expect something. Raises UsageError, naming the prompt.
    """
    found: dict[str, Case] = {}
    digest, sent = sha256(), sha256()
    functions: set[str] = set()
    for prompt in suite.prompts():
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
        found[prompt.id] = Case(prompt, spec)
        sent.update(json.dumps([prompt.id, prompt.body], sort_keys=True).encode() + b"\n")
        if spec is not None:
            row = [prompt.id, spec.kind, spec.expected, dict(spec.options)]
            digest.update(json.dumps(row, sort_keys=True).encode() + b"\n")
    for model in (means.judge, means.embeddings):
        digest.update(repr(model and (model.model, model.endpoint.url)).encode())
    for function in sorted(functions):
        digest.update((means.folder / function.rpartition(":")[0]).read_bytes())
    return Cases(suite, found, f"sha256:{digest.hexdigest()}", f"sha256:{sent.hexdigest()}")


def _unserved(spec: Spec, means: Means) -> str | None:
    option = GRADERS[spec.kind].endpoint
    served = {"--judge-url": means.judge, "--embed-url": means.embeddings}
    if option is None or served[option] is not None:
        return None
    return f"the grader {spec.kind} asks a model: give {option} and {option.replace('url', 'model')}"


def request_warnings(cases: Cases, targets: Sequence[Target]) -> list[str]:
    """What is likely to go wrong with the requests of a run, each with how many prompts it is about."""
    counts: Counter[str] = Counter()
    for target, _, body in _structured(cases, targets):
        for warning in warnings(str(body.get("model")), body["response_format"], body["messages"], body):
            counts[f"{target.name}: {warning}"] += 1
    return [f"{text} ({count} prompts)" for text, count in sorted(counts.items())]


def require_grammars(cases: Cases, targets: Sequence[Target]) -> None:
    """Raises UsageError for a grammar with an undefined rule, or one that cannot be read: no request with
    it can succeed."""
    for _, case, body in _structured(cases, targets):
        _check_grammar(cases.suite, case.prompt.id, body["response_format"])


def _structured(cases: Cases, targets: Sequence[Target]) -> Iterator[tuple[Target, Case, dict[str, Any]]]:
    """Every request with a response format."""
    for target in targets:
        for case in cases.by_id.values():
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
