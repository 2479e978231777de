"""Recorded sessions of the real 0.169.0 and 0.89.0 servers, played again by the mock.

The client's lines go in; what comes out must be what the real server said: the same methods in the same order with the
same fields and values. Times, ids and paths are made comparable first; what else may differ stands in the tables below.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from assay_mocks.codex.outputs import Exit, Note
from assay_mocks.codex.server import Server
from assay_mocks.codex.versions import VERSIONS
from assay_mocks.script import Call, Fail, Finish, Hang, Say, Script, Usage

RECORDINGS = Path(__file__).parent.parent / "recordings"
NAMES = sorted(f"{path.parent.name}/{path.stem}" for path in RECORDINGS.glob("*/*.jsonl"))

Message = dict[str, Any]

# What the model behind the recorded server said, by the word in the user's text that made it say so.
USAGE = Usage(input=120, output=30, cached=20, reasoning=5)


def _script(when: str, *parts: tuple[Any, ...]) -> Script:
    return Script(name=when, title="", when=when, parts=tuple((*part, USAGE) for part in parts))


def _calling(arguments: str, result: str, call_id: str, tool: str = "localSearch") -> tuple[tuple[Any, ...], ...]:
    return (Call(id=call_id, name=tool, arguments=arguments),), (Say(("Tool said: ", result)),)


WEISS = '{"query":"weiß 😀","n":1}'
NOTE_A = '"note A\\nÜber 😀"'
PLAIN = _script("[[plain]]", (Say(("Hello", " from", " the", " stub.")),))
TWO_CALLS = (
    Say(("Let me ", "check.")),
    Call(id="call_0084_1", name="localSearch", arguments='{"query":"x"}'),
    Call(id="call_0084_2", name="localSearch", arguments='{"query":"x"}'),
)
TICKS = Say(tuple(f"tick{number} " for number in range(6)))
SLOW = _script("[[slow:", (TICKS, Hang()))
SCRIPTS: dict[str, tuple[Script, ...]] = {
    "0.169.0/golden_proxy_tool_flow": (
        _script("[[fn:", *_calling(WEISS, NOTE_A, "call_0019_0")),
        _script("Find notes", (Say(("Tool said: ", '"note A"')),)),
    ),
    "0.169.0/golden_tool_held_open": (_script("[[fn:", *_calling(WEISS, NOTE_A, "call_0021_0")),),
    "0.169.0/dyn_parallel": (_script("[[fn2:", TWO_CALLS, (Say(("Tool said: ", '"r:call_0084_2"')),)),),
    "0.169.0/dyn_raw_events": (
        _script("[[fn:", *_calling('{ "query" :  "späce 😀" , "n":1.50}', NOTE_A, "call_0126_0")),
    ),
    "0.169.0/dyn_noreply_interrupt": (_script("[[fn:", *_calling(WEISS, NOTE_A, "call_0275_0")),),
    "0.169.0/dyn_unknown_tool": (
        _script("[[fn:otherTool", *_calling("{}", '"unsupported call: otherTool"', "call_0259_0", "otherTool")),
    ),
    "0.169.0/dyn_success_false": (_script("[[fn:", *_calling(WEISS, '"vault locked"', "call_0241_0")),),
    "0.169.0/dyn_bad_result": (
        _script("[[fn:", *_calling(WEISS, '"dynamic tool response was invalid"', "call_0245_0")),
    ),
    "0.169.0/dyn_args_empty": (
        _script(
            "[[fn:",
            *_calling(
                "",
                '"failed to parse function arguments: EOF while parsing a value at line 1 column 0"',
                "call_0255_0",
            ),
        ),
    ),
    "0.169.0/dyn_empty_items": (_script("[[fn:", *_calling(WEISS, "[]", "call_0247_0")),),
    "0.169.0/interrupt": (_script("[[slow:", (TICKS, Hang())),),
    "0.169.0/err_http_500": (_script("[[http:500]]", (Fail("http-500"),)),),
    "0.169.0/err_http_429": (_script("[[http:429]]", (Fail("http-429"),)),),
    "0.169.0/err_ctx_http400": (_script("q [[", (Fail("context-window"),)),),
    "0.169.0/err_cut_stream": (_script("[[cut]]", (Say(("partial ", "answer")), Fail("cut"))),),
    "0.169.0/err_incomplete": (_script("[[incomplete:", (Say(("trunc", "ated")), USAGE, Finish("length"))),),
    "0.169.0/err_incomplete_filter": (
        _script("[[incomplete:", (Say(("trunc", "ated")), USAGE, Finish("content_filter"))),
    ),
    "0.89.0/v1_text": (
        _script("[[slow:", (Say(tuple(f"tick{number} " for number in range(12))), Hang())),
        _script("[[reason]]", (Say(("after", " thought")),)),
        _script("[[http:500]]", (Fail("http-500"),)),
    ),
    "0.89.0/raw_events": (_script("[[fn:", (Say(("Hello", " from", " the", " stub.")),)),),
    "0.89.0/interrupt": (SLOW,),
    "0.89.0/err_http_401": (_script("q [[", (Fail("http-401"),)),),
    "0.89.0/err_http_429": (_script("q [[", (Fail("http-429"),)),),
    "0.89.0/err_http_500": (_script("q [[", (Fail("http-500"),)),),
    "0.89.0/err_failed_ctx": (_script("q [[", (Fail("context-window"),)),),
    "0.89.0/err_failed_quota": (_script("q [[", (Fail("quota"),)),),
    "0.89.0/err_usage_limit_429": (_script("q [[", (Fail("usage-limit"),)),),
    "0.89.0/err_cut_stream": (_script("q [[", (Say(("partial ", "answer")), Fail("cut"))),),
    "0.89.0/err_incomplete": (_script("q [[", (Say(("trunc", "ated")), Finish("length"))),),
    "0.89.0/err_incomplete_filter": (_script("q [[", (Say(("trunc", "ated")), Finish("content_filter"))),),
    "0.89.0/dyn_ok": (
        _script(
            "[[fn:",
            *_calling(WEISS, '"unsupported call: localSearch"', "call_0"),
        ),
    ),
    "0.89.0/dyn_parallel": (_script("[[fn2:", TWO_CALLS, (Say(("Tool said: ", '"unsupported call: localSearch"')),)),),
}


# Requests that are left out, with everything the real server said until the client's next line.
SKIPPED: dict[str, set[int]] = {
    "0.169.0/err_ctx_http400": {4},  # the real server first shortens the conversation, which the mock does not play
    "0.169.0/inject_items": {9, 10},  # answered by the recorded model in its own words; `toolOutput` is not played
    "0.89.0/v1_text": {10, 11, 13, 16},  # two listeners that compete for events, methods that are not played
    "0.89.0/ephemeral": {4, 5},  # the turns of threads, and which there are
    "0.89.0/raw_events": {4},  # raw thoughts
    "0.169.0/rpc_errors": {16},  # a turn without any input or history: the mock greets instead
}

# Requests that are sent, while everything that either server said until the next line is left out.
UNHEARD: dict[str, set[int]] = {
    "0.89.0/v1_text": {6},  # raw thoughts
}

# Notifications that the mock does not send.
UNSENT = {
    "configWarning": "the recorded machine lacked a program",
    "warning": "the recorded model had no metadata",
}

# Values that are the recorded installation's own.
OWN = {
    "codexHome": "<home>",
    "path": "<path>",
    "rolloutPath": "<path>",
    "serverName": "<server>",
    "installationId": "<installation>",
    "revision": "<revision>",
}
MODELS = {"stub": "mock", "stub-model": "mock-model"}
TIMES = re.compile(r"(At|AtMs|durationMs|create_time)$")
IDS = re.compile(r"(?:[a-z]+_)?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?:msg|rs|fc|resp)_[0-9_]+")


class Comparable:
    """Makes the messages of one session comparable: ids by order of appearance, times by their type."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def message(self, message: Message) -> Message:
        return {key: self._value(key, value) for key, value in message.items()}

    def _value(self, key: str, value: Any) -> Any:
        if value is None:
            return None
        if TIMES.search(key):
            assert isinstance(value, int if key != "create_time" else float), (key, value)
            return "<time>"
        return OWN[key] if key in OWN else self._other(key, value)

    def _other(self, key: str, value: Any) -> Any:
        match value:
            case [{"displayName": _, **fields}, *_]:
                return list(fields)  # models: the fields of one
            case dict():
                return {name: self._value(name, inner) for name, inner in value.items()}
            case list():
                return [self._value(key, inner) for inner in value]
            case str():
                return IDS.sub(self._named, MODELS.get(value, value))
        return value

    def _named(self, found: re.Match[str]) -> str:
        return self._names.setdefault(found[0], f"<id {len(self._names)}>")


