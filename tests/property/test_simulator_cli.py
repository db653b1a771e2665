"""No command line, however odd, ends the simulator in anything but an answer or a refusal."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.simulator.commands.registry import commands
from tests.simulator.support import FAST, MODEL, Sim

_FLAGS = sorted({(flag.name, flag.kind) for row in commands().values() for flag in row.flags})
_WORDS = st.sampled_from(
    [MODEL, FAST, "a", "chat", "accounts/acme/routers/r", "gpt-oss-120b", "-", "5", "name=x"]
)
_NUMBERS = st.sampled_from(["0", "1", "-1", "8", "1001", "999999999999"])
_VALUES = {
    "int32": _NUMBERS,
    "duration": st.sampled_from(["5m", "0", "-1s", "1h", "9999h", "x"]),
    "Map": st.sampled_from(["default=1", "a=b", "requests_per_second=0", ""]),
}
_TEXT = _WORDS | st.sampled_from(
    ["json", "US_IOWA_1", "FP8", "NVIDIA_H100_80GB", "2026-11-01", "[]", "{", ""]
)
_ANY = _TEXT | st.text(max_size=6)


@st.composite
def _flag(draw: st.DrawFn) -> list[str]:
    name, kind = draw(st.sampled_from(_FLAGS))
    if name in {"seconds", "filename"}:
        return []
    return [f"--{name}"] if kind == "bool" else [f"--{name}={draw(_VALUES.get(kind, _ANY))}"]


_CALLS = st.tuples(
    st.sampled_from([path for path in commands() if not path.startswith(("faults", "sim clock"))]),
    st.lists(_ANY, max_size=3),
    st.lists(_flag(), max_size=4),
    st.sampled_from(["2025", "2026-07", "latest", "hostile"]),
)


@given(st.lists(_CALLS, min_size=1, max_size=4))
@settings(max_examples=120, deadline=None)
def test_any_command_line_is_answered_or_refused(
    calls: list[tuple[str, list[str], list[list[str]], str]],
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        sim = Sim(Path(folder))
        sim.create("a")
        for path, words, flags, profile in calls:
            result = sim(
                *path.split(), *words, *(w for flag in flags for w in flag), FIRECTL_SIM_PROFILE=profile
            )
            assert result.code in {0, 1, 2}
            assert (result.code == 0) == ("Failed to execute: " not in result.stderr)
