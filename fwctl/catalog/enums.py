"""The values an enum field accepts, in the platform's spelling, with their spec-side aliases.

Sources: `fireworks-ai` 1.2.30 types, OpenAPI "Gateway REST API" 5.10.0, the regions page of
docs.fireworks.ai; read 2026-11-30. The platform adds values without notice, so a reader never refuses
an unknown one; a spec may name one with `settings.accept_unknown`.
"""

from __future__ import annotations

ACCELERATORS = (
    "NVIDIA_A100_80GB",
    "NVIDIA_H100_80GB",
    "NVIDIA_H200_141GB",
    "NVIDIA_B200_180GB",
    "NVIDIA_B300_288GB",
    "NVIDIA_GB200",
    "NVIDIA_GB300",
    "NVIDIA_A100_40GB",
    "NVIDIA_A10G_24GB",
    "NVIDIA_L4_24GB",
    "AMD_MI300X_192GB",
    "AMD_MI325X_256GB",
    "AMD_MI350X_288GB",
)

PRECISIONS = (
    "FP16",
    "BF16",
    "FP8",
    "FP4",
    "FP8_MM",
    "FP8_AR",
    "FP8_MM_KV_ATTN",
    "FP8_KV",
    "FP8_MM_V2",
    "FP8_V2",
    "FP8_MM_KV_ATTN_V2",
    "NF4",
    "FP4_BLOCKSCALED_MM",
    "FP4_MX_MOE",
)

MULTI_REGIONS = ("GLOBAL", "US", "EUROPE", "APAC", "CANADA")

SINGLE_REGIONS = (
    "US_IOWA_1",
    "US_VIRGINIA_1",
    "US_VIRGINIA_2",
    "US_ILLINOIS_1",
    "US_ILLINOIS_2",
    "US_ARIZONA_1",
    "US_ARIZONA_2",
    "US_ARIZONA_3",
    "US_TEXAS_1",
    "US_TEXAS_2",
    "US_TEXAS_3",
    "US_NEVADA_1",
    "US_WASHINGTON_1",
    "US_WASHINGTON_2",
    "US_WASHINGTON_3",
    "US_WASHINGTON_4",
    "US_WASHINGTON_5",
    "US_CALIFORNIA_1",
    "US_CALIFORNIA_2",
    "US_MISSOURI_1",
    "US_UTAH_1",
    "US_GEORGIA_1",
    "US_GEORGIA_2",
    "US_GEORGIA_3",
    "US_GEORGIA_4",
    "US_OHIO_1",
    "US_NEWYORK_1",
    "US_MINNESOTA_1",
    "US_OREGON_1",
    "EU_LONDON_1",
    "EU_FRANKFURT_1",
    "EU_PARIS_1",
    "EU_HELSINKI_1",
    "EU_ICELAND_1",
    "EU_ICELAND_2",
    "EU_ICELAND_3",
    "EU_ICELAND_DEV_1",
    "EU_NETHERLANDS_1",
    "AP_TOKYO_1",
    "AP_TOKYO_2",
    "AP_MALAYSIA_2",
    "AP_NEWSOUTHWALES_1",
    "AP_TAIWAN_1",
    "NA_BRITISHCOLUMBIA_1",
    "NA_BRITISHCOLUMBIA_2",
    "NA_BRITISHCOLUMBIA_3",
)

# Area of each region prefix: US_/EU_/AP_ by name; British Columbia is the Canadian site (regions page).
AREA_OF_PREFIX = {"US": "US", "EU": "EUROPE", "AP": "APAC", "NA": "CANADA"}

LOAD_TARGETS = (
    "default",
    "tokens_generated_per_second",
    "prompt_tokens_per_second",
    "requests_per_second",
    "concurrent_requests",
    "vllm_concurrent_requests",
    "serverless_uncached_input_capacity_utilization",
    "serverless_generated_capacity_utilization",
    "generation_latency_per_token_ms",
)

VALUES: dict[str, tuple[str, ...]] = {
    "accelerators": ACCELERATORS,
    "precisions": PRECISIONS,
    "regions": MULTI_REGIONS + SINGLE_REGIONS,
    "load_targets": LOAD_TARGETS,
    "speculation_modes": ("inherit", "disabled", "draft", "ngram"),
    "addon_modes": ("multi_lora", "live_merge"),
    "direct_route_types": ("INTERNET", "GCP_PRIVATE_SERVICE_CONNECT", "AWS_PRIVATELINK"),
    "bucket_types": ("MINIO", "S3", "NEBIUS", "FW_HOSTED"),
    "hot_load_transitions": ("ASYNC", "SYNC"),
    "traffic_classes": ("interactive", "batch", "evaluation"),
    "gates": ("block", "warn", "ignore"),
    "immutable_strategies": ("refuse", "recreate", "blue_green"),
    "reuse_deleted_id": ("refuse", "hard_delete"),
    "api_versions": ("fwctl/v1",),
    "kinds": ("Deployments", "Targets", "Routes", "Watch", "Adapt", "Experiment"),
    "send_pins": ("auto", "always", "never"),
}

# Lists that the platform extends without notice: `settings.accept_unknown` may name a newer value.
OPEN_LISTS = frozenset(
    {
        "accelerators",
        "precisions",
        "regions",
        "load_targets",
        "direct_route_types",
        "bucket_types",
        "hot_load_transitions",
    }
)

SHAPE_PRESETS = ("default", "fast", "throughput", "minimal")


def is_multi_region(region: str) -> bool:
    return region in MULTI_REGIONS


def area_of(region: str) -> str | None:
    """The multi-region that holds a single region, None when its prefix is not known."""
    return AREA_OF_PREFIX.get(region.split("_", 1)[0])
