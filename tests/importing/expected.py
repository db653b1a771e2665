"""What each command line of tests/data/firectl_commands.jsonl comes to, written by hand.

A row is the spec fields that must be there (None: no entry is made) and the remark codes that must be.
"""

from __future__ import annotations

from typing import Any

Row = tuple[dict[str, Any] | None, tuple[str, ...]]
FW = "accounts/fireworks/models/"
SHAPES = "accounts/fireworks/deploymentShapes/"
READ: Row = (None, ("reads_only",))
OTHER: Row = (None, ("not_a_deployment",))
DELETE: Row = (None, ("deletes",))
REST: Row = (None, ("rest_call",))
NO_TARGET: Row = (None, ("placeholder",))


def made(*codes: str, **fields: Any) -> Row:
    """`replicas_min=1` stands for `replicas.min`."""
    return {NAMES.get(key, key): value for key, value in fields.items()}, codes


NAMES = {
    "type": "accelerator.type",
    "count": "accelerator.count",
    "low": "replicas.min",
    "high": "replicas.max",
    "to_zero": "autoscaling.scale_to_zero_window",
    "up": "autoscaling.scale_up_window",
    "down": "autoscaling.scale_down_window",
    "targets": "autoscaling.load_targets",
    "addons": "addons.mode",
    "keys": "direct_route.api_keys",
    "risk": "accept_shapeless_risk",
    "bucket": "hot_load.bucket_type",
}
H100, H200, A100 = "NVIDIA_H100_80GB", "NVIDIA_H200_141GB", "NVIDIA_A100_80GB"
BENCH = {"type": H100, "count": 1, "region": "US_TEXAS_2", "low": 1, "high": 1}
TUNED = "accounts/acme/models/llama-3-3-70b-instruct-code-agent-fine-tune-v1-base-4b-quant"
VARIABLE_MODEL = "accounts/${env:FIREWORKS_ACCOUNT_ID}/models/${env:TRAINED_MODEL_ID}"

