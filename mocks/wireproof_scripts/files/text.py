"""Parses the text of a script file, YAML or JSON, into plain data, and finds the line and column of a place in it.

Only the part of YAML that has a meaning in JSON is read: what looks like a date is text, and other types are refused.
"""

from __future__ import annotations

import json
import re
from functools import cached_property
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import yaml

from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.json_text import parse_json

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Mapping

_PREFIX = "tag:yaml.org,2002:"
_TYPES = {_PREFIX + name for name in ("null", "bool", "int", "float", "str", "seq", "map", "merge")}


class _Loader(yaml.SafeLoader):
    """YAML with JSON's types, and no key twice in a mapping."""

    # Only what JSON has: PyYAML would read 2026-01-31 as a date, which no field takes, instead of as text.
    yaml_implicit_resolvers = {  # noqa: RUF012 - typeshed knows it as no class variable
        first: [(tag, pattern) for tag, pattern in resolvers if tag in _TYPES]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }
    yaml_constructors = {  # noqa: RUF012 - same
        tag: construct for tag, construct in yaml.SafeLoader.yaml_constructors.items() if tag is None or tag in _TYPES
    }

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:  # noqa: FBT001, FBT002 - the library's signature
        seen: set[str] = set()
        for key, _ in node.value:
            name = str(key.value)
            if name in seen:
                raise yaml.MarkedYAMLError(problem=f"the key {name} stands here twice", problem_mark=key.start_mark)
            seen.add(name)
        # PyYAML keeps the last of two equal keys without a word; the user would look for the first one in vain.
        return super().construct_mapping(node, deep)


def read_yaml(text: str) -> object:
    """The data of a YAML text.

    Raises:
        ScriptError: the text is not YAML; with line and column if the parser knows them.
    """
    try:
        return _data(text)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        at = (mark.line + 1, mark.column + 1) if mark else None
        raise ScriptError("", f"no YAML: {_problem(error, text)}", at=at) from error
    except (yaml.YAMLError, ValueError) as error:
        raise ScriptError("", f"no YAML: {error}") from error
    except RecursionError as error:
        raise ScriptError("", "it is nested too deeply") from error


_INDENTED = "the indentation does not fit: this line belongs to none of those above it"
_FURTHER = "the indentation does not fit: this line stands further right than the key above it"
_HINTS: Mapping[str, str] = {
    "found character '\\t'": "; indent with spaces",
    "but got ':'": "; a text with a colon and a space needs quotes",
    "mapping values are not allowed here": "; a text with a colon and a space needs quotes",
    "but got '<stream end>'": "; a bracket or a quote is not closed",
    "found unexpected end of stream": "; a bracket or a quote is not closed",
    "but found another document": "; a file holds one list: take out the line ---",
}
"""What the parser says → what would be right."""


def _problem(error: yaml.MarkedYAMLError, text: str) -> str:
    said = error.problem or error.context or "it cannot be read"
    if said.startswith("expected <block end>, but found '<block"):
        return _INDENTED
    if said.startswith("mapping values are not allowed") and _stands_further(error.problem_mark, text):
        return _FURTHER
    # The one message of the parser that goes on from its context.
    if said.startswith("but ") and error.context:
        said = f"{error.context}, {said}"
    return said + next((hint for words, hint in _HINTS.items() if words in said), "")


def _stands_further(mark: yaml.Mark | None, text: str) -> bool:
    """Whether the colon that does not fit follows a key with which a line begins: then its line is the mistake."""
    line = text.splitlines()[mark.line] if mark is not None and mark.line else ""
    return bool(mark and line[: mark.column].startswith(" ") and re.fullmatch(r" +[\w-]+", line[: mark.column]))


def _data(text: str) -> object:
    loader = _Loader(text)
    try:
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        return _finite(loader.construct_document(node))
    finally:
        loader.dispose()


MOST_VALUES = 1_000_000
"""The most values in a file, each as often as aliases repeat it."""


def _check_size(root: yaml.Node) -> None:
    """Check what the text becomes when its aliases are followed: a few lines may stand for billions of values.

    Raises:
        ScriptError: it becomes too much.
    """
    sizes: dict[int, int] = {}

    def size(node: yaml.Node) -> int:
        known = sizes.get(id(node))
        if known is None:
            sizes[id(node)] = 1  # what contains itself is found when it is constructed
            pairs = isinstance(node, yaml.MappingNode)
            inner = [part for pair in node.value for part in pair] if pairs else node.value
            known = 1 + (0 if isinstance(node, yaml.ScalarNode) else sum(map(size, inner)))
            if known > MOST_VALUES:
                mark = node.start_mark
                problem = f"its aliases stand for more than {MOST_VALUES} values; write less with each"
                raise ScriptError("", problem, at=(mark.line + 1, mark.column + 1))
            sizes[id(node)] = known
        return known

    size(root)


def read_json(text: str) -> object:
    """The data of a JSON text.

    Raises:
        ScriptError: the text is not JSON; with line and column if the parser knows them.
    """
    try:
        return parse_json(text, object_pairs_hook=_each_once)
    except json.JSONDecodeError as error:
        raise ScriptError("", f"no JSON: {error.msg}", at=(error.lineno, error.colno)) from error
    except ValueError as error:
        raise ScriptError("", f"no JSON: {error}") from error


READERS: Mapping[str, Callable[[str], object]] = {".json": read_json}


def _finite(data: object) -> object:
    """The data, unless it contains itself, as a YAML alias can make it.

    Raises:
        ValueError: it does.
    """
    json.dumps(data)
    return data


def _each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    data = dict(pairs)
    if len(data) < len(pairs):
        seen: set[str] = set()
        twice = next(name for name, _ in pairs if name in seen or seen.add(name))  # type: ignore[func-returns-value]
        raise ValueError(f"the key {twice} is in one object twice")
    return data


class Places:
    """Where in a YAML or JSON text something stands."""

    def __init__(self, text: str) -> None:
        self._text = text

    @cached_property
    def _root(self) -> yaml.Node | None:
        try:
            return yaml.compose(self._text, _Loader)  # also of JSON, whose own parser does not keep places
        except (yaml.YAMLError, RecursionError):
            return None

    def of(self, place: str) -> tuple[int, int] | None:
        """The line and column, from 1, at which `place` (`scripts[0].parts[1][0].say`) begins.

        If the place goes deeper than the text, as for the field of a bare value, it is that of its nearest ancestor.
        None if the text cannot be parsed.
        """
        node = self._root
        for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", place):
            node = _child(node, name, index)
        return (node.start_mark.line + 1, node.start_mark.column + 1) if node else None

    def located(self, error: ScriptError, script: str) -> ScriptError:
        """The error with line and column, and the name of the script if it has one."""
        return error.located(self.of(error.place), script)


def _child(node: yaml.Node | None, name: str, index: str) -> yaml.Node | None:
    match node:
        case yaml.MappingNode() if name:
            before = len(list(takewhile(lambda pair: pair[0].value != name, node.value)))
            return node.value[before][1] if before < len(node.value) else node
        case yaml.SequenceNode() if index and int(index) < len(node.value):
            return node.value[int(index)]  # type: ignore[no-any-return]
    return node
