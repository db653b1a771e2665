"""Rules about requests, KV memory, limits, money, and the metrics themselves. Pure."""

from __future__ import annotations

from fwctl.operate.rules_model import Account, Answer, DeploymentTest, Hit, Limits, Subject


def kv_nearly_full(subject: Subject, limits: Limits) -> Hit | Answer:
    if subject.metrics is None or subject.metrics.kv_blocks is None:
        return Answer.UNKNOWN
    share = subject.metrics.kv_blocks
    if share < limits["limit"]:
        return Answer.NO
    return Hit(
        f"{share:.0%} of the KV blocks are used ({limits['limit']:.0%} is the limit)",
        "more replicas, shorter contexts, or an FP8 KV cache; `fwctl fit-check` tells the capacity",
    )


def slow(name: str, share: float, text: str, objective: str, fix: str) -> DeploymentTest:
    """A rule that a quantile of a latency histogram (milliseconds) is over its limit. objective: of the
    spec's `slo`; without one, and with no default limit, there is nothing to judge."""

    def test(subject: Subject, limits: Limits) -> Hit | Answer:
        limit = subject.objective(objective) or limits.get("limit")
        if not limit:
            return Answer.NO
        if subject.metrics is None:
            return Answer.UNKNOWN
        found = subject.metrics.quantile(name, share)
        if found is None or found.value <= limit:
            return Answer.NO  # no requests, so nobody waits
        return Hit(f"{text} p{share * 100:.0f} is {found} ms, {limit:,.0f} ms is the limit", fix)

    return test


def erring(subject: Subject, limits: Limits) -> Hit | Answer:
    """Failed requests, where there are enough to judge."""
    metrics = subject.metrics
    if metrics is None or metrics.requests_per_s is None:
        return Answer.UNKNOWN
    own = subject.objective("slo.error_rate")
    share, limit = metrics.error_share, limits["limit"] if own is None else own
    if share is None or metrics.requests_per_s <= limits["least_requests_per_s"] or share <= limit:
        return Answer.NO
    codes = ", ".join(f"{code}: {rate:.2f}/s" for code, rate in sorted(metrics.errors.items()) if rate)
    return Hit(
        f"{share:.1%} of {metrics.requests_per_s:.1f} requests a second fail ({codes}); "
        f"{limit:.1%} is the limit",
        "429: more replicas or less load; 5xx: `fwctl status`, then the platform's status page; "
        "4xx: the callers",
    )


def over_budget(account: Account, limits: Limits) -> Hit | Answer:
    limit = limits.get("usd_per_hour") or account.budget_usd_per_hour
    if not limit:
        return Answer.NO
    if account.usd_per_hour is None:
        return Answer.UNKNOWN
    if account.usd_per_hour <= limit:
        return Answer.NO
    dearest = sorted(account.subjects, key=_hourly, reverse=True)[:3]
    names = ", ".join(f"{item.label} ${_hourly(item):,.2f}" for item in dearest if _hourly(item))
    return Hit(
        f"ready replicas cost ${account.usd_per_hour:,.2f} an hour, ${limit:,.2f} is the budget ({names})",
        "`fwctl cost` shows idle time, `fwctl park` stops what nobody needs",
    )


def _hourly(subject: Subject) -> float:
    return (subject.usd_per_replica_hour or 0.0) * subject.live.replicas.ready


def near_request_limit(account: Account, limits: Limits) -> Hit | Answer:
    """One limit holds for dedicated and serverless requests of an account together."""
    used, most = account.requests_per_minute, account.requests_per_minute_limit
    if not most or used is None:
        return Answer.UNKNOWN
    if used < limits["limit"] * most:
        return Answer.NO
    return Hit(
        f"{used:,.0f} requests a minute to dedicated deployments, {most:,.0f} is the limit of the account",
        "ask for a higher limit; another deployment of this account is no way out",
    )


def metrics_untrusted(account: Account, limits: Limits) -> Hit | Answer:
    """The page is missing or old, so that rules about traffic cannot be judged."""
    if not account.metrics_wanted:
        return Answer.NO
    age = account.metrics_age_s
    if age is not None and age <= limits["limit"]:
        return Answer.NO
    why = f": {account.metrics_error}" if account.metrics_error else ""
    told = "was never read" if age is None else f"is {age:,.0f} s old"
    return Hit(
        f"the metrics page {told}{why}",
        "until it is back, alerts about traffic neither fire nor resolve; check the key and --metrics-url",
    )
