from __future__ import annotations

import pytest

from fwctl.exitcodes import PRECEDENCE, Exit, worst


def test_the_numbers_that_scripts_build_on():
    assert {code.name: int(code) for code in Exit} == {
        "OK": 0,
        "FAILED": 1,
        "CHANGES": 2,
        "INVALID_SPEC": 3,
        "REFUSED": 4,
        "AUTH": 5,
        "FIRECTL": 6,
        "TIMEOUT": 7,
        "STALE_PLAN": 8,
        "USAGE": 64,
        "BUG": 70,
        "INTERRUPTED": 130,
        "TERMINATED": 143,
    }


def test_every_code_has_a_rank():
    assert sorted(PRECEDENCE) == sorted(Exit)


@pytest.mark.parametrize(
    ("codes", "expected"),
    [
        ([], 0),
        ([0, 2], 2),
        ([7, 2], 7),
        ([1, 7], 1),
        ([4, 1], 4),
        ([5, 8, 4], 5),
        ([6, 5], 6),
        ([3, 6], 3),
        ([130, 70], 130),
    ],
)
def test_of_several_causes_the_gravest_decides(codes, expected):
    assert worst(Exit(code) for code in codes) == expected
