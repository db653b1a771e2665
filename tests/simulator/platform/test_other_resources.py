"""Models, adapters, routers, quotas, stored resources, accounts, billing."""

from __future__ import annotations

import pytest

from fwctl.simulator.platform import (
    accounts,
    billing,
    deployments,
    loras,
    models,
    quotas,
    resources,
    routers,
    traffic,
)
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import World
from tests.simulator.support import ADAPTER, BF16, MODEL, MODEL_70B, NOW_S, after, create, name, world

DAY_S = 86_400


class TestModels:
    def test_an_upload_has_the_architecture_of_its_twin_in_16_bit(self):
        start = world()
        doc = models.create(start, "acme", "mine", {}, base=models.get(start, MODEL))
        assert doc["baseModelDetails"]["parameterCount"] == "8030261248"
        assert doc["supportedPrecisions"] == ["BF16", "FP16"]

    def test_a_quantised_precision_needs_prepare(self):
        start = world()
        models.create(start, "acme", "mine", {}, base=models.get(start, MODEL))
        body = {"baseModel": "accounts/acme/models/mine", "acceleratorType": "NVIDIA_H100_80GB"}
        with pytest.raises(PlatformError, match="prepare the model first"):
            create(start, shapeless=True, precision="FP8", **body)
        models.prepare(start, body["baseModel"], "FP8")
        assert create(start, shapeless=True, precision="FP8_MM", **body)["precision"] == "FP8_MM"
        assert models.prepare(start, body["baseModel"], "FP8")["supportedPrecisions"].count("FP8") == 1
        with pytest.raises(PlatformError, match="cannot be prepared"):
            models.prepare(start, body["baseModel"], "NF4")

    def test_fireworks_models_are_not_the_callers(self):
        with pytest.raises(PlatformError) as caught:
            models.prepare(world(), MODEL, "FP4")
        assert caught.value.code == "PermissionDenied"
        with pytest.raises(PlatformError, match="does not have access"):
            models.update(world(), MODEL, {})

    def test_create_update_delete(self):
        start = world()
        models.create(start, "acme", "mine", {"displayName": "M"})
        with pytest.raises(PlatformError, match="already exists"):
            models.create(start, "acme", "mine", {})
        full = "accounts/acme/models/mine"
        assert models.update(start, full, {"public": True})["public"] is True
        with pytest.raises(PlatformError, match="field kind of a model"):
            models.update(start, full, {"kind": "X"})
        assert next(doc["name"] for doc in models.every(start, "acme")) == full
        with pytest.raises(PlatformError, match="cannot delete model with active deployments"):
            models.delete(start, full, ["d"])
        models.delete(start, full, [])
        assert models.find(start, full) is None

    def test_a_built_in_model_of_the_account_can_be_deleted(self):
        start = world()
        models.delete(start, ADAPTER, [])
        assert ADAPTER not in [doc["name"] for doc in models.every(start, "acme")]


class TestAdapters:
    @pytest.fixture
    def start(self) -> World:
        start = world()
        create(start, deploymentShape=BF16)
        return start

    def test_loading_takes_a_moment(self, start: World):
        doc = loras.load(start, ADAPTER, name())
        assert (doc["state"], doc["default"], doc["public"]) == ("DEPLOYING", True, False)
        assert loras.get(after(start, 20), doc["name"])["state"] == "DEPLOYED"
        assert [row["model"] for row in loras.every(start, "acme")] == [ADAPTER]

    def test_the_second_one_of_a_model_is_not_the_default(self, start: World):
        create(start, "other", deploymentShape=BF16)
        loras.load(start, ADAPTER, name())
        second = loras.load(start, ADAPTER, name("other"))
        assert second["default"] is False
        assert loras.update(start, second["name"], {"default": True})["default"] is True
        assert [row["default"] for row in loras.every(start, "acme")].count(True) == 1
        with pytest.raises(PlatformError, match="several deployments"):
            loras.unload(start, ADAPTER, None)
        loras.unload(start, ADAPTER, name())
        loras.unload(start, ADAPTER, None)
        with pytest.raises(PlatformError, match="is not deployed"):
            loras.unload(start, ADAPTER, name())

    def test_what_cannot_be_loaded_is_refused(self, start: World):
        create(start, "plain")
        with pytest.raises(PlatformError, match="does not have addons enabled"):
            loras.load(start, ADAPTER, name("plain"))
        with pytest.raises(PlatformError, match="is not a LoRA addon"):
            loras.load(start, MODEL, name())
        loras.load(start, ADAPTER, name())
        with pytest.raises(PlatformError, match="already deployed"):
            loras.load(start, ADAPTER, name())
        other = {"kind": "HF_PEFT_ADDON", "peftDetails": {"baseModel": MODEL_70B, "r": 8}}
        models.create(start, "acme", "big-lora", other)
        with pytest.raises(PlatformError, match=f"is for base model {MODEL_70B}"):
            loras.load(start, "accounts/acme/models/big-lora", name())
        deployments.delete(start, name("plain"))
        with pytest.raises(PlatformError, match="is DELETING"):
            loras.load(start, ADAPTER, name("plain"))
        with pytest.raises(PlatformError, match="deployed model accounts/acme/deployedModels/x not found"):
            loras.get(start, "accounts/acme/deployedModels/x")

    def test_a_hundred_adapters_an_account(self, start: World):
        for number in range(100):
            row = f"accounts/acme/deployedModels/a{number}"
            start.tx.put(loras.KIND, row, {"name": row, "model": f"m{number}", "deployment": "d"})
        with pytest.raises(PlatformError, match="at most 100 LoRAs"):
            loras.load(start, ADAPTER, name())

    def test_a_hot_reload_deployment_replaces_its_merged_addon(self):
        start = world("2025")
        create(start, enableHotReloadLatestAddon=True)
        loras.load(start, ADAPTER, name())
        with pytest.raises(PlatformError, match="replace_merged_addon"):
            loras.load(start, "accounts/acme/models/style-lora", name())
        loras.load(start, "accounts/acme/models/style-lora", name(), replace_merged=True)
        assert [row["model"] for row in loras.every(start, "acme")] == ["accounts/acme/models/style-lora"]


