"""What a drill does to the targets of a route, as data.

Times are seconds from the start of a scenario: half a second of calm, two of trouble, two of calm. Faults
are those of the simulator.
"""

from __future__ import annotations

from dataclasses import dataclass

TROUBLE_FROM_S, TROUBLE_TO_S, END_S = 0.5, 2.5, 4.5
SCALING_UP = "status;status=503;code=DEPLOYMENT_SCALING_UP;message=scaling up from zero"
RATE_LIMITED = "status;status=429;code=RESOURCE_EXHAUSTED;message=deployment concurrency limit;retry_after=1"


@dataclass(frozen=True, slots=True)
class Scenario:
    """fault: what strikes the first target, or every target where `all_targets`. period_s: on and off in
    turn. cuts: streams may break after their first content, which no router can hide. errors: requests
    may fail while the trouble lasts."""

    name: str
    what: str
    fault: str
    all_targets: bool = False
    period_s: float | None = None
    cuts: bool = False
    errors: bool = False

    def strikes(self, at: int, now: float) -> bool:
        """True when the target at this place (0: first) is in trouble at that moment."""
        if at and not self.all_targets:
            return False
        if not TROUBLE_FROM_S <= now < TROUBLE_TO_S:
            return False
        return self.period_s is None or int((now - TROUBLE_FROM_S) / self.period_s) % 2 == 0


SCENARIOS: dict[str, Scenario] = {
    scenario.name: scenario
    for scenario in (
        Scenario("outage", "the first target closes every connection", "reset"),
        Scenario("errors", "the first target answers 500", "status;status=500"),
        Scenario("hang", "the first target sends no first token", "hang-before-headers"),
        Scenario("cold-start", "the first target scales up from zero", SCALING_UP),
        Scenario("cuts", "streams of the first target break off", "cut;after=4", cuts=True),
        Scenario("rate-limit", "the first target answers 429 with Retry-After", RATE_LIMITED),
        Scenario("flapping", "the first target fails every other 0.2 s", "reset", period_s=0.2),
        Scenario("all-down", "every target closes every connection", "reset", all_targets=True, errors=True),
    )
}
