"""What a schema and a type of an SDK's package say, so that both can be walked together, field by field."""

from __future__ import annotations

import datetime as dt
import json
import types
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from pydantic.fields import FieldInfo

Json = dict[str, Any]
PRIMITIVES = {
    str: "string", int: "integer", float: "number", bool: "boolean", types.NoneType: "null", dt.datetime: "string",
}  # fmt: skip


@dataclass(frozen=True)
class SchemaFolder:
    """The schemas of an API."""

    name: str

    def load(self, name: str) -> Json:
        path = Path(__file__).parents[3] / "schemas" / self.name / f"{name}.json"
        content: Json = json.loads(path.read_text(encoding="utf-8"))
        return content

    def resolved(self, node: Json, file: str) -> tuple[Json, str]:
        """A schema behind its references, and the file it stands in."""
        while "$ref" in node:
            name, _, pointer = node["$ref"].partition("#")
            file = name.removesuffix(".json") or file
            node = self.load(file)
            for step in pointer.split("/")[1:]:
                node = node[step]
        return node, file


def members(kind: Any) -> Iterator[Any]:
    """The types of a union."""
    if get_origin(kind) is Annotated:
        yield from members(get_args(kind)[0])
    elif get_origin(kind) in {Union, types.UnionType}:
        for one in get_args(kind):
            yield from members(one)
    else:
        yield kind


def models_of(kind: Any) -> list[type[BaseModel]]:
    return [one for one in members(kind) if isinstance(one, type) and issubclass(one, BaseModel)]


def fields_of(model: type[BaseModel]) -> dict[str, FieldInfo]:
    """By the names that are sent."""
    return {field.alias or name: field for name, field in model.model_fields.items()}


def discriminator(model: type[BaseModel]) -> str | None:
    """The one value of its `type`; None: it has none."""
    field = model.model_fields.get("type")
    literals = [get_args(one) for one in members(field.annotation) if get_origin(one) is Literal] if field else []
    return literals[0][0] if literals else None


def words(
    kind: Any, nodes: Iterable[Json], path: str, *, any_word: bool = False, ours_alone: Iterable[str] = ()
) -> Iterator[str]:
    """Where the plain types and literals of the schemas are not those of the type.

    Args:
        kind: The type.
        nodes: The schemas, of which a value is to keep one.
        path: Where they stand.
        any_word: Whether any text may stand where the type has literals.
        ours_alone: Literals that the schemas have, and the type has not.
    """
    theirs = {"string"} if any_word else set[str]()
    for one in members(kind):
        origin = get_origin(one)
        if origin is Literal:
            theirs |= {json.dumps(value) for value in get_args(one)}
        elif isinstance(one, type) and issubclass(one, BaseModel):
            theirs.add("object")
        elif one is not object:
            theirs.add({list: "array", dict: "object"}.get(origin) or PRIMITIVES[one])
    if "string" in theirs:
        theirs = {word for word in theirs if not word.startswith('"')}
    ours: set[str] = set()
    for node in nodes:
        named = node.get("type", [])
        ours |= {named} if isinstance(named, str) else set(named)
        ours |= {"null" if value is None else json.dumps(value) for value in node.get("enum", ())}
        ours |= {json.dumps(node["const"])} if "const" in node else set()
    if ours - set(ours_alone) != theirs:
        yield f"{path}: the schema allows {sorted(ours)}, the type {sorted(theirs)}"
