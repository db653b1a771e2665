"""The firectl commands that fwctl uses besides deployment create and update, one row each.

Source: docs.fireworks.ai, tools-sdks/firectl/commands/*, deployments/deployment-tags and
deployments/routers, read 2026-11-30; fine-tuning: the commands supervised-fine-tuning-job-create and
dataset-create there, read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Verb:
    """One firectl command other than deployment create and update.

    target: the flag that carries the target; empty: it is the argument; None: there is none.
    argument: the field that is the argument when the target is a flag. options: field -> flag; a list
    repeats the flag, a mapping repeats it with `key=value`. joined: fields whose list is one word with
    commas. reads: the answer is wanted as JSON.
    """

    target: str | None = ""
    argument: str | None = None
    options: Mapping[str, str] = field(default_factory=dict)
    joined: frozenset[str] = frozenset()
    reads: bool = False


_LIST = {
    "filter": "--filter",
    "order_by": "--order-by",
    "no_paginate": "--no-paginate",
    "page_size": "--page-size",
    "page_token": "--page-token",
}
_ROUTER = {
    "deployments": "--deployments",
    "strategy": "--strategy",
    "display_name": "--display-name",
    "public": "--public",
}

VERBS: Mapping[str, Verb] = {
    "deployment scale": Verb(options={"replica_count": "--replica-count"}),
    "deployment delete": Verb(options={"hard": "--hard", "ignore_checks": "--ignore-checks"}),
    "deployment undelete": Verb(),
    "deployment tag set": Verb(options={"tags": "--tag"}),
    "deployment tag unset": Verb(options={"tags": "--key"}),
    "load-lora": Verb(
        target="--deployment",
        argument="addons.load",
        options={"public": "--public", "replace_merged_addon": "--replace-merged-addon"},
    ),
    "unload-lora": Verb(target="--deployment", argument="addons.load"),
    "router create": Verb(
        target="--router-id", options={**_ROUTER, "model": "--model"}, joined=frozenset({"deployments"})
    ),
    "router update": Verb(
        options={**_ROUTER, "session_affinity": "--session-affinity"}, joined=frozenset({"deployments"})
    ),
    "router delete": Verb(),
    "dataset create": Verb(argument="file"),
    "supervised-fine-tuning-job create": Verb(
        target="--job-id",
        options={
            "base_model": "--base-model",
            "dataset": "--dataset",
            "output_model": "--output-model",
            "epochs": "--epochs",
            "lora_rank": "--lora-rank",
        },
    ),
    "dataset get": Verb(reads=True),
    "supervised-fine-tuning-job get": Verb(reads=True),
    "deployment get": Verb(reads=True),
    "deployment list": Verb(None, options={**_LIST, "show_deleted": "--show-deleted"}, reads=True),
    "deployment-shape get": Verb(reads=True),
    "deployment-shape list": Verb(None, options=_LIST, reads=True),
    "deployment-shape-version get": Verb(reads=True),
    "deployment-shape-version list": Verb(options={**_LIST, "base_model": "--base-model"}, reads=True),
    "deployment-shape-version match": Verb(target="--model", reads=True),
    "deployment-metrics list": Verb(
        None,
        options={
            "metric": "--metric",
            "group_by": "--group-by",
            "start": "--start",
            "end": "--end",
            "interval": "--interval",
        },
        reads=True,
    ),
    "deployed-model get": Verb(reads=True),
    "deployed-model list": Verb(None, options=_LIST, reads=True),
    "model get": Verb(reads=True),
    "model list": Verb(None, options=_LIST, reads=True),
    "quota list": Verb(None, options=_LIST, reads=True),
    "quota get": Verb(reads=True),
    "router get": Verb(reads=True),
    "router list": Verb(None, options=_LIST, reads=True),
    "reservation get": Verb(reads=True),
    "reservation list": Verb(None, options=_LIST, reads=True),
    "account get": Verb(reads=True),
    "account list": Verb(None, options=_LIST, reads=True),
    "billing list-invoices": Verb(None, reads=True),
    "billing export-metrics": Verb(
        None,
        options={"start_time": "--start-time", "end_time": "--end-time", "filename": "--filename"},
    ),
    "billing get-usage": Verb(
        None, options={"start_time": "--start-time", "end_time": "--end-time"}, reads=True
    ),
    "whoami": Verb(None),
    "version": Verb(None),
}
