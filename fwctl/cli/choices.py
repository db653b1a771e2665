"""Options that decide what a plan is about and which guards are lifted; plan, apply and others share them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Annotated, Any

import typer

from fwctl.errors import UsageError
from fwctl.planning.options import PlanOptions


def _names(flag: str, text: str) -> Any:
    return typer.Option(flag, metavar="NAME", help=f"{text} May be repeated.", show_default=False)


def _switch(flag: str, text: str) -> Any:
    return typer.Option(flag, help=text, show_default=False)


@dataclass(frozen=True)
class PlanChoices:
    """One field for each option; None and False mean not given."""

    target: Annotated[list[str] | None, _names("--target", "Only this deployment.")] = None
    exclude: Annotated[list[str] | None, _names("--exclude", "Not this deployment.")] = None
    prune: Annotated[
        bool, _switch("--prune", "Delete this stack's deployments that the specs no longer have.")
    ] = False
    upgrade_shapes: Annotated[
        bool, _switch("--upgrade-shapes", "Move existing deployments to the newest validated shape version.")
    ] = False
    adopt: Annotated[
        list[str] | None, _names("--adopt", "Take over this deployment, which carries no marker.")
    ] = None
    allow_delete: Annotated[
        list[str] | None, _names("--allow-delete", "Let this deployment be deleted or replaced.")
    ] = None
    allow_traffic_loss: Annotated[
        list[str] | None, _names("--allow-traffic-loss", "Let it be deleted within an hour of traffic.")
    ] = None
    allow_scale_down: Annotated[
        list[str] | None, _names("--allow-scale-down", "Let its ceiling go below what runs now.")
    ] = None
    max_deletes: Annotated[
        int | None,
        typer.Option("--max-deletes", metavar="N", help="Most deletes and replacements.", show_default=False),
    ] = None
    require_fit: Annotated[
        bool, _switch("--require-fit", "Block what is tight, unknown or estimated not to fit.")
    ] = False
    no_lock: Annotated[bool, _switch("--no-lock", "Ignore fwctl.lock.")] = False

    def words(self) -> Iterator[str]:
        """The options that were given, as one types them."""
        for item in fields(self):
            value, flag = getattr(self, item.name), "--" + item.name.replace("_", "-")
            if value is True:
                yield flag
            elif value is not None and value is not False:  # 0 is a number of deletes
                for each in value if isinstance(value, list) else [value]:
                    yield from (flag, str(each))

    def to_options(self, sets: Mapping[str, Mapping[str, Any]] | None = None, **more: Any) -> PlanOptions:
        """The form that `planning` takes. Raises UsageError for what contradicts itself."""
        both = set(self.target or ()) & set(self.exclude or ())
        if both:
            raise UsageError(f"{min(both)!r} is named by --target and by --exclude")
        if self.max_deletes is not None and self.max_deletes < 0:
            raise UsageError("--max-deletes is a number from 0 on")
        return PlanOptions(
            targets=tuple(self.target or ()),
            excludes=tuple(self.exclude or ()),
            sets=sets or {},
            prune=self.prune,
            upgrade_shapes=self.upgrade_shapes,
            no_lock=self.no_lock,
            require_fit=self.require_fit,
            max_deletes=self.max_deletes,
            adopt=tuple(self.adopt or ()),
            allow_delete=tuple(self.allow_delete or ()),
            allow_traffic_loss=tuple(self.allow_traffic_loss or ()),
            allow_scale_down=tuple(self.allow_scale_down or ()),
            **more,
        )


@dataclass(frozen=True)
class Scope:
    """Where the specs are for a command whose arguments are names, and whose deployments it means."""

    specs: Annotated[
        list[str] | None,
        typer.Option(
            "--specs",
            metavar="PATH",
            help="Spec file or folder; configs/ when there is one. May be repeated.",
            show_default=False,
        ),
    ] = None
    stack: Annotated[
        str | None,
        typer.Option("--stack", metavar="STACK", help="Stack, when no spec says it.", show_default=False),
    ] = None

    @property
    def paths(self) -> list[str]:
        return self.specs or []
