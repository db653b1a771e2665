"""The models, shapes, regions and accelerators that exist: data/catalogue.json and the user's own files.

A user file has the same lists; its rows are added, or replace a row with the same ID. Rows may carry
`account` (default `fireworks`). Resource documents are built only when asked for.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

Doc = dict[str, Any]
Row = Mapping[str, Any]

FIREWORKS = "fireworks"
HOME_FILE = "catalogue.json"
_BUILT_IN = Path(__file__).parent / "data" / "catalogue.json"
_MODEL_TIME = "2026-01-15T09:00:00.000000Z"
_SIXTEEN_BIT = ("BF16", "FP16")
# Model row key -> Model field, where the value is copied as it is.
_MODEL_COPIES = (
    "displayName",
    "description",
    "contextLength",
    "supportsLora",
    "supportsImageInput",
    "supportsTools",
    "supportsServerless",
    "tunable",
    "huggingFaceUrl",
)


class CatalogueError(Exception):
    """A catalogue file cannot be used; the message names it."""


def model_name(account: str, model_id: str) -> str:
    return model_id if model_id.startswith("accounts/") else f"accounts/{account}/models/{model_id}"


def shape_name(account: str, shape_id: str) -> str:
    return f"accounts/{account}/deploymentShapes/{shape_id}"


def is_sixteen_bit(precision: str) -> bool:
    return precision in _SIXTEEN_BIT


class Catalogue:
    def __init__(self, documents: Sequence[Row]) -> None:
        self.accelerators: dict[str, Row] = {}
        self.regions: dict[str, tuple[str, ...]] = {}
        self._models: dict[str, Row] = {}
        self._shapes: dict[str, Row] = {}
        for document in documents:
            self._add(document)

    def _add(self, document: Row) -> None:
        for row in document.get("accelerators", ()):
            self.accelerators[row["type"]] = row
        for row in document.get("regions", ()):
            self.regions[row["region"]] = tuple(row["accelerators"])
        for row in document.get("models", ()):
            self._models[model_name(row.get("account", FIREWORKS), row["id"])] = row
        for account, rows in document.get("accountModels", {}).items():
            for row in rows:
                self._models[model_name(account, row["id"])] = row
        for row in document.get("shapes", ()):
            self._shapes[shape_name(row.get("account", FIREWORKS), row["id"])] = row

    def model(self, name: str) -> Doc | None:
        """The Model document of a full name, None when there is none."""
        row = self._models.get(name)
        return None if row is None else _model_document(name, row)

    def models(self, account: str) -> Iterator[Doc]:
        prefix = f"accounts/{account}/models/"
        for name in sorted(self._models):
            if name.startswith(prefix):
                yield _model_document(name, self._models[name])

    def shapes(self) -> Iterator[Doc]:
        """Every DeploymentShape, in catalogue order."""
        for name, row in self._shapes.items():
            yield self._shape_document(name, row)

    def shape_versions(self, shape: str | None = None) -> Iterator[Doc]:
        """Every DeploymentShapeVersion (of one shape), oldest version of a shape first."""
        for name, row in self._shapes.items():
            if shape in (None, name):
                yield from self._version_documents(name, row)

    def _shape_document(self, name: str, row: Row) -> Doc:
        model = self._models.get(_row_model(row), {})
        draft = row.get("draft")
        doc = {
            "name": name,
            "displayName": row.get("displayName", row["id"]),
            "createTime": row["versions"][0]["createTime"],
            "updateTime": row["versions"][-1]["createTime"],
            "baseModel": _row_model(row),
            "modelType": model.get("modelType"),
            "parameterCount": str(model.get("parameterCount", 0)),
            "acceleratorType": row["accelerator"],
            "acceleratorCount": row["count"],
            "precision": row["precision"],
            "draftModel": model_name(FIREWORKS, draft[0]) if draft else None,
            "draftTokenCount": draft[1] if draft else None,
            "ngramSpeculationLength": row.get("ngram"),
            "enableAddons": row.get("addons"),
            "enableSessionAffinity": row.get("affinity"),
            "numLoraDeviceCached": row.get("loraCached", 4) if row.get("addons") else None,
            "maxContextLength": row.get("context") or model.get("contextLength"),
            "presetType": row.get("preset", "PRESET_TYPE_UNSPECIFIED"),
        }
        return {key: value for key, value in doc.items() if value is not None}

    def _version_documents(self, name: str, row: Row) -> Iterator[Doc]:
        latest = [v["id"] for v in row["versions"] if v["validated"]][-1:]
        for version in row["versions"]:
            snapshot = self._shape_document(name, row) | version.get("snapshot", {})
            yield {
                "name": f"{name}/versions/{version['id']}",
                "createTime": version["createTime"],
                "snapshot": snapshot,
                "validated": version["validated"],
                "latestValidated": version["id"] in latest,
                "public": True,
            }


def _row_model(row: Row) -> str:
    return model_name(row.get("account", FIREWORKS), row["model"])


def _model_document(name: str, row: Row) -> Doc:
    kind = row.get("kind", "HF_BASE_MODEL")
    doc: Doc = {"name": name, "createTime": _MODEL_TIME, "updateTime": _MODEL_TIME, "kind": kind}
    doc |= {key: row[key] for key in _MODEL_COPIES if key in row}
    doc |= {"state": "READY", "status": {"code": "OK", "message": ""}}
    doc["public"] = name.startswith(f"accounts/{FIREWORKS}/")
    if "baseModel" in row:
        doc["peftDetails"] = {
            "baseModel": row["baseModel"],
            "r": row.get("rank", 16),
            "targetModules": ["q_proj", "k_proj", "v_proj", "o_proj"],
        }
        return doc
    precision = row["defaultPrecision"]
    doc["baseModelDetails"] = {
        "worldSize": row.get("worldSize", 1),
        "checkpointFormat": "HUGGINGFACE",
        "parameterCount": str(row["parameterCount"]),
        "moe": row.get("moe", False),
        "modelType": row["modelType"],
        "defaultPrecision": precision,
        "supportsFireattention": True,
    }
    doc["supportedPrecisions"] = row.get("precisions") or _served(precision)
    habits = {key: True for key in ("quantisedDrafter", "broken") if row.get(key)}
    if habits:
        doc["_sim"] = habits
    if "draft" in row:
        doc["defaultDraftModel"] = model_name(FIREWORKS, row["draft"][0])
        doc["defaultDraftTokenCount"] = row["draft"][1]
    return doc


def _served(default: str) -> list[str]:
    """Precisions in which a Fireworks base model may be served: its own and those below it."""
    return ["BF16", "FP16", "FP8", "FP4"] if is_sixteen_bit(default) else ["FP8", "FP4"]


def _read(path: Path) -> Row:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CatalogueError(f"the catalogue file {path} cannot be read: {error}") from None
    if not isinstance(document, dict):
        raise CatalogueError(f"the catalogue file {path} must hold one JSON object")
    return document


def load(extra: Sequence[Path] = ()) -> Catalogue:
    """The built-in catalogue and the user's files on top. Raises CatalogueError."""
    try:
        return Catalogue([_read(_BUILT_IN), *map(_read, extra)])
    except (KeyError, TypeError, AttributeError) as error:
        raise CatalogueError(f"a catalogue row lacks a key or has the wrong type: {error!r}") from None
