"""Flags of `deployment create` and `deployment update`."""

from __future__ import annotations

from fwctl.simulator.commands.table import PLAIN, WAIT, Flag

_2025 = ("2025",)
_LATEST = ("latest",)
_2026 = ("2026-07", "latest")
PREEMPTIBLE_SINCE = (1, 7, 26)

ACCELERATORS = {
    "2025": "NVIDIA_A100_80GB, NVIDIA_H100_80GB, NVIDIA_H200_141GB, AMD_MI300X_192GB",
    "2026-07": "NVIDIA_A100_80GB, NVIDIA_H100_80GB, NVIDIA_H200_141GB, AMD_MI300X_192GB",
    "latest": "NVIDIA_A100_80GB, NVIDIA_H100_80GB, NVIDIA_H200_141GB, NVIDIA_B200_180GB, "
    "NVIDIA_B300_288GB, AMD_MI325X_256GB, AMD_MI350X_288GB",
}
PRECISIONS = {
    "2025": "FP8, FP16, FP8_MM, FP8_AR, FP8_MM_KV_ATTN, FP8_KV, FP8_MM_V2, FP8_V2, FP8_MM_KV_ATTN_V2, "
    "FP4, BF16, FP4_BLOCKSCALED_MM, FP4_MX_MOE",
    "2026-07": "FP8, FP16, FP4, BF16",
    "latest": "FP8, FP16, FP4, BF16",
}

_COUNT = Flag("accelerator-count", "int32", "The number of accelerators to use per replica.")
_TYPE = Flag("accelerator-type", "string", "The type of accelerator to use. Must be one of {ACCELERATORS}")
_SHAPE = Flag("deployment-shape", "string", "The deployment shape to use for this deployment.")
_DESCRIPTION = Flag("description", "string", "Description of the deployment.")
_ROUTE_KEYS = Flag(
    "direct-route-api-keys",
    "stringArray",
    "The API keys for the direct route. Only available to enterprise accounts.",
)
_ROUTE = Flag(
    "direct-route-type",
    "string",
    "If set, this deployment will expose an endpoint that bypasses our API gateway. Must be one of "
    "{INTERNET, GCP_PRIVATE_SERVICE_CONNECT, AWS_PRIVATELINK}. Only available to enterprise accounts.",
)
_NAME = Flag(
    "display-name",
    "string",
    "Human-readable name of the deployment. Must be fewer than 64 characters long.",
)
_DRAFT = Flag(
    "draft-model",
    "string",
    "The draft model to use for speculative decoding. If the model is under your account, you can specify "
    "the model ID. If the model is under another account, you can specify the full resource name "
    "(e.g. accounts/other-account/models/falcon-7b).",
)
_DRAFT_TOKENS = Flag(
    "draft-token-count", "int32", "The number of tokens to generate per step for speculative decoding."
)
_ADDONS = Flag("enable-addons", "bool", "If true, enable addons for this deployment.")
_AFFINITY = Flag(
    "enable-session-affinity",
    "bool",
    "If true, does sticky routing based on the 'user' field. Only available to enterprise accounts.",
)
_FILE = Flag("file", "string", "Path to a JSON configuration file containing deployment settings.")
_TARGETS = Flag(
    "load-targets", "Map", "Map of autoscaling load metric names to their target utilization factors."
)
_LONG_PROMPT = Flag("long-prompt", "bool", "Whether this deployment is optimized for long prompts.")
_CONTEXT = Flag(
    "max-context-length",
    "int32",
    "The maximum context length supported by the model (context window). If set to 0 or not specified, "
    "the model's default maximum context length will be used.",
)
_MAX = Flag(
    "max-replica-count",
    "int32",
    "Maximum number of replicas for the deployment. If min-replica-count > 0 defaults to 0, otherwise "
    "defaults to 1.",
)
_REVOCABLE = Flag(
    "max-with-revocable-replica-count",
    "int32",
    "Maximum number of replicas including revocable replicas. Any replicas in excess of max_replica_count "
    "are revocable.",
    eras=_2026,
)
_MIN = Flag(
    "min-replica-count",
    "int32",
    "Minimum number of replicas for the deployment. If min-replica-count < max-replica-count the "
    "deployment will automatically scale between the two replica counts based on load.",
)
_NGRAM = Flag(
    "ngram-speculation-length",
    "int32",
    "The length of previous input sequence to be considered for N-gram speculation.",
)
_PRECISION = Flag(
    "precision",
    "string",
    "The precision with which the model is served. If specified, must be one of {PRECISIONS}.",
)
_REGION_HELP = "Placement: 'global', region group (us), or specific region (us-iowa-1)."
_DOWN = Flag(
    "scale-down-window",
    "duration",
    "The duration the autoscaler will wait before scaling down a deployment after observing decreased "
    "load. Default is 10m.",
)
_ZERO = Flag(
    "scale-to-zero-window",
    "duration",
    "The duration after which there are no requests that the deployment will be scaled down to zero "
    "replicas, if min-replica-count is 0. Default 1h.",
)
_UP = Flag(
    "scale-up-window",
    "duration",
    "The duration the autoscaler will wait before scaling up a deployment after observing increased load. "
    "Default is 30s.",
)
_MTP = Flag("enable-mtp", "bool", "If true, enables multi-token prediction.", eras=_2025)
_EXPIRE = Flag("expire-time", "string", 'Deprecated. "YYYY-MM-DD" or "YYYY-MM-DD HH:MM:SS".', eras=_2025)

