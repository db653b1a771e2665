"""`fwctl status --follow`."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tests.cli.support import fwctl

if TYPE_CHECKING:
    from fwctl.env import Env
    from tests.cli.conftest import Box


class Ending:
    """A clock whose user presses Ctrl-C during the third pause."""

    def __init__(self) -> None:
        self.pauses: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 12, 1, 8, 0, len(self.pauses), tzinfo=UTC)

    def monotonic(self) -> float:
        return float(len(self.pauses))

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        if len(self.pauses) == 3:
            raise KeyboardInterrupt


def ending(env: Env) -> Env:
    env.clock = Ending()
    return env


def test_in_a_pipe_the_table_is_printed_once_as_long_as_nothing_changes(box: Box) -> None:
    done = fwctl(ending(box.env()), "status", box.specs, "--follow", "--poll-interval", "7s")
    assert done.code == 130
    assert done.out.count("absent") == 1
    assert done.out.startswith("2026-12-01 08:00:00 UTC\n")


def test_the_pause_is_the_poll_interval(box: Box) -> None:
    env = ending(box.env())
    fwctl(env, "status", box.specs, "--follow", "--poll-interval", "7s")
    assert isinstance(env.clock, Ending)
    assert env.clock.pauses == [7.0, 7.0, 7.0]


def test_on_a_terminal_the_table_is_redrawn_with_the_time(box: Box) -> None:
    done = fwctl(ending(box.env(terminal=True, TERM="xterm")), "status", box.specs, "--follow")
    assert done.code == 130
    assert "absent" in done.out
    assert "08:00:02 UTC, again every 1 s; Ctrl-C ends" in done.out


def test_a_dumb_terminal_gets_no_cursor_movements(box: Box) -> None:
    done = fwctl(ending(box.env(terminal=True, TERM="dumb")), "status", box.specs, "--follow")
    assert "\x1b" not in done.out


class Breaking(Ending):
    """The platform cannot be read at the second look."""

    def __init__(self, home: Path) -> None:
        super().__init__()
        self.home, self.away = home, home.with_name("away")

    def sleep(self, seconds: float) -> None:
        if not self.pauses:
            self.home.rename(self.away)
            self.home.write_text("no folder")
        elif len(self.pauses) == 1:
            self.home.unlink()
            self.away.rename(self.home)
        super().sleep(seconds)


def test_a_look_that_fails_is_told_and_the_table_stays(box: Box) -> None:
    assert fwctl(box.env(), "apply", box.specs, "--yes").code == 0
    for variables in ({"TERM": "dumb"}, {"TERM": "xterm"}):
        env = box.env(terminal=True, **variables)
        env.clock = Breaking(box.folder / "sim")
        done = fwctl(env, "status", box.specs, "--follow")
        assert done.code == 130
        assert "this is what was seen last: " in done.out + done.err
        assert (
            "READY" in done.out.rpartition("this is what was seen last: ")[0] or done.out.count("READY") == 1
        )


def test_a_first_look_that_fails_ends_it(box: Box) -> None:
    (box.folder / "sim").write_text("no folder")
    assert fwctl(ending(box.env()), "status", box.specs, "--follow").code not in {0, 130}


def test_a_format_with_an_end_cannot_follow(box: Box) -> None:
    assert fwctl(box.env(), "status", box.specs, "--follow", "--format", "json").code == 64
