"""The whole loop of a tuned draft model, offline: data, job, model, deployment, acceptance."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.simulator.http.support import Sim, events, serving

SMALL = "accounts/fireworks/models/llama-v3p2-1b-instruct"
LARGE = "accounts/fireworks/models/llama-v3p1-70b-instruct"
ROOT = "/v1/accounts/acme"
QUESTIONS = [f"question number {number}" for number in range(12)]


def deploy(sim: Sim, name: str, draft: str) -> int:
    body = {
        "baseModel": LARGE,
        "acceleratorType": "NVIDIA_H200_141GB",
        "precision": "FP8",
        "minReplicaCount": 1,
        "draftModel": draft,
        "draftTokenCount": 4,
    }
    query = {"deploymentId": name, "acceptShapelessRisk": "true"}
    status = sim.http.post(f"{ROOT}/deployments", params=query, json=body).status_code
    sim.advance(1200)
    return status


def answers(sim: Sim, name: str) -> tuple[list[str], float]:
    """Texts of the questions' answers, and the acceptance of the first drafted position."""
    texts, hits, totals = [], 0, 0
    for question in QUESTIONS:
        body = sim.chat(
            f"accounts/acme/deployments/{name}",
            messages=[{"role": "user", "content": question}],
            perf_metrics_in_response=True,
        ).json()
        texts.append(body["choices"][0]["message"]["content"])
        first = body["perf_metrics"]["speculation-acceptance"].split(",")[0]
        hit, total = first.split(":")[1].split("/")
        hits, totals = hits + int(hit), totals + int(total)
    return texts, hits / totals


def tune(sim: Sim, name: str, texts: list[str]) -> str:
    """A model tuned on these texts, through upload and job."""
    rows = "\n".join(json.dumps({"messages": [{"role": "assistant", "content": text}]}) for text in texts)
    dataset = {"datasetId": name, "dataset": {"displayName": name}}
    assert sim.http.post(f"{ROOT}/datasets", json=dataset).status_code == 200
    upload = sim.http.post(f"{ROOT}/datasets/{name}:upload", files={"file": ("rows.jsonl", rows)})
    assert upload.status_code == 200
    stored = sim.http.get(f"{ROOT}/datasets/{name}").json()
    assert (stored["exampleCount"], "fingerprint" in str(stored)) == (str(len(texts)), False)
    job = {
        "dataset": f"accounts/acme/datasets/{name}",
        "baseModel": SMALL,
        "outputModel": f"accounts/acme/models/{name}",
    }
    assert sim.http.post(f"{ROOT}/supervisedFineTuningJobs", json=job).status_code == 200
    assert sim.http.get(f"{ROOT}/models/{name}").status_code == 404
    sim.advance(1800)
    return str(sim.http.get(f"{ROOT}/models/{name}").json()["name"])


def test_a_drafter_tuned_on_the_traffic_is_accepted_more_and_one_tuned_elsewhere_less(sim: Sim) -> None:
    assert deploy(sim, "generic", SMALL) == 200
    texts, generic = answers(sim, "generic")
    here = tune(sim, "here", texts)
    elsewhere = tune(sim, "elsewhere", ["entirely unlike words about zebras and rainfall"])
    assert deploy(sim, "tuned", here) == 200
    assert deploy(sim, "mistuned", elsewhere) == 200
    same, tuned = answers(sim, "tuned")
    _, mistuned = answers(sim, "mistuned")
    assert same == texts
    # 0.71 untuned, 0.93 on this traffic, 0.85 x 0.71 on other traffic; about a thousand draws each.
    assert generic == pytest.approx(0.71, abs=0.05)
    assert tuned == pytest.approx(0.93, abs=0.04)
    assert mistuned == pytest.approx(0.60, abs=0.06)


def test_whether_an_adapter_may_draft_is_an_open_question_with_both_answers(tmp_path: Path) -> None:
    with serving(tmp_path, FIRECTL_SIM_PROFILE="latest,lora_as_draft=refuse") as sim:
        assert deploy(sim, "d1", "accounts/acme/models/support-lora") == 400


def test_the_acceptance_can_be_fixed_and_both_forms_of_the_list_can_be_had(sim: Sim) -> None:
    deploy(sim, "generic", SMALL)
    name = "accounts/acme/deployments/generic"
    fields = {"perf_metrics_in_response": True, "max_tokens": 50, "ignore_eos": True}
    knobs = {"acceptance": "1,1,1,0"}
    body = sim.chat(name, sim=knobs, **fields).json()["perf_metrics"]
    # 4 tokens a pass: 13 passes for 50 tokens; the last one has room for one draft only.
    assert body["speculation-acceptance"] == "0:13/13,1:12/13,2:12/13,3:0/13"
    assert body["speculation-generated-tokens"] == 52
    other = sim.chat(name, sim=knobs | {"acceptance_format": "conditional"}, **fields).json()["perf_metrics"]
    assert other["speculation-acceptance"] == "0:13/13,1:12/13,2:12/12,3:0/12"
    streamed = events(sim.stream(name, sim=knobs, return_token_ids=True, max_tokens=50, ignore_eos=True))
    assert [len(event["choices"][0]["token_ids"]) for event in streamed[1:4]] == [4, 4, 4]


def test_ngram_drafts_accept_what_the_output_repeats(sim: Sim) -> None:
    body = {
        "baseModel": LARGE,
        "acceleratorType": "NVIDIA_H200_141GB",
        "precision": "FP8",
        "minReplicaCount": 1,
        "ngramSpeculationLength": 2,
        "draftTokenCount": 3,
    }
    query = {"deploymentId": "ngram", "acceptShapelessRisk": "true"}
    assert sim.http.post(f"{ROOT}/deployments", params=query, json=body).status_code == 200
    sim.advance(1200)
    name = "accounts/acme/deployments/ngram"
    knobs = {"answer": " ".join(["one two three four five six"] * 10)}
    metrics = sim.chat(name, sim=knobs, perf_metrics_in_response=True).json()["perf_metrics"]
    rates = [part.split(":")[1].split("/") for part in metrics["speculation-acceptance"].split(",")]
    assert all(int(hit) / int(total) > 0.8 for hit, total in rates)