CREATE_FLAGS = (
    Flag(
        "accept-shapeless-risk",
        "bool",
        "Create the deployment without a deployment shape and accept that it is not validated.",
        eras=_LATEST,
    ),
    _COUNT,
    _TYPE,
    Flag("cluster-id", "string", "The Fireworks cluster ID.", "c"),
    Flag(
        "deployment-id",
        "string",
        "The ID of the deployment. If not specified, a random ID will be generated.",
    ),
    _SHAPE,
    Flag("deployment-template", "string", "The deployment template to use."),
    _DESCRIPTION,
    _ROUTE_KEYS,
    _ROUTE,
    Flag("disable-speculative-decoding", "bool", "If true, speculative decoding is disabled."),
    _NAME,
    _DRAFT,
    _DRAFT_TOKENS,
    _ADDONS,
    Flag("enable-hot-load", "bool", "If true, use hot load for this deployment."),
    Flag(
        "enable-hot-reload-latest-addon",
        "bool",
        "If true, keeps the latest addon merged and replaceable.",
        eras=_2025,
    ),
    _MTP,
    _AFFINITY,
    _EXPIRE,
    _FILE,
    Flag(
        "hot-load-bucket-type",
        "string",
        "The type of storage to use for hot load. Must be one of {MINIO, S3, NEBIUS, FW_HOSTED}",
    ),
    Flag(
        "hot-load-bucket-url",
        "string",
        "The URL of the bucket to use for hot load. e.g for s3: s3://mybucket/..; for GCS: "
        "gs://mybucket/... Required when --enable-hot-load is set.",
    ),
    Flag(
        "hot-load-transition-type",
        "string",
        "Hot-load reload semantics. Must be one of {ASYNC, SYNC}. Defaults to ASYNC when "
        "--enable-hot-load is set.",
        eras=_2026,
    ),
    _TARGETS,
    _LONG_PROMPT,
    Flag(
        "max-concurrency-per-replica",
        "int32",
        "Maximum in-flight requests per replica before excess requests are rejected with HTTP 429 "
        "(per-replica admission control for tail latency). 0 uses the platform default.",
        eras=_2026,
    ),
    _CONTEXT,
    _MAX,
    _REVOCABLE,
    _MIN,
    Flag("multi-region", "string", "The multi-region to deploy in.", eras=_2025),
    _NGRAM,
    _PRECISION,
    Flag(
        "preemptible",
        "bool",
        "Borrow idle capacity; the deployment may be preempted at any time.",
        since=PREEMPTIBLE_SINCE,
    ),
    Flag("region", "string", _REGION_HELP),
    _DOWN,
    _ZERO,
    _UP,
    Flag("scaling-schedules", "string", "JSON list of scaling schedules.", eras=_LATEST),
    Flag(
        "skip-shape-validation",
        "bool",
        "Allow a deployment shape version that is not validated.",
        switch="skip_shape_validation_flag",
    ),
    Flag("validate-only", "bool", "Only validate the request, do not create the deployment."),
    Flag("wait", "bool", "Wait until the deployment is ready."),
    WAIT[1],
    *PLAIN,
)
UPDATE_FLAGS = (
    _COUNT,
    _TYPE,
    _SHAPE,
    _DESCRIPTION,
    _ROUTE_KEYS,
    _ROUTE,
    _NAME,
    _DRAFT,
    _DRAFT_TOKENS,
    _ADDONS,
    _MTP,
    _AFFINITY,
    _EXPIRE,
    _FILE._replace(switch="update_file"),
    _TARGETS,
    _LONG_PROMPT,
    _CONTEXT,
    _MAX,
    _REVOCABLE,
    _MIN,
    _NGRAM,
    _PRECISION,
    Flag("region", "string", _REGION_HELP, eras=_LATEST, switch="region_update"),
    _DOWN,
    _ZERO,
    _UP,
    *PLAIN,
)