EXPECTED: dict[str, Row] = {
    "c001": made(
        "no_id",
        "array",
        "no_shape",
        model=VARIABLE_MODEL,
        type="${env:ACCELERATOR_TYPE}",
        count=1,
        low=1,
        high=1,
    ),
    "c002": made("no_id", "array", model=VARIABLE_MODEL, shape="${env:DEPLOYMENT_SHAPE}", low=1, high=1),
    "c003": made("no_id", "array", "no_shape", type="${env:ACCELERATOR_TYPE}", count=1),
    **dict.fromkeys(("c004", "c022", "c033", "c068", "c076", "c080", "c091", "c105", "c106", "c114"), READ),
    **dict.fromkeys(("c158", "c179", "c184", "c189"), READ),
    **dict.fromkeys(("c005", "c007", "c008", "c026", "c028", "c029", "c056", "c060", "c061", "c069"), OTHER),
    **dict.fromkeys(("c082", "c098", "c104", "c107", "c111", "c118", "c119", "c121", "c122", "c124"), OTHER),
    **dict.fromkeys(("c125", "c156", "c160", "c163", "c166", "c168", "c170", "c171", "c172", "c174"), OTHER),
    **dict.fromkeys(("c185", "c193", "c194", "c195", "c198", "c206", "c207", "c209", "c220"), OTHER),
    **dict.fromkeys(("c006", "c044", "c078", "c131", "c134", "c182"), DELETE),
    **dict.fromkeys(("c036", "c192", "c199", "c200", "c201", "c202", "c204", "c205"), REST),
    "c009": made("no_id", "no_shape", model=TUNED, low=0, high=1),
    "c011": made("no_id", "no_shape", model=TUNED, type=H100, count=8, low=0, high=1),
    "c014": made(
        "old_form", "no_shape", model="accounts/acme/models/llama-3.3-70b-instruct-code-agent-fine-tune-v1"
    ),
    "c020": (None, ("unknown_deployment", "not_merged")),
    "c030": made(
        "no_id", model="${env:BASE_MODEL}", shape="${env:SHAPE}", addons="multi_lora", low=1, high=1
    ),
    "c034": made("no_id", display_name="au-fw-eval-min2", addons="multi_lora"),
    "c038": (None, ("unknown_command",)),
    "c040": made("placeholder", "no_shape", model="accounts/${env:account}/models/example-eval-ft-0001"),
    "c041": made("placeholder", "no_shape", id="${env:ID}", type=H200, count=1, low=1, high=1),
    "c042": made("placeholder", model="${env:name}", shape="default"),
    "c045": made("no_shape", model=FW + "gemma-4-26b-a4b-it", low=0, high=1),
    "c046": made("no_shape", model=FW + "llama-v3p3-70b-instruct", display_name="prod-llama"),
    "c048": (None, ("unknown_flag", "placeholder", "bad_value")),
    "c050": (None, ("placeholder", "not_merged")),
    "c051": (None, ("undeletes",)),
    "c052": (None, ("unknown_command",)),
    "c054": made("no_id", shape="fast", low=0, high=4, targets={"requests_per_second": 5.0}),
    "c059": (None, ("placeholder", "not_merged")),
    "c065": made("no_shape", model=FW + "deepseek-r1-0528", type=H200, count=8, to_zero="5m"),
    "c066": (None, ("install_line",)),
    "c067": made(
        "placeholder", "no_shape", model="accounts/${env:YOUR_ACCOUNT_ID}/models/sema-qwen8b-rft-v1"
    ),
    "c070": made("placeholder", shape="accounts/${env:ACCOUNT_ID}/deploymentShapes/${env:SHAPE}"),
    "c071": made("placeholder", "no_shape", id="${env:DEPLOYMENT_ID}", type=H100),
    "c072": made("placeholder", "no_shape", addons="multi_lora"),
    "c073": (None, ("placeholder", "not_merged")),
    "c084": made("placeholder", id="${env:run_id}-deploy", shape=SHAPES + "${env:resolved_shape}"),
    "c085": made("no_shape", model=FW + "nvidia-nemotron-nano-9b-v2", **BENCH),
    "c086": made("no_shape", model=FW + "nvidia-nemotron-nano-12b-v2", **BENCH),
    "c087": made("no_shape", model=FW + "qwen3-8b", display_name="Qwen3 8B Benchmark", **BENCH),
    "c089": made("no_shape", model=FW + "llama-v3p1-8b-instruct", **BENCH),
    "c090": (None, ("commented_out",)),
    "c092": made("no_id", shape=SHAPES + "qwen3-omni-30b-a3b-instruct-minimal", low=1, high=1),
    "c095": made("placeholder", "no_shape", model=FW + "nemotron-nano-v2-12b-vl", type=H100),
    "c097": (None, ("commented_out",)),
    "c099": made("no_shape", model="mutlilora-demo-test-model"),
    "c100": made("no_shape", model="accounts/myaccount/models/mutli-lora-demo-model"),
    "c101": (None, ("old_form",)),
    "c103": made("not_a_deployment", "old_form", "no_shape", model="my-model"),
    "c113": (None, ("no_target", "not_merged")),
    "c116": (None, ("model_as_deployment",)),
    "c123": made("no_id", shape="none", risk=True, type=H100, count=1, low=0, high=1, to_zero="10m"),
    "c129": made("variable", "no_shape", id="${env:dep_id}", model="${env:base_model}"),
    "c133": made("no_id", "deletes", "reads_only", model="accounts/${env:ACCOUNT}/models/${env:OUT}"),
    "c136": made(
        "unknown_flag",
        "lower_case",
        "bad_value",
        model="deepseek-v3",
        type="NVIDIA_B200_180GB",
        precision="FP4",
    ),
    "c140": (None, ("install_line", "unknown_command")),
    "c146": made("removed_flag", "placeholder", "no_shape", type=H100),
    "c152": made("no_shape", model=FW + "llama-v3p2-3b-instruct", addons="multi_lora", type=A100),
    "c153": (None, ("placeholder", "not_merged")),
    "c154": made("placeholder", bucket="S3", region="US_OHIO_1", id="${env:deployment_id}"),
    "c155": (None, ("unknown_deployment", "not_merged")),
    "c157": made("placeholder", "no_shape", keys=["${env:API_KEYS}"], region="${env:REGION}"),
    "c165": made("no_id", shape="default", model=FW + "gpt-oss-120b"),
    "c169": (None, ("placeholder", "not_merged", "deletes")),
    "c175": made("no_shape", type=A100, count=1, low=0, high=1, to_zero="5m", down="5m", up="30s"),
    "c178": (None, ("nothing_found",)),
    "c181": made(id="${env:deployment_id}", model="${env:model}", shape="${env:shape__name}"),
    "c186": (None, ("computed",)),
    "c187": (None, ("placeholder", "not_merged")),
    "c208": made("placeholder", "no_shape", model="${env:MODEL_ID}"),
    "c213": made("no_id", shape="fast", low=0, high=4, targets={"concurrent_requests": 5.0}, down="5m"),
    "c214": made("file_flag", "no_shape", model="falcon-7b"),
    "c217": made("no_shape", model="my-custom-vlm"),
}
