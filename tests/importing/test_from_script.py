"""firectl lines that people really use become the right entries, or a remark that says why not."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import yaml

from fwctl.importing.check import AnyVariable, finish
from fwctl.importing.from_script import draft_of
from fwctl.importing.model import Draft, Imported
from tests.importing.expected import EXPECTED

DATA = Path(__file__).parents[1] / "data/firectl_commands.jsonl"
LINES = {row["id"]: row["command"] for row in map(json.loads, DATA.read_text().splitlines())}
CREATE = "firectl deployment create accounts/fireworks/models/qwen3-8b --deployment-shape fast -a acme"
NAMED = f"{CREATE} --deployment-id chat"


def draft(text: str, name: str = "deploy.sh") -> Draft:
    return draft_of([(name, text)], None, None)


def imported(text: str, name: str = "deploy.sh") -> Imported:
    return finish(draft(text, name), AnyVariable(), prune=False)


def codes(text: str, name: str = "deploy.sh") -> list[str]:
    return [item.code for item in draft(text, name).remarks]


def test_every_recorded_line_has_an_expectation() -> None:
    assert set(EXPECTED) == set(LINES)


@pytest.mark.parametrize("id_", sorted(LINES))
def test_a_recorded_line_is_read(id_: str) -> None:
    fields, wanted = EXPECTED[id_]
    found = draft(LINES[id_])
    assert set(wanted) <= {item.code for item in found.remarks}
    if fields is None:
        assert not found.entries
    else:
        assert len(found.entries) == 1
        values = found.entries[0].values
        assert {key: values.get(key) for key in fields} == fields


@pytest.mark.parametrize("id_", sorted(LINES))
def test_the_text_is_yaml_and_valid_or_says_why_not(id_: str) -> None:
    done = imported(LINES[id_])
    assert yaml.safe_load(done.spec)["apiVersion"] == "fwctl/v1"
    assert bool(done.problems) == ("does not validate yet" in done.spec)


def test_a_whole_line_validates() -> None:
    done = imported(f"{CREATE} --deployment-id chat --min-replica-count 1 --max-replica-count 2")
    assert done.problems == ()
    assert yaml.safe_load(done.spec)["deployments"] == {
        "chat": {
            "model": "accounts/fireworks/models/qwen3-8b",
            "shape": "fast",
            "replicas": {"min": 1, "max": 2},
        }
    }


def test_later_calls_change_the_deployment_they_name() -> None:
    text = f"""{CREATE} --deployment-id chat
