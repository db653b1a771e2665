from pathlib import Path

import pytest

from tests.cli.support import fwctl, make_env


@pytest.mark.parametrize(
    "argv",
    [
        ("vresion",),
        ("version", "--no-such-option"),
        ("version", "too", "many"),
        ("version", "--format"),
        ("version", "--format", "yaml"),
        ("version", "--parallelism", "0"),
        ("version", "--parallelism", "four"),
        ("version", "--wait-timeout", "10"),
        ("version", "--wait-timeout", "0s"),
        ("version", "--auth", "keyring"),
        ("--firectl",),
        (),
    ],
)
def test_wrong_usage_exits_64_with_one_error_line_and_nothing_on_stdout(tmp_path: Path, argv) -> None:
    done = fwctl(make_env(tmp_path), *argv)
    assert done.code == 64
    assert done.out == ""
    assert sum(line.startswith("error: ") for line in done.err.splitlines()) == 1
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    "argv",
    [
        ("--format", "json", "vresion"),
        ("version", "--no-such-option", "--format=json"),
        ("version", "--format", "json", "--parallelism", "x"),
        ("--format=json",),
    ],
)
def test_wrong_usage_is_one_json_document_when_json_is_asked_for(tmp_path: Path, argv) -> None:
    done = fwctl(make_env(tmp_path), *argv)
    assert done.code == 64
    assert done.err == ""
    document = done.document
    assert document["ok"] is False
    assert document["exit_code"] == 64
    assert document["error"]["code"] == "usage"
    assert document["error"]["next_steps"]
    assert document["format_version"] == "1.0"
    assert document["diagnostics"] == []


def test_the_variable_asks_for_json_too(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path, {"FWCTL_FORMAT": "json"}), "version", "--bad")
    assert done.document["command"] == "version"


def test_a_bad_variable_is_named(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path, {"FWCTL_PARALLELISM": "many"}), "version")
    assert done.code == 64
    assert "FWCTL_PARALLELISM" in done.err


def test_the_command_line_wins_over_the_variable(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path, {"FWCTL_FORMAT": "json"}), "version", "--format", "text")
    assert done.out.startswith("fwctl ")


def test_common_options_work_before_and_after_the_command(tmp_path: Path) -> None:
    before = fwctl(make_env(tmp_path), "--format", "json", "version")
    after = fwctl(make_env(tmp_path), "version", "--format", "json")
    assert before.document == after.document
    assert before.document["ok"] is True


def test_the_option_next_to_the_command_wins(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path), "--format", "json", "version", "--format", "text")
    assert done.out.startswith("fwctl ")


@pytest.mark.parametrize(
    ("argv", "suggestion"),
    [
        (("vresion",), "version"),
        (("version", "--fromat", "json"), "--format"),
        (("version", "--format", "jsn"), "json"),
    ],
)
def test_a_typo_gets_a_suggestion(tmp_path: Path, argv, suggestion) -> None:
    assert suggestion in fwctl(make_env(tmp_path), *argv).err


def test_json_is_also_written_to_a_file_beside_the_text(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path), "version", "--json-out", "out.json")
    assert done.out.startswith("fwctl ")
    assert '"command": "version"' in (tmp_path / "out.json").read_text()


def test_a_json_file_that_cannot_be_written_is_an_error_not_a_crash(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path), "version", "--json-out", "no/such/folder/out.json")
    assert done.code == 64
    assert done.out == ""
    assert "no/such/folder/out.json" in done.err


def test_control_characters_of_the_command_line_are_spelled_out(tmp_path: Path) -> None:
    done = fwctl(make_env(tmp_path), "\x1b[31mred")
    assert "\x1b" not in done.err


def test_a_secret_on_the_command_line_is_not_repeated(tmp_path: Path) -> None:
    env = make_env(tmp_path)
    env.redactor.register("canary-77aa")
    done = fwctl(env, "version", "canary-77aa")
    assert "canary-77aa" not in done.err + done.out