def _is_context(message: Message) -> bool:
    """Whether it tells raw what codex itself puts before the conversation, which the mock has not."""
    if message.get("method") not in {"rawResponseItem/completed", "codex/event/raw_response_item"}:
        return False
    text = json.dumps(message)
    return '"role": "developer"' in text or "<environment_context>" in text or "# AGENTS.md" in text


def _in_order(messages: list[Message]) -> list[Message]:
    """Two pairs of messages race in the real server; here each pair stands in one order."""
    ordered: list[Message] = []
    for message in messages:
        ordered.append(message)
        at = len(ordered) - 1
        if "turn" in (message.get("result") or {}):  # the answer of turn/start, before or after the turn's start
            before = [other.get("method") for other in ordered[-3:-1]]
            if before == ["thread/status/changed", "turn/started"]:
                ordered.insert(at - 2, ordered.pop())
        elif message.get("method") == "thread/started" and "mcp_startup" in str(ordered[at - 1].get("method")):
            ordered.insert(at - 1, ordered.pop())
        elif message.get("method") == "item/tool/call" and ordered[at - 2].get("method") == "rawResponse/completed":
            ordered.append(ordered.pop(at - 2))
    return ordered


def _recorded(name: str) -> list[tuple[str, Any]]:
    """The lines of a recording, (direction, message or text), without what is left out."""
    lines = []
    skipping = unheard = False
    for text in (RECORDINGS / f"{name}.jsonl").read_text().splitlines():
        line = json.loads(text)
        message = line.get("msg", line.get("raw"))
        if line["dir"] == "C->":
            skipping = isinstance(message, dict) and message.get("id") in SKIPPED.get(name, set())
            unheard = isinstance(message, dict) and message.get("id") in UNHEARD.get(name, set())
        if not skipping and not (unheard and line["dir"] == "S->"):
            lines.append((line["dir"], message))
    return lines


