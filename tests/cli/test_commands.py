"""Commands in this process, firectl's simulator as real children."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.cli.support import SPEC, fwctl

if TYPE_CHECKING:
    from tests.cli.conftest import Box

MODEL_8B = "accounts/fireworks/models/llama-v3p1-8b-instruct"


def test_a_plan_is_saved_shown_and_applied(box: Box) -> None:
    saved = fwctl(box.env(), "plan", box.specs, "--out", "p.json")
    assert saved.code == 0
    assert "+ deployments/chat will be created" in saved.out
    assert "next: fwctl apply --plan p.json" in saved.err
    shown = fwctl(box.env(), "show", "p.json")
    assert shown.out == saved.out
    done = fwctl(box.env(), "apply", "--plan", "p.json", "--yes")
    assert done.code == 0, done.err
    assert "done: deployments/chat create" in done.out
    assert "chat: accounts/acme/deployments/chat" in done.out
    again = fwctl(box.env(), "apply", box.specs)
    assert again.code == 0
    assert "nothing to do" in again.out
    status = fwctl(box.env(), "status", box.specs)
    assert "1/1 [1,2]" in status.out
    wide = fwctl(box.env(), "plan", box.specs, "-v", "--explain")
    assert "deployments/chat is unchanged" in wide.out
    assert "firectl deployment list" in wide.err
    box.write(SPEC.replace("max: 2", "max: 3"))
    changed = fwctl(box.env(), "plan", box.specs, "--explain")
    assert "replicas.max: 2 → 3  (in place)" in changed.out
    assert "Ceiling of the autoscaler" in changed.out
    assert "conversations =" in changed.out
    told = fwctl(box.env(), "apply", box.specs, "--yes", "-v")
    assert "call firectl deployment update chat" in told.err


def test_what_a_narrowed_plan_says_to_type_next_applies_that_plan(box: Box) -> None:
    box.write(SPEC.replace("chat", "other"), "other.yaml")
    shown = fwctl(box.env(), "plan", box.specs, "--target", "chat", "--max-deletes", "0")
    typed = shown.err.partition("next: fwctl ")[2].split()
    assert typed[:6] == ["apply", box.specs, "--target", "chat", "--max-deletes", "0"]
    done = fwctl(box.env(), *typed, "--yes")
    assert done.code == 0, done.err
    assert "Apply: 1 done" in done.out


def test_errors_of_routes_are_shown_with_their_place(box: Box) -> None:
    gone = fwctl(box.env(), "route", "check", "--config", "gone.yaml")
    assert gone.code == 3
    assert "error FW112: gone.yaml: does not exist" in gone.err
    box.write("apiVersion: fwctl/v1\nkind: Routes\nroutes: {}\n", "routes.yaml")
    empty = fwctl(box.env(), "route", "check", "--config", f"{box.specs}/routes.yaml")
    assert empty.code == 3
    assert "routes.yaml:3:9: error FW204: routes is empty" in empty.err


def test_status_without_specs_lists_the_account(box: Box) -> None:
    (box.folder / "configs/chat.yaml").unlink()
    (box.folder / "configs").rmdir()
    done = fwctl(box.env(), "status")
    assert done.code == 0
    assert done.out == "no deployments\n"


def test_a_terminal_is_asked_and_anything_but_yes_declines(box: Box) -> None:
    done = fwctl(box.env(terminal=True, stdin="y\n"), "apply", box.specs)
    assert done.code == 1
    assert "nothing was changed" in done.err
    refused = fwctl(box.env(), "apply", box.specs)
    assert refused.code == 4


def test_choices_that_contradict_each_other_are_wrong_usage(box: Box) -> None:
    for argv in (
        ("--target", "chat", "--exclude", "chat"),
        ("--max-deletes", "-1"),
        ("--set", "chat.replicas.max"),
        ("--set", "chat.nothing=1"),
    ):
        assert fwctl(box.env(), "plan", box.specs, *argv).code == 64
    assert fwctl(box.env(), "apply", box.specs, "--verify", "prayer").code == 64


def test_a_what_if_value_changes_the_plan_and_not_the_spec(box: Box) -> None:
    done = fwctl(box.env(), "plan", box.specs, "--set", "chat.replicas.max=7", "--format", "json")
    [change] = done.document["changes"]
    assert {field["path"]: field["after"] for field in change["fields"]}["replicas.max"] == 7


def test_online_validation_asks_the_platform(box: Box) -> None:
    assert fwctl(box.env(), "validate", box.specs, "--online").code == 0
    box.write(SPEC.replace("llama-v3p1-8b-instruct-fast", "no-such-shape"))
    done = fwctl(box.env(), "validate", box.specs, "--online", "--format", "json")
    assert done.code == 3
    assert [item["code"] for item in done.document["diagnostics"]] == ["FW502"]


def test_shapes_are_listed_with_hardware_price_and_room(box: Box) -> None:
    done = fwctl(box.env(), "shapes", MODEL_8B, "--context", "8192", "--format", "json")
    rows = {row["shape"].rpartition("/")[2]: row for row in done.document["shapes"]}
    fast = rows["llama-v3p1-8b-instruct-fast"]
    assert (fast["accelerator"], fast["accelerator_count"], fast["precision"]) == (
        "NVIDIA_H100_80GB",
        1,
        "FP8",
    )
    assert fast["usd_per_hour"] == 8.0  # price list of 2026-09-01
    assert fast["verdict"] == "fits"
    assert "llama-v3p1-8b-instruct-bf16" in fwctl(box.env(), "shapes", MODEL_8B).out
    none = fwctl(box.env(), "shapes", "accounts/fireworks/models/no-such-model")
    assert none.code == 1


def test_a_starter_spec_is_valid(box: Box) -> None:
    box.write(fwctl(box.env(), "init").out)
    assert fwctl(box.env(), "validate", box.specs).code == 0
    box.write(fwctl(box.env(), "init", "--model", MODEL_8B).out)
    done = fwctl(box.env(), "validate", box.specs, "--online", "--format", "json")
    assert done.code == 0
    assert done.document["deployments"] == ["llama-v3p1-8b-instruct"]
    unknown = fwctl(box.env(), "init", "--model", "accounts/fireworks/models/no-such-model")
    assert unknown.code == 1
    assert "no-such-model" in unknown.err


def test_doctor_says_what_is_used(box: Box) -> None:
    done = fwctl(box.env(FIREWORKS_API_KEY="fw_test"), "doctor")
    assert done.code == 0
    assert "version 1.8" in done.out
    assert "account: acme" in done.out
    assert "FIREWORKS_API_KEY is set" in done.out
    assert "fw_test" not in done.out
    wrong = fwctl(box.env(), "doctor", "--account", "other")
    assert wrong.code == 5


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (("schema",), '"title": "fwctl spec"'),
        (("explain", "replicas.max"), "Ceiling of the autoscaler"),
        (("explain",), "deployments"),
        (("rules",), "FW301  error"),
        (("rules", "fw301"), "# FW301"),
        (("completion", "zsh"), "#compdef fwctl"),
    ],
)
def test_reference_commands_print_their_text_and_the_same_as_json(box: Box, argv, shown: str) -> None:
    assert shown in fwctl(box.env(), *argv).out
    assert fwctl(box.env(), *argv, "--format", "json").document["ok"] is True


def test_the_simulators_own_commands(box: Box) -> None:
    fwctl(box.env(), "apply", box.specs, "--yes", "-q")
    found = fwctl(box.env(), "sim", "status", "--format", "json").document["simulator"]
    assert found["resources"]["deployments"] == 1
    assert "deployments: 1" in fwctl(box.env(), "sim", "status").out
    assert fwctl(box.env(), "sim", "reset").code == 0
    assert "deployments: 0" in fwctl(box.env(), "sim", "status").out
    broken = fwctl(box.env(FIRECTL_SIM_SPEED="fast"), "sim", "status")
    assert broken.code == 1
    assert "FIRECTL_SIM_SPEED" in broken.err
    assert fwctl(box.env(), "sim", "serve", "--port", "99999").code == 64


def test_fit_check_answers_one_case_from_options(box: Box) -> None:
    case = ("fit-check", "--model", "llama-v3p1-8b-instruct", "--accelerator", "H100", "--context", "8192")
    assert fwctl(box.env(), *case, "--explain").code == 0
    rows = fwctl(box.env(), *case, "--matrix", "--format", "json").document["matrix"]
    h100 = [r for r in rows if (r["accelerator"], r["accelerator_count"]) == ("NVIDIA_H100_80GB", 1)]
    assert {row["precision"]: row["usd_per_hour"] for row in h100} == {"BF16": 8.0, "FP8": 8.0, "FP4": 8.0}
    assert "NVIDIA_H200_141GB" in fwctl(box.env(), *case, "--matrix").out
    made_up = ("--accelerator", "TPU", "--accelerator-memory-gib", "95")
    assert fwctl(box.env(), *case, *made_up).code == 0


@pytest.mark.parametrize(
    "argv",
    [
        ("--accelerator", "H100"),
        ("--matrix",),
        ("--model", "llama-v3p1-8b-instruct"),
        ("--model", "llama-v3p1-8b-instruct", "--accelerator", "TPU"),
        ("--model", "llama-v3p1-8b-instruct", "--accelerator", "H100", "--count", "0"),
        ("--model", "llama-v3p1-8b-instruct", "--accelerator", "H100", "--precision", "FP7"),
        ("--model", "llama-v3p1-8b-instruct", "--accelerator", "H100", "--engine", "magic"),
        ("--model", "llama-v3p1-8b-instruct", "--accelerator", "H100", "configs"),
        ("--config", "no/config.json", "--accelerator", "H100"),
        ("--config", "list.json", "--accelerator", "H100"),
        ("--config", "bytes.json", "--accelerator", "H100"),
        ("--config", "deep.json", "--accelerator", "H100"),
    ],
)
def test_a_fit_question_that_makes_no_sense_is_wrong_usage(box: Box, argv: tuple[str, ...]) -> None:
    (box.folder / "list.json").write_text("[1]")
    (box.folder / "bytes.json").write_bytes(b"\xff\xfe\x00")
    (box.folder / "deep.json").write_text("[" * 100_000)
    done = fwctl(box.env(), "fit-check", *argv)
    assert done.code == 64, done.err
    assert done.err.startswith("error: ")


def test_an_unknown_architecture_is_unknown_and_refused_only_on_request(box: Box) -> None:
    (box.folder / "odd.json").write_text(json.dumps({"model_type": "nobody-knows", "hidden_size": 64}))
    case = ("fit-check", "--config", "odd.json", "--accelerator", "H100")
    done = fwctl(box.env(), *case, "--format", "json")
    assert done.code == 0
    assert done.document["results"][0]["verdict"] == "unknown"
    assert fwctl(box.env(), *case, "--require-fit").code == 4


def test_contract_prices_stand_in_the_plan(box: Box) -> None:
    prices = box.folder / "configs/prices.json"
    box.write(SPEC.replace("stack: test\n", "stack: test\nsettings: {prices: prices.json}\n"))
    prices.write_text('{"date": "2026-10-01", "usd_per_gpu_hour": {"NVIDIA_H100_80GB": 5.5}}')
    done = fwctl(box.env(), "plan", box.specs, "--format", "json")
    assert done.document["cost"]["floor_usd_per_hour"] == 5.5
    for broken in ("not: [closed", '{"usd_per_gpu_hour": {"NVIDIA_H100_80GB": "cheap"}}'):
        prices.write_text(broken)
        assert fwctl(box.env(), "plan", box.specs).code == 3
    prices.unlink()
    assert fwctl(box.env(), "plan", box.specs).code == 3


def test_a_plan_that_cannot_be_written_says_where(box: Box) -> None:
    done = fwctl(box.env(), "plan", box.specs, "--out", "no/such/folder/p.json")
    assert done.code == 1
    assert "no/such/folder/p.json" in done.err


def test_the_account_option_must_be_the_specs(box: Box) -> None:
    assert fwctl(box.env(), "validate", box.specs, "--account", "other").code == 5


def test_no_configs_folder_is_told_with_ways_out(tmp_path: Path, box: Box) -> None:
    (box.folder / "configs/chat.yaml").unlink()
    (box.folder / "configs").rmdir()
    done = fwctl(box.env(), "plan")
    assert done.code == 3
    assert "fwctl init" in done.err
