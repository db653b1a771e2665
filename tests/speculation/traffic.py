"""Generated traffic of known nature; every word comes from a seeded generator."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from fwctl.speculation.tokens import pieces

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def words(random: Random, count: int) -> list[str]:
    """Different words of one token each."""
    return ["".join(random.choices(LETTERS, k=5)) for _ in range(count)]


def chat(count: int, seed: int = 1) -> Iterator[dict[str, Any]]:
    """Free answers to free questions: nothing of one is in another."""
    random = Random(seed)
    vocabulary = words(random, 5000)
    for number in range(count):
        yield {
            "id": f"chat-{number}",
            "type": "chat",
            "messages": [{"role": "user", "content": " ".join(random.choices(vocabulary, k=20))}],
            "completion": " ".join(random.choices(vocabulary, k=80)),
        }


def edit(count: int, seed: int = 2) -> Iterator[dict[str, Any]]:
    """The answer is the file of the request with one word in twenty changed; the file is the prediction."""
    random = Random(seed)
    vocabulary = words(random, 5000)
    for number in range(count):
        file = random.choices(vocabulary, k=100)
        changed = [random.choice(vocabulary) if random.random() < 0.05 else word for word in file]
        yield {
            "id": f"edit-{number}",
            "type": "edit",
            "messages": [{"role": "user", "content": f"fix this {number}"}],
            "prediction": {"type": "content", "content": " ".join(file)},
            "completion": " ".join(changed),
        }


def quoting(count: int, seed: int = 3) -> Iterator[dict[str, Any]]:
    """Answers that copy sentences of the prompt in another order."""
    random = Random(seed)
    vocabulary = words(random, 5000)
    for number in range(count):
        sentences = [random.choices(vocabulary, k=15) for _ in range(8)]
        picked = random.sample(sentences, 5)
        yield {
            "id": f"quote-{number}",
            "type": "quoting",
            "prompt": " ".join(word for sentence in sentences for word in sentence),
            "completion": " ".join(
                word for sentence in picked for word in [*random.choices(vocabulary), *sentence]
            ),
        }


def narrow(count: int, seed: int = 4, right: float = 0.85) -> Iterator[dict[str, Any]]:
    """A narrow domain whose draft model is right in 85 % of the tokens."""
    random = Random(seed)
    vocabulary = words(random, 5000)
    for number in range(count):
        completion = " ".join(random.choices(vocabulary, k=80))
        drafted = [piece if random.random() < right else "?" for piece in pieces(completion)]
        yield {
            "id": f"narrow-{number}",
            "type": "narrow",
            "prompt": " ".join(random.choices(vocabulary, k=20)),
            "completion": completion,
            "draft_tokens": drafted,
        }


def write(path: Path, *sources: Iterator[dict[str, Any]]) -> Path:
    """One JSONL file of all of them."""
    path.write_text("".join(json.dumps(item) + "\n" for source in sources for item in source))
    return path
