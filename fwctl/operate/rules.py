"""The table of watch rules: one row each. `fwctl watch` judges them, `fwctl watch rules` writes them as
Prometheus alerting rules. Thresholds are defaults; a file of kind Watch sets others.

Sources of the numbers: see rules_capacity (anchors of public monitors), docs.fireworks.ai (deletion of
idle deployments after seven days, read 2026-11-30), and the spec's own `slo` and `budget`.
"""

from __future__ import annotations

from fwctl.errors import Severity
from fwctl.operate import rules_capacity as capacity
from fwctl.operate import rules_speculation as speculation
from fwctl.operate import rules_traffic as traffic
from fwctl.operate.rules_model import Rule, Scope

MINUTE_S, HOUR_S = 60.0, 3600.0
_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE


def _latency(series: str, share: float) -> str:
    """The PromQL of a latency rule. The buckets are one-minute rates, so there is no rate()."""
    buckets = f"sum by (le, deployment_id) ({series}_bucket:sum_by_deployment{{selector}})"
    return f"histogram_quantile({share}, {buckets}) > {{limit}}"


RULES: tuple[Rule, ...] = (
    Rule(
        "at-max-replicas",
        _WARNING,
        "All replicas that replicas.max allows are ready and wanted.",
        capacity.at_max,
    ),
    Rule(
        "saturated",
        _ERROR,
        "At its ceiling, and KV memory is short, requests queue, or 429s are answered.",
        capacity.saturated,
        hold_s=2 * MINUTE_S,
        limits={"kv_blocks": 0.8, "queue_ms": 500.0},
    ),
    Rule(
        "max-never-tested",
        _NOTE,
        "replicas.max is higher than what any measurement covered.",
        capacity.never_tested,
        hold_s=0.0,
        resolve_s=0.0,
    ),
    Rule(
        "cold-start",
        _WARNING,
        "Interactive traffic meets no ready replica.",
        capacity.cold_start,
        hold_s=0.0,
        resolve_s=MINUTE_S,
    ),
    Rule(
        "replicas-not-given",
        _WARNING,
        "Replicas are wanted and do not come.",
        capacity.not_given,
        hold_s=10 * MINUTE_S,
    ),
    Rule("failed", _ERROR, "A deployment is FAILED.", capacity.failed, hold_s=0.0, resolve_s=0.0),
    Rule(
        "stuck",
        _ERROR,
        "CREATING or UPDATING for longer than earlier runs.",
        capacity.stuck,
        hold_s=0.0,
        resolve_s=0.0,
        limits={"seconds": 30 * MINUTE_S, "least_seconds": 10 * MINUTE_S, "times": 2.0},
    ),
    Rule(
        "kv-nearly-full",
        _WARNING,
        "The KV cache is nearly full.",
        traffic.kv_nearly_full,
        limits={"limit": 0.9},
        expr="max by (deployment_id) (generator_kv_blocks_fraction:avg_by_deployment{selector}) >= {limit}",
    ),
    Rule(
        "queueing",
        _WARNING,
        "Requests queue before their first token.",
        traffic.slow(
            "latency_prefill_queue_ms",
            0.9,
            "time in the prefill queue",
            "",
            "more replicas, or a lower load target of the autoscaler",
        ),
        limits={"limit": 500.0},
        expr=_latency("latency_prefill_queue_ms", 0.9),
    ),
    Rule(
        "error-rate",
        _ERROR,
        "Too many requests fail.",
        traffic.erring,
        limits={"limit": 0.01, "least_requests_per_s": 0.1},
        objective="slo.error_rate",
        expr=(
            "sum by (deployment_id) (requests_error_total:sum_by_deployment{selector})"
            " / sum by (deployment_id) (request_counter_total:sum_by_deployment{selector}) > {limit}"
            " and sum by (deployment_id) (request_counter_total:sum_by_deployment{selector})"
            " > {least_requests_per_s}"
        ),
    ),
    Rule(
        "slow-first-token",
        _WARNING,
        "The time to the first token is over its objective (slo.ttft_p95_ms).",
        traffic.slow(
            "latency_to_first_token_ms",
            0.95,
            "time to first token",
            "slo.ttft_p95_ms",
            "look at `queueing` first; else shorter prompts or a higher cached share",
        ),
        objective="slo.ttft_p95_ms",
        expr=_latency("latency_to_first_token_ms", 0.95),
    ),
    Rule(
        "slow-tokens",
        _WARNING,
        "The time per generated token is over its objective (slo.tpot_p95_ms).",
        traffic.slow(
            "latency_generation_per_token_ms",
            0.95,
            "time per token",
            "slo.tpot_p95_ms",
            "more replicas lower the batch; a draft model may help, see `fwctl speculate`",
        ),
        objective="slo.tpot_p95_ms",
        expr=_latency("latency_generation_per_token_ms", 0.95),
    ),
    Rule(
        "slow-answers",
        _WARNING,
        "The whole answer takes longer than its objective (slo.total_p95_ms).",
        traffic.slow(
            "latency_overall_ms",
            0.95,
            "total time",
            "slo.total_p95_ms",
            "compare answer lengths first; then as for slow-tokens",
        ),
        objective="slo.total_p95_ms",
        expr=_latency("latency_overall_ms", 0.95),
    ),
    Rule(
        "acceptance-drift",
        _WARNING,
        "Drafts are accepted less often, or far more often, than before.",
        speculation.drifting,
        hold_s=0.0,
        limits={"share": 0.1, "p_value": 0.01},
    ),
    Rule(
        "predictions-do-not-pay",
        _NOTE,
        "Predicted outputs of a request type match too little of the answers.",
        speculation.not_paying,
        hold_s=0.0,
        limits={"coverage": 0.2, "requests": 30.0},
    ),
    Rule(
        "hold-outlived",
        _WARNING,
        "A hold or an experiment is past its end.",
        capacity.outlived,
        hold_s=0.0,
        resolve_s=0.0,
    ),
    Rule(
        "idle-deletion",
        _WARNING,
        "The platform is about to delete an idle deployment with min 0.",
        capacity.idle_deletion,
        hold_s=0.0,
        resolve_s=0.0,
        limits={"deleted_after_days": 7.0, "days_before": 1.0},
    ),
    Rule(
        "over-budget",
        _WARNING,
        "Ready replicas cost more an hour than the budget (budget.ceiling_usd_per_hour).",
        traffic.over_budget,
        Scope.ACCOUNT,
        limits={"usd_per_hour": 0.0},
    ),
    Rule(
        "request-limit",
        _WARNING,
        "The account is near its limit of requests a minute.",
        traffic.near_request_limit,
        Scope.ACCOUNT,
        hold_s=2 * MINUTE_S,
        limits={"limit": 0.8},
    ),
    Rule(
        "metrics-untrusted",
        _WARNING,
        "The metrics page is missing or older than three minutes.",
        traffic.metrics_untrusted,
        Scope.ACCOUNT,
        hold_s=MINUTE_S,
        resolve_s=0.0,
        limits={"limit": 180.0},
        expr=(
            "absent(request_counter_total:sum_by_deployment)"
            " or time() - max(timestamp(request_counter_total:sum_by_deployment)) > {limit}"
        ),
    ),
)

BY_NAME: dict[str, Rule] = {rule.name: rule for rule in RULES}
