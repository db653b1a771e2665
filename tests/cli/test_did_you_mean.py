"""A word that is not known gets the one that was most likely meant, whatever kind of word it is."""

from pathlib import Path

import pytest

from tests.cli.support import fwctl, make_env

FIT = ("fit-check", "--model", "llama-v3p1-70b-instruct")


@pytest.mark.parametrize(
    ("argv", "meant"),
    [
        (("plna",), "'plan'"),
        (("sim", "rest"), "'reset'"),
        (("delete", "chat"), "'destroy'"),
        (("plan", "--detailed-exitcod"), "--detailed-exitcode"),
        (("plan", "--format", "jsno"), "'json'"),
        (("plan", "--auth", "fil"), "'file'"),
        (("completion", "bsh"), "'bash'"),
        (("explain", "deployments.chat.replica.min"), "replicas"),
        (("explain", "deployments.*.replicas.mn"), "min"),
        (("rules", "F302"), "FW302"),
        ((*FIT, "--accelerator", "NVIDIA_H100_80G"), "NVIDIA_H100_80GB"),
        ((*FIT, "--accelerator", "H100", "--precision", "FP8_MN"), "FP8_MM"),
        ((*FIT, "--accelerator", "H100", "--engine", "vlm"), "vllm"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else value,
)
def test_commands_options_fields_rules_and_words(tmp_path: Path, argv: tuple[str, ...], meant: str) -> None:
    done = fwctl(make_env(tmp_path), *argv)
    assert done.code == 64
    [line] = [line for line in done.err.splitlines() if "did you mean" in line.lower()]
    assert meant in line.lower().partition("did you mean")[2] or meant in line.partition("id you mean")[2]
