"""Recording loses nothing: what the client under test sees of a replay is what it saw."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from wireproof_endpoint.recording.app import Recorder
from wireproof_endpoint.scripts import scripts_of
from wireproof_endpoint.serving import endpoint_of, running
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.steps import Pause, Say
from wireproof_scripts.steps.http import Disconnect

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from mocks.tests.endpoint.conftest import Serve

    Talk = Callable[[httpx.Client], list[Any]]

KEY = "sk-0123456789abcdef"
LIVE = """
- name: flaky
  when: flaky
  sequence: conversation
  parts:
    - - status: {code: 429, retry_after: 1, message: Wait a bit.}
    - - status: {code: 429, retry_after: 1, message: Wait a bit.}
    - - say: [Now, " it works."]
- {name: gone, when: gone, parts: [[{disconnect: {}}]]}
- {name: half, when: half, parts: [[{say: [Half, " of", " it"]}, {disconnect: {}}]]}
- {name: torn, when: torn, parts: [[{say: [Half]}, {disconnect: {at: mid-frame}}]]}
- {name: pirate, when: {system: pirate}, parts: [[{say: Arr.}]]}
- {name: tooled, when: {tool: f}, parts: [[{say: I have f.}]]}
- {name: later, when: {turn: 2}, parts: [[{say: Again.}]]}
- {name: slow, when: slow, parts: [[{say: [One]}, {pause: 0.3}, {say: [" two"]}]]}
- {name: run, when: {text: call it, tool: run}, parts: [[{call: {id: call_7, name: run, arguments: ls -la "/"}}]]}
- {name: legacy, when: {text: call it, tool: f}, parts: [[{call: {id: call_8, name: f, arguments: {a: 1}}}]]}
- {name: hello, when: hello, parts: [[{say: [Hi, " there."]}]]}
"""
USER = {"role": "user", "content": "Say hello"}
TOOL = {"type": "function", "function": {"name": "f", "parameters": {"type": "object", "properties": {}}}}


def asked(client: httpx.Client, said: Any, path: str = "/chat/completions", **more: Any) -> Any:
    """Status, waiting time and what is said; or how the connection ended, and behind what."""
    field = "input" if "responses" in path else "messages"
    given = [{"role": "user", "content": said}] if isinstance(said, str) else said
    pieces: list[bytes] = []
    try:
        with client.stream("POST", path, json={"model": "m", field: given, **more}) as answer:
            pieces += answer.iter_bytes()
            status = (answer.status_code, answer.headers.get("retry-after"))
            return (*status, _said(b"".join(pieces)))
    except httpx.TransportError as error:
        return type(error).__name__, _said(b"".join(pieces)) if more.get("stream") else None


def _said(body: bytes) -> Any:
    """What an answer says, but for ids and times; frames as they are, but for the same."""
    text = body.decode()
    if not text:
        return None
    if not text.startswith("data:"):
        found = json.loads(text)
        return found.get("error") or found["choices"][0]["message"]["content"]
    frames = [frame.removeprefix("data: ") for frame in text.split("\n\n")]
    *whole, last = frames
    read = [json.loads(frame)["choices"][0] if frame.startswith("{") else frame for frame in whole]
    return read, "" if not last else "torn"


def retries(client: httpx.Client) -> list[Any]:
    return [asked(client, "flaky") for _ in range(4)]


def cuts(client: httpx.Client) -> list[Any]:
    """Before an answer, behind a frame, within one, of a stream and of a whole answer."""
    return [asked(client, text, stream=stream) for text in ("gone", "half", "torn") for stream in (True, False)]


def apart(client: httpx.Client) -> list[Any]:
    """The same text, under other instructions, tools and histories."""
    pirate = [{"role": "system", "content": "You are a pirate."}, USER]
    later = [USER, {"role": "assistant", "content": "Hi there."}, USER]
    return [
        asked(client, [USER]),
        asked(client, pirate),
        asked(client, [USER], tools=[TOOL]),
        asked(client, later),
        asked(client, [USER]),
    ]


def responses(client: httpx.Client) -> list[Any]:
    """The same over Responses, where a turn goes on by an id."""
    found = []
    first = client.post("/responses", json={"model": "m", "input": "Say hello"}).json()
    for more in (
        {},
        {"instructions": "You are a pirate."},
        {"tools": [{"type": "function", "name": "f", "parameters": {"type": "object"}}]},
        {"previous_response_id": first["id"]},
    ):
        answer = client.post("/responses", json={"model": "m", "input": "Say hello", **more}).json()
        found.append(answer["output"][0]["content"][0]["text"])
    return found


def calls(client: httpx.Client) -> list[Any]:
    """Calls of custom tools and legacy ones, whole and streamed: their names, ids where there are any, and inputs."""
    custom = {"name": "run", "description": "Runs a command."}
    chats = {"tools": [{"type": "custom", "custom": custom}]}, {"functions": [TOOL["function"]]}
    bodies = [("/chat/completions", {"messages": [USER], **more}) for more in chats]
    bodies.append(("/responses", {"input": [USER], "tools": [{"type": "custom", **custom}]}))
    found = []
    for path, body in bodies:
        for stream in (True, False):
            body["messages" if "messages" in body else "input"] = [{"role": "user", "content": f"Call it: {stream}"}]
            text = client.post(path, json={"model": "m", "stream": stream, **body}).text
            found.append(_CALLED.findall(text))
    return found


_CALLED = re.compile(r'"(?:call_id|name|input|arguments|delta)":"(?:[^"\\]|\\.)*"')


@pytest.mark.parametrize("talk", [retries, cuts, apart, responses, calls])
def test_what_was_recorded_is_seen_again(served: Serve, tmp_path: Path, talk: Talk) -> None:
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, httpx.Client(base_url=url) as client:
        seen = talk(client)
    endpoint = endpoint_of(EndpointSettings(), scripts_of(file))
    with running(endpoint) as url, httpx.Client(base_url=url) as client:
        assert talk(client) == seen
    assert len({json.dumps(one) for one in seen}) > 1


def test_retries_are_a_sequence(served: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, httpx.Client(base_url=url) as client:
        assert [one[0] for one in retries(client)] == [429, 429, 200, 200]
    [script] = load_scripts(file).values()
    assert (script.sequence, len(script.parts)) == ("conversation", 4)


def test_times_are_kept_where_they_are_asked_for(served: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file, paced=True)) as url, httpx.Client(base_url=url) as client:
        asked(client, "slow", stream=True)
    [script] = load_scripts(file).values()
    # A busy machine is slow to say the first, too.
    steps = [step for step in script.parts[0] if isinstance(step, Pause | Say)]
    first, second = steps.index(Say(("One",))), steps.index(Say((" two",)))
    [pause] = steps[first + 1 : second]
    assert isinstance(pause, Pause)
    assert 0.2 < pause.seconds < 5


def test_each_test_has_a_file_of_its_own(served: Serve, tmp_path: Path) -> None:
    folder = tmp_path / "recorded"
    folder.mkdir()
    with running(Recorder(served(LIVE), folder, apart=True)) as url:
        root = url.removesuffix("/v1")
        for base, headers in (
            (url, {"x-wireproof-test": "test_a[x/../y]"}),
            (f"{root}/tests/test_b/v1", {}),
            (url, {}),
        ):
            with httpx.Client(base_url=base, headers=headers) as client:
                assert asked(client, "hello")[0] == 200
    assert sorted(file.name for file in folder.iterdir()) == ["recorded.yaml", "test_a-x-..-y.yaml", "test_b.yaml"]


def test_keys_are_nowhere(served: Serve, tmp_path: Path) -> None:
    other, named = "AIzaSyA0123456789abcdefg", "0123-4567-89ab-cdef"
    headers = {"Authorization": f"Bearer {KEY}", "x-goog-api-key": other, "ocp-apim-subscription-key": named}
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, httpx.Client(base_url=url, headers=headers) as client:
        for said in (KEY, other, named, "sk-ant-api03-neversent0123", "query-key-0123"):
            asked(client, f"hello, my key is {said}", path="/chat/completions?key=query-key-0123")
    text = file.read_text()
    assert text.count("***") >= 5
    assert not [key for key in (KEY, other, named, "sk-ant-api03", "query-key-0123") if key in text]


def test_an_upstream_that_ends_the_connection_is_no_answer_of_the_recorders(served: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, httpx.Client(base_url=url) as client:
        assert asked(client, "gone")[0] == "RemoteProtocolError"
    [script] = load_scripts(file).values()
    assert script.parts == ((Disconnect(),),)
