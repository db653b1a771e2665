"""Which prices hold: the published ones of today, with a contract's in their place."""

from __future__ import annotations

from pathlib import Path

from fwctl.catalog.prices import PriceList, published, with_contract
from fwctl.cli.command import Call
from fwctl.errors import InvalidSpecError
from fwctl.spec.model import Spec

_LARGEST_BYTES = 2**20


def price_list(call: Call, spec: Spec | None) -> PriceList:
    """Published prices of today; `settings.prices` of the spec wins. Raises InvalidSpecError."""
    base, path = published(call.env.clock.now().date()), own_price_file(call, spec)
    if spec is None or path is None:
        return base
    return with_contract(base, price_document(call.env.cwd / path), str(spec.settings["prices"]))


def own_price_file(call: Call, spec: Spec | None) -> Path | None:
    """The file that `settings.prices` names, which stands beside one of the spec files; None without it."""
    name = spec.settings.get("prices") if spec else None
    if spec is None or not name:
        return None
    folders = [Path(file).parent for file in spec.sha256] or [Path()]
    candidates = [folder / str(name) for folder in dict.fromkeys(folders)]
    return next((item for item in candidates if (call.env.cwd / item).is_file()), candidates[0])


def price_document(path: Path) -> object:
    """The YAML of a price file. Raises InvalidSpecError."""
    import yaml

    try:
        if path.exists() and not path.is_file() and not path.is_dir():  # a pipe could stay silent for ever
            raise InvalidSpecError(f"price file {path} cannot be read: it is not a regular file")
        with path.open("rb") as file:
            data = file.read(_LARGEST_BYTES + 1)
        if len(data) > _LARGEST_BYTES:
            raise InvalidSpecError(f"price file {path} is larger than 1 MiB")
        return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    except OSError as error:
        raise InvalidSpecError(f"price file {path} cannot be read: {error.strerror}") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise InvalidSpecError(f"price file {path} is not YAML: {str(error).splitlines()[0]}") from None
