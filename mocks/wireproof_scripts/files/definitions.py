"""The definitions of all steps: name, fields, and what may stand in each field, derived from `steps.Step`.

The reader and writer of script files (`json_form`), the JSON Schema (`schema`) and the page of the docs (`page`) all
work from these.
"""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import MISSING, dataclass, fields
from itertools import pairwise
from typing import TYPE_CHECKING, Any, get_args

from wireproof_scripts.default.schema_example import example
from wireproof_scripts.kinds import Kind, kind_of
from wireproof_scripts.steps import Script, Step

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_scripts.steps.when import When


@dataclass(frozen=True, kw_only=True, slots=True)
class Field:
    """A field of a step."""

    name: str
    kind: Kind[Any]
    """What may stand in it."""
    default: Any
    """Its value when it is not written; `MISSING` if it must be written."""

    @property
    def required(self) -> bool:
        """Whether it must be written."""
        return self.default is MISSING

    @property
    def nullable(self) -> bool:
        """Whether null may be written, which is the same as nothing."""
        return self.default is None


@dataclass(frozen=True, kw_only=True, slots=True)
class Definition:
    """A step."""

    name: str
    """Its name in files."""
    step: type[Step]
    fields: Mapping[str, Field]
    """Its fields by name, in order."""

    @property
    def needs_nothing(self) -> bool:
        """Whether its name alone is enough in a file."""
        return not any(field.required for field in self.fields.values())

    @property
    def shortest(self) -> Mapping[str, Any]:
        """The step as it stands in files with the least that must be written, each field an example of its kind."""
        return {self.name: {one.name: example(one.kind.schema) for one in self.fields.values() if one.required}}

    @property
    def first(self) -> Field | None:
        """The field that a bare value stands for; None if a step has no field or a second one must be written, too."""
        fields = tuple(self.fields.values())
        return fields[0] if fields and not any(field.required for field in fields[1:]) else None


def _definition(step: type[Step]) -> Definition:
    # `field.type` is no text: `steps` does not postpone annotations.
    found = [Field(name=field.name, kind=kind_of(field.type), default=field.default) for field in fields(step)]
    return Definition(name=_name(step), step=step, fields={field.name: field for field in found})


def _name(step: type[Step]) -> str:
    """The class name with hyphens: ErrorNotice is `error-notice`."""
    return re.sub(r"(?<!^)(?=[A-Z])", "-", step.__name__).lower()


DEFINITIONS: Mapping[str, Definition] = {_name(step): _definition(step) for step in get_args(Step)}
"""Every step by its name in files."""

NAMES: Mapping[type[Step], str] = {definition.step: name for name, definition in DEFINITIONS.items()}
"""The name of every step in files."""


def description(step: type[Step | Script]) -> str:
    """What the docstring of a step says, a paragraph a line."""
    return "\n".join(map(_unwrapped, inspect.cleandoc(step.__doc__ or "").split("\n\n")))


def field_descriptions(step: type[Step | Script | When]) -> Mapping[str, str]:
    """What the string under each field says.

    Python does not keep these strings, so this reads the source of the class: for making docs, not for playing scripts.
    """
    tree = ast.parse(textwrap.dedent(inspect.getsource(step)))
    return dict(_described(next(node for node in tree.body if isinstance(node, ast.ClassDef)).body))


def _described(body: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    for field, text in pairwise(body):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=str(words))):
                yield name, _unwrapped(inspect.cleandoc(words))


def _unwrapped(paragraph: str) -> str:
    return " ".join(paragraph.split())
