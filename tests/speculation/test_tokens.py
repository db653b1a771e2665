"""Text to tokens: pieces that can be put together again, and exact ids where the tokenizer is there."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import FwctlError, UsageError
from fwctl.speculation.tokens import approximate, exact, load_tokenizers, pieces

HAS_TOKENIZERS = importlib.util.find_spec("tokenizers") is not None
# A tokenizer of whole words, as tokenizers 0.23 writes it; written by hand.
WORDS = """{"version": "1.0", "truncation": null, "padding": null, "added_tokens": [], "normalizer": null,
 "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": null, "decoder": null,
 "model": {"type": "WordLevel", "vocab": {"[UNK]": 0, "one": 1, "two": 2}, "unk_token": "[UNK]"}}"""


def test_pieces_by_hand() -> None:
    assert pieces("The unbelievable price: 12345 EUR!!") == [
        "The", " unbelievab", "le", " price", ":", " ", "123", "45", " EUR", "!!",
    ]  # fmt: skip
    assert pieces("a_b\n\n  x") == ["a", "_", "b", "\n\n", "  ", "x"]
    assert pieces("GPU 模型，ไทย 한국 größe") == ["GPU", " ", *"模型", "，", *"ไทย", " ", *"한국", " größe"]


@pytest.mark.parametrize(
    "sentence",
    [
        "根据资料这个模型的内存不够大所以需要两台机器",
        "メモリが足りないのでもう一台使います",
        "หน่วยความจำไม่พอจึงต้องใช้สองเครื่อง",
    ],
)
def test_a_sentence_without_blanks_is_the_same_pieces_wherever_it_begins(sentence: str) -> None:
    for before in ("好", "好的", "です。", "ครับ", "GPU"):
        assert pieces(before + sentence)[-len(pieces(sentence)) :] == pieces(sentence)


@settings(max_examples=60)
@given(st.text())
def test_pieces_are_the_text_again(text: str) -> None:
    assert "".join(pieces(text)) == text
    found = approximate()
    assert len(found.ids(text)) == len(found.texts(text)) == len(found.ends(text))
    assert not text or found.ends(text)[-1] == len(text)


@settings(max_examples=60)
@given(st.text(max_size=12), st.text(max_size=12))
def test_different_pieces_have_different_ids(one: str, other: str) -> None:
    ids = approximate().ids
    assert (ids(one) == ids(other)) == (pieces(one) == pieces(other))
    assert all(0 <= number < 2**56 for number in ids(one + other))


def test_ids_are_the_same_in_every_process() -> None:
    code = "from fwctl.speculation.tokens import approximate; print(approximate().ids('one häuser 日本語'))"
    environ = {"PYTHONHASHSEED": "7", "PYTHONPATH": str(Path(__file__).parents[2])}
    found = subprocess.run(
        [sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == str(approximate().ids("one häuser 日本語"))


@pytest.mark.skipif(HAS_TOKENIZERS, reason="tokenizers is installed")
def test_without_the_extra_the_install_is_named() -> None:
    with pytest.raises(FwctlError) as caught:
        load_tokenizers()
    assert caught.value.next_steps[0] == "pip install 'fwctl[tokenizers]'"


@pytest.mark.skipif(not HAS_TOKENIZERS, reason="needs the extra tokenizers")
def test_a_tokenizer_gives_exact_ids(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_text(WORDS)
    found = exact(path, load_tokenizers())
    assert found.ids("one two three \ud800") == [1, 2, 0, 0]
    assert found.texts("one  two") == ["one", "two"]
    assert found.exact
    assert found.about == "exact: tokenizer.json"


class Package:
    """The part of the tokenizers package that is used, for a file that holds nothing but `words`."""

    class Tokenizer:
        class Encoding:
            def __init__(self, text: str) -> None:
                spans = [match.span() for match in re.finditer(r"\S+", text)]
                self.ids = [begin for begin, _ in spans]
                self.offsets = spans

        @classmethod
        def from_str(cls, text: str) -> Package.Tokenizer:
            if text != "words":
                raise Exception("expected value at line 1")
            return cls()

        def no_truncation(self) -> None:
            self.whole = True

        def no_padding(self) -> None:
            self.bare = self.whole

        def encode(self, text: str, *, add_special_tokens: bool) -> Encoding:
            assert self.bare
            assert not add_special_tokens
            return self.Encoding(text)


def test_ids_texts_and_ends_are_those_of_the_package(tmp_path: Path) -> None:
    (tmp_path / "tokenizer.json").write_text("words")
    found = exact(tmp_path / "tokenizer.json", Package)
    assert found.ids("one  two") == [0, 5]
    assert found.texts("one  two") == ["one", "two"]
    assert found.ends("one  two") == [3, 8]
    assert found.exact


@pytest.mark.parametrize("tokenizers", [Package, load_tokenizers() if HAS_TOKENIZERS else Package])
def test_what_is_no_tokenizer_is_refused(tmp_path: Path, tokenizers: Any) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bytes").write_bytes(b"\xff\xfe")
    (tmp_path / "json").write_text("{}")
    for name in ("none", "pipe", "bytes", "json", ".", "a" * 300):
        with pytest.raises(UsageError, match=r"tokenizer|too long"):
            exact(tmp_path / name, tokenizers)