class TestRouters:
    def test_it_stands_over_multi_region_deployments(self):
        start = world()
        create(start, "a")
        create(start, "b", placement={"multiRegion": "US"})
        create(start, "c", placement={"region": "US_IOWA_1"})
        doc = routers.create(start, "acme", "chat", {"deployments": ["a", name("b"), "a"]})
        assert doc["deployments"] == [name("a"), name("b")]
        assert doc["strategy"] == "WEIGHTED_RANDOM"
        with pytest.raises(PlatformError, match="is not a multi-region deployment"):
            routers.update(start, doc["name"], {"deployments": ["c"]})
        with pytest.raises(PlatformError, match="at least one"):
            routers.update(start, doc["name"], {"deployments": []})
        with pytest.raises(PlatformError, match="already exists"):
            routers.create(start, "acme", "chat", {"deployments": ["a"]})
        deployments.delete(start, name("b"))
        with pytest.raises(PlatformError, match="is DELETING"):
            routers.update(start, doc["name"], {"deployments": ["b"]})
        assert routers.update(start, doc["name"], {"strategy": "EVEN_LOAD"})["strategy"] == "EVEN_LOAD"
        assert len(routers.every(start, "acme")) == 1
        routers.delete(start, doc["name"])
        with pytest.raises(PlatformError, match="router accounts/acme/routers/chat not found"):
            routers.get(start, doc["name"])

    def test_strategies(self):
        assert routers.strategy("Even_Load") == "EVEN_LOAD"
        with pytest.raises(PlatformError, match='invalid strategy "best"'):
            routers.strategy("best")


class TestQuotas:
    def test_usage_counts_live_deployments_whether_they_run_or_not(self):
        start = world()
        create(start, "a", maxReplicaCount=3)
        create(start, "b", maxReplicaCount=0)
        create(start, "c", maxReplicaCount=5)
        deployments.delete(start, name("c"))
        found = quotas.get(start, "acme", "global--h100-count", deployments.live(start, "acme"))
        assert (found["usage"], found["value"]) == (3, 64)

    def test_values_move_up_to_their_maximum(self):
        start = world()
        assert quotas.update(start, "acme", "monthly-spend-usd", 50)["value"] == 50
        assert quotas.get(start, "acme", "monthly-spend-usd", ())["maxValue"] == 50_000
        with pytest.raises(PlatformError, match="between 0 and 50000"):
            quotas.update(start, "acme", "monthly-spend-usd", 50_001)
        with pytest.raises(PlatformError, match="quota accounts/acme/quotas/none not found"):
            quotas.update(start, "acme", "none", 1)

    def test_the_documented_names_are_there(self):
        found = {row["name"].rsplit("/", 1)[1] for row in quotas.every(world(), "acme", ())}
        assert {"global--h100-count", "training-h100-count", "monthly-spend-usd"} <= found


