"""`wireproof record`: what was recorded plays the same text and calls again, and keys stay out of the file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx2
import openai
import pytest

from wireproof_endpoint.in_process import transport
from wireproof_endpoint.recording.answer import RecordedAnswer, steps_of
from wireproof_endpoint.recording.app import Recorder, write
from wireproof_endpoint.recording.scripts import Scripts
from wireproof_endpoint.serving import running
from wireproof_scripts.files.errors import ScriptError
from wireproof_scripts.files.read import load_scripts
from wireproof_scripts.steps import Call, Fail, Finish, Pause, Say, Script, Think, Usage
from wireproof_scripts.steps.http import Disconnect, Status

if TYPE_CHECKING:
    from pathlib import Path

    from mocks.tests.endpoint.conftest import Serve

    from wireproof_surfaces.http.served_exchange import ServedExchange

KEY = "sk-0123456789abcdef"
LIVE = """
- name: weather
  when: weather
  parts:
    - - say: [Let me, " look."]
      - call: {id: call_1, name: get_weather, arguments: '{"city":  "Bern"}', pieces: ['{"city":', '  "Bern"}']}
      - call: {id: call_2, name: get_weather, arguments: {city: Basel}}
      - usage: {input: 40, output: 5, cached: 3, reasoning: 2}
    - - say: [It is, " sunny."]
- {name: long, when: at length, parts: [[{say: [One, " two"]}, {usage: {}}, {finish: length}]]}
- name: thought
  when: think
  parts:
    - - think: {text: "Hm, so.", pieces: ["Hm,", " so."], raw: [raw, " thought"], encrypted: gAAA}
      - think: Again.
      - say: [Forty, " two"]
