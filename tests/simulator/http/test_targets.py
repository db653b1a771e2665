"""Model strings, states and limits: who answers, and what is said when nobody does."""

from __future__ import annotations

from pathlib import Path

import pytest

from fwctl.simulator.commands.app import run as firectl_sim
from fwctl.simulator.platform import quotas
from fwctl.simulator.state import Store
from tests.simulator.http.support import LLAMA, MINIMAL, NOW, SERVERLESS, Sim, serving

LORA = "accounts/acme/models/support-lora"
MISSING = "Model not found, inaccessible, and/or not deployed"


def status(sim: Sim, model: str) -> int:
    return sim.chat(model, max_tokens=1).status_code


def test_the_strings_that_name_a_multi_lora_deployment(sim: Sim) -> None:
    name = sim.deploy("d1", enableAddons=True)
    sim.http.post("/v1/accounts/acme/deployedModels", json={"model": LORA, "deployment": name})
    sim.advance(60)
    for answered in (name, f"{LLAMA}#{name}", f"{LORA}#{name}", f"{LORA}#d1", "support-lora#d1"):
        assert status(sim, answered) == 200, answered
    for refused in (LORA, "support-lora", "d1", f"accounts/acme/models/style-lora#{name}", f"{LLAMA}#d1x"):
        assert status(sim, refused) == 404, refused


def test_a_live_merge_answers_to_full_paths_only(sim: Sim) -> None:
    name = sim.deploy("merged", baseModel=LORA)
    assert status(sim, name) == 200
    assert status(sim, f"{LORA}#{name}") == 200
    assert status(sim, "support-lora#merged") == 404
    assert status(sim, f"{LORA}#merged") == 404
    assert status(sim, f"{LLAMA}#{name}") == 404


def test_an_adapter_on_a_quantised_deployment_answers_nowhere(tmp_path: Path) -> None:
    with serving(tmp_path, FIRECTL_SIM_PROFILE="2026-07") as sim:
        fast = MINIMAL.replace("minimal", "fast")
        name = sim.deploy("d1", deploymentShape=fast, enableAddons=True)
        loaded = sim.http.post("/v1/accounts/acme/deployedModels", json={"model": LORA, "deployment": name})
        assert loaded.status_code == 200
        sim.advance(60)
        assert sim.http.get("/v1/" + loaded.json()["name"]).json()["state"] == "DEPLOYED"
        assert status(sim, f"{LORA}#{name}") == 404


def test_what_is_not_there_is_the_captured_404(sim: Sim) -> None:
    body = sim.chat("accounts/acme/deployments/nope").json()
    assert body["error"] == {"message": MISSING, "param": "model", "code": "NOT_FOUND", "type": "error"}
    assert body["request_id"].startswith("chatcmpl-")
    for model in (
        "accounts/other/deployments/d1",
        "accounts/acme/routers/r",
        "accounts/acme/secrets/s",
        "a/b",
    ):
        assert status(sim, model) == 404


def test_serverless_answers_and_a_model_that_is_not_serverless_does_not(sim: Sim) -> None:
    assert status(sim, SERVERLESS) == 200
    assert status(sim, "accounts/fireworks/models/no-such-model") == 404


def test_a_deployment_that_starts_is_scaling_up(sim: Sim) -> None:
    name = sim.deploy("d1", ready=False)
    answer = sim.chat(name)
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "DEPLOYMENT_SCALING_UP"
    assert answer.json()["error"]["message"].startswith(
        "Deployment is currently scaled to zero and is scaling up."
    )
    sim.advance(600)
    assert status(sim, name) == 200


def test_a_deleted_deployment_and_one_at_max_0_do_not_answer(sim: Sim) -> None:
    name = sim.deploy("d1")
    sim.http.delete("/v1/" + name)
    assert status(sim, name) == 404
    parked = sim.deploy("parked", minReplicaCount=0, maxReplicaCount=0)
    assert status(sim, parked) == 503


def test_an_idle_deployment_scales_to_zero_and_the_first_request_wakes_it(sim: Sim) -> None:
    name = sim.deploy("d1", minReplicaCount=0)
    assert status(sim, name) == 200
    sim.http.get("/v1/" + name)
    sim.advance(2 * 3600)
    asleep = sim.http.get("/v1/" + name).json()
    assert (asleep["state"], asleep["replicaStats"]["readyReplicaCount"]) == ("READY", 0)
    assert status(sim, name) == 503
    assert sim.http.get("/v1/" + name).json()["desiredReplicaCount"] == 1
    sim.advance(600)
    assert status(sim, name) == 200


