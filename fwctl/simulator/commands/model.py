"""firectl model …"""

from __future__ import annotations

from typing import Any

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, prototext, table
from fwctl.simulator.platform import deployments, listing, models, names, schema
from fwctl.simulator.timing import local_text

Doc = dict[str, Any]

_FIELDS = {
    "description": "description",
    "display-name": "displayName",
    "github-url": "githubUrl",
    "hugging-face-url": "huggingFaceUrl",
    "public": "public",
    "supports-image-input": "supportsImageInput",
    "supports-tools": "supportsTools",
    "default-draft-model": "defaultDraftModel",
    "default-draft-token-count": "defaultDraftTokenCount",
}
_LORA_RANK = 16


def _name(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, "models", "model")


def _body(ctx: Context) -> Doc:
    return {field: ctx.flags[flag] for flag, field in _FIELDS.items() if flag in ctx.flags}


def get(ctx: Context) -> None:
    with wrapped(ctx, "getting model"), ctx.reading() as world:
        doc = models.get(world, _name(ctx))
        refs = [row for row in world.tx.all("deployedModels") if row["model"] == doc["name"]]
    doc.pop("_sim", None)
    if refs:
        doc["deployedModelRefs"] = [
            {"name": row["name"], "deployment": row["deployment"], "state": row["state"]} for row in refs
        ]
    print_one(ctx, doc)


def list_all(ctx: Context) -> None:
    with wrapped(ctx, "listing models"), ctx.reading() as world:
        docs = [
            {key: value for key, value in doc.items() if key != "_sim"}
            for doc in models.every(world, ctx.account)
        ]
        page = listing.page(docs, ctx.query())
    rows = [
        [
            f"{doc.get('displayName') or names.id_of(doc['name'])} ({names.id_of(doc['name'])})",
            local_text(doc["createTime"]),
            doc["kind"],
        ]
        for doc in page.items
    ]
    print_page(ctx, page, "models", table(("NAME", "CREATE TIME", "KIND"), rows))


def create(ctx: Context) -> None:
    body = _body(ctx)
    base_text = ctx.flags.get("base-model")
    if len(ctx.args) > 2:
        body["huggingFaceUrl"] = ctx.args[2]
    with wrapped(ctx, "creating model", always=True):
        base = None
        with ctx.reading() as world:
            if base_text:
                base = models.get(world, names.qualify(base_text, ctx.account, "models", "model"))
                body["kind"] = "HF_PEFT_ADDON"
                body["peftDetails"] = {
                    "baseModel": base["name"],
                    "r": _LORA_RANK,
                    "targetModules": ["q_proj", "k_proj", "v_proj", "o_proj"],
                }
            elif ctx.flags.get("embedding"):
                body["kind"] = "EMBEDDING_MODEL"
            if base is None:
                base = _twin(world, body, ctx.args[0])
        if ctx.flags.get("dry-run"):
            message = {"parent": f"accounts/{ctx.account}", "modelId": ctx.args[0], "model": body}
            ctx.print(prototext("create_model_request", message))
            return
        with ctx.writing() as world:
            doc = models.create(world, ctx.account, ctx.args[0], body, base=base)
    print_one(ctx, doc)


def _twin(world: Any, body: Doc, model_id: str) -> Doc | None:
    """The Fireworks model whose architecture an upload has, guessed from its link or ID.

    The real platform reads config.json; the simulator uploads nothing. Llama 3.1 8B when nothing fits.
    """
    link = str(body.get("huggingFaceUrl", "")).rstrip("/").lower()
    candidates = list(models.every(world, FIREWORKS))
    for doc in candidates:
        if link and doc.get("huggingFaceUrl", "").lower() == link:
            return doc
    for doc in sorted(candidates, key=lambda doc: -len(doc["name"])):
        if names.id_of(doc["name"]) in model_id:
            return doc
    return models.find(world, f"accounts/{FIREWORKS}/models/llama-v3p1-8b-instruct")


def upload(ctx: Context) -> None:
    with wrapped(ctx, "uploading model"), ctx.writing() as world:
        doc = models.update(world, _name(ctx), {})
    print_one(ctx, doc)


def download(ctx: Context) -> None:
    with wrapped(ctx, "downloading model"), ctx.reading() as world:
        models.get(world, _name(ctx))
    raise CommandError("error downloading model: the simulator holds no weights")


def update(ctx: Context) -> None:
    body = _body(ctx)
    if not body:
        raise CommandError("no fields to update were specified")
    with wrapped(ctx, "updating model"), ctx.writing() as world:
        doc = models.update(world, _name(ctx), body)
    print_one(ctx, doc)


def delete(ctx: Context) -> None:
    with wrapped(ctx, "deleting model"), ctx.writing() as world:
        name = _name(ctx)
        users = [
            doc["name"]
            for doc in deployments.every(world, ctx.account)
            if doc["baseModel"] == name and doc["state"] != "DELETED"
        ]
        users += [row["name"] for row in world.tx.all("deployedModels") if row["model"] == name]
        models.delete(world, name, users)


def prepare(ctx: Context) -> None:
    precision = str(ctx.flags.get("precision", "FP8")).upper()
    if precision not in schema.enum("Precision"):
        raise CommandError(f'invalid value "{precision}" for --precision')
    with wrapped(ctx, "preparing model"), ctx.writing() as world:
        doc = models.prepare(world, _name(ctx), precision)
    print_one(ctx, doc)
