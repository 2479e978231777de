"""No value of any parameter ends the mock: every request has one answer, whatever stands in one of its fields."""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from wireproof_codex.context import ServerContext
from wireproof_codex.notifications.messages import PROVIDER
from wireproof_codex.protocol.outputs import ProcessExit
from wireproof_codex.server import AppServer
from wireproof_codex.versions.version import NEWEST, VERSIONS
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from wireproof_codex.versions.version import Version

FOLDER = Path(__file__).parents[3] / "schemas" / "codex"
OLDEST = next(iter(VERSIONS.values()))
WRITTEN = "0.169.0"
"""The newest version whose schemas are written down."""
TRIED = (OLDEST, VERSIONS["0.107.0"], VERSIONS["0.141.0"], NEWEST)
"""Two have a schema of their own; the others are sent what these two know of their methods."""
GIVEN: dict[str, Any] = {
    "threadId": "THREAD",
    "conversationId": "THREAD",
    "turnId": "TURN",
    "url": "data:,",
    "modelProvider": PROVIDER,
    "summary": "auto",
    "detail": "auto",
    "sandboxPolicy": {"type": "readOnly"},
    "environments": [{"environmentId": "local", "cwd": "/"}],
    "dynamicTools": [{"type": "function", "name": "f", "description": "", "deferLoading": False, "inputSchema": {}}],
    "collaborationMode": {"mode": "plan", "model": "m", "settings": {"model": "m", "reasoning_effort": None}},
}
"""What must be right for the rest to be read; THREAD and TURN become ids."""
UNANSWERED = frozenset({"turn/interrupt", "interruptConversation"})
"""Interrupts that real servers before 0.134 answer when a turn ends, and not before."""

Place = tuple[str | int, ...]


def _nested(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3)


NAMES = st.text(max_size=3) | st.sampled_from(["type", "name", "mode", "limit", "cursor", "text", "url", "path"])
LEAVES = (
    st.none()
    | st.booleans()
    | st.integers(-3, 3)
    | st.sampled_from([2**31, 2**32, 2**63, 2**64, -(2**63) - 1, 10**400])
    | st.floats(allow_nan=False)
    | st.text(max_size=5)
    | st.sampled_from(
        ["", "text", "full", "1" * 5000, "²", "\ud800", "a\udfffb", "00000000-0000-7000-8000-000000000000", "THREAD"]
    )
)
VALUES = st.recursive(LEAVES, _nested, max_leaves=6)
ODD: list[Any] = [
    None,
    True,
    5,
    -1,
    2**64,
    1.5,
    "",
    "x",
    "1" * 5000,
    [],
    [5],
    ["x"],
    [None],
    [[]],
    [{}],
    {},
    {"x": 5},
    {"type": 5},
]


@cache
def requests(number: str) -> Mapping[str, tuple[dict[str, Any], dict[str, Any]]]:
    """By method, parameters that the schema of this version allows: those it requires, and all."""
    if not (FOLDER / number).is_dir():
        both = {**requests(OLDEST.number), **requests(WRITTEN)}
        return {method: params for method, params in both.items() if method in VERSIONS[number].requests.methods}
    texts = ((FOLDER / number / f"{file}.json").read_text(encoding="utf-8") for file in ("shared", "client"))
    definitions = {name: schema for text in texts for name, schema in json.loads(text)["$defs"].items()}
    found = {}
    for method, schema in definitions.items():
        if "id" in schema.get("properties", {}):
            params = schema["properties"].get("params", {})
            made = _made(params, "params", definitions) or {}
            if method == "sendUserTurn":  # of v1, which spells it otherwise
                made["sandboxPolicy"] = {"type": "read-only"}
            found[method] = ({name: made[name] for name in params.get("required", ())}, made)
    return found


def _made(schema: Mapping[str, Any], name: str, definitions: Mapping[str, Any]) -> Any:
    """A value that the schema allows, an object with all its fields, a list with one item of each kind."""
    if name in GIVEN:
        return GIVEN[name]
    if "$ref" in schema or "oneOf" in schema:
        chosen = schema["oneOf"][0] if "oneOf" in schema else definitions[schema["$ref"].rpartition("/")[2]]
        return _made(chosen, name, definitions)
    if "const" in schema or "enum" in schema:
        return schema.get("const", schema.get("enum", [None])[0])
    kinds = schema.get("type", "object")
    match kinds if isinstance(kinds, str) else kinds[0]:
        case "object":
            return {key: _made(it, key, definitions) for key, it in schema.get("properties", {}).items()}
        case "array":
            return [_made(kind, name, definitions) for kind in _kinds(schema.get("items"), name, definitions)]
    return {"string": "x", "integer": 1, "boolean": True}.get(str(kinds if isinstance(kinds, str) else kinds[0]))


def _kinds(items: Any, name: str, definitions: Mapping[str, Any]) -> list[Any]:
    if not items or name == "tools":  # a tool may hold tools
        return []
    if "$ref" in items:
        items = definitions[items["$ref"].rpartition("/")[2]]
    return list(items.get("oneOf", [items]))


