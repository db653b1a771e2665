"""The examples of docs/ci and the composite action do what they say, on the simulator."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import xmlschema
import yaml

from fwctl.cli import registry
from tests.cli.support import SPEC
from tests.contract.actions_runner import ACTION, ROOT, Runner, load
from tests.contract.forge import BOT, Forge

WORKFLOWS = sorted(path for path in (ROOT / "docs/ci").glob("*.yml") if path.name != "gitlab-ci.yml")
KEY = "fw_canary0key1for2tests"
TOKEN = "canary-token-of-the-forge"
COMMIT = "a" * 40
XSD = ROOT / "tests/data/junit/junit-10.xsd"


@pytest.fixture
def forge() -> Iterator[Forge]:
    found = Forge()
    yield found
    found.close()


@pytest.fixture
def served(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Variables that lead firectl and requests to one simulator, which is served over HTTP too."""
    variables = {
        "FIRECTL_SIM_HOME": str(tmp_path / "sim"),
        "FIRECTL_SIM_SPEED": "600",
        "FIRECTL_SIM_KEYS": KEY,
        "XDG_CACHE_HOME": str(tmp_path.parent / "cache"),
    }
    with subprocess.Popen(
        [sys.executable, "-m", "fwctl", "sim", "serve", "--port", "0"],
        cwd=tmp_path,
        env={"PATH": "", "PYTHONPATH": str(ROOT), "HOME": str(tmp_path), **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as child:
        assert child.stdout is not None
        yield {**variables, "FIREWORKS_BASE_URL": child.stdout.readline().strip()}
        child.terminate()


@pytest.fixture
def runner(tmp_path: Path, forge: Forge) -> Runner:
    checkout = tmp_path / "checkout"
    (checkout / "configs").mkdir(parents=True)
    (checkout / "configs/chat.yaml").write_text(SPEC)
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    forge.pulls[COMMIT] = [{"number": 7, "merged_at": "2026-11-30T00:00:00Z"}]
    return Runner(
        checkout=checkout,
        home=tmp_path / "home",
        secrets={"FIREWORKS_API_KEY": KEY, "GITHUB_TOKEN": TOKEN},
        github={"repository": "acme/infra", "event.pull_request.head.repo.full_name": "acme/infra"},
        variables={
            "GITHUB_API_URL": forge.url,
            "GITHUB_REPOSITORY": "acme/infra",
            "GITHUB_EVENT_PATH": str(event),
            "GITHUB_SHA": COMMIT,
            "FIRECTL_SIM_HOME": str(tmp_path / "sim"),
            "FIRECTL_SIM_SPEED": "600",
            "FIRECTL_SIM_KEYS": KEY,
            "XDG_CACHE_HOME": str(tmp_path.parent / "cache"),
        },
    )


def job(file: str, name: str) -> dict[str, Any]:
    found: dict[str, Any] = load(ROOT / "docs/ci" / file)["jobs"][name]
    return found


def deployments(runner: Runner) -> list[Any]:
    """What is on the platform."""
    target = runner.home / "status.json"
    script = f'fwctl status --account acme --json-out "{target}"'
    assert runner.run(script, runner.checkout, {"FIREWORKS_API_KEY": KEY})[0] == 0
    found: list[Any] = json.loads(target.read_text())["deployments"]
    return [row for row in found if row["state"] != "absent"]


def test_a_pull_request_gets_one_comment_that_is_kept_up_to_date(runner: Runner, forge: Forge) -> None:
    assert runner.job(job("plan.yml", "plan")) == 0
    [comment] = forge.comments
    assert comment["body"].startswith("<!-- fwctl:plan acme/test ")
    assert "`deployments/chat` will be created" in comment["body"]
    digest = runner.outputs["plan"]["digest"]
    assert digest in comment["body"]
    assert runner.outputs["plan"]["changes"] == "true"
    assert runner.outputs["plan"]["exit-code"] == "0"
    assert (runner.checkout / "plan.html").read_text().startswith("<!doctype html>")

    spec = runner.checkout / "configs/chat.yaml"
    spec.write_text(spec.read_text().replace("max: 2", "max: 3"))
    assert runner.job(job("plan.yml", "plan")) == 0
    [again] = forge.comments
    assert again["id"] == comment["id"]
    assert runner.outputs["plan"]["digest"] in again["body"]
    assert runner.outputs["plan"]["digest"] != digest

    spec.write_text(spec.read_text().replace("max: 3", "max: 0x3"))
    assert runner.job(job("plan.yml", "plan")) == 3
    [failed] = forge.comments
    assert failed["body"].startswith("<!-- fwctl:plan -->\n## fwctl plan: failed")
    assert "configs/chat.yaml:" in failed["body"]
    assert KEY not in runner.log + json.dumps(forge.comments)
    assert TOKEN not in runner.log + json.dumps(forge.comments)


def test_checks_need_no_key_and_a_fork_gets_no_plan(runner: Runner, forge: Forge) -> None:
    fork = {**runner.github, "event.pull_request.head.repo.full_name": "someone/infra"}
    runner.github, runner.secrets = fork, {"GITHUB_TOKEN": TOKEN}
    assert runner.job(job("plan.yml", "check")) == 0
    document = json.loads((runner.checkout / "fwctl.sarif").read_text())
    assert document["runs"][0]["results"] == []
    assert runner.job(job("plan.yml", "plan")) is None
    assert forge.calls == []


def test_an_invalid_spec_is_annotated_and_still_uploaded_as_sarif(runner: Runner) -> None:
    (runner.checkout / "configs/chat.yaml").write_text(SPEC.replace("max: 2", "max: 0"))
    (runner.checkout / "configs/bad.yaml").write_text("apiVersion: [")
    assert runner.job(job("plan.yml", "check")) == 3
    assert "::error file=configs/bad.yaml,line=1," in runner.log
    results = json.loads((runner.checkout / "fwctl.sarif").read_text())["runs"][0]["results"]
    assert results


def test_a_merge_applies_exactly_what_was_reviewed(
    runner: Runner, forge: Forge, served: dict[str, str]
) -> None:
    runner.variables = {**runner.variables, **served}
    assert runner.job(job("plan.yml", "plan")) == 0
    assert runner.job(job("apply.yml", "apply")) == 0, runner.log
    strings = json.loads(runner.outputs["apply"]["model-strings"])
    assert strings["chat"]["base"] == "accounts/acme/deployments/chat"
    assert "::error" not in runner.log
    assert KEY not in runner.log


def test_what_was_not_reviewed_is_not_applied(runner: Runner, forge: Forge) -> None:
    assert runner.job(job("plan.yml", "plan")) == 0
    spec = runner.checkout / "configs/chat.yaml"
    spec.write_text(spec.read_text().replace("max: 2", "max: 3"))
    assert runner.job(job("apply.yml", "apply")) == 8

    forge.comments[0]["user"] = {"login": "mallory", "type": "User"}
    assert runner.job(job("apply.yml", "apply")) == 1
    assert "no plan was reviewed in #7" in runner.log
    forge.pulls.clear()
    assert runner.job(job("apply.yml", "apply")) == 1
    assert f"no merged pull request leads to {COMMIT[:12]}" in runner.log
    assert deployments(runner) == []


def test_the_comment_of_another_stack_or_person_is_left_alone(runner: Runner, forge: Forge) -> None:
    others = [
        {"id": 900 + at, "user": user, "body": body}
        for at, (user, body) in enumerate(
            [
                (BOT, f"<!-- fwctl:plan acme/other {'0' * 64} -->\nother stack"),
                ({"login": "mallory", "type": "User"}, f"<!-- fwctl:plan acme/test {'0' * 64} -->\nforged"),
                (BOT, "<!-- fwctl:validate -->\nother command"),
                (BOT, None),
                *[(BOT, "chatter")] * 120,
            ]
        )
    ]
    forge.comments = [dict(item) for item in others]
    assert runner.job(job("plan.yml", "plan")) == 0
    assert forge.comments[:-1] == others
    assert forge.comments[-1]["body"].startswith("<!-- fwctl:plan acme/test ")
    assert runner.job(job("plan.yml", "plan")) == 0
    assert len(forge.comments) == len(others) + 1


@pytest.mark.parametrize("status", [403, 500])
def test_a_comment_that_cannot_be_written_fails_with_the_reason(
    runner: Runner, forge: Forge, status: int
) -> None:
    forge.refuse = status
    assert runner.job(job("plan.yml", "plan")) == 1
    assert f"GitHub answered {status}" in runner.log
    assert ("pull-requests: write" in runner.log) is (status == 403)
    assert "Traceback" not in runner.log
    assert TOKEN not in runner.log


def test_outside_of_a_pull_request_there_is_nothing_to_comment_on(runner: Runner, tmp_path: Path) -> None:
    (tmp_path / "event.json").write_text(json.dumps({"ref": "refs/heads/main"}))
    assert runner.job(job("plan.yml", "plan")) == 0
    assert "::notice title=fwctl::this run belongs to no pull request" in runner.log


def test_the_morning_run_tells_drift_by_its_exit_code(runner: Runner, forge: Forge) -> None:
    key = {"FIREWORKS_API_KEY": KEY}
    script = "fwctl apply --yes"
    assert runner.run(script, runner.checkout, key)[0] == 0
    assert runner.job(job("drift.yml", "drift")) == 0
    script = "firectl deployment update chat --max-replica-count 5 -a acme"
    assert runner.run(script, runner.checkout, key)[0] == 0
    assert runner.job(job("drift.yml", "drift")) == 2
    assert "replicas.max" in runner.log
    assert forge.calls == []


@pytest.mark.parametrize(("file", "name"), [("drift.yml", "drift"), ("bench.yml", "bench")])
def test_other_examples_name_commands_and_options_that_exist(file: str, name: str) -> None:
    from fwctl.cli.generate import help_of

    for step in job(file, name)["steps"]:
        given = step.get("with", {})
        if "command" not in given or given["command"] not in registry.BY_NAME:
            continue
        shown = help_of(*given["command"].split()) + help_of()
        for word in given.get("args", "").split():
            assert not word.startswith("--") or word in shown


@pytest.mark.parametrize("path", [*WORKFLOWS, ACTION / "action.yml"], ids=lambda path: path.name)
def test_actions_are_pinned_and_scripts_hold_no_expressions(path: Path) -> None:
    """An expression inside a script would be text that others write and the shell runs."""
    document = load(path)
    jobs = document["jobs"].values() if "jobs" in document else [document["runs"]]
    for step in (step for found in jobs for step in found["steps"]):
        if "uses" in step and not step["uses"].startswith("./"):
            assert re.fullmatch(r"[\w./-]+@v\d+", step["uses"])
        assert "${{" not in step.get("run", "")
        if "run" in step:
            assert step["shell"] == "bash"


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_ask_for_the_least(path: Path) -> None:
    document = load(path)
    assert document["permissions"]["contents"] == "read"
    assert set(document["permissions"].values()) <= {"read"}
    assert "pull_request_target" not in path.read_text().partition("\non:")[2].partition("permissions:")[0]
    assert document["concurrency"]["group"].startswith("fwctl-")
    cancels = document["concurrency"]["cancel-in-progress"] == "true"
    assert cancels is (path.name == "plan.yml")


def test_every_script_is_valid_shell() -> None:
    for path in ACTION.glob("*.sh"):
        subprocess.run(["bash", "-n", str(path)], check=True)


def test_arguments_with_spaces_stay_whole(runner: Runner, tmp_path: Path) -> None:
    shutil.copytree(runner.checkout / "configs", runner.checkout / "my configs")
    shutil.rmtree(runner.checkout / "configs")
    step = {
        "uses": "./.github/actions/fwctl",
        "with": {"command": "validate", "args": "my configs\n--strict\n"},
    }
    assert runner.job({"steps": [step]}) == 0


def test_the_gitlab_example_checks_plans_notes_and_applies(
    runner: Runner, forge: Forge, served: dict[str, str]
) -> None:
    pipeline = yaml.safe_load((ROOT / "docs/ci/gitlab-ci.yml").read_text())
    runner.variables = {
        **runner.variables,
        **served,
        "CI_PROJECT_DIR": str(runner.checkout),
        "CI_MERGE_REQUEST_IID": "7",
        "CI_API_V4_URL": forge.url,
        "CI_PROJECT_ID": "1",
        "FWCTL_NOTE_TOKEN": TOKEN,
        "FIREWORKS_API_KEY": KEY,
    }
    for name in ("validate", "plan", "plan", "apply"):
        before = pipeline[name].get("before_script", pipeline["default"]["before_script"])
        for script in (
            "\n".join([*before, *pipeline[name]["script"]]),
            *pipeline[name].get("after_script", ()),
        ):
            code, _ = runner.run(script, runner.checkout, {})
            assert code == 0, runner.log
    for file in pipeline["validate"]["artifacts"]["reports"]["junit"]:
        xmlschema.XMLSchema(str(XSD)).validate(str(runner.checkout / file))
    [note] = forge.comments
    assert "`deployments/chat` will be created" in note["body"]
    assert KEY not in runner.log + note["body"]
    assert TOKEN not in runner.log


def test_hooks_run_what_they_say(runner: Runner) -> None:
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    assert [hook["id"] for hook in hooks] == ["fwctl-validate", "fwctl-fit-check"]
    for hook in hooks:
        assert re.match(hook["files"], "configs/team/chat.yaml")
        assert not re.match(hook["files"], "charts/values.yaml")
        assert runner.run(hook["entry"], runner.checkout, {})[0] == 0
    (runner.checkout / "configs/chat.yaml").write_text(SPEC.replace("max: 2", "max: 0x2"))
    assert runner.run(hooks[0]["entry"], runner.checkout, {})[0] == 3
