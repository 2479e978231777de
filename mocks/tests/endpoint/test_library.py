"""Every script of the library, played by the endpoint in every form: what a stream says, the whole answer says."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from typing import Any

import pytest

from wireproof_endpoint.endpoint import Endpoint, EndpointRequest
from wireproof_endpoint.play import Play, StreamHead, WholeReply
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.library.calls import TOOLS_NAMED
from wireproof_scripts.player import Until
from wireproof_scripts.steps import Pause, Say, Script, Step

SETTINGS = EndpointSettings(idle_timeout=40, commit=2, keepalive=15)
TOOLS = [{"type": "function", "name": name, "parameters": {"type": "object"}} for name in TOOLS_NAMED]


class Answered:
    """The outputs of an answer, waits passed over on a clock of its own."""

    def __init__(self, endpoint: Endpoint, path: str, body: Any) -> None:
        headers = {"content-type": "application/json"}
        if path == "/v1/messages":
            headers["anthropic-version"] = "2023-06-01"
        request = EndpointRequest(method="POST", path=path, headers=headers, body=json.dumps(body).encode())
        assert endpoint.admit(request, len(request.body)) is None
        answer = endpoint.answer(request)
        self.status, self.waited, self.body = 200, 0.0, b""
        self.writes: list[bytes] = []
        if isinstance(answer, Play):
            self._play(answer)
        else:
            self._take(answer)

    def _play(self, play: Play) -> None:
        outputs = play.outputs(0.0)
        output = next(outputs)
        while True:
            self._take(output)
            try:
                output = outputs.send(self.waited)
            except StopIteration:
                return

    def _take(self, output: Any) -> None:
        match output:
            case Until(time):
                self.waited = min(time, 1000.0)
            case WholeReply():
                self.status, self.body = output.status, output.body
            case StreamHead():
                assert output.headers["Content-Type"] == "text/event-stream"
            case bytes():
                self.writes.append(output)
                self.body += output

    @property
    def payloads(self) -> list[Any]:
        """The payloads of a stream."""
        lines = [line.removeprefix("data: ") for line in self.body.decode().split("\n") if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]


def answered(script: str, path: str, endpoint: Endpoint | None = None, **more: Any) -> Answered:
    endpoint = endpoint or Endpoint(SETTINGS, lambda: LIBRARY, created=0)
    text = f"[[wireproof:{script}#n]]"
    if path.endswith("completions"):
        tools = [{"type": "function", "function": {k: v for k, v in tool.items() if k != "type"}} for tool in TOOLS]
        body = {"messages": [{"role": "user", "content": text}], "tools": tools}
    else:
        body = {"input": text, "tools": TOOLS}
    return Answered(endpoint, path, {"model": "m", **body, **more})


def chat(choice: int, payloads: list[Any]) -> dict[str, Any]:
    """What a chat stream says for a choice."""
    said: dict[str, Any] = {"content": "", "calls": {}, "finish": None}
    for entry in (entry for payload in payloads for entry in payload.get("choices", []) if entry["index"] == choice):
        said["content"] += entry["delta"].get("content") or ""
        said["finish"] = entry["finish_reason"] or said["finish"]
        for call in entry["delta"].get("tool_calls", []):
            known = said["calls"].setdefault(call["index"], {"name": "", "arguments": ""})
            for name in known:
                known[name] += call["function"].get(name, "")
    return said


@pytest.mark.each("script", LIBRARY)
def test_a_chat_stream_says_what_the_whole_answer_says(script: str) -> None:
    choices = max(1, len(LIBRARY[script].choices))
    streamed = answered(script, "/v1/chat/completions", stream=True, n=choices)
    whole = answered(script, "/v1/chat/completions", n=choices)
    failed = next((payload["error"] for payload in streamed.payloads if "error" in payload), None)
    # A failure after complete calls fails the whole answer alone (chat.stream.error-after-call).
    if whole.status != 200:
        assert failed or streamed.status == whole.status or chat(0, streamed.payloads)["calls"]
        return
    assert (streamed.status, failed) == (200, None)
    assert streamed.body.endswith(b"data: [DONE]\n\n")
    for entry in json.loads(whole.body)["choices"]:
        said = chat(entry["index"], streamed.payloads)
        calls = [call["function"] for call in entry["message"].get("tool_calls", [])]
        assert [said["calls"][index] for index in sorted(said["calls"])] == calls
        assert said["finish"] == entry["finish_reason"]
        # Text before a call is in the stream alone.
        assert calls or said["content"] == entry["message"]["content"]


@pytest.mark.each("script", LIBRARY)
def test_a_stream_of_a_response_ends_in_the_whole_one(script: str) -> None:
    streamed = answered(script, "/v1/responses", stream=True)
    whole = answered(script, "/v1/responses")
    if whole.status != 200 or streamed.status != 200:
        failed = streamed.status == whole.status or streamed.payloads[-1]["type"] == "response.failed"
        assert failed or any(item["type"] == "function_call" for item in streamed.payloads[-1]["response"]["output"])
        return
    assert [payload["sequence_number"] for payload in streamed.payloads] == list(range(len(streamed.payloads)))

    def items(response: Any) -> Any:
        # Ids that the endpoint makes up are of one answer alone.
        output = json.loads(re.sub(r'"call_[0-9a-f]{24}"', '"call_…"', json.dumps(response["output"])))
        return [{name: value for name, value in item.items() if name != "id"} for item in output]

    last, first = streamed.payloads[-1]["response"], json.loads(whole.body)
    assert (items(last), last["status"], last["usage"]) == (items(first), first["status"], first["usage"])


def test_the_first_output_is_sent_alone_and_later_ones_share_writes() -> None:
    writes = answered("text/long", "/v1/chat/completions", stream=True).writes
    frames = [write.count(b"data: ") for write in writes]
    # The first piece has the chunk of the role before it.
    assert frames[0] == 2
    assert set(frames[1:-1]) == {16}
    assert sum(frames) == 640 + 3


def played_late(
    late: float, *steps: Step, stream: bool = True, begins: float = 0.0, settings: EndpointSettings = SETTINGS
) -> tuple[list[float], bytes]:
    """Until when an answer waits whose timers are all `late` by that many seconds, and what it sends.

    `begins`: what the clock says when it begins.
    """
    script = Script(name="paced", title="", parts=(steps,))
    endpoint = Endpoint(settings, lambda: {"paced": script}, created=0)
    body = {"model": "m", "stream": stream, "messages": [{"role": "user", "content": "[[wireproof:paced#n]]"}]}
    headers = {"content-type": "application/json"}
    play = endpoint.answer(
        EndpointRequest(method="POST", path="/v1/chat/completions", headers=headers, body=json.dumps(body).encode())
    )
    assert isinstance(play, Play)
    outputs, now, waits, sent = play.outputs(begins), begins, [], b""
    with suppress(StopIteration):
        output: Any = next(outputs)
        while True:
            if isinstance(output, Until):
                waits.append(round(output.time - begins, 6))
                assert len(waits) < 1000, "it waits for what has come"
                now = output.time + late
            elif not isinstance(output, StreamHead):
                sent += output if isinstance(output, bytes) else output.body
            output = outputs.send(now)
    return waits, sent


def test_a_timer_that_is_late_makes_no_later_one_late() -> None:
    waits, _ = played_late(0.03, *(step for _ in range(5) for step in (Say(("b",)), Pause(0.1))))
    assert waits == [0.1, 0.2, 0.3, 0.4, 0.5]


def test_a_timer_that_is_late_passes_over_nothing_that_was_due_before() -> None:
    # The status line goes out after 2 s, a comment 15 s later, and the text after 20 s.
    waits, sent = played_late(30, Pause(20), Say(("after it",)))
    assert waits == [2, 17, 20]
    assert sent.index(b"after it") > sent.rindex(b": keep-alive\n\n") > sent.index(b": keep-alive\n\n")
    assert b"backend_timeout" in played_late(30, Pause(50), Say(("after it",)), stream=False)[1]


@pytest.mark.parametrize("stream", [True, False])
def test_what_is_due_is_done_whatever_the_clock_says(*, stream: bool) -> None:
    """Of floats `(a + b) - a` may be less than `b`, by the size of `a`: how long the machine has been up."""
    settings = EndpointSettings(idle_timeout=0.3, commit=0.01, keepalive=0.05)
    for power in range(24):
        for begins in (2.0**power, 1.1 * 2.0**power, 1.7 * 2.0**power):
            waits, sent = played_late(0, Pause(9), stream=stream, begins=begins, settings=settings)
            assert waits[-1] == 0.3
            assert b"backend_timeout" in sent
            # One goes out with the status line.
            assert sent.count(b": keep-alive\n\n") == (6 if stream else 0)


def test_a_silent_script_is_kept_alive_and_then_fails() -> None:
    silent = answered("fail/silent", "/v1/chat/completions", stream=True)
    assert silent.waited == 40
    # The head after 2 s, then every 15 s.
    assert silent.body.count(b": keep-alive\n\n") == 3
    assert silent.payloads[-1]["error"]["code"] == "backend_timeout"
    assert answered("fail/silent", "/v1/responses").status == 504


def test_a_demanded_call_that_is_not_made_is_an_error() -> None:
    choice = {"type": "function", "function": {"name": "readNote"}}
    answer = answered("text/hello", "/v1/chat/completions", stream=True, tool_choice=choice)
    assert (answer.status, json.loads(answer.body)["error"]["code"]) == (400, "tool_not_called")
    # By name in the words, too: on the way through a gateway to messages there is no `param`.
    assert "tool_choice" in json.loads(answer.body)["error"]["message"]
    forced = Answered(
        Endpoint(SETTINGS, lambda: LIBRARY, created=0),
        "/v1/chat/completions",
        {
            "model": "m",
            "messages": [{"role": "user", "content": "Hi."}],
            "tools": [{"type": "function", "function": {"name": "readNote"}}],
            "tool_choice": choice,
        },
    )
    assert json.loads(forced.body)["choices"][0]["message"]["tool_calls"][0]["function"]["name"] == "readNote"


def test_what_a_script_reflects_is_what_was_received() -> None:
    endpoint = Endpoint(SETTINGS, lambda: LIBRARY, created=0)
    image, pdf = "data:image/png;base64,AAAA", "data:application/pdf;base64,AAAA"
    body = {
        "model": "m",
        "messages": [
            {"role": "system", "content": "Be brief."},
            {"role": "user", "content": "One."},
            {"role": "system", "content": "Briefer."},
            {"role": "assistant", "content": None, "tool_calls": [
                {"id": "c", "type": "function", "function": {"name": "f", "arguments": "{}"}},
            ]},
            {"role": "tool", "tool_call_id": "c", "content": "done"},
            {"role": "user", "content": [
                {"type": "text", "text": "[[wireproof:reflect/received#n]]"},
                {"type": "image_url", "image_url": {"url": image}},
                {"type": "file", "file": {"file_data": pdf, "filename": "a.pdf"}},
            ]},
        ],
    }  # fmt: skip
    whole = Answered(endpoint, "/v1/chat/completions", body)
    received = json.loads(json.loads(whole.body)["choices"][0]["message"]["content"])
    assert received["developer"] == "Be brief."
    assert [item.get("role", item["type"]) for item in received["history"]] == [
        "user", "developer", "function_call", "function_call_output",
    ]  # fmt: skip
    assert received["input"][1] == {"type": "image", "url": image}
    assert received["input"][2] == {"type": "input_file", "file_data": pdf, "filename": "a.pdf"}


@pytest.mark.parametrize(
    ("path", "asked", "reported"),
    [
        ("/v1/chat/completions", {"temperature": 0.5, "stop": "x"}, {"temperature": 0.5, "stop": ["x"]}),
        ("/v1/chat/completions", {"max_completion_tokens": 9}, {"max_tokens": 9}),
        ("/v1/chat/completions", {}, {}),
        ("/v1/messages", {"temperature": 0.5, "stop_sequences": ["\n\nx"], "max_tokens": 9},
         {"temperature": 0.5, "stop": ["\n\nx"], "max_tokens": 9}),
    ],
)  # fmt: skip
def test_it_reflects_settings_in_chats_names(path: str, asked: dict[str, Any], reported: dict[str, Any]) -> None:
    endpoint = Endpoint(SETTINGS, lambda: LIBRARY, created=0)
    message = {"role": "user", "content": "[[wireproof:reflect/received#n]]"}
    body = json.loads(Answered(endpoint, path, {"model": "m", "messages": [message], **asked}).body)
    said = body["choices"][0]["message"]["content"] if "choices" in body else body["content"][0]["text"]
    assert json.loads(said)["settings"] == {"temperature": None, "stop": [], "max_tokens": None, **reported}


@pytest.mark.parametrize(
    ("asked", "reported"), [({"temperature": 0.5, "max_output_tokens": 64}, (0.5, 64)), ({}, (None, None))]
)
def test_responses_have_no_stop_to_reflect(asked: dict[str, Any], reported: tuple[float | None, int | None]) -> None:
    endpoint = Endpoint(SETTINGS, lambda: LIBRARY, created=0)
    body = Answered(
        endpoint, "/v1/responses", {"model": "m", "input": "[[wireproof:reflect/received#n]]", **asked}
    ).body
    settings = json.loads(json.loads(body)["output"][0]["content"][0]["text"])["settings"]
    assert settings == {"temperature": reported[0], "max_tokens": reported[1]}


def test_the_service_behind_a_login_has_no_settings() -> None:
    endpoint = Endpoint(SETTINGS, lambda: LIBRARY, created=0)
    asked = {
        "model": "m",
        "input": "[[wireproof:reflect/received#n]]",
        "store": False,
        "stream": True,
        "temperature": 0.5,
    }
    answered = Answered(endpoint, "/backend-api/codex/responses", asked)
    assert answered.status == 200
    assert b"schema" in answered.body
    assert b"settings" not in answered.body


def test_too_many_at_once_are_turned_away() -> None:
    endpoint = Endpoint(EndpointSettings(max_streams=1), lambda: LIBRARY, created=0)
    first = endpoint.answer(
        EndpointRequest(
            method="POST",
            path="/v1/chat/completions",
            headers={"content-type": "application/json"},
            body=b'{"model": "m", "messages": [{"role": "user", "content": "hi"}]}',
        )
    )
    assert isinstance(first, Play)
    assert answered("text/hello", "/v1/chat/completions", endpoint).status == 429
    first.close()
    assert answered("text/hello", "/v1/chat/completions", endpoint).status == 200


def test_the_first_of_the_arguments_come_beside_the_name_where_a_script_says_so() -> None:
    deltas = [
        one["delta"]["tool_calls"][0]
        for payload in answered("call/beside-name", "/v1/chat/completions", stream=True).payloads
        for one in payload["choices"]
        if "tool_calls" in one["delta"]
    ]
    assert [(one.get("id"), one["function"].get("name"), one["function"]["arguments"]) for one in deltas] == [
        ("call_search", "localSearch", '{"query": "rel'),
        (None, None, 'ease notes"}'),
        ("call_read", "readNote", '{"notePath": "notes/release.md"}'),
    ]


@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses"])
def test_a_whole_answer_has_one_call_where_the_request_allows_one_at_a_time(path: str) -> None:
    def names(**more: Any) -> list[str]:
        answer = json.loads(answered("call/two", path, **more).body)
        calls = answer["output"] if "output" in answer else answer["choices"][0]["message"]["tool_calls"]
        return [call.get("name") or call["function"]["name"] for call in calls]

    assert names() == names(parallel_tool_calls=True) == ["localSearch", "readNote"]
    assert names(parallel_tool_calls=False) == ["localSearch"]
