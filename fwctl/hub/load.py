"""Where an architecture comes from: a file, a folder, the catalogue, or a hub repository."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fwctl.catalog import architectures
from fwctl.errors import NetworkError, UsageError
from fwctl.hub.documents import read
from fwctl.hub.http import get as http_get
from fwctl.hub.repository import HUB_ID, Get, Repository
from fwctl.hub.safetensors import Sizes, folder_sizes

QUANT_NAME = "hf_quant_config.json"
_HUB_PREFIXES = ("https://huggingface.co/", "https://hf.co/", "hf://", "hub:")
_LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
_NESTED = ("text_config", "llm_config", "language_config", "thinker_config")


class Found(NamedTuple):
    """What was found. config None: nothing, `missing` says why and what to do. sizes: exact bytes of
    the checkpoint when its headers or index could be read."""

    config: Mapping[str, Any] | None
    hf_quant_config: Mapping[str, Any] | None = None
    sizes: Sizes | None = None
    origin: str = ""
    missing: tuple[str, ...] = ()


def load(
    reference: str,
    *,
    folder: Path,
    environ: Mapping[str, str],
    network: bool = True,
    exact_sizes: bool = False,
    get: Get = http_get,
) -> Found:
    """The config behind a reference: a path (relative to `folder`), a catalogue name, a hub id or URL.

    A file wins over a name, the catalogue over the network, a `hub:` or URL reference always asks the
    hub. exact_sizes also reads safetensors headers, of a folder or of a repository that is asked anyway.
    UsageError for a file that exists and cannot be
    used, or a path that does not exist; what the network refuses is a reason in `missing`.
    """
    hub = _hub_id(reference)
    if hub is None:
        path = folder / reference
        if path.exists():
            return _from_disk(path, exact_sizes)
        if reference.endswith(".json") or reference.startswith((".", "/", "~")):
            raise UsageError(f"{path} does not exist")
    known = architectures.entry(hub or reference)
    if known is not None and (hub is None or not network):
        return Found(known.config, origin=f"catalogue: {known.hub} ({known.source})")
    repository = hub or (reference if HUB_ID.fullmatch(reference) else None)
    if repository is None or not network:
        advice = "is not in the catalogue; give its config.json"
        return Found(None, missing=(f"the architecture of {reference} {advice}",))
    return _from_hub(Repository(repository, environ, get=get), known, exact_sizes)


def _hub_id(reference: str) -> str | None:
    for prefix in _HUB_PREFIXES:
        if reference.startswith(prefix):
            return "/".join(reference.removeprefix(prefix).split("?")[0].split("/")[:2])
    return None


def _from_disk(path: Path, exact_sizes: bool) -> Found:
    file = path / "config.json" if path.is_dir() else path
    config = read(file)
    beside = [file.with_name(QUANT_NAME), file.with_name(f"{file.stem}.{QUANT_NAME}")]
    quant = next((read(f) for f in beside if f != file and f.is_file()), None)
    sizes = folder_sizes(file.parent, layers_of(config)) if exact_sizes else None
    return Found(config, quant, sizes, str(file))


def _from_hub(repository: Repository, known: architectures.Model | None, exact_sizes: bool) -> Found:
    """The hub's own config; the catalogue's when the hub cannot be asked."""
    try:
        config = repository.document("config.json")
        if config is None:
            return Found(None, missing=(f"{repository.name} has no config.json",))
        quant = repository.document(QUANT_NAME)
        sizes = repository.sizes(layers_of(config)) if exact_sizes else None
    except NetworkError as error:
        if known is not None:
            origin = f"catalogue: {known.hub} (the hub was not read: {error.message})"
            return Found(known.config, origin=origin)
        advice = "save its config.json and name the file"
        return Found(None, missing=(f"{repository.name} was not read: {error.message}; {advice}",))
    return Found(config, quant, sizes, f"hub: {repository.name}")


def layers_of(config: Mapping[str, Any]) -> int | None:
    """The number of layers that a config states, in its text part if it has one."""
    for level in (config, *(config[n] for n in _NESTED if isinstance(config.get(n), Mapping))):
        for name in _LAYERS:
            value = level.get(name)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None
