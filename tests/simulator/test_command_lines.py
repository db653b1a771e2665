"""Command lines that people really use: the right ones are accepted, the others refused as firectl would.

Source: tests/data/firectl_commands.jsonl (public scripts, documents and notebooks; names replaced).
"""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from tests.simulator.support import Sim

DATA = Path(__file__).parent.parent / "data" / "firectl_commands.jsonl"
CASES = {row["id"]: row for row in map(json.loads, DATA.read_text().splitlines())}

# Calls of other programs and APIs.
NOT_FIRECTL = {
    "c036": "REST by curl",
    "c066": "brew",
    "c178": "a parser of output",
    "c192": "REST by curl",
    "c199": "REST in Python",
    "c200": "REST in Python",
    "c201": "REST in Python",
    "c202": "the Python SDK",
    "c204": "REST in Python",
    "c205": "REST in Python",
}
NOT_RUNNABLE = {"c052": "shorthand in prose: {list|get|scale|delete|undelete}"}

# What stands for a variable or placeholder of the scripts.
WORDS = {
    "ACCOUNT": "acme",
    "FIREWORKS_ACCOUNT_ID": "acme",
    "ACCOUNT_ID": "acme",
    "ACCOUNT-ID": "acme",
    "YOUR-ACCOUNT-ID": "acme",
    "YOUR_ACCOUNT_ID": "acme",
    "YOUR_ACCOUNT": "acme",
    "ACCT": "acme",
    "acct": "acme",
    "account": "acme",
    "account_id": "acme",
    "myaccount": "acme",
    "my-account": "acme",
    "FIREWORKS_API_KEY": "fw_test",
    "API_KEYS": "route-key",
    "TRAINED_MODEL_ID": "tuned",
    "EMBEDDING_MODEL_ID": "embedder",
    "TUNED_MODEL_ID": "tuned",
    "FINE_TUNED_MODEL_ID": "adapter",
    "MODEL_ID": "tuned",
    "OUT": "tuned",
    "output-model-id": "tuned",
    "BASE_MODEL_ID": "llama-v3p1-8b-instruct",
    "SUPPORTED_BASE_MISTRAL_ID": "mistral-7b-instruct-v3",
    "BASE_MODEL": "accounts/fireworks/models/gemma-4-26b-a4b-it",
    "base_model": "accounts/fireworks/models/gpt-oss-120b",
    "name": "accounts/fireworks/models/gpt-oss-120b",
    "ACCELERATOR_TYPE": "NVIDIA_H100_80GB",
    "ACCELERATOR_COUNT": "1",
    "MIN_REPLICAS": "0",
    "MAX_REPLICAS": "1",
    "LOAD_TARGET": "default=0.8",
    "DEPLOYMENT_SHAPE": "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-bf16",
    "SHAPE": "own-shape",
    "shape_name": "accounts/fireworks/deploymentShapes/edu6lf2d",
    "resolved-shape": "llama-v3p1-8b-instruct-bf16",
    "REGION": "us-illinois-2",
    "DEPLOYMENT_ID": "d1",
    "DEPLOYMENT_ID_1": "d1",
    "deployment-id": "d1",
    "DEP_ID": "d1",
    "DEP": "d1",
    "NAME": "d1",
    "ID": "d1",
    "id": "d1",
    "D1": "d1",
    "D2": "d2",
    "dep_id": "fresh",
    "deployment_id": "fresh",
    "YOUR_CUSTOM_DEPLOYMENT_ID": "fresh",
    "run-id": "run7",
    "JOB_ID": "job1",
    "RESOURCE": "monthly-spend-usd",
    "n": "2",
    "UPLOAD_DIR": "upload",
    "SOURCE_PATH": "upload",
    "DISPLAY_NAME": "Embedder",
    "HF_URL": "https://huggingface.co/Qwen/Qwen3-Embedding-8B",
    "START": "2026-11-01",
    "END": "2026-11-30",
    "CSV": "usage.csv",
    "DATASET": "set1",
    "dep-id": "d1",
    "your_bucket": "bucket",
    "your_upload_path": "path",
}
# Lines that a shell or Python would build; the calls they make.
CALLS: dict[str, list[str]] = {
    "c009": ["create deployment accounts/acme/models/quantised"],
    "c011": [
        (
            "create deployment --accelerator-count 8 --accelerator-type NVIDIA_H100_80GB "
            "accounts/acme/models/quantised"
        )
    ],
    "c020": ["-a acme scale d1 --replica-count 0"],
    "c022": ["-a acme list deployments"],
    "c067": ["deployment create accounts/acme/models/tuned"],
    "c090": ["delete deployment accounts/acme/deployments/d1"],
    "c100": ["create deployment accounts/acme/models/tuned"],
    "c103": ["signin", "create model my-model /mnt/text/final", "deploy my-model"],
    "c105": ["-s gateway.example:443 --api-key fw_test -a acme deployment list -o json --no-paginate"],
    "c106": ["-a acme deployment get d1 -p default"],
    "c107": ["-a acme rlor list -p default"],
    "c111": ["create model tuned2 out --base-model accounts/fireworks/models/qwen3-14b"],
    "c113": ["load-lora adapter"],
    "c114": ["list deployments -o json"],
    "c116": ["get deployment accounts/acme/models/tuned"],
    "c118": ["account get --api-key fw_test --account-id acme"],
    "c119": ["billing list-invoices --api-key fw_test"],
    "c122": [
        (
            "model create embedder2 upload --embedding --hugging-face-url https://huggingface.co/google/e "
            "--description 'Full Size Embedding Model'"
        )
    ],
    "c124": ["account get -o json"],
    "c133": [
        "deployment create accounts/acme/models/tuned --deployment-shape default --deployment-id x",
        "deployment get x",
        "deployment delete x",
        "deployment list",
    ],
    "c136": ["create deployment --model deepseek-v3 --gpu-type b200 --gpu-count 1 --precision fp4"],
    "c140": ["login"],
    "c160": ["-a fireworks model get llama-v3p1-8b-instruct"],
    "c168": [
        "deployment-shape-version get accounts/fireworks/deploymentShapes/rft-qwen3p5-9b-v2/versions/gcr1owmp"
    ],
    "c169": [
        "deployment update d1 -a acme --min-replica-count 0 --max-replica-count 0",
        "deployment delete d1 -a acme",
    ],
    "c179": ["deployment get d1"],
    "c181": [
        (
            "deployment create accounts/acme/models/tuned --deployment-id fresh --deployment-shape "
            "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast --account-id acme --wait"
        )
    ],
    "c182": ["deployment delete accounts/acme/deployments/d1 --account-id acme --ignore-checks --wait"],
    "c184": ["deployment get accounts/acme/deployments/d1 --account-id acme -o json"],
    "c185": ["version"],
    "c186": ["deployment list --api-key fw_test --account-id acme"],
    "c189": ["deployment tag list d1"],
    "c194": ["get dataset set1 --api-key fw_test"],
    "c195": ["list datasets --api-key fw_test"],
    "c206": ["model prepare accounts/fireworks/models/llama-v3p1-8b-instruct --precision fp4"],
}
# Where a placeholder stands for something that does not exist yet, or for another thing than usual.
_GEMMA = "accounts/fireworks/deploymentShapes"
OTHER_WORDS = {
    "c008": {"EMBEDDING_MODEL_ID": "embedder9"},
    "c030": {"SHAPE": f"{_GEMMA}/rft-gemma-4-26b-a4b-it"},
    "c034": {"SHAPE": f"{_GEMMA}/gemma4-26b-a4b-it"},
    "c041": {"ID": "fresh"},
    "c070": {"DEPLOYMENT_ID": "fresh"},
    "c071": {"DEPLOYMENT_ID": "fresh"},
    "c131": {"dep_id": "d1"},
}
# What must have happened before the line.
BEFORE = {
    "c051": "deployment delete d1",
    "c098": "model delete mutlilora-demo-test-model",
    "c172": "model delete sophia-extract-m7b-ft",
}
# A create with neither shape nor accelerator: taken in 2025 (A100), refused since.
BARE_CREATES = ("c040", "c045", "c046", "c067", "c072", "c097", "c099", "c100", "c208", "c214", "c217")
REFUSED = {
    "c009": "code = Internal desc = Internal error occurred",
    "c011": "code = Internal desc = Internal error occurred",
    "c014": 'unknown command "deploy" for "firectl"',
    "c038": 'unknown command "create" for "firectl"',
    "c048": "unknown flag: --replicas",
    "c068": "code = NotFound",
    "c101": 'unknown command "undeploy" for "firectl"',
    "c103": 'unknown command "deploy" for "firectl"',
    "c113": 'required flag(s) "deployment" not set',
    "c116": 'invalid deployment name "accounts/acme/models/tuned"',
    "c136": "unknown flag: --model",
    "c140": 'unknown command "login" for "firectl"',
    "c206": "code = PermissionDenied",
    "c209": 'unknown command "import" for "firectl"',
}
ERA_2025 = ("c009", "c011", "c014", "c020", "c103", "c136", "c146", "c157", "c208", "c209", "c213", "c217")
ERA_LATEST = ("c123", "c165", "c168", "c169", "c181", "c182", "c184", "c185", "c186", "c187", "c189", "c193")


