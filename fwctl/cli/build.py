"""From the registry to a typer application that imports a command's module only when it is used."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from importlib import import_module
from typing import Annotated, Any, cast, get_args

import typer
from typer.core import TyperCommand, TyperGroup

from fwctl.cli import helptext, registry
from fwctl.cli.command import Call, Command
from fwctl.cli.options import COMMON, COMMON_NAMES, resolve
from fwctl.cli.output import Output
from fwctl.env import Env
from fwctl.errors import UsageError
from fwctl.report.layout import Page
from fwctl.report.model import Report

_CONTEXT = {"help_option_names": ["-h", "--help"]}
SUMMARY = """Declarative deployments, fit checks and measurements for LLMs on Fireworks AI.

Specs are YAML files, by default in configs/. Start with `fwctl demo`: it runs everything on the
embedded simulator, without an account."""


class Run:
    """Carried through one typer run: the environment in, the report out."""

    def __init__(self, env: Env) -> None:
        self.env = env
        self.output = Output(env)
        self.report: Report | None = None


class _Coercion:
    """Text of the command line to str, int, float, bool or a list of them.

    Typer does this through pydantic, whose import costs more than the rest of a small command.
    """

    def __init__(self, annotation: Any) -> None:
        self.annotation = annotation

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        if param.multiple or param.nargs == -1:
            return [] if value is None else list(value)
        kind = next(
            (kind for kind in (int, float) if kind in (self.annotation, *get_args(self.annotation))), None
        )
        if value is None or kind is None:
            return value
        try:
            return kind(value)
        except ValueError:
            name = {int: "a whole number", float: "a number"}[kind]
            raise typer.BadParameter(f"{value!r} is not {name}.", ctx=ctx, param=param) from None


def _cheap(params: list[Any]) -> list[Any]:
    for param in params:
        if not isinstance(param._runtime_param, _Coercion):
            param._runtime_param = _Coercion(param.type_descriptor.annotation)
    return params


class HelpedCommand(TyperCommand):
    """A command whose help shows its own options, the common ones apart, and examples unwrapped."""

    examples: tuple[str, ...] = ()
    formats: tuple[str, ...] = ()

    def get_params(self, ctx: Any) -> list[Any]:
        return _cheap(super().get_params(ctx))

    def get_help(self, ctx: Any) -> str:
        page = _help_page(ctx)
        helptext.write_command(
            page,
            f"{ctx.command_path} [OPTIONS]",
            self.help or "",
            params=self.get_params(ctx),
            formats=self.formats,
            examples=self.examples,
        )
        return page.text().rstrip("\n")


class LazyGroup(TyperGroup):
    """A group that knows its members' names from the registry."""

    prefix = ""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.commands = dict.fromkeys(self.names(), cast(Any, None))

    def get_params(self, ctx: Any) -> list[Any]:
        return _cheap(super().get_params(ctx))

    def names(self) -> dict[str, tuple[str, str]]:
        """Member -> (summary, section of the help)."""
        if not self.prefix:
            return registry.top_level()
        return {name: (entry.summary, "Commands") for name, entry in registry.members(self.prefix).items()}

    def list_commands(self, ctx: Any) -> list[str]:  # noqa: ARG002 - typer's signature
        return list(self.names())

    def get_command(self, ctx: Any, cmd_name: str) -> Any:  # noqa: ARG002 - typer's signature
        if not self.prefix and cmd_name in registry.GROUPS:
            return group(cmd_name) if registry.members(cmd_name) else None
        entry = registry.BY_NAME.get(f"{self.prefix} {cmd_name}".strip())
        return build(entry) if entry else None

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """A command of two words whose first is a command too (`watch rules`) goes before that."""
        entry = None if self.prefix else registry.BY_NAME.get(" ".join(args[:2]))
        if entry is not None and args[0] not in registry.GROUPS:
            return entry.name, build(entry), args[2:]
        meant = None if self.prefix else registry.ELSEWHERE.get(args[0])
        if meant is not None:
            raise UsageError(
                f"no such command {args[0]!r}. Did you mean {meant!r}?", next_steps=[f"fwctl {meant} --help"]
            )
        return super().resolve_command(ctx, args)

    def get_help(self, ctx: Any) -> str:
        sections: dict[str, list[tuple[str, str]]] = {}
        for name, (summary, section) in self.names().items():
            sections.setdefault(section, []).append((name, summary))
        page = _help_page(ctx)
        usage = ctx.command_path + " [OPTIONS]"
        helptext.write_group(page, usage, self.help or "", sections, common=not self.prefix)
        return page.text().rstrip("\n")


