"""docs/firectl.md says what the code does."""

from __future__ import annotations

from pathlib import Path

from fwctl.env import FIREWORKS_KEY
from fwctl.firectl.capabilities import MATCH_SINCE, TAGS_SINCE
from fwctl.firectl.errors import RULES, UNKNOWN, to_error
from fwctl.firectl.outcome import AMBIGUOUS
from fwctl.firectl.retry import RetryPolicy
from fwctl.firectl.runner import DEFAULT_TIMEOUT_S

TEXT = (Path(__file__).parents[2] / "docs" / "firectl.md").read_text()


def test_every_kind_of_failure_is_listed_with_its_exit_code_and_next_steps():
    for rule in (*RULES, UNKNOWN):
        code = int(to_error(rule.error_class, "", ()).exit_code)
        assert f"| `{rule.error_class}` | {code} | {' '.join(rule.next_steps)} |" in TEXT


def test_the_figures_and_names_are_those_of_the_code():
    assert f"`--firectl-timeout` ({DEFAULT_TIMEOUT_S:.0f} s)" in TEXT
    assert f"(firectl {TAGS_SINCE})" in TEXT
    assert f"(firectl {MATCH_SINCE})" in TEXT
    assert FIREWORKS_KEY in TEXT
    assert RetryPolicy().attempts == 4
    assert sorted(AMBIGUOUS) == ["timeout", "unavailable", "unknown"]
