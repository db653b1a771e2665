"""The rules a deployment must obey before anything happens, whoever sends it.

Texts: seen ones as in public transcripts and REST answers (2026), the others are the simulator's own
and marked as such in docs/simulator.md.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Any

from fwctl.simulator.platform import schedules, schema
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.timing import parse_wire_duration

Doc = dict[str, Any]

MAX_REPLICAS = 1000
MAX_DISPLAY_NAME = 63
MAX_DESCRIPTION = 999
MAX_TAGS = 64
TAG_PREFIX = "custom/"
_TAG_KEY = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_./-]{0,119}[A-Za-z0-9])?")
_MAX_TAG_VALUE = 128
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
_NOT_NEGATIVE = (
    "acceleratorCount",
    "draftTokenCount",
    "ngramSpeculationLength",
    "maxContextLength",
    "maxConcurrencyPerReplica",
)
_REPLICA_FIELDS = ("minReplicaCount", "maxReplicaCount", "maxWithRevocableReplicaCount")
_HOUR_S = 3600
_FIVE_MINUTES_S = 300


def _texts(doc: Doc) -> None:
    if len(doc.get("displayName", "")) > MAX_DISPLAY_NAME:
        raise invalid("invalid deployment: display_name must be fewer than 64 characters long")
    if len(doc.get("description", "")) > MAX_DESCRIPTION:
        raise invalid("invalid deployment: description must be at most 999 characters long")


def _counts(doc: Doc) -> None:
    for field in _NOT_NEGATIVE:
        if doc.get(field, 0) < 0:
            raise invalid(f"invalid deployment: {schema.snake(field)} must be greater than or equal to 0")
    for field in _REPLICA_FIELDS:
        if not 0 <= doc.get(field, 0) <= MAX_REPLICAS:
            raise invalid(f"invalid deployment: {schema.snake(field)} must be between 0 and {MAX_REPLICAS}")
    highest = doc.get("maxReplicaCount", 0)
    if highest and doc.get("minReplicaCount", 0) > highest:
        raise invalid("min_replica_count cannot be greater than max_replica_count")
    ceiling = doc.get("maxWithRevocableReplicaCount", 0)
    if ceiling and ceiling < highest:
        raise invalid("max_with_revocable_replica_count cannot be less than max_replica_count")


def _windows(doc: Doc) -> None:
    policy = doc.get("autoscalingPolicy", {})
    for field in ("scaleUpWindow", "scaleDownWindow"):
        if field in policy and not 0 <= parse_wire_duration(policy[field]) <= _HOUR_S:
            raise invalid(f"{schema.snake(field)} must be between 0s and 1h")
    if "scaleToZeroWindow" in policy:
        seconds = parse_wire_duration(policy["scaleToZeroWindow"])
        if seconds != 0 and seconds < _FIVE_MINUTES_S:
            raise invalid("scale_to_zero_window must be at least 5 minutes")


def _load_targets(doc: Doc) -> None:
    for key, target in doc.get("autoscalingPolicy", {}).get("loadTargets", {}).items():
        if key not in LOAD_TARGETS:
            raise invalid(
                f'invalid deployment: unknown load target key ""{key}"", currently supported keys are: '
                + ", ".join(LOAD_TARGETS)
            )
        if not 0 < target < float("inf"):
            raise invalid(f'invalid deployment: load target ""{key}"" must be greater than 0')


def _speculation(doc: Doc) -> None:
    draft, ngram = doc.get("draftModel"), doc.get("ngramSpeculationLength", 0)
    if draft and ngram:
        raise invalid("draft_model and ngram_speculation_length cannot both be set")
    if (draft or ngram) and not doc.get("draftTokenCount"):
        raise invalid("draft_token_count must be specified with draft_model or ngram_speculation_length")


def _placement(doc: Doc) -> None:
    placement = doc.get("placement", {})
    if sum(bool(placement.get(field)) for field in ("region", "multiRegion", "regions")) > 1:
        raise invalid("exactly one of placement.region, multi_region and regions must be set")
    if doc.get("directRouteType") and not placement.get("region"):
        raise invalid("a direct route requires a deployment in one single region")


def _schedules(doc: Doc) -> None:
    rows = doc.get("scalingSchedules", [])
    if len(rows) > schedules.MAX_SCHEDULES:
        raise invalid(f"at most {schedules.MAX_SCHEDULES} scaling_schedules are allowed")
    for row in rows:
        try:
            schedules.parse_cron(row.get("schedule", ""))
        except ValueError as error:
            raise invalid(f"invalid scaling schedule: {error}") from None
        seconds = parse_wire_duration(row.get("duration", "0s"))
        if not (schedules.MIN_DURATION_S <= seconds <= schedules.MAX_DURATION_S and seconds.is_integer()):
            raise invalid("scaling schedule duration must be whole seconds between 300s and 604800s")
        if row.get("minReplicaCount", 0) > doc.get("maxReplicaCount", 0):
            raise invalid("scaling schedule min_replica_count cannot be greater than max_replica_count")
        if not schedules.is_zone(row.get("timezone", "")):
            raise invalid(f'unknown timezone "{row["timezone"]}" in scaling schedule')


def _hot_load(doc: Doc) -> None:
    bucket = doc.get("hotLoadBucketType")
    if doc.get("enableHotLoad") and bucket not in {None, "FW_HOSTED"} and not doc.get("hotLoadBucketUrl"):
        raise invalid("hot_load_bucket_url is required when enable_hot_load is set")


def check_tags(tags: dict[str, str]) -> None:
    """Annotations of a deployment: keys `custom/<key>` only (docs.fireworks.ai, deployment tags)."""
    if len(tags) > MAX_TAGS:
        raise invalid(f"at most {MAX_TAGS} tags are allowed on a deployment")
    for key, value in tags.items():
        if not key.startswith(TAG_PREFIX):
            raise PlatformError("PermissionDenied", f'annotation key "{key}" must start with "{TAG_PREFIX}"')
        if not _TAG_KEY.fullmatch(key.removeprefix(TAG_PREFIX)):
            raise invalid(f'invalid tag key "{key.removeprefix(TAG_PREFIX)}"')
        if not value or value != value.strip() or len(value) > _MAX_TAG_VALUE:
            raise invalid(f'invalid value of tag "{key.removeprefix(TAG_PREFIX)}"')


def _tags(doc: Doc) -> None:
    check_tags(doc.get("annotations", {}))


_RULES: tuple[Callable[[Doc], None], ...] = (
    _texts,
    _counts,
    _windows,
    _load_targets,
    _speculation,
    _placement,
    _schedules,
    _hot_load,
    _tags,
)


def check(doc: Doc) -> None:
    """Raises InvalidArgument (PermissionDenied for tag keys) on the first broken rule."""
    for rule in _RULES:
        rule(doc)


def placement(text: str, regions: Iterable[str]) -> Doc:
    """The Placement of a region text in any case, with dashes or underscores. Raises InvalidArgument."""
    wanted = text.strip().upper().replace("-", "_")
    if wanted in schema.enum("MultiRegion"):
        return {"multiRegion": wanted}
    if wanted in {*schema.enum("Region"), *regions}:
        return {"region": wanted}
    raise invalid(f'unknown region "{text}"')