class Replay:
    """Sends the recorded client's lines to the mock, with the mock's ids where the client repeats an id."""

    def __init__(self, name: str, recorded: list[Message]) -> None:
        scripts = (*SCRIPTS.get(name, ()), PLAIN)
        version = VERSIONS[name.partition("/")[0]]
        self.server = Server({script.name: script for script in scripts}, cwd="/srv/workspace", version=version)
        self.now = 1_800_000_000.0
        self.heard: list[Message] = []
        self.exit: int | None = None
        self._recorded = {str(message["id"]): message["result"] for message in recorded if "result" in message}
        self._ids: dict[str, str] = {}

    def send(self, message: Any) -> None:
        self.now += 0.05
        self.server.receive(self._line(message), self.now)
        while self.exit is None and (output := self.server.output(self.now)) is not None:
            match output:
                case Exit(status):
                    self.exit = status
                case bytes() as line:
                    self._learn(json.loads(line))
                case _:
                    assert isinstance(output, Note)

    def _line(self, message: Any) -> bytes:
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        for recorded, own in self._ids.items():
            text = text.replace(recorded, own)
        encoding = "latin-1" if "ÿþ" in text else "utf-8"  # how the recording spells bytes that are no UTF-8
        return text.encode(encoding)

    def _learn(self, message: Message) -> None:
        self.heard.append(message)
        theirs = self._recorded.get(str(message.get("id")), {})
        for kind in {"thread", "turn"} & theirs.keys() & (message.get("result") or {}).keys():
            self._learn_id(theirs[kind]["id"], message["result"][kind]["id"])
        for kind in {"conversationId", "subscriptionId"} & theirs.keys() & (message.get("result") or {}).keys():
            self._learn_id(theirs[kind], message["result"][kind])

    def _learn_id(self, theirs: str, own: str) -> None:
        if "-" in theirs:  # a number is the same on both sides
            self._ids[theirs] = own


def _comparable(messages: list[Message]) -> list[str]:
    """One line a message; the order of keys counts."""
    own = Comparable()
    told = [message for message in messages if message.get("method") not in UNSENT and not _is_context(message)]
    return [json.dumps(own.message(message), ensure_ascii=False) for message in _in_order(told)]


@pytest.mark.parametrize("name", NAMES)
def test_the_mock_says_what_the_real_server_said(name: str) -> None:
    lines = _recorded(name)
    theirs = [message for direction, message in lines if direction == "S->"]
    replay = Replay(name, theirs)
    pieces = "".join(message for direction, message in lines if direction == "C->" and isinstance(message, str))
    for direction, message in lines:
        if direction == "C->" and isinstance(message, dict):
            before = len(replay.heard)
            replay.send(message)
            if message.get("id") in UNHEARD.get(name, set()):
                del replay.heard[before:]
    for line in pieces.split("\n")[:-1]:
        if replay.exit is None:
            replay.send(line)
    assert _comparable(replay.heard) == _comparable(theirs)


def test_bytes_that_are_no_utf8_ended_the_real_server_too() -> None:
    replay = Replay("0.169.0/framing", [])
    replay.send('{"id":62,"method":"thread/loaded/list","params":{"x":"ÿþ"}}')
    assert replay.exit == 0