def places(value: Any, at: Place = ()) -> Iterator[Place]:
    """Every place in a value, itself included."""
    yield at
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in entries:
        yield from places(inner, (*at, key))


def put(params: Any, place: Place, value: Any) -> Any:
    """The parameters with this value at the place."""
    if not place:
        return value
    changed = deepcopy(params)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    return changed


@cache
def known(number: str) -> Mapping[str, Any]:
    """Every parameter of any method, with a value that one of them takes."""
    return {name: value for _, params in requests(number).values() for name, value in params.items()}


Case = tuple["Version", str, dict[str, Any], Place]


def own(version: Version) -> Iterator[Case]:
    """A method, parameters of it, and the place of a value: in one parameter beside the required ones."""
    for method, (needed, every) in requests(version.number).items():
        yield version, method, every, ()
        for name, value in every.items():
            yield from ((version, method, {**needed, name: value}, (name, *inner)) for inner in places(value))


def strange(version: Version) -> Iterator[Case]:
    """The same in a parameter of another method, and beside all of its own."""
    for method, (needed, every) in requests(version.number).items():
        yield from ((version, method, every, place) for place in places(every))
        for name in sorted(known(version.number).keys() - every.keys()):
            yield version, method, {**needed, name: known(version.number)[name]}, (name,)


@cache
def own_of(number: str) -> list[Case]:
    """All of `own`, made once."""
    return list(own(VERSIONS[number]))


@cache
def any_of(number: str) -> list[Case]:
    """All of both, made once."""
    return [*own_of(number), *strange(VERSIONS[number])]


class Session:
    """A client of a server in process, with a thread that has had a turn."""

    def __init__(self, version: Version) -> None:
        self.server = AppServer(ServerContext(LIBRARY, version=version, clock=lambda: 1.0))
        self.names: dict[str, str] = {}
        capabilities = {"experimentalApi": True}
        self.ask("initialize", {"clientInfo": {"name": "x", "version": "1"}, "capabilities": capabilities}, 1)
        self.names["THREAD"] = self.ask("thread/start", {"experimentalRawEvents": True}, 2)[0]["result"]["thread"]["id"]
        turn = {"threadId": "THREAD", "input": [{"type": "text", "text": "hi"}]}
        self.names["TURN"] = self.ask("turn/start", turn, 3)[0]["result"]["turn"]["id"]

    def ask(self, method: str, params: Any, identity: int) -> list[Any]:
        """Send a request; the answers to it."""
        line = json.dumps({"id": identity, "method": method, "params": params})
        for name, value in self.names.items():
            line = line.replace(name, value)
        self.server.receive(line.encode())
        answers = []
        while (output := self.server.output()) is not None:
            assert not isinstance(output, ProcessExit)
            if isinstance(output, bytes):
                message = json.loads(output, parse_constant=_refuse)
                answers += [message] if message.get("id") == identity and "method" not in message else []
        return answers


def _refuse(constant: str) -> Any:
    raise AssertionError(constant)


def _readable(value: Any) -> bool:
    """Whether the line is one: the real server's parser takes no half characters, and no number beyond a double."""
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return "Infinity" not in json.dumps(json.loads(text, parse_int=float))


def _check(session: Session, method: str, params: Any, value: Any) -> None:
    if method == "initialize":
        session.server.context.capabilities = None
    answers = session.ask(method, params, 9)
    expected = {1 if _readable(value) else 0}
    if method in UNANSWERED and not session.server.context.version.requests.checks_turn_id:
        expected |= {0}
    assert len(answers) in expected, answers


@pytest.mark.parametrize("version", [OLDEST, VERSIONS[WRITTEN]], ids=["oldest", "newest"])
def test_without_odd_values_the_requests_are_right(version: Version) -> None:
    """Else an odd value would be hidden by an error that comes before it is read."""
    for method in ("thread/start", "thread/fork", "turn/start"):
        needed, every = requests(version.number)[method]
        for name, value in every.items():
            if name in {"ephemeral", "toolOutput"}:  # only beside other values than the required ones
                continue
            answers = Session(version).ask(method, {**needed, name: value}, 9)
            assert "result" in answers[0], (method, name, answers)


@pytest.mark.parametrize("version", TRIED, ids=[version.number for version in TRIED])
def test_a_value_of_another_type_is_answered(version: Version) -> None:
    sessions: dict[str, Session] = {}
    for _, method, params, place in own_of(version.number):
        session = sessions.get(method) or sessions.setdefault(method, Session(version))
        for value in ODD:
            _check(session, method, put(params, place, value), value)


@pytest.mark.parametrize("number", [version.number for version in TRIED])
@given(data=st.data(), value=VALUES)
def test_any_value_is_answered(number: str, data: st.DataObject, value: Any) -> None:
    version, method, params, place = data.draw(st.sampled_from(any_of(number)))
    _check(Session(version), method, put(params, place, value), value)