def profile(case: str) -> str:
    if case in ERA_2025:
        return "2025"
    return "latest" if case in ERA_LATEST else "2026-07"


def expand(text: str, own: dict[str, str]) -> list[str]:
    """The words of one command line, variables and placeholders filled in; shell plumbing cut off."""

    def word(match: re.Match[str]) -> str:
        return own.get(match[1]) or WORDS.get(match[1]) or match[0]

    text = text.replace("\\\n", " ").strip()
    text = re.sub(r'"\$\{REGION_FLAG\[@\]\}"', "--region us-iowa-1", text)
    text = re.sub(r"^(?:[#!$ ]|if |\S+=\$\()+(?=\S*(?:firectl|FIRECTL))", "", text)
    text = re.split(r"\s2>&1|\s2>/dev/null|\s>|\s\||\s{2,}#|\s&&|\n", text)[0]
    text = re.sub(r"\$\{?([A-Za-z_][A-Za-z0-9_]*)\}?", word, text)
    text = re.sub(r"<([A-Za-z0-9_-]+)>", word, text)
    text = re.sub(r"\{([a-z_]+)\}", word, text)
    accounts = "YOUR_ACCOUNT_ID|YOUR_ACCOUNT|my-account|myaccount"
    return [re.sub(accounts, "acme", part) for part in shlex.split(text)[1:]]


