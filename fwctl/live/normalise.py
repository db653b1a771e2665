"""From firectl's objects to live values in the words and units of the spec.

Driven by the `live` paths of the field table. The platform adds fields and enum values without notice:
what is unknown is carried through, what is missing counts as zero, and nothing here refuses an object.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from fwctl.catalog.canonical import canonical, region
from fwctl.catalog.field import Field, Kind, Owner
from fwctl.catalog.fields import BY_PATH, PLATFORM_FIELDS
from fwctl.live.marker import TAG_PREFIX, combine, read_tags, split_description
from fwctl.live.model import LiveDeployment, LiveModel, Marker, Replicas, ShapeVersion
from fwctl.redact import MASK, Secret

CUSTOM_TAG = "custom/"  # firectl hides this prefix (deployment tags page)
SECRET_KEYS = ("direct_route_api_keys",)
_MANAGED_PATHS = tuple(row.path for row in PLATFORM_FIELDS)
_REPLICAS = {
    "min": "min_replica_count",
    "max": "max_replica_count",
    "desired": "desired_replica_count",
    "ready": "ready_replica_count",
    "pending": "pending_scheduling_replica_count",
    "downloading": "downloading_model_replica_count",
    "initializing": "initializing_replica_count",
}
_ALWAYS_PRESENT = ("replicas.min", "replicas.max")  # zero is a meaning of its own: scaled to zero, parked


def account_of(name: str) -> str:
    """`acme` of `accounts/acme/deployments/chat`; empty when it is not a full name."""
    parts = name.split("/")
    return parts[1] if len(parts) >= 2 and parts[0] == "accounts" else ""


def short_id(name: str) -> str:
    return name.rsplit("/", 1)[-1]


def shape_of(version: str) -> str:
    """The shape's name of one of its version names; a shape name stays as it is."""
    return version.partition("/versions/")[0]


def full_name(name: str, account: str, collection: str = "models") -> str:
    """A bare ID belongs to the own account, as firectl resolves it."""
    return name if "/" in name else f"accounts/{account}/{collection}/{name}"


def normalise_deployment(raw: Mapping[str, Any]) -> LiveDeployment:
    """One deployment of `deployment list -o json`; its direct-route keys survive only as secrets."""
    name = _text(raw.get("name"))
    description, marker = split_description(_text(raw.get("description")))
    tags = _tags(raw.get("annotations"))
    fields = _fields(raw)
    _put(fields, "description", description)
    _put(fields, "tags", {k: v for k, v in tags.items() if not k.startswith(TAG_PREFIX)})
    status = _mapping(raw.get("status"))
    return LiveDeployment(
        name=name,
        deployment_id=short_id(name),
        account=account_of(name),
        state=_state(raw.get("state")),
        fields=fields,
        marker=combine(marker, _tag_marker(tags)),
        replicas=_replicas(raw),
        running_region=_enum(raw.get("region")),
        status_code=_text(status.get("code")) or "OK",
        status_message=_text(status.get("message")),
        created=_time(raw.get("create_time")),
        deleted=_time(raw.get("delete_time")),
        purge=_time(raw.get("purge_time")),
        raw=_without_secrets(raw),
    )


def _tag_marker(tags: Mapping[str, str]) -> Marker | None:
    return read_tags(tags, _MANAGED_PATHS)


def _fields(raw: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for row in PLATFORM_FIELDS:
        if row.live is not None:
            read = _SPECIAL.get(row.path, _plain)
            _put(fields, row.path, read(row, _at(raw, row.live)))
    return fields


def _put(fields: dict[str, Any], path: str, value: Any) -> None:
    """Zero and absent are one thing in proto JSON; replica bounds are always said."""
    fields.pop(path, None)
    if value not in (None, "", 0, False, [], {}):
        fields[path] = value
    elif path in _ALWAYS_PRESENT:
        fields[path] = 0


def _at(raw: Mapping[str, Any], path: str) -> Any:
    value: Any = raw
    for key in path.split("."):
        value = _mapping(value).get(key)
    return value


def _plain(row: Field, value: Any) -> Any:
    convert = _BY_KIND.get(row.kind)
    if value is None or convert is None:
        return value
    try:
        return canonical(row, convert(value))
    except (TypeError, ValueError, AttributeError):
        return value  # not what the platform sends today: shown as it is, never refused


def _whole(value: Any) -> Any:
    """int64 travels as text."""
    return int(value) if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,18}", value) else value


def _flag(value: Any) -> bool:
    """The text `false` is not true."""
    return value is True or _text(value).lower() in ("true", "1")


def _enum(value: Any) -> str | None:
    text = _text(value)
    return None if not text or text.endswith("UNSPECIFIED") else text


def _duration(value: Any) -> Any:
    """REST says `300s` or `0.5s`, a message form `{seconds, nanos}` is understood too."""
    if isinstance(value, Mapping):
        return float(value.get("seconds", 0)) + float(value.get("nanos", 0)) / 1e9
    return value


