"""What a CI runner gets from a whole command: files it names, paths from its checkout, no secrets."""

import contextlib
import json
import os
from pathlib import Path

import pytest

from tests.cli.support import Done, make_env
from tests.cli.support import fwctl as run

SPEC = """\
apiVersion: fwctl/v1
account: acme
deployments:
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    replicas: {min: 5, max: 2}
    region: US
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A repository whose specs stand in a folder below its root."""
    (tmp_path / "infra/configs").mkdir(parents=True)
    (tmp_path / "infra/configs/chat.yaml").write_text(SPEC)
    return tmp_path


def fwctl(folder: Path, *argv: str, **variables: str) -> Done:
    """fwctl in that folder, with no variables but these."""
    env = make_env(folder, {"PATH": os.environ["PATH"], **variables})
    env.redactor.register(variables.get("FIREWORKS_API_KEY"))
    with contextlib.chdir(folder):
        return run(env, *argv)


def github(root: Path) -> dict[str, str]:
    return {
        "GITHUB_WORKSPACE": str(root),
        "GITHUB_OUTPUT": str(root / "output"),
        "GITHUB_STEP_SUMMARY": str(root / "summary"),
    }


def test_annotations_summary_and_outputs_of_an_invalid_spec(checkout: Path) -> None:
    done = fwctl(checkout / "infra", "validate", "--format", "github", **github(checkout))
    assert done.code == 3
    assert "::error file=infra/configs/chat.yaml,line=7," in done.out
    assert done.err == ""
    outputs = dict(line.split("=", 1) for line in (checkout / "output").read_text().splitlines())
    assert (outputs["exit_code"], outputs["ok"], outputs["errors"]) == ("3", "false", "1")
    assert "FW302" in (checkout / "summary").read_text()


def test_the_files_are_added_to_and_the_summary_stays_below_its_limit(checkout: Path) -> None:
    summary = checkout / "summary"
    summary.write_bytes(b"x" * (1024 * 1024 - 50))
    (checkout / "output").write_text("earlier=1\n")
    fwctl(checkout / "infra", "validate", "--format", "github", **github(checkout))
    assert summary.stat().st_size == 1024 * 1024 - 50
    assert (checkout / "output").read_text().startswith("earlier=1\ncommand=validate\n")


def test_without_a_runner_only_annotations_are_printed(checkout: Path) -> None:
    done = fwctl(checkout / "infra", "validate", "--format", "github")
    assert "::error file=configs/chat.yaml,line=7," in done.out
    assert sorted(path.name for path in checkout.rglob("*")) == ["chat.yaml", "configs", "infra"]


def test_a_file_of_the_runner_that_cannot_be_written_is_one_clear_error(checkout: Path) -> None:
    environ = {**github(checkout), "GITHUB_OUTPUT": str(checkout / "no/such/folder/output")}
    done = fwctl(checkout / "infra", "validate", "--format", "github", **environ)
    assert done.code == 1
    assert "GITHUB_OUTPUT: cannot write" in done.out


def test_wrong_usage_is_a_document_in_every_format_that_ci_reads(tmp_path: Path) -> None:
    for name, start in (
        ("github", "::error "),
        ("sarif", "{"),
        ("junit", "<?xml"),
        ("markdown", "<!-- fwctl:"),
    ):
        done = fwctl(tmp_path, "validate", "--nonsense", "--format", name)
        assert done.code == 64
        assert done.out.startswith(start), name


def test_gitlab_checkouts_are_known_too(checkout: Path) -> None:
    environ = {"CI_PROJECT_DIR": str(checkout)}
    done = fwctl(checkout / "infra", "validate", "--format", "sarif", **environ)
    result = json.loads(done.out)["runs"][0]["results"][0]
    uri = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert uri == "infra/configs/chat.yaml"


@pytest.mark.parametrize("name", ["json", "github", "sarif", "junit", "markdown", "text"])
def test_no_format_repeats_a_secret_of_an_error_or_a_spec(tmp_path: Path, name: str) -> None:
    (tmp_path / "configs").mkdir()
    (tmp_path / "configs/a.yaml").write_text(
        SPEC.replace("US", "canary-77aa1").replace("acme", "canary-77aa1")
    )
    variables = {**github(tmp_path), "FIREWORKS_API_KEY": "canary-77aa1"}
    for more in ((), ("canary-77aa1",), ("--canary-77aa1",)):
        done = fwctl(tmp_path, "validate", *more, "--format", name, "--json-out", "out.json", **variables)
        assert done.code in (3, 64)
        written = "".join(path.read_text() for path in tmp_path.glob("*") if path.is_file())
        assert "canary-77aa" not in done.out + done.err + written


def test_the_documentation_link_is_where_the_manual_is_published(checkout: Path) -> None:
    for base, link in (
        ("https://docs.example.org/fwctl", "https://docs.example.org/fwctl/rules/FW302.html"),
        ("javascript:alert(1)", "urn:fwctl:docs/rules/FW302.md"),
    ):
        done = fwctl(checkout / "infra", "validate", "--format", "sarif", FWCTL_DOCS_URL=base)
        links = {
            rule["id"]: rule["helpUri"] for rule in json.loads(done.out)["runs"][0]["tool"]["driver"]["rules"]
        }
        assert links["FW302"] == link


def test_the_json_file_is_replaced_in_one_step_and_links_stay_links(tmp_path: Path) -> None:
    (tmp_path / "real.json").write_text("old")
    (tmp_path / "link.json").symlink_to("real.json")
    done = fwctl(tmp_path, "version", "--json-out", "link.json")
    assert done.code == 0
    assert (tmp_path / "link.json").is_symlink()
    assert json.loads((tmp_path / "real.json").read_text())["command"] == "version"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["link.json", "real.json"]


def test_the_json_can_go_to_something_that_is_no_file(tmp_path: Path) -> None:
    assert fwctl(tmp_path, "version", "--json-out", "/dev/null").code == 0
    assert Path("/dev/null").is_char_device()


def test_a_failed_command_writes_its_json_file_too(checkout: Path) -> None:
    done = fwctl(checkout / "infra", "validate", "--format", "junit", "--json-out", "out.json")
    assert done.code == 3
    document = json.loads((checkout / "infra/out.json").read_text())
    assert document["exit_code"] == 3
    assert "FW302" in {item["code"] for item in document["diagnostics"]}
