"""bench import, compare and report from the command line to exit code and files."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from fwctl.measure.summary import Facts
from tests.cli.support import Done, fwctl, make_env
from tests.measure.runs import rows, save

SPEC = """\
apiVersion: fwctl/v1
account: acme
deployments:
  t:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    replicas: {min: 1, max: 2}
    slo: {ttft_p95_ms: 400}
  bare:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    replicas: {min: 1, max: 2}
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("bench")
    save(path / "base", rows(120), facts={"t": Facts(usd_per_hour=4.0)})
    save(path / "slow", rows(120, factor=1.4, seed=2))
    save(path / "other", rows(120), digest="sha256:other")
    (path / "spec.yaml").write_text(SPEC)
    return path


def run(folder: Path, *words: str, **variables: str) -> Done:
    found = [str(folder / word) if word == "spec.yaml" else word for word in words]
    return fwctl(make_env(folder, variables), "bench", *found)


def test_a_comparison_is_no_verdict_on_its_own(folder: Path) -> None:
    done = run(folder, "compare", "base", "slow", "--format", "json")
    assert done.code == 0
    assert done.document["comparisons"][0]["verdict"] == "worse"
    assert done.document["gates"] == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("slow", "--fail-if", "ttft_p50 > 1.10x"), 4),
        (("slow", "--fail-if", "ttft_p50 > 2x"), 0),
        (("slow", "--fail-if", "ttft_p50 > 2x", "--fail-if", "cost > 1.1x"), 4),
        (("slow", "--fail-if", "cost > 1.1x", "--allow-inconclusive"), 0),
        (("slow", "--fail-if", "ttft_p99 > 1.1x"), 4),
        (("slow", "--fail-if", "ttft_p99 > 1.1x", "--allow-inconclusive"), 0),
        (("other",), 1),
        (("other", "--fail-if", "ttft_p50 > 9x", "--allow-inconclusive"), 4),
        (("slow", "--spec", "spec.yaml"), 4),
        (("slow", "--floor", "base"), 0),
    ],
)
def test_gates_decide_the_exit_code(folder: Path, words: tuple[str, ...], code: int) -> None:
    assert run(folder, "compare", "base", *words).code == code


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--tolerance", "0"), "--tolerance"),
        (("--percentiles", "50,x"), "--percentiles"),
        (("--percentiles", "100"), "--percentiles"),
        (("--deployment", "t"), "--deployment needs --spec"),
        (("--spec", "spec.yaml", "--deployment", "bear"), "did you mean bare?"),
        (("--spec", "spec.yaml", "--deployment", "bare"), "has no `slo:`"),
        (("--fail-if", "speed > 3"), "is not a condition"),
        (("--expect-change", "presicion"), "did you mean precision?"),
    ],
)
def test_a_wrong_option_is_refused(folder: Path, words: tuple[str, ...], message: str) -> None:
    done = run(folder, "compare", "base", "slow", *words)
    assert done.code == 64
    assert message in done.err


@pytest.mark.parametrize("form", ["text", "json", "markdown", "html", "github", "junit"])
def test_a_folder_that_is_no_run_is_one_error_in_every_format(folder: Path, form: str) -> None:
    done = run(folder, "compare", "nowhere", "slow", "--format", form)
    assert done.code == 64
    assert "cannot read" in done.out + done.err
    assert "Traceback" not in done.err


def test_charts_are_written_beside_the_report(folder: Path) -> None:
    done = run(folder, "report", "base", "slow", "--charts", "charts", "--format", "json")
    assert done.code == 0
    assert done.document["charts"][0] == "charts/distribution-ttft.svg"
    for name in done.document["charts"]:
        assert (folder / name).read_text().startswith('<svg class="chart"')
    (folder / "file").write_text("")
    assert "cannot write to file" in run(folder, "report", "base", "--charts", "file").err


def test_charts_are_written_as_png_too(folder: Path) -> None:
    done = run(folder, "report", "base", "--charts", "pictures", "--png", "--format", "json")
    assert done.code == 0, done.err
    assert done.document["charts"][:2] == ["pictures/distribution-ttft.svg", "pictures/distribution-ttft.png"]
    for name in done.document["charts"][1::2]:
        assert (folder / name).read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "--png belongs to --charts" in run(folder, "report", "base", "--png").err


def test_percentiles_on_demand(folder: Path) -> None:
    shown = run(folder, "report", "base", "--percentiles", "50,90").out
    assert "ttft p90" in shown
    assert "ttft p95" not in shown


def test_an_import_ends_in_a_set_that_runs(folder: Path) -> None:
    message = [{"role": "user", "content": "Hi"}]
    lines = [{"custom_id": str(number), "body": {"model": "m", "messages": message}} for number in (1, 2)]
    odd = {"custom_id": "3", "body": {"messages": [{"role": "user", "content": "Ho"}], "tools": []}}
    (folder / "batch.jsonl").write_text("".join(json.dumps(item) + "\n" for item in [*lines, odd, {}]))
    done = run(folder, "import", "--from", "openai-batch", "batch.jsonl", "--out", "set.jsonl")
    assert done.out == (
        "set.jsonl: 2 prompts of 4 recorded requests\n"
        "  2 of type other\n"
        "  1 left out because the same request came before\n"
        "  1 left out: no `body`\n"
        "  1 without their `tools`, which a prompt set does not carry\n"
    )
    done = run(folder, "import", "--from", "openai-batch", "batch.jsonl", "--out", "s", "--limit", "0")
    assert done.code == 64
    done = run(
        folder, "import", "--from", "trace", "batch.jsonl", "--out", "s", "--limit", "1", "--sample", "1"
    )
    assert "one of --limit and --sample" in done.err