_BY_KIND: Mapping[Kind, Callable[[Any], Any]] = {
    Kind.INT: _whole,
    Kind.BOOL: _flag,
    Kind.TEXT: str,
    Kind.DURATION: _duration,
    Kind.ENUM: _enum,
    Kind.REGION: _enum,
    Kind.MODEL: str,
    Kind.SHAPE: str,
    Kind.NAME: str,
    Kind.URL: str,
    Kind.ID: str,
    Kind.SCHEDULES: list,
    Kind.TARGETS: lambda value: {str(k): float(v) for k, v in value.items()},
}


def _duration_text(row: Field, value: Any) -> Any:
    text = _plain(row, value)
    return None if text == "0s" else text


def _placement(_row: Field, value: Any) -> Any:
    """Exactly one of multi_region, region and regions is set; a plain name is understood too."""
    place = _mapping(value)
    listed = place.get("regions")
    many = sorted(region(item) for item in listed if _enum(item)) if isinstance(listed, list | tuple) else []
    plain = value if isinstance(value, str) else None
    named = _enum(plain) or _enum(place.get("multi_region")) or _enum(place.get("region"))
    return region(named) if named else ",".join(many) or None


def _addon_mode(_row: Field, value: Any) -> str | None:
    return "multi_lora" if _flag(value) else None


def _secrets(_row: Field, value: Any) -> list[Secret]:
    return [Secret(MASK, _text(item)) for item in value] if isinstance(value, list | tuple) else []


def _schedules(row: Field, value: Any) -> Any:
    if not isinstance(value, list | tuple):
        return None
    rows = []
    for item in value:
        schedule: dict[str, Any] = {}
        for child in row.children:
            _put(schedule, child.path, _plain(child, _mapping(item).get(child.live or child.path)))
        schedule.setdefault("min_replicas", 0)
        rows.append(schedule)
    return _plain(row, rows)


_SPECIAL: Mapping[str, Callable[[Field, Any], Any]] = {
    "region": _placement,
    "addons.mode": _addon_mode,
    "direct_route.api_keys": _secrets,
    "autoscaling.schedules": _schedules,
    "autoscaling.scale_up_window": _duration_text,
    "autoscaling.scale_down_window": _duration_text,
    "autoscaling.scale_to_zero_window": _duration_text,
    "tags": lambda _row, _value: None,  # with the marker, see normalise_deployment
}


def _tags(annotations: Any) -> dict[str, str]:
    return {
        key.removeprefix(CUSTOM_TAG): _text(value)
        for key, value in sorted(_mapping(annotations).items())
        if isinstance(key, str) and key.startswith(CUSTOM_TAG)
    }


def all_tags(live: LiveDeployment) -> dict[str, str]:
    """Every tag that users can write, fwctl's own included, without the platform's prefix."""
    return _tags(live.raw.get("annotations"))


def _state(value: Any) -> str:
    """Blank means READY, as in firectl's own list."""
    return _enum(value) or "READY"


def _replicas(raw: Mapping[str, Any]) -> Replicas:
    everything = {**_mapping(raw.get("replica_stats")), **raw}
    counts = {key: _whole(everything.get(live)) for key, live in _REPLICAS.items()}
    return Replicas(**{key: n if isinstance(n, int) else 0 for key, n in counts.items()})


def _without_secrets(raw: Mapping[str, Any]) -> dict[str, Any]:
    return {key: [MASK] if key in SECRET_KEYS and value else value for key, value in raw.items()}


def normalise_shape_version(raw: Mapping[str, Any]) -> ShapeVersion:
    """One version of a shape; its snapshot keeps only what the shape decides."""
    name = _text(raw.get("name"))
    snapshot = _mapping(raw.get("snapshot"))
    fields = _fields(snapshot)
    return ShapeVersion(
        name=name,
        shape=shape_of(name),
        version=short_id(name),
        validated=_flag(raw.get("validated")),
        latest_validated=_flag(raw.get("latest_validated")),
        base_model=_text(snapshot.get("base_model")),
        preset=_enum(snapshot.get("preset_type")),
        snapshot={p: v for p, v in fields.items() if BY_PATH[p].owner is Owner.SHAPE},
        raw=raw,
    )


def normalise_model(raw: Mapping[str, Any], name: str = "") -> LiveModel:
    """A model of `model get -o json`; a kind that is absent means LoRA (OpenAPI 5.10.0, Model.kind)."""
    base = _mapping(raw.get("base_model_details"))
    return LiveModel(
        name=_text(raw.get("name")) or name,
        kind=_enum(raw.get("kind")) or "HF_PEFT_ADDON",
        parameter_count=_positive(base.get("parameter_count")),
        context_length=_positive(raw.get("context_length")),
        hugging_face_url=_text(raw.get("hugging_face_url")) or None,
        default_precision=_enum(base.get("default_precision")),
        base_model=_text(_mapping(raw.get("peft_details")).get("base_model")) or None,
        raw=raw,
    )


def _positive(value: Any) -> int | None:
    number = _whole(value)
    return number if isinstance(number, int) and number > 0 else None


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _time(value: Any) -> datetime | None:
    try:
        moment = datetime.fromisoformat(_text(value))
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