def calls_of(case: str) -> list[list[str]]:
    if case in CALLS:
        return [shlex.split(line) for line in CALLS[case]]
    return [expand(CASES[case]["command"], OTHER_WORDS.get(case, {}))]


@pytest.fixture
def sim(tmp_path: Path) -> Sim:
    """The account with everything that the lines take for granted."""
    full = {"displayName": "Own", "parameterCount": 8030261248, "defaultPrecision": "BF16"}
    full |= {"contextLength": 131072, "modelType": "llama", "account": "acme"}
    base = "accounts/fireworks/models/llama-v3p1-8b-instruct"
    ids = ("tuned", "falcon-7b", "example-eval-ft-0001", "mutlilora-demo-test-model", "my-custom-vlm")
    embedder = full | {"id": "embedder", "kind": "EMBEDDING_MODEL"}
    models = [*(full | {"id": i} for i in (*ids, "sophia-extract-m7b-ft")), embedder]
    models.append(full | {"id": "quantised", "broken": True})
    addons = [{"id": i, "kind": "HF_PEFT_ADDON", "baseModel": base} for i in ("adapter", "ludus-tetris")]
    shape = {
        "id": "own-shape",
        "account": "acme",
        "model": base,
        "accelerator": "NVIDIA_H100_80GB",
        "count": 1,
    }
    shape |= {"precision": "BF16"}
    shape |= {"versions": [{"id": "v1", "createTime": "2026-07-01T09:00:00Z", "validated": True}]}
    document = {"models": models, "accountModels": {"acme": addons}, "shapes": [shape]}
    (tmp_path / "own.json").write_text(json.dumps(document))
    (tmp_path / "deployment-config.json").write_text('{"displayName": "from a file"}')
    made = Sim(tmp_path, FIRECTL_SIM_CATALOG="own.json")
    bf16 = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-bf16"
    for deployment in ("d1", "d2", "new-deployment"):
        made.create(deployment, "--wait", "--max-replica-count", "4", shape=bf16)
    made.ok("router", "create", "--router-id", "my-router", "--deployments", "d1")
    (tmp_path / "data").mkdir()
    for file in ("train.jsonl", "data/orena_train.jsonl"):
        (tmp_path / file).write_text('{"messages": []}\n')
    made.ok("dataset", "create", "set1", "train.jsonl")
    made.ok("rlor-trainer-job", "create", "--job-id", "job1", "--base-model", base)
    return made