def _help_page(ctx: Any) -> Page:
    run: Run = ctx.find_root().obj
    style = run.output.style(run.env.stdout)
    return Page(replace(style, width=helptext.width_of(style.width)))


def application() -> Any:
    """The whole command line as one typer group."""
    return group("")


def group(prefix: str) -> Any:
    """The root (empty prefix) or one group such as `sim`."""
    summary = registry.GROUPS[prefix][0] if prefix else SUMMARY
    cls = type("Group", (LazyGroup,), {"prefix": prefix})
    app = typer.Typer(
        cls=cls,
        add_completion=False,
        rich_markup_mode=None,
        help=summary,
        pretty_exceptions_enable=False,
        context_settings=_CONTEXT,
    )
    app.callback()(_with_signature(lambda **_: None, []))
    return typer.main.get_command(app)


def load(entry: registry.Entry) -> Command:
    """The declared command of a registry entry."""
    found = getattr(import_module(f"fwctl.cli.commands.{entry.module}"), entry.function)
    assert isinstance(found, Command)
    return found


def build(entry: registry.Entry) -> Any:
    """The typer command of a registry entry."""
    declared = load(entry)

    def callback(typer_context: typer.Context, **options: Any) -> None:
        run: Run = typer_context.obj
        mine = {name: value for name, value in options.items() if name not in COMMON_NAMES}
        settings = resolve(_given(typer_context), run.env.environ, declared.formats)
        run.output = Output(
            run.env, settings.format, settings.quiet, settings.verbose, settings.no_color, settings.json_out
        )
        run.output.check()
        run.report = declared.invoke(Call(run.env, settings, run.output), mine)
        run.output.result(run.report)

    cls = type("Command", (HelpedCommand,), {"examples": declared.examples, "formats": declared.formats})
    app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)
    app.command(
        context_settings=_CONTEXT,
        name=entry.name.rpartition(" ")[2],
        help=inspect.getdoc(declared.function),
        short_help=entry.summary,
        cls=cls,
    )(_with_signature(callback, declared.parameters))
    return typer.main.get_command(app)


def _with_signature(function: Callable[..., None], own: Iterable[inspect.Parameter]) -> Callable[..., None]:
    keyword = inspect.Parameter.KEYWORD_ONLY
    parameters = [inspect.Parameter("typer_context", keyword, annotation=typer.Context)]
    parameters += [item.replace(kind=keyword) for item in own]
    for option in COMMON:
        kind: Any = bool if option.metavar is None else str | None
        info = typer.Option(*option.flags, help=option.help, metavar=option.metavar, show_default=False)
        default = False if option.metavar is None else None
        parameters.append(
            inspect.Parameter(option.name, keyword, default=default, annotation=Annotated[kind, info])
        )
    function.__annotations__ = {}
    cast(Any, function).__signature__ = inspect.Signature(parameters)
    return function


def _given(context: Any) -> Mapping[str, Any]:
    """Common options by name; the one nearest to the command wins."""
    values: dict[str, Any] = {}
    level = context
    while level is not None:
        for name in COMMON_NAMES:
            values[name] = values.get(name) or level.params.get(name)
        level = level.parent
    return values