def test_a_replica_that_comes_back_from_zero_has_an_empty_cache(sim: Sim) -> None:
    name = sim.deploy("d1", minReplicaCount=0)
    messages = [{"role": "user", "content": "many words " * 40}]

    def cached() -> int:
        usage = sim.chat(name, messages=messages, max_tokens=1).json()["usage"]
        return int(usage["prompt_tokens_details"]["cached_tokens"])

    assert (cached(), cached() > 0) == (0, True)
    sim.http.get("/v1/" + name)
    sim.advance(2 * 3600)
    assert status(sim, name) == 503
    sim.http.get("/v1/" + name)
    sim.advance(600)
    assert cached() == 0


def test_a_delete_right_after_traffic_is_refused_and_later_allowed(sim: Sim) -> None:
    name = sim.deploy("d1")
    assert status(sim, name) == 200
    answer = sim.http.delete("/v1/" + name)
    assert (answer.status_code, answer.json()["code"]) == (400, 9)
    assert "in the last hour" in answer.json()["message"]
    sim.advance(3601)
    assert sim.http.delete("/v1/" + name).status_code == 200


def test_a_router_spreads_by_replica_count(sim: Sim) -> None:
    sim.deploy("small")
    sim.deploy("large", minReplicaCount=3, maxReplicaCount=3)
    body = {"deployments": ["small", "large"]}
    assert sim.http.post("/v1/accounts/acme/routers?routerId=r", json=body).status_code == 200
    hosts = []
    for _ in range(80):
        answer = sim.chat("accounts/acme/routers/r", max_tokens=1)
        hosts.append(answer.headers["fireworks-deployment"].rsplit("/", 1)[-1])
    # Binomial with p = 0.75, n = 80: four standard deviations around 60.
    assert 44 <= hosts.count("large") <= 76
    sim.http.patch("/v1/accounts/acme/routers/r", json={"strategy": "EVEN_LOAD"})
    assert sim.chat("accounts/acme/routers/r", max_tokens=1).status_code == 200


def test_a_router_over_nothing_alive_is_not_found(sim: Sim) -> None:
    name = sim.deploy("d1", ready=False)
    sim.http.post("/v1/accounts/acme/routers?routerId=r", json={"deployments": ["d1"]})
    assert status(sim, "accounts/acme/routers/r") == 503
    sim.http.delete("/v1/" + name, params={"ignoreChecks": "true"})
    assert status(sim, "accounts/acme/routers/r") == 404


def test_routers_and_kept_resources_have_the_usual_verbs(sim: Sim) -> None:
    sim.deploy("d1")
    root = "/v1/accounts/acme"
    router = {"router": {"deployments": ["d1"], "strategy": "even-load"}}
    made = sim.http.post(f"{root}/routers?routerId=r", json=router).json()
    assert made["strategy"] == "EVEN_LOAD"
    assert sim.http.get(f"{root}/routers").json()["routers"] == [made]
    changed = sim.http.patch(
        f"{root}/routers/r?updateMask=display_name", json={"displayName": "R", "public": True}
    )
    assert (changed.json()["displayName"], changed.json().get("public")) == ("R", None)
    assert sim.http.get(f"{root}/routers/r").json()["displayName"] == "R"
    assert sim.http.delete(f"{root}/routers/r").json() == {}
    for bad in ({"router": 3}, {"deployments": "d1"}, {"deployments": ["d1"], "strategy": "best"}):
        assert sim.http.post(f"{root}/routers", json=bad).status_code == 400
    job = {"dataset": "accounts/acme/datasets/x", "baseModel": LLAMA}
    jobs = f"{root}/supervisedFineTuningJobs"
    assert (
        sim.http.post(f"{jobs}?supervisedFineTuningJobId=j", json=job).json()["state"] == "JOB_STATE_RUNNING"
    )
    assert sim.http.patch(f"{jobs}/j", json={"displayName": "J"}).json()["displayName"] == "J"
    assert sim.http.post(f"{jobs}/j:cancel", json={}).json() == {}
    assert sim.http.get(f"{jobs}/j").json()["state"] == "JOB_STATE_CANCELLED"
    dataset = {"datasetId": "x", "dataset": {"displayName": "X", "state": "UPLOADING"}}
    assert sim.http.post(f"{root}/datasets", json=dataset).json()["state"] == "READY"
    assert sim.http.get(f"{root}/datasets").json()["totalSize"] == 1
    assert sim.http.delete(f"{root}/datasets/x").json() == {}
    secret = sim.http.post(f"{root}/secrets?secretId=s", json={"keyName": "k", "value": "hidden"})
    assert "hidden" not in secret.text
    assert sim.http.post(f"{root}/datasets", json={"datasetId": 3}).status_code == 400


