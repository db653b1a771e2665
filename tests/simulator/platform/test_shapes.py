from __future__ import annotations

import pytest

from fwctl.simulator.catalogue import Catalogue, CatalogueError, load
from fwctl.simulator.platform import models, shapes
from fwctl.simulator.platform.errors import PlatformError
from tests.simulator.support import BF16, FAST, MODEL, SHAPES, create, world

OSS = "accounts/fireworks/models/gpt-oss-120b"
# From a public transcript of 2026-07-13.
SEEN = {
    "gpt-oss-120b-minimal": ("etmdyl20", 1, "NVIDIA_H200_141GB", "MINIMAL"),
    "xpmp243k": ("o4fqs25y", 1, "NVIDIA_H200_141GB", "PRESET_TYPE_UNSPECIFIED"),
    "xu5j0oe4": ("j8ks8bag", 1, "NVIDIA_B300_288GB", "PRESET_TYPE_UNSPECIFIED"),
    "edu6lf2d": ("i1jy7b5c", 1, "NVIDIA_B200_180GB", "PRESET_TYPE_UNSPECIFIED"),
    "gpt-oss-120b-throughput": ("wfnwyws6", 4, "NVIDIA_H100_80GB", "THROUGHPUT"),
    "gpt-oss-120b-fast": ("d26dwe4v", 4, "NVIDIA_H200_141GB", "FAST"),
    "gpt-oss-120b-coding-throughput": ("msm8pgeq", 4, "NVIDIA_B200_180GB", "AGENTIC_CODING"),
    "rft-gpt-oss-120b": ("ldpwuten", 1, "NVIDIA_B200_180GB", "FULL_PRECISION"),
}


def test_the_catalogue_has_the_shapes_that_were_seen():
    start = world()
    rows = shapes.match(start, models.get(start, OSS))
    found = {}
    for row in rows:
        shape, snapshot = row["snapshot"]["name"], row["snapshot"]
        version = row["name"].rsplit("/", 1)[1]
        found[shape.rsplit("/", 1)[1]] = (
            version,
            snapshot["acceleratorCount"],
            snapshot["acceleratorType"],
            snapshot["presetType"],
        )
    assert found == SEEN


def test_one_version_of_a_shape_is_the_latest_validated():
    start = world()
    of_shape = list(shapes.versions(start, f"{SHAPES}/llama-v3p1-70b-instruct-fast"))
    assert len(of_shape) == 4
    assert [row["validated"] for row in of_shape] == [True, True, True, False]
    assert [row["latestValidated"] for row in of_shape] == [False, False, True, False]


def test_a_match_with_addons_lists_shapes_that_take_them():
    start = world()
    model = models.get(start, MODEL)
    assert len(shapes.match(start, model)) == 4
    with_addons = {row["snapshot"]["name"] for row in shapes.match(start, model, enable_addons=True)}
    assert with_addons == {f"{SHAPES}/llama-v3p1-8b-instruct-minimal", BF16}
    loose = world("latest,match_filters_addons=no")
    assert len(shapes.match(loose, model, enable_addons=True)) == 4


def test_a_model_without_shapes_matches_nothing():
    start = world()
    models.create(start, "acme", "odd", {"baseModelDetails": {"modelType": "odd"}})
    model = models.get(start, "accounts/acme/models/odd")
    assert shapes.match(start, model) == []
    with pytest.raises(PlatformError, match="no validated deployment shape"):
        create(start, baseModel=model["name"], deploymentShape="default")


def test_shapes_show_their_newest_version():
    start = world()
    assert shapes.get_shape(start, FAST)["presetType"] == "FAST"
    assert sum(1 for _ in shapes.every_shape(start)) == sum(1 for _ in start.catalogue.shapes())
    with pytest.raises(PlatformError, match="deployment shape x not found"):
        shapes.get_shape(start, "x")


def test_a_version_published_later_becomes_the_latest_and_old_deployments_stay():
    start = world()
    before = create(start)["deploymentShape"]
    (row,) = (doc for doc in shapes.versions(start, FAST) if doc["latestValidated"])
    start.tx.put(shapes.VERSIONS, row["name"], row | {"latestValidated": False})
    new = f"{FAST}/versions/next1234"
    start.tx.put(shapes.VERSIONS, new, row | {"name": new})
    assert create(start, "other")["deploymentShape"] == new
    assert shapes.get_version(start, f"{FAST}/versions/latest")["name"] == new
    assert before == row["name"]


def test_every_row_of_the_catalogue_holds_together():
    catalogue = load()
    names = {doc["name"] for doc in catalogue.models("fireworks")}
    for doc in catalogue.shapes():
        assert doc["baseModel"] in names
        assert doc["acceleratorType"] in catalogue.accelerators
        assert doc.get("draftModel", MODEL) in names
        if doc.get("enableAddons"):
            assert doc["precision"] == "BF16"


def test_the_weights_of_every_shape_fit_its_accelerators():
    start = world()
    for doc in start.catalogue.shapes():
        size = models.weight_bytes(models.get(start, doc["baseModel"]), doc["precision"])
        room = (
            doc["acceleratorCount"] * start.catalogue.accelerators[doc["acceleratorType"]]["memoryGb"] * 1e9
        )
        assert size < 0.95 * room, doc["name"]


def test_a_row_without_its_keys_is_an_error():
    with pytest.raises(KeyError):
        Catalogue([{"models": [{"displayName": "x"}]}])


def test_user_files_add_and_replace_rows(tmp_path):
    file = tmp_path / "more.json"
    file.write_text(
        '{"models": [{"id": "m", "account": "acme", "parameterCount": 1, "defaultPrecision": "BF16",'
        ' "modelType": "x", "precisions": ["BF16"]}], "regions": [{"region": "XX_1", "accelerators": []}]}'
    )
    catalogue = load([file])
    model = catalogue.model("accounts/acme/models/m")
    assert model
    assert (model["public"], model["supportedPrecisions"]) == (False, ["BF16"])
    assert catalogue.regions["XX_1"] == ()


@pytest.mark.parametrize("text", ["{", "[]", '{"models": [{}]}', '{"shapes": 5}', '{"models": [5]}'])
def test_bad_user_files_are_refused(tmp_path, text: str):
    file = tmp_path / "bad.json"
    file.write_text(text)
    with pytest.raises(CatalogueError):
        load([file])


def test_a_missing_user_file_is_refused(tmp_path):
    with pytest.raises(CatalogueError, match="cannot be read"):
        load([tmp_path / "none.json"])