- {name: shown, when: aloud, parts: [[{think: {text: "Hm, so.", pieces: ["Hm,", " so."], in_chat: true}}, {say: Yes.}]]}
- {name: refused, when: harm, parts: [[{refusal: I cannot.}]]}
- {name: busy, when: busy, parts: [[{status: {code: 429, retry_after: 7, message: Wait a bit.}}]]}
- {name: broken, when: broken, parts: [[{say: [Half]}, {disconnect: {}}]]}
"""
TOOLS = [{"name": "get_weather", "parameters": {"type": "object"}}]
CHAT_TOOLS: Any = [{"type": "function", "function": tool} for tool in TOOLS]
RESPONSE_TOOLS: Any = [{"type": "function", **tool} for tool in TOOLS]


def chat(client: openai.OpenAI, *, stream: bool) -> list[Any]:
    """What a client makes of a tool loop, of an answer that is too long, and of one after it."""
    messages: Any = [{"role": "user", "content": "The weather?"}]
    seen = [first := _asked(client, messages, stream=stream)]
    calls = [
        {"id": id_, "type": "function", "function": {"name": name, "arguments": arguments}}
        for id_, name, arguments in first["calls"]
    ]
    results = [{"role": "tool", "tool_call_id": id_, "content": "24"} for id_, *_ in first["calls"]]
    messages += [{"role": "assistant", "content": first["text"] or None, "tool_calls": calls}, *results]
    seen.append(_asked(client, messages, stream=stream))
    seen.append(_asked(client, [{"role": "user", "content": "Say it at length."}], stream=stream))
    return seen


def _asked(client: openai.OpenAI, messages: Any, *, stream: bool) -> dict[str, Any]:
    create = client.chat.completions
    if stream:
        with create.stream(model="m", messages=messages, tools=CHAT_TOOLS) as events:
            answer: Any = _final(events)
    else:
        answer = create.create(model="m", messages=messages, tools=CHAT_TOOLS)
    [choice] = answer.choices
    calls = [(call.id, call.function.name, call.function.arguments) for call in choice.message.tool_calls or []]
    return {"text": choice.message.content, "calls": calls, "finish": choice.finish_reason}


def _final(events: Any) -> Any:
    try:
        return events.get_final_completion()
    except openai.LengthFinishReasonError as error:
        return error.completion


def responses(client: openai.OpenAI, *, stream: bool) -> list[Any]:
    """The same on the Responses API, each request going on from the one before."""
    first = _response(client, stream=stream, input="The weather?")
    results = [{"type": "function_call_output", "call_id": id_, "output": "24"} for id_, *_ in first["calls"]]
    second = _response(client, stream=stream, input=results, previous_response_id=first.pop("id"))
    third = _response(client, stream=stream, input=[{"role": "user", "content": "Say it at length."}])
    return [{key: it for key, it in one.items() if key != "id"} for one in (first, second, third)]


def _response(client: openai.OpenAI, *, stream: bool, **more: Any) -> dict[str, Any]:
    if stream:
        *_, last = client.responses.create(model="m", tools=RESPONSE_TOOLS, stream=True, **more)
        answer = last.response
    else:
        answer = client.responses.create(model="m", tools=RESPONSE_TOOLS, **more)
    calls = [(item.call_id, item.name, item.arguments) for item in answer.output if item.type == "function_call"]
    usage = answer.usage.model_dump()
    return {"id": answer.id, "text": answer.output_text, "calls": calls, "status": answer.status, "usage": usage}


def client_of(url: str) -> openai.OpenAI:
    return openai.OpenAI(base_url=url, api_key=KEY, max_retries=0)


def replayed(file: Path) -> openai.OpenAI:
    played: Any = transport(file)
    return openai.OpenAI(api_key="k", http_client=httpx2.Client(transport=played), max_retries=0)


@pytest.mark.parametrize("talk", [chat, responses])
@pytest.mark.parametrize("stream", [True, False])
def test_what_was_recorded_plays_the_same_again(served: Serve, tmp_path: Path, talk: Any, stream: bool) -> None:  # noqa: FBT001 - a case
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, client_of(url) as client:
        live = talk(client, stream=stream)
    assert [one["text"] for one in live] == ["Let me look.", "It is sunny.", "One two"] or not stream
    assert [len(one["calls"]) for one in live] == [2, 0, 0]
    with replayed(file) as client:
        assert talk(client, stream=stream) == live
    assert KEY not in file.read_text()


def test_an_upstream_on_this_machine_is_asked_past_the_environment(
    served: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")  # where nothing listens
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "nowhere"))
    asked = {"model": "m", "messages": [{"role": "user", "content": "at length"}]}
    with (
        running(Recorder(served(LIVE), tmp_path / "recorded.yaml")) as url,
        httpx2.Client(trust_env=False, verify=False) as client,
    ):
        answer = client.post(f"{url}/chat/completions", json=asked)
    assert answer.json()["choices"][0]["message"]["content"] == "One two"
    with pytest.raises(FileNotFoundError):  # the authorities of certificates hold for this machine, too
        Recorder("https://127.0.0.1:1/v1", tmp_path / "recorded.yaml")


def test_a_refusal_plays_the_same_again(served: Serve, tmp_path: Path) -> None:
    file = tmp_path / "recorded.json"

    def refused(client: openai.OpenAI) -> tuple[Any, ...]:
        with pytest.raises(openai.RateLimitError) as raised:
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": "busy"}])
        return raised.value.body, raised.value.response.headers["retry-after"]

    with running(Recorder(served(LIVE), file)) as url, client_of(url) as client:
        live = refused(client)
    with replayed(file) as client:
        assert refused(client) == live
    assert live[1] == "7"


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("said", ["think", "harm"])
def test_items_of_a_response_play_the_same_again(served: Serve, tmp_path: Path, said: str, stream: bool) -> None:  # noqa: FBT001 - a case
    file = tmp_path / "recorded.yaml"

    def items(client: openai.OpenAI) -> Any:
        answer: Any = client.responses.create(model="m", input=said, stream=stream)
        whole = list(answer)[-1].response if stream else answer
        return [{**item.model_dump(exclude_unset=True), "id": None} for item in whole.output]

    with running(Recorder(served(LIVE), file)) as url, client_of(url) as client:
        live = items(client)
    assert live
    with replayed(file) as client:
        assert items(client) == live


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("said", ["aloud", "harm"])
def test_what_chat_has_beside_the_text_plays_the_same_again(
    served: Serve,
    tmp_path: Path,
    said: str,
    stream: bool,  # noqa: FBT001 - a case
) -> None:
    file = tmp_path / "recorded.yaml"
    messages: Any = [{"role": "user", "content": said}]

    def shown(client: openai.OpenAI) -> Any:
        answer: Any = client.chat.completions.create(model="m", messages=messages, stream=stream)
        said = [chunk.choices[0].delta for chunk in answer] if stream else [answer.choices[0].message]
        return [one.model_dump(exclude_unset=True) for one in said]

    with running(Recorder(served(LIVE), file)) as url, client_of(url) as client:
        live = shown(client)
    assert any(one.get("reasoning_content") or one.get("refusal") for one in live)
    with replayed(file) as client:
        assert shown(client) == live


def test_a_word_that_is_a_key_only_by_its_place_stays_in_the_texts(served: Serve, tmp_path: Path) -> None:
    # A server on one's own machine takes any key, and clients want one.
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, openai.OpenAI(base_url=url, api_key="o") as client:
        client.chat.completions.create(model="m", messages=[{"role": "user", "content": "Hello there."}])
    [script] = load_scripts(file).values()
    assert script.when == "Hello there."


def test_keys_are_passed_on_and_never_written(tmp_path: Path) -> None:
    seen: list[str] = []
    betas: list[list[bytes]] = []

    class Live:
        def wants(self, _exchange: ServedExchange) -> int:
            return 2**20

        def answer(self, exchange: ServedExchange) -> None:
            seen.append(exchange.head.values(b"authorization")[0].decode())
            betas.append(list(exchange.head.values(b"x-beta")))
            message = {"role": "assistant", "content": f"Your keys: {KEY} and {seen[-1]}"}
            body = {"id": "c", "choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
            exchange.reply(200, {"content-type": "application/json"}, json.dumps(body).encode())

        def stop(self) -> None:
            pass

    file = tmp_path / "recorded.yaml"
    for key in (None, "another-key-of-the-upstream"):
        with running(Live()) as upstream, running(Recorder(upstream, file, key=key)) as url, client_of(url) as client:
            answer = client.chat.completions.create(model="m", messages=[{"role": "user", "content": f"Hi {KEY}"}])
            assert KEY in (answer.choices[0].message.content or "")
        assert KEY not in file.read_text()
        assert "another-key" not in file.read_text()
        [script] = load_scripts(file).values()
        assert script.when == "Hi ***"
        twice = [("authorization", f"Bearer {KEY}"), ("x-beta", "one"), ("x-beta", "two")]
        with running(Live()) as upstream, running(Recorder(upstream, file, key=key)) as url:
            assert httpx2.get(f"{url}/models", headers=twice).status_code == 200
        assert betas.pop() == [b"one", b"two"]
    assert seen == [f"Bearer {KEY}"] * 2 + ["Bearer another-key-of-the-upstream"] * 2


def test_the_file_is_there_after_each_answer_and_an_upstream_that_is_not_is_a_502(
    served: Serve, tmp_path: Path
) -> None:
    file = tmp_path / "recorded.yaml"
    with running(Recorder(served(LIVE), file)) as url, client_of(url) as client:
        for count, text in enumerate(("weather", "at length"), 1):
            client.chat.completions.create(model="m", messages=[{"role": "user", "content": text}])
            assert len(load_scripts(file)) == count
        broken: Any = {"model": "m", "messages": [{"role": "user", "content": "broken"}], "stream": True}
        with pytest.raises((openai.APIError, httpx2.TransportError)):
            list(client.chat.completions.create(**broken))
    assert [script.parts for script in load_scripts(file).values() if script.name == "broken"] == [
        ((Say(("Half",)), Disconnect()),)
    ]
    with running(Recorder("http://127.0.0.1:1/v1", file)) as url, client_of(url) as client:
        with pytest.raises(openai.InternalServerError, match="The upstream does not answer"):
            client.models.list()
        with pytest.raises(openai.NotFoundError, match="the base URL ends with /v1"):
            client.with_options(base_url=url.removesuffix("/v1")).models.list()


ODD: dict[str, Any] = {
    "a number for text": {"content": 7},
    "lone surrogates": {"content": "\ud83d"},
    "a call without a name": {"tool_calls": [{"id": "c1", "function": {"name": "", "arguments": "{}"}}]},
    "a call without an id": {"tool_calls": [{"function": {"name": "f", "arguments": "{}"}}]},
}


def test_an_answer_that_no_script_can_say_is_left_out_and_the_others_stay(
    served: Serve, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    answers = {what: {"choices": [{"index": 0, "message": message}]} for what, message in ODD.items()}
    odd = [
        {"name": f"odd-{number}", "when": what, "parts": [[{"status": {"code": 200, "body": json.dumps(answer)}}]]}
        for number, (what, answer) in enumerate(answers.items())
    ]
    file = tmp_path / "recorded.yaml"
    upstream = served(json.dumps([{"name": "a", "when": "good", "parts": [[{"say": "Fine."}]]}, *odd]))
    with running(Recorder(upstream, file)) as url, httpx2.Client(base_url=url) as client:
        for text in ("good one", *answers, "another good one"):
            said = {"model": "m", "messages": [{"role": "user", "content": text}]}
            assert client.post("chat/completions", json=said).status_code == 200
    assert {script.when for script in load_scripts(file).values()} == {"good one", "another good one"}
    warned = [record.getMessage().split(": ") for record in caplog.records if record.levelname == "WARNING"]
    assert [(what, place.removeprefix("parts[0][0].")) for what, place, *_ in warned] == [
        ("an answer is not recorded", place) for place in ("say.pieces", "say.pieces", "call.name", "call.id")
    ]


# Answers


def sse(*objects: Any, gap: float = 0.0) -> RecordedAnswer:
    frames = [f"data: {one if isinstance(one, str) else json.dumps(one)}\n\n".encode() for one in objects]
    pieces = [(gap * number, frame) for number, frame in enumerate(frames, 1)]
    return RecordedAnswer(status=200, headers={"content-type": "text/event-stream; charset=utf-8"}, pieces=pieces)


def delta(**said: Any) -> dict[str, Any]:
    return {"id": "c1", "choices": [{"index": 0, "delta": said, "finish_reason": None}]}


def test_silences_are_recorded_where_they_are_asked_for() -> None:
    recorded = sse(delta(content="One"), delta(content="two"), "[DONE]", gap=0.5)
    assert steps_of(recorded) == ((Say(("One", "two")),), "c1")
    assert steps_of(recorded, paced=True)[0] == (Pause(0.5), Say(("One",)), Pause(0.5), Say(("two",)))


def test_reasoning_other_choices_and_a_stream_that_breaks_off() -> None:
    other = {"id": "c1", "choices": [{"index": 1, "delta": {"content": "no"}, "finish_reason": "stop"}]}
    counts = {"id": "c1", "choices": [], "usage": {"prompt_tokens": 1, "completion_tokens": 2}}
    said = (delta(reasoning_content="Hm"), delta(reasoning_content="m."), other, delta(content="Yes"))
    think = Think("Hmm.", pieces=("Hm", "m."), in_chat=True)
    assert steps_of(sse(*said, counts, "[DONE]"))[0] == (think, Say(("Yes",)), Usage(input=1, output=2))
    assert steps_of(sse(*said))[0] == (think, Say(("Yes",)), Fail("cut"))
    assert steps_of(sse(*said, {"error": {"message": "no more"}}))[0][-1] == Fail("server-error")


@pytest.mark.parametrize("count", [None, "5", -1, 1.5e300, 10**12, [], {}], ids=repr)
def test_counts_that_are_none_are_zero(count: object) -> None:
    usage = {"prompt_tokens": count, "completion_tokens": 2.0}
    [_, counts] = steps_of(sse(delta(content="Yes"), {"id": ["x"], "choices": [], "usage": usage}, "[DONE]"))[0]
    assert counts == Usage(input=0, output=2)


@pytest.mark.parametrize("size", [1, 7])
def test_frames_are_read_at_any_cut_and_with_any_line_end(size: int) -> None:
    whole = sse(delta(content="Grüße"), "[DONE]").body.replace(b"\n", b"\r\n")
    pieces = [(0.0, whole[at : at + size]) for at in range(0, len(whole), size)]
    recorded = RecordedAnswer(status=200, headers={"content-type": "text/event-stream"}, pieces=pieces)
    assert steps_of(recorded)[0] == (Say(("Grüße",)),)


def test_a_page_of_a_proxy_is_recorded_as_it_is() -> None:
    recorded = RecordedAnswer(status=503, headers={"content-type": "text/html"}, pieces=[(0.1, b"<h1>Busy</h1>")])
    assert steps_of(recorded)[0] == (Status(503, body="<h1>Busy</h1>", headers={"content-type": "text/html"}),)


# Scripts


def user(*texts: str) -> dict[str, Any]:
    return {"messages": [{"role": "user", "content": text} for text in texts]}


HI = (Say(("Hi.",)),)


def test_a_key_that_comes_in_pieces_is_masked_as_a_whole() -> None:
    scripts = Scripts()
    steps = (
        Say((f"Key {KEY[:5]}", f"{KEY[5:]}.")),
        Think(KEY, pieces=(KEY[:3], KEY[3:])),
        Call(id="c", name="n", arguments=f'"{KEY}"', pieces=(f'"{KEY[:4]}', f'{KEY[4:]}"')),
        Say(("Hi", " there")),
    )
    scripts.add(user(f"Use {KEY}"), steps)
    scripts.add(user("No"), (Status(401, body=f"{KEY} is wrong"),))
    script, refused = scripts.scripts([KEY, KEY[:4]])
    assert (script.name, script.when) == ("use", "Use ***")
    assert refused.parts == ((Status(401, body="*** is wrong"),),)
    assert script.parts == (
        (
            Say(("Key ***.",)),
            Think("***"),
            Call(id="c", name="n", arguments='"***"'),
            Say(("Hi", " there")),
        ),
    )


def test_what_is_asked_again_is_recorded_once_and_longer_texts_come_first() -> None:
    scripts = Scripts()
    assert scripts.add(user("Hello"), HI) is None
    assert scripts.add(user("Hello"), HI) is None
    assert scripts.add(user("Hello, world"), HI) is None
    assert [(one.name, one.when, one.parts) for one in scripts.scripts()] == [
        ("hello-world", "Hello, world", (HI,)), ("hello", "Hello", (HI,)),
    ]  # fmt: skip


def test_what_cannot_be_chosen_again_is_said() -> None:
    scripts = Scripts()
    with pytest.raises(ScriptError, match="has no text of a user"):
        scripts.add({"messages": [{"role": "system", "content": "x"}]}, HI)
    assert scripts.add(user("One", "go on"), HI) is None
    assert "another conversation was asked 'Go on', too" in (scripts.add(user("Two", "Go on"), HI) or "")
    assert [script.name for script in scripts.scripts()] == ["go-on", "go-on-2"]


def test_a_loop_that_began_before_is_completed_from_what_the_client_sends() -> None:
    call = {"id": "c1", "function": {"name": "look", "arguments": "{}"}}
    asked = user("Look")
    asked["messages"] += [
        {"role": "assistant", "content": "Let me.", "tool_calls": [call]}, {"role": "tool", "tool_call_id": "c1"},
    ]  # fmt: skip
    scripts = Scripts()
    scripts.add(asked, (*HI, Finish("length")))
    [script] = scripts.scripts()
    known = (Say(("Let me.",)), Call(id="c1", name="look", arguments="{}"))
    assert script.parts == (known, (*HI, Finish("length")))


def test_a_file_is_written_as_a_person_would(tmp_path: Path) -> None:
    parts = ((Say(("Hi ", "you.")), Say(("!",)), Pause(0.5), Usage(input=11, output=9)), HI)
    script = Script(name="one", title="One.", when="one", parts=parts)
    write(tmp_path / "one.json", [script])
    assert json.loads((tmp_path / "one.json").read_text())["scripts"] == [
        {
            "name": "one",
            "title": "One.",
            "when": "one",
            "parts": [
                [{"say": ["Hi ", "you."]}, {"say": "!"}, {"pause": {"seconds": 0.5}}, {"usage": {"output": 9}}],
                [{"say": "Hi."}],
            ],
        }
    ]
    assert load_scripts(tmp_path / "one.json") == {"one": script}


def test_a_file_that_cannot_be_written_is_left_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "recorded.yaml"
    script = Script(name="one", title="One.", when="one", parts=(HI,))
    write(file, [script])
    before = file.read_text()

    def fail(*_: Any, **__: Any) -> None:
        raise OSError("no space")

    with monkeypatch.context() as patch:
        patch.setattr(type(file), "write_text", fail)
        with pytest.raises(OSError, match="no space"):
            write(file, [])
    assert file.read_text() == before
