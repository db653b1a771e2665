"""Deployments, looks and metrics pages for tests of the watch."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from fwctl.catalog.prices import PriceList
from fwctl.live.model import LiveDeployment, Marker, Replicas
from fwctl.operate.exporter import DeploymentMetrics, parse_page
from fwctl.operate.rules_model import Subject
from fwctl.simulator.http.inference.exposition import Gauge, Labels, Row, page
from fwctl.simulator.http.inference.traffic import Sample
from fwctl.spec.model import Deployment, Spec

NOW = datetime(2026, 10, 1, 12, tzinfo=UTC)
H100 = "NVIDIA_H100_80GB"
PRICES = PriceList({H100: 8.0}, NOW.date())
ACCOUNT = "acme"


def live(id_: str = "chat", state: str = "READY", **more: Any) -> LiveDeployment:
    """One deployment of two H100 a replica. Replica counts by their names; the rest by field name."""
    counts = {key: more.pop(key) for key in list(more) if key in Replicas.__slots__}
    replicas = Replicas(**{"min": 1, "max": 4, "desired": 1, "ready": 1, **counts})
    fields = {"model": "m/x", "accelerator.type": H100, "accelerator.count": 2, **more.pop("fields", {})}
    marker = more.pop("marker", Marker("test", id_))
    return LiveDeployment(
        f"accounts/{ACCOUNT}/deployments/{id_}", id_, ACCOUNT, state, fields, marker, replicas, **more
    )


def entry(name: str = "chat", **own: Any) -> Deployment:
    return Deployment(name, name, {}, {key.replace("__", "."): value for key, value in own.items()})


def spec(*entries: Deployment, **more: Any) -> Spec:
    return Spec(ACCOUNT, "test", {item.name: item for item in entries}, **more)


def subject(item: LiveDeployment | None = None, **more: Any) -> Subject:
    values: dict[str, Any] = {"entry": entry(), "usd_per_replica_hour": 16.0, **more}
    return Subject(item or live(), NOW, **values)


def metrics(**values: Any) -> DeploymentMetrics:
    return DeploymentMetrics("chat", NOW, **values)


def served(
    id_: str,
    count: int,
    *,
    ttft_ms: float = 300.0,
    queue_ms: float = 10.0,
    status: int = 200,
    total_ms: float = 2000.0,
) -> list[Sample]:
    """That many equal requests within the minute of a page."""
    return [
        Sample(
            at_s=0.0,
            deployment=f"accounts/{ACCOUNT}/deployments/{id_}",
            base_model="m/x",
            account=ACCOUNT,
            status=status,
            prompt_tokens=1000,
            cached_tokens=0,
            output_tokens=200,
            ttft_ms=None if status >= 400 else ttft_ms,
            total_ms=total_ms,
            queue_ms=queue_ms,
            prefill_ms=50.0,
            per_token_ms=10.0,
        )
    ] * count


def page_text(at: datetime, rows: Mapping[str, tuple[list[Sample], float]]) -> str:
    """The page as the platform writes it: deployment -> (requests of the minute, share of KV blocks)."""
    made = [
        Row(
            Labels("m/x", f"accounts/{ACCOUNT}/deployments/{id_}", ACCOUNT, id_),
            samples,
            [Gauge(kv, kv / 2, len(samples) / 10, 0.02)],
        )
        for id_, (samples, kv) in rows.items()
    ]
    return page(made, round(at.timestamp() * 1000))


def parsed(at: datetime, rows: Mapping[str, tuple[list[Sample], float]]) -> dict[str, DeploymentMetrics]:
    return parse_page(page_text(at, rows), at)
