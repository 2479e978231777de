"""What commands take: options of a run, which arrive by the name of their field, and what several commands share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.shell_completion import CompletionItem

from wireproof.model.verdict import VerdictLevel
from wireproof.targets.kinds import LONGEST, OptionError

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from wireproof.targets.option import Option, Options

_Command = TypeVar("_Command", bound="Callable[..., Any]")

if TYPE_CHECKING:
    _ParamType = click.ParamType[Any]
else:  # generic in the stubs of newer versions only
    _ParamType = click.ParamType

FOLDER = click.argument("folder_", metavar="DIR", type=click.Path(path_type=Path))
FOLDERS = click.argument("folders", metavar="DIR...", nargs=-1, required=True, type=click.Path(path_type=Path))
"""Folders of saved results."""
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


class Measure(click.FloatRange):
    """A number between two limits, and not NaN, which click's own range lets pass."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> float:  # noqa: ANN401
        """The number."""
        found: float = super().convert(value, param, ctx)
        if math.isnan(found):
            self.fail(f"{value!r} is not a number.", param, ctx)
        return found


def seconds(least: float) -> Measure:
    """A time that can be waited for, and is not shorter than this."""
    return Measure(least, LONGEST)


def level_option(default: VerdictLevel, does: str) -> Callable[[_Command], _Command]:
    """`--level`, as the parameter `level`; `does` is its help."""
    names = [one.value for one in VerdictLevel]
    return click.option("--level", type=click.Choice(names), default=default.value, show_default=True, help=does)


class _Value(_ParamType):
    """What an option takes, read as the option itself reads it."""

    def __init__(self, option: Option) -> None:
        self.name, self._option = option.name, option

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> object:
        """The value; click calls it for a default, too."""
        try:
            return self._option.read(value)
        except OptionError:
            # click names the option itself.
            self.fail(f"{self._option.shown(value)} should be {self._option.kind.right}.", param, ctx)

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """What a shell offers: the members of an enumeration, files, folders."""
        kind = self._option.kind
        if kind.path:
            return [CompletionItem(incomplete, type=kind.path)]
        if kind.members:
            return [CompletionItem(one) for one in kind.members if one.startswith(incomplete)]
        return super().shell_complete(ctx, param, incomplete)


def with_options(*groups: type[Options], fields: Collection[str] = ()) -> Callable[[_Command], _Command]:
    """A decorator that gives a command the options of these groups; each arrives by the name of its field.

    `fields`: of which fields; empty: of all.
    """
    options = [one for group in groups for one in group.options() if not fields or one.field in fields]

    def decorate(command: _Command) -> _Command:
        # Decorators apply from the last to the first, so the last option must be added first to be shown last.
        for option in reversed(options):
            command = _click_option(option)(command)
        return command

    return decorate


def _click_option(option: Option) -> Callable[[_Command], _Command]:
    names = (*(f"--{name}" for name in option.names), option.field)
    if option.off:
        # None where neither is given: a target file may say it then.
        return click.option(f"--{option.name}/--{option.off}", option.field, default=None, help=option.full_help)
    return click.option(
        *names, type=_Value(option), metavar=option.kind.metavar, multiple=option.repeatable, help=option.full_help
    )
