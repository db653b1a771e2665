from __future__ import annotations

import os
import signal
import stat
import sys
from pathlib import Path

import pytest

from fwctl.errors import FirectlFailedError
from fwctl.firectl.private import PrivateFolder
from fwctl.process import run

REPO = Path(__file__).parent.parent.parent


def below(path: Path) -> list[Path]:
    return sorted(item for item in path.rglob("*") if item.is_file())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture
def folder(tmp_path: Path) -> PrivateFolder:
    return PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)})


def test_files_exist_only_inside_the_block_and_only_for_their_owner(folder: PrivateFolder, tmp_path: Path):
    with folder.files({"config.json": "x", ".fireworks/auth.ini": "y"}) as place:
        file = place / ".fireworks" / "auth.ini"
        assert (file.read_text(), mode(file), mode(place)) == ("y", 0o600, 0o700)
        assert mode(place / ".fireworks") == 0o700
    assert not place.exists()
    folder.close()
    assert below(tmp_path) == []


def test_files_go_even_when_the_block_fails(folder: PrivateFolder, tmp_path: Path):
    with pytest.raises(KeyError), folder.files({"a": "x"}) as place:
        raise KeyError
    assert not place.exists()


def test_blocks_of_several_threads_have_folders_of_their_own(folder: PrivateFolder):
    with folder.files({"a": "1"}) as one, folder.files({"a": "2"}) as two:
        assert (one / "a").read_text() == "1"
        assert (two / "a").read_text() == "2"


def test_closing_twice_or_unused_is_fine(folder: PrivateFolder):
    folder.close()
    with folder.files({}):
        pass
    folder.close()
    folder.close()


def test_what_a_killed_process_left_is_swept_at_the_next_start(tmp_path: Path):
    program = (
        "import os, signal, sys\nfrom fwctl.firectl.private import PrivateFolder\n"
        "with PrivateFolder({'XDG_RUNTIME_DIR': sys.argv[1]}).files({'auth.ini': 'left behind'}):\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    done = run([sys.executable, "-c", program, str(tmp_path)], env=dict(os.environ), deadline_s=30, cwd=REPO)
    assert done.returncode == -signal.SIGKILL
    assert any(path.name == "auth.ini" for path in below(tmp_path))
    assert PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)}).sweep() == 1
    assert below(tmp_path) == []


def test_the_folder_of_a_living_process_is_not_swept(folder: PrivateFolder, tmp_path: Path):
    with folder.files({"a": "x"}) as place:
        assert PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)}).sweep() == 0
        assert folder.sweep() == 0
        assert (place / "a").exists()
    folder.close()


def test_a_folder_that_was_made_this_minute_and_has_no_lock_yet_is_left_alone(tmp_path: Path):
    fresh, old = (tmp_path / f"fwctl-{os.getuid()}" / name for name in ("run-fresh", "run-old"))
    fresh.mkdir(parents=True)
    old.mkdir()
    os.utime(old, (0, 0))
    assert PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)}).sweep() == 1
    assert fresh.exists()


@pytest.mark.parametrize("trap", ["open to others", "a file", "a link"])
def test_a_place_that_others_could_reach_is_refused(tmp_path: Path, trap: str):
    base = tmp_path / f"fwctl-{os.getuid()}"
    if trap == "open to others":
        base.mkdir()
        base.chmod(0o777)
    elif trap == "a file":
        base.write_text("")
    else:
        (tmp_path / "elsewhere").mkdir(mode=0o700)
        base.symlink_to(tmp_path / "elsewhere")
    folder = PrivateFolder({"TMPDIR": str(tmp_path)})
    with pytest.raises(FirectlFailedError, match="private files") as caught, folder.files({"a": "x"}):
        pass
    assert caught.value.next_steps
    assert below(tmp_path) in ([], [base])


def test_without_locks_only_a_folder_of_yesterday_is_swept(tmp_path: Path):
    """As on Windows."""
    with PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)}, locks=False).files({"a": "x"}) as place:
        other = PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path)}, locks=False)
        assert other.sweep() == 0
        os.utime(place.parent, (0, 0))
        assert other.sweep() == 1


def test_sweeping_where_nothing_was_ever_kept_is_fine(tmp_path: Path):
    assert PrivateFolder({"XDG_RUNTIME_DIR": str(tmp_path / "none")}).sweep() == 0
    assert PrivateFolder({}).sweep() >= 0
