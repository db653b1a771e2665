from __future__ import annotations

import pytest

from fwctl.simulator.platform.errors import PlatformError


@pytest.mark.parametrize(
    ("code", "number", "status"),
    [
        ("InvalidArgument", 3, 400),
        ("NotFound", 5, 404),
        ("AlreadyExists", 6, 409),
        ("ResourceExhausted", 8, 429),
    ],
)
def test_codes_have_the_documented_numbers(code: str, number: int, status: int):
    error = PlatformError(code, "text")
    assert (error.number, error.http_status) == (number, status)
    assert error.to_rest() == {"code": number, "message": "text", "details": []}
