"""What tests and demos may fix about an answer and its timing, each in one of three ways.

A knob `ttft_ms` is the variable `FIRECTL_SIM_TTFT_MS` of the server, the header `x-sim-ttft-ms` of a
request, or the query parameter `sim_ttft_ms`; a request's own value wins. docs/simulator-http.md prints
this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Knob(NamedTuple):
    """kind: int, float, str or bool. low and high bound numbers. choices: allowed words, () for any."""

    kind: type
    default: Any
    what: str
    low: float = 0.0
    high: float = 1e12
    choices: tuple[str, ...] = ()


KNOBS: dict[str, Knob] = {
    "inference_speed": Knob(
        float, 1.0, "how many times faster than modelled answers come; 0: without any waiting"
    ),
    "ttft_ms": Knob(
        float, None, "time to first token in milliseconds, instead of the model of queue and prefill"
    ),
    "slots": Knob(
        int, None, "requests that a replica serves at a time; the others wait for their turn", 1, 1_000_000
    ),
    "tokens_per_second": Knob(float, None, "rate of one stream, instead of the roofline", 1e-3, 1e6),
    "tokens_per_chunk": Knob(int, 1, "least tokens in one streamed chunk", 1, 100_000),
    "output_tokens": Knob(
        int, None, "length of free text in tokens, as far as max_tokens allows", 0, 1_000_000
    ),
    "answer": Knob(str, None, "the text of the answer"),
    "wrong_share": Knob(str, None, "how often a known answer is missed: 0.02, or FP8=0.05,FP4=0.1"),
    "prediction_match": Knob(float, 0.85, "share of a predicted output that the answer keeps", 0, 1),
    "acceptance": Knob(str, None, "acceptance of a draft model by position, for example 0.8,0.7,0.6"),
    "acceptance_format": Knob(
        str, "unconditional", "totals of speculation-acceptance", choices=("unconditional", "conditional")
    ),
    "usage": Knob(
        str,
        "auto",
        "where a stream carries usage; auto: as stream_options ask, else in the finish chunk",
        choices=("auto", "finish", "after", "every", "none"),
    ),
    "early_role": Knob(bool, False, "send headers and a role-only chunk at once, before any token"),
    "stamp": Knob(bool, False, "put the server's own send times into every chunk"),
    "fault": Knob(str, None, "a fault for this request, for example cut;after=3"),
    "metrics_refresh_s": Knob(float, 30.0, "seconds between two refreshes of the metrics page", 0, 3600),
    "metrics_per_minute": Knob(int, 6, "requests a minute that the metrics page answers", 1, 1_000_000),
    "metrics_window_s": Knob(
        float, 60.0, "seconds over which the metrics page takes its rates and averages", 0.1, 300
    ),
    "metrics_clock": Knob(
        str, "real", "whose time the samples of the metrics page carry", choices=("real", "platform")
    ),
    "seed": Knob(int, 0, "another seed gives other answers", -(2**62), 2**62),
}


class KnobError(Exception):
    """A knob has a value that it cannot take."""


def _value(name: str, knob: Knob, text: str) -> Any:
    if knob.kind is bool:
        return text.strip().lower() not in {"", "0", "false", "no"}
    if knob.kind is str:
        if knob.choices and text not in knob.choices:
            raise KnobError(f"{name} is {text!r}; it is one of {', '.join(knob.choices)}")
        return text
    try:
        number = knob.kind(text)
    except ValueError:
        raise KnobError(f"{name} is {text[:40]!r}; write a number") from None
    if not knob.low <= number <= knob.high:
        raise KnobError(f"{name} is {text[:40]!r}; it must be between {knob.low:g} and {knob.high:g}")
    return number


class Knobs:
    """The values that hold for one request."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self._values = values

    def __getitem__(self, name: str) -> Any:
        value = self._values.get(name)
        return KNOBS[name].default if value is None else value

    def with_request(self, headers: Mapping[str, str], query: Mapping[str, str]) -> Knobs:
        """These values with a request's own on top. Raises KnobError."""
        own: dict[str, Any] = {}
        for name in headers:
            lowered = name.lower()
            if lowered.startswith("x-sim-"):
                key = lowered[6:].replace("-", "_")
                if key in KNOBS:
                    own[key] = _value(name, KNOBS[key], headers[name])
        for name, text in query.items():
            if name.startswith("sim_") and name[4:] in KNOBS:
                own[name[4:]] = _value(name, KNOBS[name[4:]], text)
        return Knobs({**self._values, **own}) if own else self


def from_environ(environ: Mapping[str, str]) -> Knobs:
    """The server's values from FIRECTL_SIM_* variables. Raises KnobError."""
    values = {}
    for name, knob in KNOBS.items():
        variable = f"FIRECTL_SIM_{name.upper()}"
        if environ.get(variable):
            values[name] = _value(variable, knob, environ[variable])
    return Knobs(values)
