"""Other tools on the paced server: the TTFT that they report beside what the server knows.

`--peer NAME=EXECUTABLE` of `benchmarks.harness`, for `guidellm` (0.8), `aiperf` (0.13) and `locust` (2.4x).
They are not dependencies; install each into a virtual environment of its own:

    pip install torch==2.13.0 guidellm
    pip install aiperf
    pip install locust
"""

from __future__ import annotations

import csv
import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from urllib.request import urlopen

from fwctl.process import run
from fwctl.stats.quantiles import quantile

REQUESTS = 300
RATE_PER_S = 30
USERS = 63
LOCUST_S = 20
DEADLINE_S = 300.0

# TTFT at p50 and p95, in milliseconds.
Reported = tuple[float, float]


def tokenizer(folder: Path) -> Path:
    """Two of the tools make their prompts with a tokenizer; this one has a thousand words."""
    words = {"<unk>": 0} | {f"w{number}": number + 1 for number in range(1000)}
    folder.mkdir()
    model = {"type": "WordLevel", "vocab": words, "unk_token": "<unk>"}
    parts = dict.fromkeys(("truncation", "padding", "normalizer", "post_processor", "decoder"))
    document = {"version": "1.0", **parts, "added_tokens": [], "pre_tokenizer": {"type": "Whitespace"}}
    (folder / "tokenizer.json").write_text(json.dumps({**document, "model": model}))
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "unk_token": "<unk>", "eos_token": "<unk>"}
    (folder / "tokenizer_config.json").write_text(json.dumps(config))
    return folder


def _guidellm(url: str, words: Path, out: Path) -> list[str]:
    return [
        *("run", "--disable-console", "--backend", f"kind=openai_http,target={url},model=paced"),
        *("--profile", f"kind=poisson,rate={RATE_PER_S}"),
        *("--constraint", f"kind=max_requests,count={REQUESTS}"),
        *("--tokenizer", f"kind=hf_auto,model={words}"),
        *("--data", "kind=synthetic_text,prompt_tokens=16,output_tokens=200"),
        *("--output", f"kind=json,path={out / 'guidellm.json'}"),
    ]


def _of_guidellm(out: Path) -> Reported:
    metrics = json.loads((out / "guidellm.json").read_text())["benchmarks"][0]["metrics"]
    found = metrics["time_to_first_token_ms"]["successful"]["percentiles"]
    return found["p50"], found["p95"]


def _aiperf(url: str, words: Path, out: Path) -> list[str]:
    return [
        *("profile", "--model", "paced", "--url", url, "--endpoint-type", "chat", "--streaming"),
        *("--request-rate", str(RATE_PER_S), "--request-rate-mode", "poisson"),
        *("--request-count", str(REQUESTS), "--tokenizer", str(words), "--isl", "16", "--osl", "200"),
        *("--output-artifact-dir", str(out), "--ui", "none"),
    ]


def _of_aiperf(out: Path) -> Reported:
    found = json.loads((out / "profile_export_aiperf.json").read_text())["time_to_first_token"]
    return found["p50"], found["p95"]


def _locust(url: str, words: Path, out: Path) -> list[str]:  # noqa: ARG001 - it needs no tokenizer
    return [
        *("-f", str(Path(__file__).with_name("locust_stream.py")), "--headless", "--host", url),
        *("-u", str(USERS), "-r", str(USERS), "-t", f"{LOCUST_S}s", "--csv", str(out / "locust")),
    ]


def _of_locust(out: Path) -> Reported:
    with (out / "locust_stats.csv").open() as file:
        row = next(row for row in csv.DictReader(file) if row["Name"] == "ttft")
    return float(row["50%"]), float(row["95%"])


Argv = Callable[[str, Path, Path], list[str]]
PEERS: dict[str, tuple[str, Argv, Callable[[Path], Reported]]] = {
    "guidellm": ("Poisson 30/s", _guidellm, _of_guidellm),
    "aiperf": ("Poisson 30/s", _aiperf, _of_aiperf),
    "locust": (f"{USERS} users", _locust, _of_locust),
}


def truth_ms(url: str) -> Reported:
    """What the server saw since the last call."""
    with urlopen(f"{url}/truth") as answer:
        values = [value * 1000 for value in json.load(answer)] or [0.0]
    return quantile(values, 0.5), quantile(values, 0.95)


def line(name: str, load: str, reported: Reported, truth: Reported) -> str:
    """One row of the table."""
    both = "".join(f"{value:9.1f} /{other:7.1f}" for value, other in zip(reported, truth, strict=True))
    return f"  {name:10}{load:14}{both}{reported[1] - truth[1]:12.1f}"


HEAD = f"  {'tool':10}{'load':14}{'p50 / server':>17}{'p95 / server':>17}{'error p95':>12}"


def measure_peers(url: str, peers: Sequence[str], cores: Sequence[int]) -> None:
    """Print a row of each `NAME=EXECUTABLE`. They may use every core; the server keeps its own."""
    if cores:
        os.sched_setaffinity(0, cores)
    for peer in peers:
        name, _, executable = peer.partition("=")
        load, argv, read = PEERS[name]
        with TemporaryDirectory() as text:
            out = Path(text)
            truth_ms(url)
            ended = run(
                [executable, *argv(url, tokenizer(out / "words"), out)],
                env=os.environ,
                deadline_s=DEADLINE_S,
                cwd=out,
            )
            try:
                print(line(name, load, read(out), truth_ms(url)), flush=True)
            except (OSError, LookupError, ValueError, StopIteration):
                print(f"  {name:10} did not work: {ended.stderr.strip()[-300:]}", flush=True)
