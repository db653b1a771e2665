from pathlib import Path

import pytest

from fwctl.cli.complete import complete, deployment_names


def values(words: list[str], folder: Path) -> list[str]:
    return [value for value, _ in complete(words, folder)]


def test_commands_complete_by_their_beginning(tmp_path: Path) -> None:
    assert values(["vers"], tmp_path) == ["version"]


def test_options_complete_for_the_command(tmp_path: Path) -> None:
    assert values(["version", "--fo"], tmp_path) == ["--format"]
    assert "--json-out" in values(["--"], tmp_path)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["version", "--format", "j"], ["json"]),
        (["version", "--format=j"], ["--format=json"]),
        (["--account", "acme", "completion", "z"], ["zsh"]),
        (["version", "--firectl", ""], ["sim"]),
        (["fit-check", "--engine", "v"], ["vllm"]),
        (["bench", "run", "--engine", ""], ["fwctl", "locust"]),
        (["bench", "capacity", "chat", "--precision", "F"], []),
        (["explain", "replicas.mi"], ["replicas.min"]),
        (["rules", "FW301"], ["FW301"]),
        (["fit-check", "--config", ""], []),
        (["no-such-command", ""], []),
    ],
)
def test_values_complete(tmp_path: Path, words: list[str], expected: list[str]) -> None:
    found = values(words, tmp_path)
    assert found == expected or (words[0] == "no-such-command" and "version" in found)


def test_deployment_names_come_from_the_specs_without_parsing_them(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text(
        "x-base: &b\n  not-this: 1\ndeployments:\n  chat:\n    replicas: {min: 1}\n  eval:\n    shape: [bad\n"
        "settings:\n  nor-this: 2\n"
    )
    (tmp_path / "latin.yml").write_bytes(b"deployments:\n    b\xe9d: 1\n    good: 2\n")
    assert deployment_names([tmp_path]) == ["chat", "eval", "good"]


@pytest.mark.parametrize(
    "words",
    [["plan", "--target"], ["hold"], ["bench", "capacity"], ["evidence", "add", "runs/a", "--deployment"]],
)
def test_names_of_deployments_complete_where_one_is_meant(tmp_path: Path, words: list[str]) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/a.yaml").write_text("deployments:\n  chat: {}\n  evaluation: {}\n")
    assert values([*words, "ch"], tmp_path) == ["chat"]


def test_a_folder_that_is_not_there_completes_to_nothing(tmp_path: Path) -> None:
    assert deployment_names([tmp_path / "configs"]) == []


def test_a_commands_own_options_complete(tmp_path: Path) -> None:
    assert values(["plan", "--det"], tmp_path) == ["--detailed-exitcode"]
    assert values(["apply", "--allow-t"], tmp_path) == ["--allow-traffic-loss"]
    assert "H100" in " ".join(values(["fit-check", "--accelerator", "NVIDIA_H1"], tmp_path))
