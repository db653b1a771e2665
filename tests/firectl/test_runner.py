"""Real children: what reaches firectl, what comes back, and what is never shown or left behind."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from fwctl.errors import (
    AuthError,
    FirectlFailedError,
    FirectlMissingError,
    InterruptedByUserError,
    UsageError,
)
from fwctl.firectl.argv import FILE_PLACEHOLDER
from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.outcome import Outcome, judge
from fwctl.firectl.runner import Runner
from fwctl.process import Completed
from fwctl.redact import Redactor
from tests.firectl.support import GRACES, KEY, calls_of, make_env, make_runner, sample


def files_below(path: Path) -> list[Path]:
    return [item for item in path.rglob("*") if item.is_file()]


def test_a_call_hands_over_the_words_and_returns_what_was_printed(tmp_path: Path):
    runner = make_runner(tmp_path, 'echo "$# $1|$2|$3"; echo note >&2')
    outcome = runner.call(["deployment", "a b", "-x"])
    assert outcome.ok
    assert (outcome.stdout, outcome.stderr) == ("3 deployment|a b|-x\n", "note\n")
    assert outcome.argv == ("deployment", "a b", "-x")
    assert (outcome.message, outcome.error_class, outcome.returncode) == ("", None, 0)
    assert outcome.checked() is outcome


def test_the_profile_is_passed_on_every_call(tmp_path: Path):
    assert make_runner(tmp_path, 'echo "$*"', profile="work").call(["whoami"]).stdout == "whoami -p work\n"


def test_calls_are_counted_and_shown_to_the_observer(tmp_path: Path):
    seen: list[Outcome] = []
    runner = make_runner(tmp_path, "true", observe=seen.append)
    runner.call(["a"])
    runner.call(["b"])
    assert runner.calls == 2
    assert [outcome.argv for outcome in seen] == [("a",), ("b",)]


def test_the_key_reaches_the_child_through_its_environment_and_no_output(tmp_path: Path):
    body = 'echo "key $FIREWORKS_API_KEY"; echo "bad --api-key $FIREWORKS_API_KEY" >&2; exit 1'
    outcome = make_runner(tmp_path, body).call(["whoami"])
    assert KEY not in repr(outcome)
    assert outcome.stdout == "key ***\n"
    assert outcome.message.endswith("bad --api-key ***")


@pytest.mark.parametrize(
    "body",
    [
        "echo '2026/07/13 15:05:14 Failed to execute: rpc error: code = NotFound desc = no' >&2; exit 1",
        "echo '2026/07/13 15:05:14 Failed to execute: rpc error: code = NotFound desc = no' >&2; exit 0",
        "echo 'Failed to execute: rpc error: code = NotFound desc = no'; exit 0",
        "printf '\\033[31mFailed to execute: rpc error: code = NotFound desc = no\\033[0m\\n' >&2; exit 1",
    ],
)
def test_a_failure_line_decides_whatever_the_exit_code_and_stream(tmp_path: Path, body: str):
    outcome = make_runner(tmp_path, body).call(["x"])
    assert not outcome.ok
    assert outcome.error_class is ErrorClass.NOT_FOUND
    assert outcome.message == "rpc error: code = NotFound desc = no"
    assert not outcome.ambiguous
    with pytest.raises(FirectlFailedError) as caught:
        outcome.checked("chat")
    assert (caught.value.error_class, caught.value.deployment) == ("not_found", "chat")


@pytest.mark.parametrize("text", ["Failed to execute: not really", "BLOCKED: by the weather"])
def test_a_description_that_quotes_a_failure_is_none(tmp_path: Path, text: str):
    """A record repeats the description, line breaks and all."""
    (tmp_path / "out").write_text(
        f"Name: accounts/acme/deployments/chat\nDescription: a\n{text}\nState: CREATING\n"
    )
    runner = make_runner(tmp_path, f"cat {tmp_path}/out")
    assert runner.call(["x"]).ok
    assert not make_runner(tmp_path, f"cat {tmp_path}/out; exit 1").call(["x"]).ok


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("echo out; echo 'it broke' >&2; exit 3", "firectl exited with code 3: it broke"),
        ("echo 'it broke'; exit 3", "firectl exited with code 3: it broke"),
        ("exit 1", "firectl exited with code 1 and printed nothing"),
        ("kill -9 $$", "firectl was killed by signal 9 and printed nothing"),
    ],
)
def test_a_failure_without_a_failure_line_is_told_as_far_as_it_is_known(
    tmp_path: Path, body: str, message: str
):
    outcome = make_runner(tmp_path, body).call(["x"])
    assert (outcome.message, outcome.error_class) == (message, ErrorClass.UNKNOWN)
    assert outcome.ambiguous


def test_captured_successful_output_is_a_success(tmp_path: Path):
    for name in ("create-shapeless-success.txt", "delete-verb-noun.txt", "docs-create-record-quickstart.txt"):
        (tmp_path / "out").write_text(sample(name))
        assert make_runner(tmp_path, f"cat {tmp_path}/out").call(["x"]).ok


def test_a_call_that_hangs_ends_at_its_deadline_and_is_ambiguous(tmp_path: Path):
    outcome = make_runner(tmp_path, "echo begun; sleep 60").call(["x"], timeout_s=0.3)
    assert outcome.timed_out
    assert outcome.error_class is ErrorClass.TIMEOUT
    assert outcome.message == "firectl gave no answer within 0.3 s and was stopped"
    assert outcome.stdout == "begun\n"
    assert outcome.ambiguous


def test_an_interrupt_stops_the_child_and_means_exit_130(tmp_path: Path):
    event = threading.Event()
    runner = make_runner(tmp_path, "sleep 60", interrupt=event)
    event.set()
    outcome = runner.call(["x"])
    assert outcome.interrupted
    assert outcome.ambiguous
    with pytest.raises(InterruptedByUserError):
        outcome.checked()


def test_a_program_that_cannot_be_started_is_named_with_ways_out(tmp_path: Path):
    runner = Runner([str(tmp_path / "gone")], "acme", make_env(tmp_path), graces=GRACES)
    with pytest.raises(FirectlMissingError, match="cannot start") as caught:
        runner.call(["version"])
    assert caught.value.next_steps


def test_the_private_file_is_there_for_the_child_alone(tmp_path: Path):
    body = 'ls -l "$2" | cut -c1-10; cat "$2"; echo "$2" >> $LOG'
    runner = make_runner(tmp_path, body)
    outcome = runner.call(["--file", FILE_PLACEHOLDER], file={"direct_route_api_keys": ["hunter22-key"]})
    assert outcome.stdout == '-rw-------\n{"direct_route_api_keys": ["***"]}'
    assert outcome.argv == ("--file", FILE_PLACEHOLDER)
    assert not Path(calls_of(tmp_path)[0]).exists()
    runner.close()
    assert files_below(tmp_path / "runtime") == []


def test_auth_by_file_gives_the_child_a_home_with_the_key_and_the_users_settings(tmp_path: Path):
    settings = tmp_path / "home" / ".fireworks" / "settings.ini"
    settings.parent.mkdir(parents=True)
    settings.write_text("gateway_address = gateway-dev.fireworks.ai:443\n")
    body = (
        'grep -c "api_key = '
        + KEY
        + '" "$HOME/.fireworks/auth.ini"; grep account "$HOME/.fireworks/auth.ini"\n'
        'cat "$HOME/.fireworks/settings.ini"; ls -l "$HOME/.fireworks/auth.ini" | cut -c1-10\n'
        'echo "env ${FIREWORKS_API_KEY:-none}"; echo "$HOME" >> $LOG'
    )
    with make_runner(tmp_path, body, auth="file") as runner:
        outcome = runner.call(["whoami"])
    assert outcome.stdout.splitlines() == [
        "1",
        "account_id = acme",
        "gateway_address = gateway-dev.fireworks.ai:443",
        "-rw-------",
        "env none",
    ]
    assert not Path(calls_of(tmp_path)[0]).exists()
    assert files_below(tmp_path / "runtime") == []


def test_auth_by_file_without_settings_and_together_with_a_private_file(tmp_path: Path):
    runner = make_runner(tmp_path, 'ls -A "$HOME/.fireworks"; cat "$2"', auth="file")
    outcome = runner.call(["--file", FILE_PLACEHOLDER], file={"max_concurrency_per_replica": 8})
    assert outcome.stdout == 'auth.ini\n{"max_concurrency_per_replica": 8}'


def test_auth_by_file_works_without_a_home(tmp_path: Path):
    runner = make_runner(tmp_path, 'ls -A "$HOME/.fireworks"', auth="file", variables={"HOME": ""})
    assert runner.call(["whoami"]).stdout == "auth.ini\n"


def test_a_child_that_could_not_be_stopped_is_told_as_such():
    completed = Completed(("firectl",), None, "", "", 3.0)
    outcome = judge(completed, ("x",), Redactor(), 1.0)
    assert outcome.message == "firectl could not be stopped and printed nothing"
    assert outcome.ambiguous


@pytest.mark.parametrize("key", ["", "  \n", "fw_key_1\naccount_id = other"])
def test_auth_by_file_needs_a_key_of_one_line(tmp_path: Path, key: str):
    runner = make_runner(tmp_path, "true", auth="file", variables={"FIREWORKS_API_KEY": key})
    with pytest.raises(AuthError, match="FIREWORKS_API_KEY"):
        runner.call(["whoami"])
    assert runner.calls == 0


def test_another_way_of_auth_is_wrong_usage(tmp_path: Path):
    with pytest.raises(UsageError, match="env or file"):
        make_runner(tmp_path, "true", auth="magic")


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--description", f"my key is {KEY}"], "secret"),
        (["--api-key", "x"], "secret"),
        (["--api-key=x"], "secret"),
        (["--description", "a\0b"], "NUL"),
        (["--description", "x" * 131_072], "longer than"),
    ],
)
def test_words_that_must_not_or_cannot_be_a_command_line_are_refused(tmp_path: Path, words, why):
    runner = make_runner(tmp_path, "echo started >> $LOG")
    with pytest.raises(FirectlFailedError, match=why) as caught:
        runner.call(words)
    assert KEY not in caught.value.message
    assert caught.value.error_class == "invalid"
    assert calls_of(tmp_path) == []


def test_values_of_a_private_file_are_refused_on_the_command_line(tmp_path: Path):
    runner = make_runner(tmp_path, "true")
    with pytest.raises(FirectlFailedError, match="secret"):
        runner.call(["--description", "hunter22-key"], file={"direct_route_api_keys": ["hunter22-key"]})


def test_a_runner_without_a_key_uses_the_users_own_sign_in(tmp_path: Path):
    runner = make_runner(tmp_path, 'echo "$HOME"', variables={"FIREWORKS_API_KEY": ""})
    assert runner.call(["whoami"]).stdout.strip() == str(tmp_path / "home")


@pytest.mark.parametrize(("given", "seen"), [({}, "1"), ({"FIRECTL_NO_UPDATE_NOTICE": "0"}, "0")])
def test_update_notices_are_switched_off_unless_the_user_says_otherwise(tmp_path: Path, given, seen):
    runner = make_runner(tmp_path, "echo $FIRECTL_NO_UPDATE_NOTICE", variables=given)
    assert runner.call(["version"]).stdout.strip() == seen


def test_many_threads_share_one_runner(tmp_path: Path):
    body = 'cat "$2"; grep -c api_key "$HOME/.fireworks/auth.ini"'
    runner = make_runner(tmp_path, body, auth="file")
    with ThreadPoolExecutor(8) as pool:
        outcomes = list(
            pool.map(lambda n: runner.call(["--file", FILE_PLACEHOLDER], file={"n": n}), range(24))
        )
    assert [outcome.stdout for outcome in outcomes] == [f'{{"n": {n}}}1\n' for n in range(24)]
    assert runner.calls == 24
    runner.close()
    assert files_below(tmp_path / "runtime") == []


def test_megabytes_from_firectl_come_back_whole(tmp_path: Path):
    body = "head -c 5000000 /dev/zero | tr '\\0' x; head -c 5000000 /dev/zero | tr '\\0' y >&2"
    outcome = make_runner(tmp_path, body).call(["x"])
    assert (len(outcome.raw_stdout), len(outcome.raw_stderr)) == (5_000_000, 5_000_000)