class TestStoredResources:
    def test_jobs_end_after_half_an_hour(self):
        start = world()
        doc = resources.create(start, "dpo-job", "acme", "", {"displayName": "x"})
        assert doc["state"] == "JOB_STATE_RUNNING"
        done = resources.get(after(start, 1800), "dpo-job", doc["name"])
        assert (done["state"], done["completedTime"]) == (
            "JOB_STATE_COMPLETED",
            "2026-11-30T12:30:00.000000Z",
        )

    def test_a_running_job_can_be_cancelled_once(self):
        start = world()
        doc = resources.create(start, "dpo-job", "acme", "j", {})
        assert resources.cancel(start, "dpo-job", doc["name"])["state"] == "JOB_STATE_CANCELLED"
        with pytest.raises(PlatformError, match="is not running"):
            resources.cancel(start, "dpo-job", doc["name"])

    def test_create_get_delete(self):
        start = world()
        doc = resources.create(start, "dataset", "acme", "d", {})
        with pytest.raises(PlatformError, match="already exists"):
            resources.create(start, "dataset", "acme", "d", {})
        assert resources.update(start, "dataset", doc["name"], {"displayName": "n"})["displayName"] == "n"
        resources.delete(start, "dataset", doc["name"])
        with pytest.raises(PlatformError, match="dataset accounts/acme/datasets/d not found"):
            resources.get(start, "dataset", doc["name"])

    def test_training_shapes_belong_to_fireworks(self):
        assert len(resources.every(world(), "training-shape", "fireworks")) == 3
        assert resources.every(world(), "training-shape", "acme") == []


class TestAccounts:
    def test_the_account_says_when_it_is_suspended(self):
        start = world()
        assert accounts.get(start, "acme")["suspendState"] == "UNSUSPENDED"
        start.tx.set_meta("suspended/acme", True)
        assert accounts.get(start, "acme")["suspendState"] == "MONTHLY_SPEND_LIMIT_EXCEEDED"
        assert accounts.get(start, "fireworks")["suspendState"] == "UNSUSPENDED"

    def test_accounts_are_added_once(self):
        start = world()
        accounts.add(start, "other")
        for account in ("other", "acme", "fireworks"):
            with pytest.raises(PlatformError, match="already exists"):
                accounts.add(start, account)


class TestBilling:
    def test_gpu_seconds_start_when_a_replica_serves(self):
        start = world()
        create(start, minReplicaCount=1)
        at = after(start, 3600)
        (row,) = billing.rows(at, "acme", start.now, at.now)
        # One H100 for 3600 s less 65.04 s of start-up.
        assert row["accelerator_seconds"] == 3535
        assert (row["start_time"], row["end_time"]) == ("2026-11-30 12:00:00 UTC", "2026-11-30 13:00:00 UTC")
        assert billing.cost_usd(row) == pytest.approx(3535 / 3600 * 8.0)

    def test_days_are_cut_at_midnight(self):
        start = world()
        create(start, minReplicaCount=1)
        at = after(start, 2 * DAY_S)
        rows = list(billing.rows(at, "acme", start.now, at.now))
        assert [row["accelerator_seconds"] for row in rows] == [43_135, 86_400, 43_200]

    def test_replicas_that_have_stopped_are_billed_too(self):
        start = world()
        create(start, maxReplicaCount=1)
        at = after(start, 2 * 3600)
        (row,) = billing.rows(at, "acme", start.now, at.now)
        # It served from 65 s until it went to zero an hour later.
        assert row["accelerator_seconds"] == 3600

    def test_traffic_is_listed_by_hour_with_cached_tokens(self):
        start = world()
        create(start)
        usage = traffic.Usage(2, 0, 1000, 400, 300)
        traffic.record(after(start, 70), name(), MODEL, usage=usage, load={}, for_s=1)
        row = next(iter(billing.rows(after(start, 80), "acme", start.now, start.now + DAY_S)))
        assert row["usage_type"] == "TEXT_COMPLETION_INFERENCE_USAGE"
        assert (row["prompt_tokens"], row["cached_prompt_tokens"], row["uncached_prompt_tokens"]) == (
            1000,
            400,
            600,
        )
        assert row["model_bucket"] == "Llama 3.1 8B Instruct"

    def test_windows(self):
        assert billing.window("", "", NOW_S) == (NOW_S - 7 * DAY_S, NOW_S)
        assert billing.window("2026-11-01", "2026-11-02", NOW_S)[1] - NOW_S == -28.5 * DAY_S
        for start, end in (("2026-01-01", "2026-03-01"), ("2026-02-01", "2026-01-01"), ("soon", "")):
            with pytest.raises(PlatformError, match="time range"):
                billing.window(start, end, NOW_S)

    def test_money_has_units_and_nanos(self):
        assert billing.money(12.25) == {"currencyCode": "USD", "units": "12", "nanos": 250_000_000}
