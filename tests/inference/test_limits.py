"""Which limit a 429 came from."""

from __future__ import annotations

import pytest

from fwctl.inference.limits import limited_by


@pytest.mark.parametrize(
    ("headers", "body", "expected"),
    [
        ({"X-RateLimit-Over-Limit": "yes"}, b"", "account"),
        ({"x-ratelimit-remaining-requests": "0"}, b"", "account"),
        ({}, b"too many concurrent requests on this deployment", "deployment"),
        ({}, b"Deployment accounts/a/deployments/d is over its capacity", "deployment"),
        ({}, b"rate limit of the account exceeded", "account"),
        ({}, b"try again later", None),
    ],
)
def test_a_429_names_the_limit_it_came_from_or_nobody_guesses(
    headers: dict[str, str], body: bytes, expected: str | None
) -> None:
    assert limited_by(429, headers, body) == expected


def test_other_answers_come_from_no_limit() -> None:
    assert limited_by(503, {"x-ratelimit-over-limit": "yes"}, b"account") is None
