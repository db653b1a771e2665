from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.errors import FirectlFailedError
from fwctl.firectl.capabilities import HELP_PAGES
from fwctl.firectl.probe import cache_path, probe, read_version
from tests.firectl.support import calls_of, make_env, make_runner

# Prints a cobra page for every command except `deployment tag`, which an old build does not have.
BUILD = """
echo "$*" >> $LOG
case "$*" in
version) echo '✔ acme'; echo 1.8.9;;
*tag*) printf 'Usage:\\n  firectl deployment [command]\\n\\nFlags:\\n  -h, --help   help\\n';;
*match*) echo 'Failed to execute: unknown command "match" for "firectl"' >&2; exit 1;;
*--help)
  printf 'Usage:\\n  firectl %s [flags]\\n\\nFlags:\\n' "$(echo "$*" | sed 's/ --help//')"
  printf '  -a, --account-id string   x\\n      --file string   x\\n';;
esac
"""


def test_version_and_help_pages_become_capabilities(tmp_path: Path):
    caps = probe(make_runner(tmp_path, BUILD))
    assert caps.version == "1.8.9"
    assert caps.flags["deployment update"] == {"--account-id", "--file"}
    assert (caps.update_file, caps.update_region, caps.show_deleted) == (True, False, False)
    assert (caps.has_tags, caps.has_match) == (False, False)


def test_the_pages_are_read_once_per_version(tmp_path: Path):
    runner = make_runner(tmp_path, BUILD)
    first = probe(runner)
    assert len(calls_of(tmp_path)) == 1 + len(HELP_PAGES)
    assert probe(runner) == first
    assert len(calls_of(tmp_path)) == 2 + len(HELP_PAGES)


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"pages": {}}', '{"pages": {"deployment create": 3}}', "\x00", "[" * 100_000]
)
def test_a_damaged_cache_is_read_anew(tmp_path: Path, text: str):
    runner = make_runner(tmp_path, BUILD)
    good = probe(runner)
    (cached,) = (tmp_path / "cache" / "fwctl").iterdir()
    cached.write_text(text)
    assert probe(runner) == good


def test_a_cache_of_wrong_things_is_read_anew(tmp_path: Path):
    runner = make_runner(tmp_path, BUILD)
    good = probe(runner)
    (cached,) = (tmp_path / "cache" / "fwctl").iterdir()
    cached.write_text('{"pages": {' + ",".join(f'"{page}": [1]' for page in HELP_PAGES) + "}}")
    assert probe(runner) == good


def test_a_cache_that_cannot_be_written_is_no_matter(tmp_path: Path):
    (tmp_path / "cache").write_text("a file where a folder should be")
    assert probe(make_runner(tmp_path, BUILD)).version == "1.8.9"


def test_a_cache_file_that_cannot_be_replaced_leaves_nothing_half_written(tmp_path: Path):
    runner = make_runner(tmp_path, BUILD)
    place = cache_path(runner.env.environ, runner.command, "1.8.9")
    assert place
    (place / "in the way").mkdir(parents=True)
    assert probe(runner).version == "1.8.9"
    assert list(place.parent.iterdir()) == [place]


def test_a_page_that_cannot_be_read_stays_unknown_and_is_not_cached(tmp_path: Path):
    caps = probe(make_runner(tmp_path, 'test "$1" = version && echo 1.8.9 || exit 1'))
    assert caps.flags == {}
    assert caps.has_tags
    assert not (tmp_path / "cache").exists()


def test_a_build_that_prints_no_version_is_probed_without_a_cache(tmp_path: Path):
    caps = probe(make_runner(tmp_path, 'test "$1" = version && echo dev || exit 1'))
    assert caps.version == ""


def test_a_version_on_stderr_counts_and_a_failing_version_call_is_an_error(tmp_path: Path):
    assert read_version(make_runner(tmp_path, "echo 1.8.9 >&2")) == "1.8.9"
    with pytest.raises(FirectlFailedError, match="no good"):
        read_version(make_runner(tmp_path, "echo no good >&2; exit 1"))


def test_the_place_of_the_cache_depends_on_build_version_and_settings(tmp_path: Path):
    program = tmp_path / "firectl"
    program.write_text("x")
    environ = dict(make_env(tmp_path).environ)
    places = {
        cache_path(environ, [str(program)], "1.8.9"),
        cache_path(environ, [str(program)], "1.8.10"),
        cache_path(environ, ["/nonexistent"], "1.8.9"),
        cache_path({**environ, "FIRECTL_PROFILE": "a"}, [str(program)], "1.8.9"),
    }
    assert len(places) == 4
    assert all(place and place.parent == tmp_path / "cache" / "fwctl" for place in places)
    program.write_text("xy")
    assert cache_path(environ, [str(program)], "1.8.9") not in places


@pytest.mark.parametrize(
    ("environ", "folder"),
    [
        ({"HOME": "/h"}, "/h/.cache/fwctl"),
        ({"USERPROFILE": "/u"}, "/u/.cache/fwctl"),
        ({"HOME": "/h", "XDG_CACHE_HOME": "/c"}, "/c/fwctl"),
        ({}, None),
    ],
)
def test_the_cache_folder_comes_from_the_environment_handed_in(environ, folder):
    place = cache_path(environ, ["firectl"], "1.8.9")
    assert (str(place.parent) if place else None) == folder


def test_a_page_that_was_cut_says_nothing_and_is_not_cached(tmp_path: Path):
    caps = probe(make_runner(tmp_path, BUILD.replace("Flags:", "Fla")))
    assert "deployment update" not in caps.flags
    assert not (tmp_path / "cache").exists()
