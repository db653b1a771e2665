"""Time, settings, profiles, state, call log."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fwctl.simulator import calls, control, profiles, settings, timing
from fwctl.simulator.state import SqliteTx, Store
from tests.simulator.support import NOW, NOW_S, MemoryTx


class TestTiming:
    @pytest.mark.parametrize(
        ("text", "seconds"),
        [("0", 0), ("30s", 30), ("5m", 300), ("1h30m", 5400), ("1.5s", 1.5), ("-5m", -300), ("100ms", 0.1)],
    )
    def test_go_durations_are_read(self, text: str, seconds: float):
        assert timing.parse_go_duration(text) == pytest.approx(seconds)

    @pytest.mark.parametrize(
        ("seconds", "text"),
        [(0, "0s"), (30, "30s"), (300, "5m0s"), (3600, "1h0m0s"), (90.5, "1m30.5s"), (-60, "-1m0s")],
    )
    def test_go_durations_are_written(self, seconds: float, text: str):
        assert timing.format_go_duration(seconds) == text

    @given(st.integers(0, 10**7))
    def test_go_durations_survive_both_ways(self, seconds: int):
        assert timing.parse_go_duration(timing.format_go_duration(seconds)) == seconds

    def test_wire_durations(self):
        assert timing.wire_duration(300.0) == "300s"
        assert timing.wire_duration(0.5) == "0.5s"
        assert timing.parse_wire_duration("1.5s") == 1.5
        with pytest.raises(ValueError, match="Duration"):
            timing.parse_wire_duration("5m")

    def test_instants(self):
        assert timing.parse_rfc3339(NOW) == NOW_S
        assert timing.rfc3339(NOW_S) == "2026-11-30T12:00:00.000000Z"
        assert timing.parse_rfc3339("2026-11-30") == NOW_S - 43_200
        assert timing.parse_rfc3339("2026-11-30 13:00:00+01:00") == NOW_S

    def test_a_running_clock_is_as_fast_as_its_speed(self):
        anchor = timing.Anchor(100.0, 5000.0, 60.0)
        assert anchor.at(101.0) == 5060.0
        assert timing.Clock(anchor).real_seconds(120.0) == 2.0
        assert timing.Clock(anchor, 1.0).real_seconds(120.0) == 0.0


class TestSettings:
    def read(self, **environ: str) -> settings.Settings:
        return settings.from_environ(environ, Path("/work-folder"))

    def test_defaults(self):
        found = self.read()
        assert found.home == Path("/work-folder/.firectl-sim")
        assert (found.account, found.auth, found.profile) == ("acme", "signed_in", "latest")
        assert found.keys == {"fw_test": "admin", "fw_readonly": "readonly"}
        assert (found.speed, found.fixed_now_s, found.suspended, found.blocked) == (None, None, False, False)

    def test_everything_can_be_set(self):
        found = self.read(
            FIRECTL_SIM_HOME="/h",
            FIRECTL_SIM_SPEED="60",
            FIRECTL_SIM_NOW=NOW,
            FIRECTL_SIM_KEYS="fw_a,fw_b=readonly",
            FIRECTL_SIM_AUTH="signed_out",
            FIRECTL_SIM_SUSPENDED="1",
            FIRECTL_SIM_BLOCKED="no",
            FIRECTL_SIM_CATALOG="a.json",
            FIRECTL_SIM_FAULTS="f.yaml",
        )
        assert found.home == Path("/h")
        assert (found.speed, found.fixed_now_s) == (60.0, NOW_S)
        assert (found.keys["fw_a"], found.keys["fw_b"]) == ("admin", "readonly")
        assert (found.suspended, found.blocked) == (True, False)
        assert found.catalogues == (Path("/work-folder/a.json"),)
        assert found.faults_file == Path("/work-folder/f.yaml")

    @pytest.mark.parametrize(
        "environ",
        [
            {"FIRECTL_SIM_SPEED": "fast"},
            {"FIRECTL_SIM_SPEED": "0"},
            {"FIRECTL_SIM_NOW": "noon"},
            {"FIRECTL_SIM_AUTH": "perhaps"},
            {"FIRECTL_SIM_KEYS": "k=king"},
        ],
    )
    def test_values_that_make_no_sense_are_refused(self, environ: dict[str, str]):
        with pytest.raises(settings.SettingsError, match=next(iter(environ))):
            self.read(**environ)


class TestProfiles:
    def test_every_question_has_both_answers_somewhere(self):
        """The contract tests run under all profiles, so each answer of an open question must occur."""
        for name, switch in profiles.SWITCHES.items():
            if switch.answers and name not in {
                "base_model_filter",
                "shape_hint",
                "list_show_deleted",
                "verb_noun",
            }:
                assert len(set(switch.by_profile)) > 1, name

    def test_answers_of_the_sets_are_possible_ones(self):
        for name in profiles.NAMES:
            profile = profiles.load(name)
            for switch, row in profiles.SWITCHES.items():
                assert not row.answers or profile[switch] in row.answers

    def test_single_answers_can_be_changed(self):
        profile = profiles.load("latest,json_list=object,deleting_s=5,version=1.9.0")
        assert (profile["json_list"], profile.number("deleting_s"), profile.version) == (
            "object",
            5.0,
            (1, 9, 0),
        )
        assert profile.answers()["json_list"] == "object"

    @pytest.mark.parametrize(
        "text",
        ["nightly", "latest,nope=1", "latest,json_list=tree", "latest,version=x", "latest,deleting_s=long"],
    )
    def test_what_does_not_exist_is_refused(self, text: str):
        with pytest.raises(profiles.ProfileError, match="FIRECTL_SIM_PROFILE"):
            profiles.load(text)


class TestState:
    def test_a_failed_write_leaves_nothing(self, tmp_path: Path):
        with Store(tmp_path) as store:
            with pytest.raises(RuntimeError), store.write() as tx:  # noqa: PT012
                tx.put("k", "a", {"x": 1})
                raise RuntimeError
            with store.read() as tx:
                assert tx.get("k", "a") is None

    def test_a_reading_sees_one_moment_and_keeps_nothing(self, tmp_path: Path):
        with Store(tmp_path) as first, Store(tmp_path) as second:
            with first.read() as tx:
                assert tx.get("k", "a") is None
                with second.write() as other:
                    other.put("k", "a", {})
                assert tx.get("k", "a") is None
            with first.read() as tx:
                assert tx.get("k", "a") == {}

    @pytest.mark.parametrize("make", [MemoryTx, None])
    def test_both_kinds_of_transaction_behave_alike(self, tmp_path: Path, make: type[MemoryTx] | None):
        with Store(tmp_path) as store, store.write() as written:
            tx: MemoryTx | SqliteTx = make() if make else written  # type: ignore[assignment]
            tx.put("k", "b", {"n": 2})
            tx.put("k", "a", {"n": 1})
            tx.put("other", "a", {"n": 3})
            assert [doc["n"] for doc in tx.all("k")] == [1, 2]
            tx.remove("k", "a")
            tx.remove("k", "none")
            assert [doc["n"] for doc in tx.all("k")] == [2]
            tx.set_meta("m", [1, "x"])
            assert (tx.meta("m"), tx.meta("none")) == ([1, "x"], None)

    def test_a_changed_speed_never_makes_time_jump(self, tmp_path: Path):
        with Store(tmp_path) as store:
            first = store.anchor(1.0, fixed=False)
            fast = store.anchor(1000.0, fixed=False)
            assert fast.speed == 1000.0
            assert fast.sim_s == pytest.approx(first.at(fast.real_s))
            assert store.anchor(None, fixed=False) == fast

    def test_the_clock_moves_for_every_process(self, tmp_path: Path):
        with Store(tmp_path) as one, Store(tmp_path) as other:
            before = one.anchor(None, fixed=False)
            other.move_clock(60.0, fixed=False)
            assert one.anchor(None, fixed=False).sim_s == before.sim_s + 60.0
            other.move_clock(60.0, fixed=True)
            assert one.anchor(None, fixed=True).sim_s == 60.0


class TestCalls:
    @pytest.mark.parametrize(
        ("argv", "masked"),
        [
            (["--api-key", "k", "deployment"], ["--api-key", "***", "deployment"]),
            (["--api-key=k"], ["--api-key=***"]),
            (["set-api-key", "k"], ["set-api-key", "***"]),
            (["secret", "create", "--value", "v"], ["secret", "create", "--value", "***"]),
            (["quota", "update", "x", "--value", "5"], ["quota", "update", "x", "--value", "5"]),
            (["--direct-route-api-keys", "a", "--api-key"], ["--direct-route-api-keys", "***", "--api-key"]),
        ],
    )
    def test_keys_are_masked(self, argv: list[str], masked: list[str]):
        assert calls.mask(argv) == masked

    def test_starts_and_ends_are_paired(self, tmp_path: Path):
        calls.append(tmp_path, {"event": "start", "id": "1", "at": 1.0, "argv": [], "command": "x"})
        calls.append(tmp_path, {"event": "start", "id": "2", "at": 2.0, "argv": [], "command": "y"})
        calls.append(tmp_path, {"event": "end", "id": "1", "at": 3.0, "exit_code": 0})
        calls.append(tmp_path, {"event": "end", "id": "gone", "at": 3.0, "exit_code": 0})
        one, two = calls.read(tmp_path)
        assert (one["exit_code"], one["end"]) == (0, 3.0)
        assert "exit_code" not in two
        calls.clear(tmp_path)
        assert calls.read(tmp_path) == []


class TestControl:
    def test_a_home_that_never_was_is_empty(self, tmp_path: Path):
        assert control.status(tmp_path / "none")["exists"] is False
        assert not (tmp_path / "none").exists()

    def test_reset_empties_a_home(self, tmp_path: Path):
        with Store(tmp_path) as store, store.write() as tx:
            tx.put("models", "m", {})
        assert control.status(tmp_path)["resources"]["models"] == 1
        control.reset(tmp_path)
        found = control.status(tmp_path, "2025")
        assert (found["resources"]["models"], found["calls"], found["version"]) == (0, 0, "1.7.16")