firectl deployment update accounts/acme/deployments/chat --max-replica-count=6
firectl load-lora accounts/acme/models/b --deployment chat
firectl model load-lora accounts/acme/models/a --deployment chat
firectl deployment tag set chat --key team --value search
firectl deployment scale chat --replica-count 3
"""
    (entry,) = draft(text).entries
    assert entry.values["replicas.min"] == entry.values["replicas.max"] == 3
    assert entry.values["addons.load"] == ["accounts/acme/models/a", "accounts/acme/models/b"]
    assert entry.values["tags"] == {"team": "search"}


def test_no_key_is_repeated() -> None:
    text = f"{CREATE} --api-key fw_secretsecret --direct-route-api-keys sk-plain --direct-route-api-keys=$KEY"
    done = imported(text)
    whole = done.spec + json.dumps(done.to_json())
    assert "secretsecret" not in whole
    assert "sk-plain" not in whole
    assert "${env:DIRECT_ROUTE_KEY}" in done.spec
    assert "${env:KEY}" in done.spec


def test_the_model_of_a_create_without_an_id_names_no_deployment() -> None:
    assert "model_as_deployment" in codes(f"{CREATE}\nfirectl deployment get qwen3-8b\n")
    assert "model_as_deployment" in codes("firectl deployment scale accounts/a/models/m --replica-count 1")


def test_a_makefile_writes_variables_its_own_way() -> None:
    (entry,) = draft("x:\n\t$(FIRECTL) deployment create $(MODEL) --deployment-id $$ID\n", "Makefile").entries
    assert entry.values["model"] == "${env:MODEL}"
    assert entry.values["id"] == "${env:ID}"


def test_a_workflow_expression_is_a_variable() -> None:
    (entry,) = draft("  run: firectl deployment create ${{ vars.MODEL }} --wait\n", ".github/w.yml").entries
    assert entry.values["model"] == "${env:MODEL}"


def test_a_notebook_names_the_line_of_its_file() -> None:
    cells = [{"cell_type": "code", "source": ["import os\n", f"!{CREATE} \\\n", "  --deployment-id chat"]}]
    text = json.dumps({"cells": cells}, indent=1)
    found = draft(text, "a.ipynb")
    (entry,) = found.entries
    line = next(n for n, row in enumerate(text.splitlines(), 1) if "deployment create" in row)
    assert entry.name == "chat"
    assert f"from a.ipynb:{line}" in entry.comments


def test_a_python_list_over_several_lines_is_read() -> None:
    text = (
        'subprocess.run([\n  "firectl", "deployment", "create", MODEL,\n  "--max-replica-count", "4",\n])\n'
    )
    (entry,) = draft(text, "a.py").entries
    assert entry.values["model"] == "${env:MODEL}"
    assert entry.values["replicas.max"] == 4


def test_a_command_inside_quotes_ends_with_them() -> None:
    (entry,) = draft('print("run: firectl deployment create \\"m1\\" --deployment-id x")').entries
    assert entry.values["model"] == "m1"
    assert entry.name == "x"


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("firectl deployment create", "no_model"),
        ("firectl deployment create $(cat model.txt)", "computed"),
        ("firectl deployment create m --max-replica-count four", "bad_value"),
        ("firectl deployment create m --long-prompt=maybe", "bad_value"),
        ("firectl deployment create m --scale-up-window soon", "bad_value"),
        ("firectl deployment create m --load-targets gpu_cache_usage_pct=0.8", "bad_value"),
        ("firectl deployment create m --load-targets default", "bad_value"),
        ("firectl deployment create m --scaling-schedules nonsense", "bad_value"),
        ("firectl deployment create m --region us-mars-1", "new_value"),
        ("firectl deployment create m --accelerator-type NVIDIA_GB900", "bad_value"),
        ("firectl deployment create m --precision fp8", "lower_case"),
        ("firectl deployment create m --precison FP8", "unknown_flag"),
        ("firectl deployment create m --deployment-id", "no_value"),
        ("firectl deployment create a/b/c/d", "bad_value"),
        ("firectl deployment scale chat", "no_value"),
        ("firectl deployment create m --deployment-id $(uuidgen)", "computed"),
        ("nothing at all", "nothing_found"),
        ("", "nothing_found"),
    ],
)
def test_what_cannot_be_known_is_remarked(text: str, code: str) -> None:
    assert code in codes(text)


def test_two_accounts_are_told() -> None:
    assert "other_account" in codes(f"{CREATE}\n{CREATE.replace('acme', 'zeta')}\n")


def test_two_deployments_of_one_model_get_two_names() -> None:
    assert [entry.name for entry in draft(f"{CREATE}\n{CREATE}\n").entries] == ["qwen3-8b", "qwen3-8b-2"]


@pytest.mark.parametrize("name", ["a.sh", "a.ipynb", "a.py", "Makefile"])
def test_hostile_text_is_read_to_its_end(name: str) -> None:
    for text in (
        "firectl " + "[" * 5000,
        "\\\n" * 500,
        "firectl deployment create '" + "$(" * 500,
        "\0\x1b[31m",
    ):
        assert imported(text, name).spec


def values_of(text: str, name: str = "deploy.sh") -> dict[str, object]:
    return dict(draft(text, name).entries[0].values)


def test_an_array_that_the_script_writes_out_is_read() -> None:
    script = f"""