def test_concurrency_over_the_limit_of_a_replica_is_429_of_the_deployment(tmp_path: Path) -> None:
    with serving(tmp_path, FIRECTL_SIM_INFERENCE_SPEED="1") as sim:
        name = sim.deploy("d1", maxConcurrencyPerReplica=1)
        body = {"model": name, "messages": [{"role": "user", "content": "x"}], "stream": True}
        headers = {"x-sim-ttft-ms": "0", "x-sim-tokens-per-second": "1", "x-sim-output-tokens": "100"}
        with sim.http.stream("POST", "/inference/v1/chat/completions", json=body, headers=headers) as first:
            assert first.status_code == 200
            answer = sim.chat(name)
        assert answer.status_code == 429
        assert answer.json()["error"]["code"] == "RESOURCE_EXHAUSTED"
        assert name in answer.json()["error"]["message"]
        assert answer.headers["retry-after"] == "1"
        assert "x-ratelimit-limit-requests" not in answer.headers


def test_the_account_s_request_limit_is_429_with_its_own_headers(sim: Sim) -> None:
    with Store(sim.home) as store, store.write() as tx:
        full = f"accounts/acme/quotas/{quotas.REQUESTS}"
        tx.put(quotas.KIND, full, {"name": full, "value": 2, "maxValue": 2})
    first = sim.chat(SERVERLESS, max_tokens=1)
    assert first.headers["x-ratelimit-remaining-requests"] == "1"
    name = sim.deploy("d1")
    assert status(sim, name) == 200
    answer = sim.chat(name)
    assert answer.status_code == 429
    assert answer.json()["error"]["code"] == "RATE_LIMIT_EXCEEDED"
    assert answer.headers["x-ratelimit-limit-requests"] == "2"
    assert answer.headers["x-ratelimit-over-limit"] == "yes"
    assert 1 <= int(answer.headers["retry-after"]) <= 60


def test_a_suspended_account_is_412(sim: Sim) -> None:
    with Store(sim.home) as store, store.write() as tx:
        tx.set_meta("suspended/acme", True)
    answer = sim.chat(SERVERLESS)
    assert answer.status_code == 412
    assert answer.json()["error"]["message"].startswith("Account acme is suspended")


def test_an_unknown_key_is_401_and_a_key_of_another_account_sees_its_own(sim: Sim, tmp_path: Path) -> None:
    assert (
        sim.http.post("/inference/v1/completions", headers={"authorization": "Bearer x"}).status_code == 401
    )
    sim.deploy("d1")
    environ = {"FIRECTL_SIM_HOME": str(sim.home), "FIRECTL_SIM_NOW": NOW, "HOME": str(tmp_path)}
    with (tmp_path / "out").open("w+") as out, (tmp_path / "in").open("w+") as stdin:
        for argv in (["sim", "account-add", "other"], ["sim", "key-add", "fw_other", "--account", "other"]):
            assert firectl_sim(argv, environ, tmp_path, (stdin, out, out)) == 0
    headers = {"authorization": "Bearer fw_other"}
    asked = {"model": "accounts/acme/deployments/d1", "prompt": "x"}
    answer = sim.http.post("/inference/v1/completions", headers=headers, json=asked)
    assert answer.status_code == 404
    assert sim.http.get("/v1/accounts/other/deployments", headers=headers).status_code == 200
    assert sim.http.get("/v1/accounts/acme/deployments", headers=headers).status_code == 403


@pytest.mark.parametrize("key", ["prompt_cache_key", "user", "header"])
def test_a_session_stays_on_one_replica(sim: Sim, key: str) -> None:
    name = sim.deploy("d1", minReplicaCount=4, maxReplicaCount=4)
    asked = {"model": name, "messages": [{"role": "user", "content": "x"}], "max_tokens": 1}
    fields = {} if key == "header" else {key: "s1"}
    headers = {"x-session-affinity": "s1"} if key == "header" else {}

    def host(body: dict[str, object], extra: dict[str, str]) -> str:
        answer = sim.http.post("/inference/v1/chat/completions", json=body, headers=extra)
        return str(answer.headers["fireworks-backend-host"])

    assert len({host(asked | fields, headers) for _ in range(8)}) == 1
    assert len({host(asked, {}) for _ in range(8)}) == 4