def run_case(sim: Sim, case: str, era: str) -> tuple[int, str]:
    code, errors = 0, ""
    for argv in calls_of(case):
        words = [word.replace("/path/to/deployment-config.json", "deployment-config.json") for word in argv]
        result = sim(*words, FIRECTL_SIM_PROFILE=era)
        code, errors = max(code, result.code), errors + result.stderr
    return code, errors


def test_every_line_is_accounted_for():
    assert len(CASES) == 132
    known = {*NOT_FIRECTL, *NOT_RUNNABLE, *REFUSED, *BARE_CREATES, *CALLS, *OTHER_WORDS, *BEFORE}
    assert known | {*ERA_2025, *ERA_LATEST} <= set(CASES)


RUNNABLE = [case for case in CASES if case not in {*NOT_FIRECTL, *NOT_RUNNABLE}]
RIGHT = [case for case in RUNNABLE if case not in {*REFUSED, *BARE_CREATES}]


@pytest.mark.parametrize("case", RIGHT)
def test_a_right_line_is_accepted(sim: Sim, case: str):
    if case in BEFORE:
        sim.ok(*BEFORE[case].split())
    code, errors = run_case(sim, case, profile(case))
    assert code == 0, (calls_of(case), errors)
    assert "Failed to execute" not in errors


@pytest.mark.parametrize("case", REFUSED)
def test_a_mistake_is_refused_as_firectl_would(sim: Sim, case: str):
    code, errors = run_case(sim, case, profile(case))
    assert code == 1
    assert REFUSED[case] in errors
    assert re.search(r"^\d{4}/\d\d/\d\d \d\d:\d\d:\d\d Failed to execute: ", errors, re.MULTILINE)


@pytest.mark.parametrize("case", BARE_CREATES)
def test_a_create_without_shape_and_accelerator_works_in_2025_only(sim: Sim, case: str):
    code, errors = run_case(sim, case, "2026-07")
    assert code == 1
    assert "accelerator_type must be specified for non-embeddings engines" in errors
    assert "a deployment shape is required" in run_case(sim, case, "latest")[1]
    code, errors = run_case(sim, case, "2025")
    assert code == 0, errors


@pytest.mark.parametrize("case", [*NOT_FIRECTL, *NOT_RUNNABLE])
def test_what_is_no_firectl_call_is_named_as_such(case: str):
    command = CASES[case]["command"].lstrip()
    assert not command.startswith("firectl") or "|" in command.split(">")[0]