ARGS=(
  --min-replica-count 1   # always one
  --max-replica-count "3"
)
ARGS+=(--region us-iowa-1)
{NAMED} "${{ARGS[@]}}"
"""
    assert codes(script) == []
    values = values_of(script)
    assert (values["replicas.min"], values["replicas.max"], values["region"]) == (1, 3, "US_IOWA_1")


@pytest.mark.parametrize(
    "more", ['[ -n "$LORA" ] && ARGS+=(--enable-addons)', "if x; then\n  ARGS+=(--enable-addons)\nfi"]
)
def test_what_an_array_gets_under_a_condition_is_left_open(more: str) -> None:
    script = f"ARGS=(--min-replica-count 1 --max-replica-count 3)\n{more}\n{NAMED} ${{ARGS[@]}}"
    assert codes(script) == ["array"]
    values = values_of(script)
    assert values["replicas.max"] == 3
    assert "addons.mode" not in values


@pytest.mark.parametrize(
    "array",
    ["ARGS=(--precision FP8)\nARGS=(--precision BF16)", "ARGS=($(cat flags) x", f"ARGS=({'x ' * 2000})"],
)
def test_an_array_that_is_set_twice_never_closed_or_very_long_stays_open(array: str) -> None:
    script = f"{array}\n{NAMED} ${{ARGS[@]}}"
    assert codes(script) == ["array"]
    assert "precision" not in values_of(script)


def test_a_redirection_ends_before_the_next_command() -> None:
    assert codes(f"if ! {NAMED} --precision FP8 > /dev/null; then echo failed; fi") == []


def test_a_command_between_backticks_is_a_value_that_only_a_run_knows() -> None:
    assert codes(f"{NAMED} --max-replica-count `nproc`") == ["computed"]


@pytest.mark.parametrize(
    ("command", "meant"), [("depolyment create x", "deployment"), ("craete deployment x", "create")]
)
def test_a_misspelt_command_is_named(command: str, meant: str) -> None:
    (remark,) = draft(f"firectl {command}").remarks
    assert remark.code == "unknown_command"
    assert remark.message.endswith(f"did you mean {meant}?")


@pytest.mark.parametrize("line", [f'echo "{NAMED}"', f"  then echo '+ {NAMED}' >&2", f"@echo {NAMED}"])
def test_a_call_that_is_only_shown_makes_no_entry(line: str) -> None:
    assert codes(line) == ["printed"]


@pytest.mark.parametrize(
    "line",
    [f"echo $({NAMED})", f"echo '{NAMED}' | bash", f"echo '{NAMED}' >> run.sh", f"echo a; {NAMED}"],
)
def test_a_call_that_an_echo_leads_to_makes_one(line: str) -> None:
    assert len(draft(line).entries) == 1


def test_python_names_a_variable_of_the_environment_as_it_is() -> None:
    program = f"import os\nos.system(f'{NAMED} --region ' + os.environ['REGION'])\n"
    assert values_of(program, "deploy.py")["region"] == "${env:REGION}"


def test_a_remark_between_backticks_is_no_word() -> None:
    assert codes(f"{NAMED} `# a fast one` --precision FP8") == []


@pytest.mark.parametrize("key", ["minReplicaCount", "min_replica_count"])
def test_a_schedule_is_read_in_either_casing(key: str) -> None:
    row = json.dumps([{"schedule": "0 8 * * *", "timezone": "UTC", "duration": "3600s", key: 2}])
    assert values_of(f"{NAMED} --scaling-schedules '{row}'")["autoscaling.schedules"] == [
        {"cron": "0 8 * * *", "timezone": "UTC", "duration": "3600s", "min_replicas": 2}
    ]


def test_a_workflow_may_give_its_variables_on_one_line() -> None:
    steps = f"    steps:\n      - run: {NAMED} --max-replica-count $N\n"
    text = "jobs:\n  d:\n    env: {N: 3, REGION: 'US'}\n" + steps
    assert values_of(text, "w.yml")["replicas.max"] == 3
