"""Measures what versions of Codex take as the parameters of the requests that the mock plays, and writes it down.

    python conformance/codex/parameters.py --into FOLDER VERSION …

The binaries are those of `measure.py`, in the same folder. What a version knows of a method is in the JSON schema that
it generates; what the schema does not say it is asked itself, with wrong values: how it names the type of a value, in
which order it misses fields, and whether it takes a variant that it does not know. The result is
`mocks/wireproof_codex/versions/params.json`, whose form `wireproof_codex.protocol.params` describes: of each version
what differs from the one before.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parents[1]
sys.path[:0] = [str(HERE / "tests")]

from app_server import Talk, talking  # noqa: E402 - the tests' own modules, found above
from binaries import furnish, native, surroundings  # noqa: E402

from wireproof_codex.methods.table import METHODS  # noqa: E402
from wireproof_codex.versions.marks import minor  # noqa: E402

FILE = REPOSITORY / "mocks/wireproof_codex/versions/params.json"
_NOBODY = "00000000-0000-7000-8000-000000000000"
_EXPECTED = re.compile(r"Invalid request: invalid type: .*, expected (.*)")
_NAME = re.compile(r"`([^`]*)`")
_MISSING = re.compile(r"Invalid request: missing field `(.*)`")
_LEAVES = {"string": "a string", "boolean": "a boolean", "integer": "i64", "number": "f64"}
_DEEPEST = 6
_READ_ELSEWHERE = {"ThreadStartParams.dynamicTools": "?[]any"}
"""What is read by other rules, with words of their own (`turns.tools`)."""
_TEXT_TOO = ("/FunctionCallOutputPayload", "/FunctionCallOutputBody")
"""Of these the schemas of old versions say that they are objects, where a text is taken, too."""
Json = dict[str, Any]
Put = Callable[[object], object]
"""Makes the whole parameters that have a value at one place."""


class Measured:
    """The methods and types of one version: see `wireproof_codex.protocol.params`."""

    def __init__(self, schema: Json, talk: Talk) -> None:
        self.methods: dict[str, str] = {}
        self.types: dict[str, Json] = {}
        self._definitions: Mapping[str, Json] = schema["definitions"]
        self._talk = talk
        self._method = ""
        branches = {branch["properties"]["method"]["enum"][0]: branch for branch in schema["oneOf"]}
        for method in sorted(METHODS.keys() & branches):
            self._method = method
            params = branches[method]["properties"].get("params", {"type": "null"})
            self.methods[method] = self._named(params, f"{method}.params", lambda value: value)

    def _ask(self, params: object) -> str:
        """What the server says to these parameters; '' if it takes them."""
        self._talk.send({"id": "probe", "method": self._method, "params": params})
        answer = self._talk.receive(lambda message: message.get("id") == "probe" and "method" not in message)
        self._talk.forget()
        return str(answer.get("error", {}).get("message", ""))

    def _named(self, node: Any, place: str, put: Put) -> str:  # noqa: ANN401, C901, PLR0911 - a case for each kind of schema
        """The type of a node of the schema, in the form of the file."""
        if place in _READ_ELSEWHERE:
            return _READ_ELSEWHERE[place]
        if str(node if isinstance(node, bool) else node.get("$ref", "")).endswith(_TEXT_TOO):
            return "any"
        match node:
            case bool() | {"type": "null"}:
                return "any" if isinstance(node, bool) else "unit"
            case {"anyOf": [one, {"type": "null"}]} | {"oneOf": [one, {"type": "null"}]}:
                return f"?{self._named(one, place, put)}"
            case {"type": [kind, "null"], **rest}:
                return f"?{self._named({**rest, 'type': kind}, place, put)}"
            case {"allOf": [one]}:
                return self._named(one, place, put)
            case {"$ref": str(reference)}:
                name = reference.rpartition("/")[2]
                return self._defined(name, self._definitions[name], put)
            case {"type": "array", "items": items}:
                return f"[]{self._named(items, place, lambda value: put([value]))}"
            case {"type": "object", "additionalProperties": inner} if "properties" not in node:
                return f"{{}}{self._named(inner, place, lambda value: put({'k': value}))}"
            case {"type": "string" | "boolean" | "integer" | "number" as kind} if "enum" not in node:
                return self._leaf(str(kind), put)
            case {"properties": _} | {"enum": _} | {"oneOf": _} | {"anyOf": _}:
                return self._defined(place, node, put)
        return "any"

    def _leaf(self, kind: str, put: Put) -> str:
        wrong = [[True]] if kind == "boolean" else True
        found = _EXPECTED.fullmatch(self._ask(put(wrong)))
        return found[1] if found and not found[1].startswith(("struct", "internally")) else _LEAVES[kind]

    def _defined(self, name: str, node: Json, put: Put) -> str:
        """The name of a type, which is described if it was not yet; of a plain one what it is."""
        if name in self.types:
            return name
        if node.get("type") in _LEAVES and "enum" not in node:
            return self._leaf(node["type"], put)
        if not {"properties", "enum", "oneOf", "anyOf"} & node.keys():
            return self._named({key: value for key, value in node.items() if key != "$ref"}, name, put)
        self.types[name] = {}  # a type may hold itself
        self.types[name] = self._described(name, node, put)
        return name

    def _described(self, name: str, node: Json, put: Put) -> Json:
        match node:
            case {"enum": names}:
                return {"enum": self._listed(put("bogus"), names)}
            case {"properties": _}:
                return self._struct(name, node, put)
        branches = [self._resolved(branch) for branch in node.get("oneOf") or node["anyOf"]]
        tag = _tag(branches)
        if tag:
            kinds = [str(branch["properties"][tag]["enum"][0]) for branch in branches]
            return self._tagged(name, tag, dict(zip(kinds, branches, strict=True)), put)
        if all("enum" in branch or _single(branch) for branch in branches):
            return self._enum(name, branches, put)
        return {"untagged": [self._named(branch, f"{name}.{at}", put) for at, branch in enumerate(branches)]}

    def _resolved(self, node: Json) -> Json:
        reference = str(node.get("$ref", "")).rpartition("/")[2]
        return self._definitions[reference] if reference and "oneOf" not in self._definitions[reference] else node

    def _struct(self, name: str, node: Json, put: Put, given: Mapping[str, object] | None = None) -> Json:
        """The fields of an object, besides those that are `given`, and those that are needed in their order."""
        whole = {**self._example(node), **(given or {})}

        def put_field(field: str) -> Put:
            return lambda value: put({**whole, field: value})

        fields = {
            field: self._named(inner, f"{name}.{field}", put_field(field))
            for field, inner in _properties(node).items()
            if field not in (given or {})
        }
        needed = [field for field in node.get("required", ()) if field in fields]
        found: dict[str, object] = dict(given or {})
        order: list[str] = []
        while missing := _MISSING.fullmatch(self._ask(put(found))):
            if missing[1] in found or missing[1] not in whole:
                break
            order.append(missing[1])
            found[missing[1]] = whole[missing[1]]
        return {"fields": fields, "needed": [*order, *(field for field in needed if field not in order)]}

    def _tagged(self, name: str, tag: str, branches: Mapping[str, Json], put: Put) -> Json:
        listed = self._listed(put({tag: "bogus"}), list(branches))
        branches = {kind: branches[kind] for kind in listed}
        described = {
            kind: self._struct(f"{name}.{kind}", branch, put, {tag: kind}) for kind, branch in branches.items()
        }
        is_open = "unknown variant `bogus`" not in self._ask(put({tag: "bogus"}))
        other = {"tag": tag} if tag != "type" else {}
        return {"tagged": described, **other, **({"open": True} if is_open else {})}

    def _enum(self, name: str, branches: list[Json], put: Put) -> Json:
        names: list[str] = []
        maps: dict[str, str] = {}
        for branch in branches:
            if "enum" in branch:
                names += branch["enum"]
                continue
            ((key, inner),) = branch["properties"].items()
            names.append(key)
            maps[key] = self._named(inner, f"{name}.{key}", _into(put, key))
        return {"enum": self._listed(put("bogus"), names), **({"maps": maps} if maps else {})}

    def _listed(self, params: object, names: Sequence[str]) -> list[str]:
        """The names in the order in which the server lists them."""
        listed = _NAME.findall(self._ask(params).partition(", expected ")[2])
        return listed if {*listed} == {*names} else list(names)

    def _example(self, node: Any, depth: int = 0) -> Any:  # noqa: ANN401, PLR0911 - the same
        """A value that is valid there, in so far as a schema says it."""
        match node:
            case bool():
                return {}
            case {"$ref": str(reference)}:
                return self._example(self._definitions[reference.rpartition("/")[2]], depth)
            case {"enum": [first, *_]}:
                return first
            case {"anyOf": [first, *_]} | {"oneOf": [first, *_]} | {"allOf": [first, *_]}:
                return self._example(first, depth)
            case {"type": "object"} | {"properties": _} if depth < _DEEPEST:
                properties = node.get("properties", {})
                return {name: self._example(properties[name], depth + 1) for name in node.get("required", ())}
            case {"type": "array"}:
                return []
            case {"type": str(kind)}:
                return {"string": _NOBODY, "boolean": False, "integer": 1, "number": 1}.get(kind)
        return None


def _into(put: Put, key: str) -> Put:
    return lambda value: put({key: value})


def _tag(branches: Sequence[Json]) -> str:
    """The property by whose one value each branch is known; '' if there is none."""
    names = branches[0].get("properties", {})
    return next((name for name in names if all(_is_constant(branch, name) for branch in branches)), "")


def _is_constant(branch: Json, name: str) -> bool:
    node = branch.get("properties", {}).get(name)
    return isinstance(node, dict) and len(node.get("enum", ())) == 1


def _properties(node: Json) -> Json:
    """The properties of an object, with those of which it must have one."""
    others = [inner.get("properties", {}) for inner in (*node.get("anyOf", ()), *node.get("oneOf", ()))]
    either = {name: {"anyOf": [inner, {"type": "null"}]} for other in others for name, inner in other.items()}
    return {**node["properties"], **either}


def _single(branch: Json) -> bool:
    """Whether it is a variant with fields: an object with its name alone, which the schema closes."""
    return branch.get("additionalProperties") is False and len(branch.get("properties", ())) == 1


@contextlib.contextmanager
def _asked(version: str, binary: Path) -> Iterator[tuple[Json, Talk]]:
    """The schema of requests of a version, and a conversation with it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        furnish(folder / "home", version, "http://127.0.0.1:9/v1")
        env = surroundings(folder / "home")
        experimental = ["--experimental"] if minor(version) >= _EXPERIMENTAL else []
        generate: list[str | Path] = [
            binary,
            "app-server",
            "generate-json-schema",
            "--out",
            folder / "schema",
            *experimental,
        ]
        subprocess.run(generate, env=dict(env), check=True, capture_output=True)
        with talking([binary, "app-server"], env=env, cwd=folder) as talk:
            talk.begin()
            yield json.loads((folder / "schema/ClientRequest.json").read_text(encoding="utf-8")), talk


