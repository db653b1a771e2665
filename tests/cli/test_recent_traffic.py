"""What a plan knows of the traffic of a deployment before it deletes it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from fwctl.cli.command import Call
from fwctl.cli.metrics_page import MetricsPage
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.cli.recent_traffic import recent_traffic
from fwctl.cli.session import Session
from fwctl.operate.exporter import DeploymentMetrics
from tests.cli.conftest import Box
from tests.cli.support import SPEC, fwctl
from tests.contract import near_simulator

NOBODY_COULD_TELL = "traffic of other in the last hour is not known"


@pytest.fixture
def applied(tmp_path: Path, help_cache: Path) -> Box:
    """Two deployments, of which the specs then list one."""
    box = Box(tmp_path, help_cache)
    batch = SPEC.replace("interactive", "batch")
    box.write(batch)
    box.write(batch.replace("  chat:", "  other:"), "other.yaml")
    assert fwctl(box.env(), "apply", box.specs, "--yes").code == 0
    (tmp_path / "configs" / "other.yaml").unlink()
    return box


def planned(box: Box) -> str:
    """The plan that deletes `other`, as people read it."""
    done = fwctl(box.env(), "plan", box.specs, "--prune", "--allow-delete", "other")
    assert "deployments/other will be deleted" in done.out
    return done.out


def test_a_day_without_a_request_is_an_hour_without_one(applied: Box) -> None:
    assert NOBODY_COULD_TELL not in planned(applied)


def test_requests_of_this_day_may_be_of_this_hour(applied: Box) -> None:
    # The simulated clock of the fixture ran ahead; at noon it is the same day for both.
    applied.variables["FIRECTL_SIM_NOW"] = f"{datetime.now(UTC):%Y-%m-%d}T12:00:00Z"
    argv = ("-m", "fwctl.simulator", "-a", "acme", "sim", "traffic", "other")
    assert near_simulator.start(argv, env=applied.variables, cwd=applied.folder).returncode == 0
    assert NOBODY_COULD_TELL in planned(applied)


@pytest.mark.parametrize(("age_s", "known"), [(30, {"other": 120.0}), (3600, {"other": 0.0})])
def test_what_serves_at_this_minute_had_traffic_in_this_hour(
    applied: Box, age_s: int, known: dict[str, float]
) -> None:
    env = applied.env()
    call = Call(env, Settings(firectl="sim"), Output(env))
    now = env.clock.now()
    sample = DeploymentMetrics("other", now - timedelta(seconds=age_s), requests_per_s=2.0)
    page = MetricsPage(call, None, None, {"other": sample}, now)
    with Session(call, "acme") as session:
        assert recent_traffic(call, session, {"other"}, page) == known
