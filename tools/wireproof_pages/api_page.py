"""The page of `docs/` on what Python programs may use: the names in `__all__` of packages, with their docstrings."""

from __future__ import annotations

import ast
import inspect
import re
import textwrap
from dataclasses import is_dataclass
from enum import Enum
from importlib import import_module
from typing import TYPE_CHECKING, cast, get_args

from wireproof.targets.option import Options
from wireproof_pages.markup import note, shown, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from wireproof.targets.option import Option

PACKAGES = ("wireproof", "wireproof_endpoint")
"""The packages whose `__all__` is meant for other programs, in the order of the page."""
LEAD = """\
Programs may use the names on this page, as they are imported here. Everything else is internal, and may change in any
release. The pytest fixture `wireproof_endpoint` is an `EndpointFixture`; see [testing.md](testing.md)."""


def api_page() -> str:
    """The page."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield from ("# What programs may use", "", note("`__all__` of each package"), "", LEAD)
    for package in PACKAGES:
        module = import_module(package)
        yield from ("", f"## {package}", "", _prose(inspect.getdoc(module) or ""))
        for name in module.__all__:
            if not name.startswith("__"):
                yield from ("", f"### {package}.{name}", "", *_described(name, getattr(module, name)))


def _described(name: str, value: object) -> Iterator[str]:
    if isinstance(value, type):
        yield from (_prose(inspect.getdoc(value) or ""), *_members(value))
    elif callable(value):
        yield from (f"```python\n{name}{_signature(value)}\n```", "", _prose(inspect.getdoc(value) or ""))
    else:
        yield (f"All {len(value)}, as a tuple of {_kinds(value)}." if isinstance(value, tuple) else f"`{value!r}`")


def _members(class_: type) -> Iterator[str]:
    """The members of an enumeration, the fields of a dataclass, and what else is public in a class of ours."""
    fields = list(_fields(class_))
    if fields:
        head = ("member" if issubclass(class_, Enum) else "field", "value" if issubclass(class_, Enum) else "type", "")
        yield from ("", table(head, fields))
    yield ""
    for name, member in vars(class_).items():
        inner = member.__func__ if isinstance(member, staticmethod | classmethod) else member
        if name.startswith("_") or not (inspect.isfunction(inner) or isinstance(inner, property)):
            continue
        words = (inspect.getdoc(inner) or "").split("\n")[0]
        yield f"- `{name}{'' if isinstance(inner, property) else _signature(inner)}`: {shown(words)}"


def _fields(class_: type) -> Iterator[tuple[str, str, str]]:
    """Name, type or value, and the docstring that stands under it, of each field that the class itself has."""
    if issubclass(class_, Options):
        # What an option takes stands in its annotation, beside the type; what it means is its help.
        yield from ((f"`{one.field}`", f"`{_type_of(one)}`", shown(one.help)) for one in class_.options())
        return
    if not (is_dataclass(class_) or issubclass(class_, Enum)):
        return
    [definition] = ast.parse(textwrap.dedent(inspect.getsource(class_))).body
    statements = cast("ast.ClassDef", definition).body
    for at, statement in enumerate(statements):
        behind = statements[at + 1] if at + 1 < len(statements) else None
        words = ""
        if (
            isinstance(behind, ast.Expr)
            and isinstance(behind.value, ast.Constant)
            and isinstance(behind.value.value, str)
        ):
            words = " ".join(behind.value.value.split())
        match statement:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=kind) if not name.startswith("_"):
                yield f"`{name}`", f"`{ast.unparse(kind)}`", shown(words)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if issubclass(class_, Enum):
                yield f"`{name}`", f"`{ast.unparse(value)}`", shown(words)


def _type_of(option: Option) -> str:
    one = get_args(option.value)[0].__name__
    return f"tuple[{one}, ...]" if option.repeatable else f"{one} | None" if option.default is None else one


def _signature(function: Callable[..., object]) -> str:
    """The parameters without `self`; the annotations as the source has them."""
    found = inspect.signature(function)
    kept = [one for one in found.parameters.values() if one.name not in {"self", "cls"}]
    text = str(found.replace(parameters=kept)).replace("'", "")
    # Where annotations are evaluated, a class has the name of its module before its own.
    text = re.sub(r"\bwireproof\w*\.(?:\w+\.)*(?=\w)", "", text)
    # A default that is a function or an object: by its name or class, without the address, which differs each time.
    return re.sub(r"<(?:function )?(?:\w+\.)*(\S+)(?: object)? at 0x\w+>", r"<\1>", text)


def _prose(words: str) -> str:
    """A docstring as Markdown: code stays code, and a section such as `Raises:` becomes a list."""
    text = "\n\n".join(_block(block) for block in words.split("\n\n"))
    return text.replace("\n```\n\n```python\n", "\n\n")  # code with an empty line in it is one example


def _block(block: str) -> str:
    if block.startswith("    "):
        return f"```python\n{textwrap.dedent(block)}\n```"
    head, _, rest = block.partition("\n")
    if head in {"Args:", "Raises:", "Returns:", "Yields:"}:
        items = textwrap.dedent(rest).split("\n")
        joined = "\n".join(items).replace("\n    ", " ")
        return f"{head}\n\n" + "\n".join(f"- {shown(line)}" for line in joined.split("\n"))
    return shown(block)


def _kinds(values: tuple[object, ...]) -> str:
    """The names of the classes in a tuple."""
    return " and ".join(f"`{name}`" for name in sorted({type(one).__name__ for one in values}))