_EXPERIMENTAL = 95  # 0.95.0 is the first that has the option


def _measure(version: str, folder: Path) -> Measured:
    binary = native(folder / "node_modules")
    if binary is None:
        raise SystemExit(f"{version} is not installed in {folder}: measure.py installs it")
    with _asked(version, binary) as (schema, talk):
        return Measured(schema, talk)


def main() -> None:
    """Measure the versions, and write what was found."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n\n")[0])
    parser.add_argument("versions", nargs="+", metavar="VERSION")
    parser.add_argument("--into", type=Path, default=Path(".codex-versions"), metavar="FOLDER")
    options = parser.parse_args()
    kept: dict[str, Json] = json.loads(FILE.read_text()) if FILE.exists() else {}
    whole = _whole(kept)
    with ThreadPoolExecutor(3) as pool:  # a conversation waits more than it computes
        every = pool.map(lambda version: _measure(version, options.into / version), options.versions)
        for version, measured in zip(options.versions, every, strict=True):
            whole[version] = {"methods": measured.methods, "types": measured.types}
            print(version, len(measured.methods), "methods,", len(measured.types), "types", flush=True)
    FILE.write_text(_text(whole), encoding="utf-8")


def _whole(kept: Mapping[str, Json]) -> dict[str, Json]:
    """Of each version everything."""
    found: dict[str, Json] = {}
    before: Json = {"methods": {}, "types": {}}
    for version, changed in kept.items():
        before = {part: {**before[part], **changed.get(part, {})} for part in before}
        found[version] = before
    return found


def _text(whole: Mapping[str, Json]) -> str:
    """The file: of each version what differs from the one before, a line for each method and type."""
    lines: list[str] = []
    before: Json = {"methods": {}, "types": {}}
    for version in sorted(whole, key=lambda number: tuple(map(int, number.split(".")))):
        now = {part: {**before[part], **whole[version][part]} for part in before}
        changed = {
            part: {name: value for name, value in now[part].items() if before[part].get(name) != value}
            for part in before
        }
        before = now
        parts = [
            f'    "{part}": {{\n'
            + ",\n".join(f"      {json.dumps(name)}: {json.dumps(value)}" for name, value in names.items())
            + "\n    }"
            for part, names in changed.items()
            if names
        ]
        if parts:
            lines.append(f'  "{version}": {{\n' + ",\n".join(parts) + "\n  }")
    return "{\n" + ",\n".join(lines) + "\n}\n"


if __name__ == "__main__":
    main()
