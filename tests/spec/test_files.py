"""Paths to files: folders, what is skipped, what cannot be read."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from fwctl.spec.files import read_paths, shown_path
from fwctl.spec.load import load
from tests.spec.support import HEAD, only, spec


def write(folder: Path, *names: str) -> None:
    for name in names:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(spec(head=HEAD.replace("chat", place.stem)))


def names(folder: Path, *paths: str) -> list[str]:
    given = read_paths([folder / path for path in paths])
    return [os.path.relpath(one.file, folder) for one in given]


def test_a_folder_is_read_sorted_and_recursive_without_dot_files(tmp_path: Path) -> None:
    write(
        tmp_path, "b.yaml", "a.yml", "sub/z.yaml", "sub/.hidden/x.yaml", ".x.yaml", ".git/y.yaml", "notes.txt"
    )
    assert names(tmp_path, ".") == ["a.yml", "b.yaml", "sub/z.yaml"]
    loaded = load([tmp_path], environ={})
    assert loaded.spec is not None
    assert set(loaded.spec.deployments) == {"a", "b", "z"}


def test_a_file_is_read_once_and_by_any_name(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml", "b.txt")
    (tmp_path / "link.yaml").symlink_to("a.yaml")
    assert names(tmp_path, "a.yaml", ".", "b.txt") == ["a.yaml", "b.txt"]


def test_a_circle_of_folders_ends(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml")
    (tmp_path / "loop").symlink_to(".")
    assert names(tmp_path, ".") == ["a.yaml"]


@pytest.mark.parametrize(
    "name", ["nothing.yaml", "empty", "broken.yaml", "pipe.yaml", "nul\0.yaml", "n" * 300]
)
def test_what_cannot_be_read_is_one_error_that_names_it(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.yaml").symlink_to("nowhere")
    os.mkfifo(tmp_path / "pipe.yaml")
    problem = only(load([tmp_path / name], environ={}))
    assert problem.code == "FW112"
    assert name.replace("\0", "�")[:20].split("�")[0] in problem.message


def test_a_folder_in_place_of_the_defaults(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml")
    problem = only(load([tmp_path / "a.yaml"], environ={}, defaults=tmp_path))
    assert (problem.code, "is a folder" in problem.message) == ("FW112", True)


def test_the_file_of_defaults_is_no_spec_of_the_folder(tmp_path: Path) -> None:
    write(tmp_path, "a.yaml")
    (tmp_path / "base.yaml").write_text("region: APAC\n")
    loaded = load([tmp_path], environ={}, defaults=tmp_path / "base.yaml")
    assert loaded.spec is not None
    assert loaded.files == (str(tmp_path / "a.yaml"),)


def test_no_path_is_no_spec() -> None:
    loaded = load([], environ={})
    assert (loaded.files, loaded.spec, loaded.diagnostics) == ((), None, ())


@pytest.mark.skipif(sys.platform == "darwin", reason="its file system takes only UTF-8 names")
def test_a_name_that_is_not_utf_8_is_shown(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.yaml")
    (tmp_path / name).write_text("[")
    problem = only(load([tmp_path], environ={}))
    assert problem.position is not None
    assert problem.position.file.endswith("\ufffd.yaml")
    assert shown_path(name) == "\ufffd.yaml"


def test_a_folder_that_cannot_be_listed_is_an_error(tmp_path: Path) -> None:
    """Below a path that is longer than the system takes; a refusal would not stop root."""
    write(tmp_path, "a.yaml")
    place = os.open(tmp_path, os.O_RDONLY)
    for _ in range(20):
        os.mkdir("d" * 250, dir_fd=place)
        inside = os.open("d" * 250, os.O_RDONLY, dir_fd=place)
        os.close(place)
        place = inside
    os.close(place)
    loaded = load([tmp_path], environ={})
    assert [d.code for d in loaded.diagnostics] == ["FW112"]
    assert "cannot be read: File name too long" in loaded.diagnostics[0].message


def test_a_name_that_the_system_refuses(tmp_path: Path) -> None:
    given = read_paths([tmp_path / ("d" * 300) / "a.yaml"])
    assert [one.problem for one in given] == ["cannot be read: File name too long"]
