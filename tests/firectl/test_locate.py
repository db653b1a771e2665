from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fwctl.errors import FirectlMissingError
from fwctl.firectl.locate import locate
from fwctl.firectl.runner import Runner
from tests.firectl.support import GRACES, make_env, script


@pytest.fixture
def bin_dir(tmp_path: Path) -> Path:
    folder = tmp_path / "bin"
    folder.mkdir()
    script(folder, "true")
    return folder


def test_the_path_is_searched_by_default(tmp_path: Path, bin_dir: Path):
    assert locate(make_env(tmp_path, PATH=str(bin_dir))) == [str(bin_dir / "firectl")]


def test_the_option_wins_over_the_variable_and_the_variable_over_the_path(tmp_path: Path, bin_dir: Path):
    other = script(tmp_path, "true", "other")
    env = make_env(tmp_path, PATH=str(bin_dir), FWCTL_FIRECTL="sim")
    assert locate(env) == [sys.executable, "-P", "-m", "fwctl.simulator"]
    assert locate(env, str(other)) == [str(other)]


def test_a_relative_path_is_seen_from_the_folder_of_the_command(tmp_path: Path, bin_dir: Path):
    assert locate(make_env(tmp_path, PATH=""), "bin/firectl") == [str(bin_dir / "firectl")]
    assert locate(make_env(tmp_path, PATH=""), "./bin/../bin/firectl")[0].endswith("/bin/firectl")


def test_another_name_is_searched_on_the_path(tmp_path: Path, bin_dir: Path):
    script(bin_dir, "true", "firectl-1.8")
    assert locate(make_env(tmp_path, PATH=str(bin_dir)), "firectl-1.8") == [str(bin_dir / "firectl-1.8")]


@pytest.mark.parametrize(
    ("option", "why"),
    [
        (None, "firectl is not on the PATH"),
        ("nofirectl", "nofirectl is not on the PATH"),
        ("/nonexistent/firectl", "/nonexistent/firectl does not exist"),
        ("plain", "plain is not on the PATH"),
        ("./plain", "./plain is not an executable file"),
    ],
)
def test_a_missing_firectl_is_named_with_ways_to_get_it(tmp_path: Path, option, why):
    (tmp_path / "plain").write_text("x")
    with pytest.raises(FirectlMissingError, match=why) as caught:
        locate(make_env(tmp_path, PATH=str(tmp_path / "empty")), option)
    assert any("install.sh" in step for step in caught.value.next_steps)
    assert any("--firectl sim" in step for step in caught.value.next_steps)


def test_a_file_beside_the_specs_does_not_take_the_place_of_a_module(tmp_path: Path):
    (tmp_path / "json.py").write_text("raise SystemExit('wrong module')")
    env = make_env(tmp_path)
    runner = Runner(locate(env, "sim"), "acme", env, graces=GRACES)
    assert runner.call(["version"]).stdout.strip() == "1.8.9"
