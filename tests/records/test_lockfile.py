"""`fwctl.lock`: stable bytes, strict reading, merges without help."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import InvalidSpecError
from fwctl.records.lockfile import LockedModel, LockedShape, LockFile, dumps, loads, read, shape_key, write

SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
LOCK = LockFile(
    shapes={
        SHAPE: LockedShape(
            version=f"{SHAPE}/versions/d26dwe4v",
            model=MODEL,
            precision="FP8",
            snapshot={"accelerator.type": "NVIDIA_H100_80GB", "accelerator.count": 1},
        )
    },
    models={
        MODEL: LockedModel(hugging_face_url="https://huggingface.co/meta-llama/x", context_length=131072)
    },
    prices_date="2026-11-30",
)
TEXT = """\
# Written by `fwctl lock`. Commit it, and change it with `fwctl lock`, not by hand.
lock_version: 1
prices_date: "2026-11-30"

shapes:
  accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast:
    version: "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast/versions/d26dwe4v"
    model: "accounts/fireworks/models/llama-v3p1-8b-instruct"
    precision: "FP8"
    snapshot:
      accelerator.count: 1
      accelerator.type: "NVIDIA_H100_80GB"

models:
  accounts/fireworks/models/llama-v3p1-8b-instruct:
    context_length: 131072
    hugging_face_url: "https://huggingface.co/meta-llama/x"
"""


def test_the_file_reads_as_a_person_expects() -> None:
    assert dumps(LOCK) == TEXT
    assert loads(TEXT) == LOCK


def test_it_is_yaml_that_says_the_same() -> None:
    import yaml

    parsed = yaml.safe_load(TEXT)
    assert parsed["shapes"][SHAPE]["snapshot"] == {
        "accelerator.count": 1,
        "accelerator.type": "NVIDIA_H100_80GB",
    }
    assert parsed["models"][MODEL]["context_length"] == 131072


def test_an_empty_lock_survives() -> None:
    assert loads(dumps(LockFile())) == LockFile()


NAMES = st.from_regex(r"accounts/[a-z]{1,6}/deploymentShapes/[a-z0-9-]{1,12}", fullmatch=True)
VALUES = st.none() | st.booleans() | st.integers(0, 10**12) | st.text(max_size=20) | st.lists(st.integers())


@given(
    shapes=st.dictionaries(
        NAMES,
        st.builds(
            LockedShape,
            version=st.text(max_size=30),
            model=st.text(max_size=30),
            precision=st.text(max_size=8),
            snapshot=st.dictionaries(st.from_regex(r"[a-z_]{1,8}(\.[a-z_]{1,8})?", fullmatch=True), VALUES),
        ),
        max_size=4,
    )
)
@settings(max_examples=40, deadline=None)
def test_whatever_is_locked_is_read_back(shapes: dict[str, LockedShape]) -> None:
    lock = LockFile(shapes=shapes)
    assert loads(dumps(lock)) == lock


@given(st.text(max_size=200))
@settings(max_examples=60, deadline=None)
def test_any_other_text_is_one_clear_error(text: str) -> None:
    with pytest.raises(InvalidSpecError):
        loads("lock_version: 2\n" + text)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "lock_version is None"),
        ("lock_version: 2\n", "lock_version is 2, this fwctl reads 1"),
        ("lock_version: 1\nlock_version: 1\n", ":2: 'lock_version' stands there twice"),
        ("lock_version: 1\n<<<<<<< HEAD\n", ":2: a merge conflict is not resolved"),
        ("lock_version: 1\n\tx: 1\n", ":2: not a line that fwctl writes"),
        ("lock_version: 1\n x: 1\n", ":2: not a line that fwctl writes"),
        ("lock_version: 1\n    x: 1\n", ":2: not a line that fwctl writes"),
        ("lock_version: 1\nx: {\n", ":2: not a JSON value"),
        ("lock_version: 1\nx: " + "[" * 100_000 + "\n", ":2: not a JSON value"),
        ("lock_version: 1\nx: 1\n", "unknown entry 'x'"),
        ("lock_version: 1\nprices_date: 5\n", "prices_date is not a str"),
        ("lock_version: 1\nshapes: 5\n", "shapes is not a block of entries"),
        ("lock_version: 1\nshapes:\n  a: 5\n", "shapes is not a block of entries"),
        ('lock_version: 1\nshapes:\n  a:\n    version: "v"\n', "a: an entry has version, model"),
        (
            'lock_version: 1\nshapes:\n  a:\n    version: 1\n    model: "m"\n    precision: "p"\n',
            "a: version is not a str",
        ),
        ("lock_version: 1\nmodels:\n  m:\n    size: 5\n", "m: unknown entry 'size'"),
        ("lock_version: 1\nmodels:\n  m:\n    parameter_count: true\n", "m: parameter_count is not a int"),
    ],
)
def test_what_is_wrong_is_said_with_its_line(text: str, says: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        loads(text)
    assert says in caught.value.message
    assert caught.value.next_steps


def test_a_missing_file_is_no_lock(tmp_path: Path) -> None:
    assert read(tmp_path / "fwctl.lock") is None


def test_writing_the_same_again_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "fwctl.lock"
    assert write(path, LOCK) is True
    assert write(path, LOCK) is False
    assert read(path) == LOCK
    assert [item.name for item in tmp_path.iterdir()] == ["fwctl.lock"]


def test_a_file_that_is_no_text_or_too_large_or_a_folder_is_one_error(tmp_path: Path) -> None:
    path = tmp_path / "fwctl.lock"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidSpecError, match="not UTF-8"):
        read(path)
    with path.open("wb") as file:
        file.truncate(17 * 2**20)
    with pytest.raises(InvalidSpecError, match="larger than 16 MiB"):
        read(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(InvalidSpecError, match="cannot be read"):
        read(path)


def test_a_preset_is_locked_for_its_model() -> None:
    assert shape_key("fast", MODEL) == f"fast of {MODEL}"
    assert shape_key(SHAPE, MODEL) == SHAPE
    assert LOCK.shape(SHAPE, MODEL) is LOCK.shapes[SHAPE]
    assert LOCK.shape("fast", MODEL) is None
    preset = LockFile(shapes={shape_key("fast", MODEL): LOCK.shapes[SHAPE]})
    assert loads(dumps(preset)) == preset


def test_two_branches_that_lock_different_shapes_merge_without_help(tmp_path: Path) -> None:
    def with_shape(*names: str) -> str:
        return dumps(LockFile(shapes=dict.fromkeys(names, LOCK.shapes[SHAPE]), prices_date="2026-11-30"))

    base, ours, theirs = tmp_path / "base", tmp_path / "ours", tmp_path / "theirs"
    base.write_text(with_shape("a/m", "a/z"))
    ours.write_text(with_shape("a/b", "a/m", "a/z"))
    theirs.write_text(with_shape("a/m", "a/q", "a/z"))
    merged = subprocess.run(
        ["git", "merge-file", "-p", str(ours), str(base), str(theirs)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert merged.returncode == 0
    assert merged.stdout == with_shape("a/b", "a/m", "a/q", "a/z")
