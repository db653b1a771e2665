"""From a request to its answer and its place: prompt, limits, replica, cache, tokens, passes."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence

from fwctl.simulator.http import answers
from fwctl.simulator.http.engine import answer, speculation
from fwctl.simulator.http.engine import request as requests
from fwctl.simulator.http.engine.replica import Pacer
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer
from fwctl.simulator.http.inference import bodies, misbehave, sizes
from fwctl.simulator.http.inference.call import Call, Prepared
from fwctl.simulator.http.inference.fleet import Fleet
from fwctl.simulator.http.inference.run import Run, Times, Timing
from fwctl.simulator.http.inference.target import SCALING_UP, Target
from fwctl.simulator.http.reply import InferenceError


class Preparer:
    """Knows the replicas and the tokenizer of a server. known: right answers by question."""

    def __init__(self, pacer: Pacer, known: Mapping[str, str]) -> None:
        self.pacer = pacer
        self.known = known
        self.tokenizer = Tokenizer()
        self.fleets: dict[str, Fleet] = {}

    def concurrent(self) -> dict[str, int]:
        """Requests of each deployment that run or wait now."""
        return {name: fleet.concurrent for name, fleet in self.fleets.items()}

    def fleet(self, target: Target) -> Fleet:
        """The replicas of a target. Raises 503 while none is ready."""
        if target.ready < 1:
            # Whoever comes back from zero has lost what its memory held.
            if target.name in self.fleets and not self.fleets[target.name].concurrent:
                del self.fleets[target.name]
            raise InferenceError(503, "DEPLOYMENT_SCALING_UP", SCALING_UP)
        speed = sizes.speed_of(target.deployment, target.base)
        fleet = self.fleets.setdefault(target.name, Fleet(target.name))
        fleet.resize(target.ready, (speed, (target.deployment or {}).get("createTime")), speed)
        return fleet

    def prepare(self, call: Call) -> Prepared:
        """Make the answer and choose its replica. Raises RequestError, InferenceError, KnobError."""
        asked, knobs, target = call.request, call.knobs, call.target
        fleet = self.fleet(target)
        fleet.check_concurrency((target.deployment or {}).get("maxConcurrencyPerReplica", 0))
        drafter = sizes.drafter_of(target.deployment, target.base, target.draft, knobs)
        prompts = self._prompts(asked)
        context = sizes.context_of(target.deployment, target.base)
        prompts = [_within(prompt, context, asked) for prompt in prompts]
        replica = fleet.choose(call.affinity)
        replica.slots = knobs["slots"]
        isolation = f"{call.caller.account}/{target.adapter}/{asked.isolation_key or ''}"
        cached = sum(replica.cache.lookup(prompt, isolation) for prompt in prompts)
        predicted = self._predicted(asked)
        choices: list[answer.Choice] = []
        passes: list[speculation.Passes] = []
        for at, prompt in enumerate(prompts):
            budget = min(asked.max_tokens, max(0, context - len(prompt)))
            key = (knobs["seed"], asked.seed, target.base["name"], target.adapter, prompt)
            for index in range(asked.n):
                choice = self._choice(call, target, key, index=index, predicted=predicted, budget=budget)
                choices.append(choice)
                draw = rng("draft", key, index, at)
                output = [piece.text for piece in choice.pieces]
                tuned = sizes.tuned(drafter, target.sketch, output, knobs)
                passes.append(
                    speculation.plan_passes(
                        output, prompt=prompt, prediction=predicted, drafter=tuned, draw=draw
                    )
                )
        timing = Timing(
            knobs["inference_speed"],
            None if knobs["ttft_ms"] is None else knobs["ttft_ms"] / 1000,
            knobs["tokens_per_second"],
            knobs["tokens_per_chunk"] if asked.stream else 16,
        )
        total = sum(len(prompt) for prompt in prompts)
        run = Run(replica, self.pacer, timing, total, cached, choices, passes, Times(call.received_s))
        ids = self.tokenizer.ids(prompts[0]) if asked.return_token_ids or asked.raw_output else []
        env = bodies.Envelope(call.id, asked.model, int(time.time()), asked.chat, self.tokenizer, ids)
        echoes = ["".join(prompt) if asked.echo else "" for prompt in prompts for _ in range(asked.n)]
        return Prepared(call, run, env, echoes, len(predicted) if asked.prediction is not None else None)

    def _prompts(self, asked: requests.Request) -> list[list[str]]:
        if asked.chat:
            return [self.tokenizer.split(requests.rendered(asked))]
        return [
            self.tokenizer.split(prompt)
            if isinstance(prompt, str)
            else [self.tokenizer.text_of([n]) for n in prompt]
            for prompt in asked.prompts
        ]

    def _predicted(self, asked: requests.Request) -> Sequence[str]:
        """Tokens of the prediction; it is cut at max_tokens, as documented."""
        if asked.prediction is None:
            return ()
        text = (
            asked.prediction
            if isinstance(asked.prediction, str)
            else self.tokenizer.text_of(asked.prediction)
        )
        return self.tokenizer.split(text)[: asked.max_tokens]

    def _choice(
        self, call: Call, target: Target, key: object, *, index: int, predicted: Sequence[str], budget: int
    ) -> answer.Choice:
        asked, knobs = call.request, call.knobs
        repeated = misbehave.answer_words(call.fault)
        if repeated:
            return answer.Choice([answer.Piece(answer.CONTENT, repeated[0])] * budget, "length")
        if call.fault and call.fault.kind == "empty":
            return answer.Choice([], "stop")
        text = knobs["answer"]
        if text is None and self.known and not asked.tools:
            precision = str((target.deployment or {}).get("precision", ""))
            text = answers.answer_for(self.known, asked, precision, knobs["wrong_share"])
        wishes = answer.Wishes(knobs["output_tokens"], text, knobs["prediction_match"])
        return answer.make_choice(
            asked,
            target.base["name"],
            key,
            index=index,
            predicted=predicted,
            wishes=wishes,
            budget=budget,
        )


def _within(prompt: list[str], context: int, asked: requests.Request) -> list[str]:
    """The prompt as far as the request allows it. Raises 400 when the context overflows."""
    if asked.truncate_prompt_to is not None and len(prompt) > asked.truncate_prompt_to:
        prompt = prompt[-asked.truncate_prompt_to :]
    room = asked.max_tokens if asked.on_overflow == "error" else 0
    if len(prompt) + max(room, 0) > context or len(prompt) >= context:
        wanted = f"{len(prompt)} prompt tokens" + (f" and {room} output tokens" if room else "")
        raise InferenceError(
            400,
            "context_length_exceeded",
            f"The request needs {wanted}, which is more than the model's context length of {context}. "
            "Please reduce the length of the messages or completion.",
            param="messages" if asked.chat else "prompt",
        )
    return prompt
