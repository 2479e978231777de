from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

import pytest

from assay.model.dialect import CHATS, MODE_HEADER, Arguments, Dialect
from assay.model.target import Backend, Target
from assay.model.verdict import HarnessError
from assay.targets.launch import free_port
from assay.targets.preflight import LONGEST, detect_argument_mode, preflight

if TYPE_CHECKING:
    from collections.abc import Callable

MOCK = "Assay: the scripted backend is here."


def a_target(url: str, *, model: str = "m", key: str | None = None, timeout: float = 10.0) -> Target:
    return Target(base_url=url, model=model, api_key=key, timeout=timeout)


def refusal(target: Target) -> str:
    with pytest.raises(HarnessError) as raised:
        preflight(target)
    assert "\n" not in str(raised.value)
    return str(raised.value)


@pytest.mark.parametrize(("said", "backend"), [(MOCK, Backend.MOCK), ("I am a model.", Backend.LIVE)])
def test_the_words_of_the_answer_tell_the_backend(tiny: Any, said: str, backend: Backend) -> None:
    tiny.respond = lambda exchange: exchange.completion(said)
    target = a_target(tiny.base_url, key="k")
    found = preflight(target)
    assert (found.backend, found.model, found.base_url) == (backend, "m", tiny.base_url)
    assert tiny.requests[0].marker == "probe"
    assert tiny.requests[0].headers["authorization"] == "Bearer k"
    asked = {(exchange.method, exchange.path) for exchange in tiny.requests}
    assert asked - {("POST", "/v1/responses")} == {("POST", "/v1/chat/completions")}


def test_no_key_is_sent_where_none_was_given(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.completion(MOCK)
    preflight(a_target(tiny.base_url))
    assert "authorization" not in tiny.requests[0].headers


def test_the_first_model_of_the_list_is_chosen(tiny: Any) -> None:
    models = {"object": "list", "data": [{"id": "first"}, {"id": "second"}]}
    tiny.respond = lambda e: e.whole(models) if e.path == "/v1/models" else e.completion(MOCK)
    assert preflight(a_target(tiny.base_url, model="")).model == "first"
    assert tiny.requests[1].json["model"] == "first"


def test_the_second_request_does_not_count_on_the_connection_of_the_first(tiny: Any) -> None:
    closed: list[bool] = []

    def respond(exchange: Any) -> None:
        if exchange.path == "/v1/models":
            exchange.whole({"data": [{"id": "first"}]})
            closed.append(exchange.gone())
        else:
            exchange.completion(MOCK)

    tiny.respond = respond
    assert preflight(a_target(tiny.base_url, model="")).model == "first"
    assert closed == [True]


@pytest.mark.parametrize("data", [{"data": []}, {"data": [{"id": ""}]}, {"data": [{"id": 1}]}, {}, [], 1])
def test_a_list_without_a_model_asks_for_one(tiny: Any, data: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole(data)
    assert refusal(a_target(tiny.base_url, model="")) == (
        f"{tiny.base_url}/models lists no model; name one with --model"
    )


def test_a_server_that_is_not_there(tiny: Any) -> None:
    tiny.close()
    assert refusal(a_target(tiny.base_url)).startswith(f"nothing answers at {tiny.base_url}/chat/completions: ")


def test_a_name_that_nobody_has() -> None:
    assert refusal(a_target("http://nobody.invalid/v1")).startswith("nothing answers at http://nobody.invalid/v1/")


@pytest.mark.parametrize(
    "url",
    [
        "127.0.0.1:8787/v1",
        "localhost/v1",
        "ftp://127.0.0.1/v1",
        "http://[::1/v1",
        "http://127.0.0.1:99999/v1",
        "http:///v1",
        "x y",
        "",
    ],
)
def test_a_url_that_is_none(url: str) -> None:
    assert refusal(a_target(url)).startswith(f"{url!r} is no usable URL: ")


@pytest.mark.parametrize("said", [b"", b"220 ready\r\n", b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{"])
def test_a_server_that_speaks_no_http(tiny: Any, said: bytes) -> None:
    tiny.respond = lambda exchange: exchange.send(said)
    assert refusal(a_target(tiny.base_url)).startswith(
        f"{tiny.base_url}/chat/completions does not speak HTTP as it should: "
    )


def test_a_body_that_is_not_encoded_as_it_says(tiny: Any) -> None:
    head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n"
    tiny.respond = lambda exchange: exchange.send(head, b"{oh}")
    assert "does not speak HTTP as it should: " in refusal(a_target(tiny.base_url))


@pytest.mark.parametrize("said", [b"", b"HTTP/1.1 200 OK\r\n\r\n"])
def test_a_server_that_hangs(tiny: Any, said: bytes) -> None:
    tiny.respond = lambda exchange: (exchange.send(said), exchange.gone())
    began = time.monotonic()
    message = refusal(a_target(tiny.base_url, timeout=0.3))
    assert message.endswith("gave no answer within 0.3 s (--timeout sets the limit)")
    assert time.monotonic() - began < 5


def test_a_server_that_drips_for_ever(tiny: Any) -> None:
    def respond(exchange: Any) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
        while not exchange.gone(0.02):
            exchange.send(b" ")

    tiny.respond = respond
    assert "gave no answer within 0.3 s" in refusal(a_target(tiny.base_url, timeout=0.3))


def test_a_server_that_pours_for_ever(tiny: Any) -> None:
    def respond(exchange: Any) -> None:
        exchange.send(b"HTTP/1.1 200 OK\r\nContent-Type: audio/mpeg\r\n\r\n")
        while True:
            exchange.send(bytes(LONGEST))

    tiny.respond = respond
    assert "answers 200 with audio/mpeg, not JSON" in refusal(a_target(tiny.base_url))


@pytest.mark.parametrize(
    ("status", "kind", "body", "seen"),
    [
        ("404 Not Found", "text/html; charset=utf-8", b"<html>no such page", "answers 404 with text/html, not JSON"),
        ("200 OK", "text/html", b"<html>welcome", "answers 200 with text/html, not JSON"),
        ("200 OK", "", b"{}", "answers 200 with no content type, not JSON"),
        ("200 OK", "application/json", b"<html>", "answers 200 with a body, not JSON"),
    ],
)
def test_what_is_no_json_is_no_proxy(tiny: Any, status: str, kind: str, body: bytes, seen: str) -> None:
    tiny.respond = lambda exchange: exchange.whole(body, status, kind)
    url = f"{tiny.base_url}/chat/completions"
    assert refusal(a_target(tiny.base_url)) == f"{url} {seen}: that is no OpenAI-compatible API"
    assert refusal(a_target(tiny.root)).endswith("API; did you mean a URL that ends in /v1?")


@pytest.mark.parametrize("data", [{}, [], {"choices": None}, "Hello", {"object": "list", "data": []}])
def test_json_that_is_no_completion_is_no_proxy(tiny: Any, data: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole(data)
    assert refusal(a_target(tiny.base_url)).endswith(
        "/chat/completions answers 200 with JSON that is no chat completion"
    )


def test_the_media_type_may_be_spelled_in_any_case(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole({"choices": []}, kind="Application/JSON ; charset=utf-8")
    assert preflight(a_target(tiny.base_url)).backend is Backend.LIVE


@pytest.mark.parametrize("status", ["401 Unauthorized", "403 Forbidden"])
@pytest.mark.parametrize(
    ("key", "wants"),
    [(None, "it wants a key; name its variable with --api-key-env"), ("k", "it wants another key than the one given")],
)
def test_a_proxy_that_wants_another_key(tiny: Any, status: str, key: str | None, wants: str) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {"message": "No\n  way."}}, status)
    url = f"{tiny.base_url}/chat/completions"
    assert refusal(a_target(tiny.base_url, key=key)) == f"{url} refuses with {status[:3]}: {wants} (No way.)"


def test_a_door_that_says_html(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole(b"<html>forbidden", "403 Forbidden", "text/html")
    assert refusal(a_target(tiny.base_url)).endswith("it wants a key; name its variable with --api-key-env")


def test_a_redirect_says_where_to(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.send(b"HTTP/1.1 301 Moved\r\nLocation: https://x/v1\r\n\r\n")
    assert "answers 301 and redirects to https://x/v1; name the URL" in refusal(a_target(tiny.base_url))


def test_a_model_that_is_not_known(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": {"message": "There is no nope."}}, "404 Not Found")
    assert refusal(a_target(tiny.base_url, model="nope")) == (
        f"{tiny.base_url}/chat/completions answers 404 to a plain request for the model 'nope' (There is no nope.)"
    )


def test_a_failure_without_an_envelope_has_nothing_to_say(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.whole({"error": "x"}, "500 Oh")
    assert refusal(a_target(tiny.base_url, model="")).endswith("answers 500 to a request for the list of models")


def test_a_slash_at_the_end_of_the_url_does_not_matter(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.completion(MOCK)
    preflight(a_target(f"{tiny.base_url}/"))
    assert tiny.requests[0].path == "/v1/chat/completions"


def test_a_free_port_answers_nothing() -> None:
    assert "nothing answers" in refusal(a_target(f"http://127.0.0.1:{free_port()}/v1"))


# Dialects

FUNCTION = {"name": "localSearch", "arguments": "{}"}
TOOL_CALLS = [{"id": "call_1", "type": "function", "function": FUNCTION}]
ANSWERS: dict[str, dict[str, Any]] = {
    "openai-json": {"content": None, "tool_calls": TOOL_CALLS},
    "obsidian-xml": {"content": "<use_tool>\n  <name>localSearch</name>\n</use_tool>", "tool_calls": TOOL_CALLS},
    "function-call": {"content": None, "function_call": FUNCTION},
    "text": {"content": "I call nothing."},
}


def spoken(tiny: Any, **speaks: str) -> tuple[Dialect, ...]:
    """The dialects found out of a server that answers what is asked for in a dialect by what is named for it."""

    def respond(exchange: Any) -> None:
        if exchange.marker == "probe":
            exchange.completion(MOCK)
            return
        if exchange.path.endswith("/responses"):
            exchange.whole({"object": speaks.get("responses", "response")}, speaks.get("status", "200 OK"))
            return
        legacy = "functions" in exchange.json
        asked = "function-call" if legacy else exchange.headers[MODE_HEADER]
        message = {"role": "assistant", **ANSWERS[speaks.get(asked.replace("-", "_"), asked)]}
        exchange.whole({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    tiny.respond = respond
    return preflight(a_target(tiny.base_url)).dialects


def test_a_dialect_is_spoken_where_a_call_comes_in_it(tiny: Any) -> None:
    assert spoken(tiny) == tuple(Dialect)
    assert [("functions" in exchange.json, "tools" in exchange.json) for exchange in tiny.requests[1:5]] == [
        (False, True), (False, True), (True, False), (False, True),
    ]  # fmt: skip
    assert [exchange.path for exchange in tiny.requests[3:5]] == ["/v1/chat/completions", "/v1/responses"]


@pytest.mark.parametrize(
    ("speaks", "found"),
    [
        ({"obsidian_xml": "openai-json"}, [one for one in Dialect if one is not Dialect.OBSIDIAN_XML]),
        ({"openai_json": "obsidian-xml"}, [Dialect.OBSIDIAN_XML, Dialect.FUNCTION_CALL, Dialect.RESPONSES]),
        ({"function_call": "openai-json"}, [one for one in Dialect if one is not Dialect.FUNCTION_CALL]),
        (dict.fromkeys(("openai_json", "obsidian_xml", "function_call", "responses"), "text"), [Dialect.OPENAI_JSON]),
        ({"status": "404 Not Found"}, [*CHATS]),
        ({"status": "500 Oh"}, [*CHATS, Dialect.RESPONSES]),
    ],
)
def test_a_dialect_is_not_spoken_where_another_answers(tiny: Any, speaks: dict[str, str], found: list[Dialect]) -> None:
    assert spoken(tiny, **speaks) == tuple(found)


@pytest.mark.parametrize("data", [{}, [], {"choices": []}, {"choices": [{"message": None}]}, {"error": {}}])
def test_what_cannot_be_read_speaks_no_dialect_but_openais(tiny: Any, data: Any) -> None:
    tiny.respond = lambda e: e.completion(MOCK) if e.marker == "probe" else e.whole(data)
    assert preflight(a_target(tiny.base_url)).dialects == (Dialect.OPENAI_JSON,)


def test_dialects_that_were_named_are_not_tried(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.completion(MOCK)
    named = Target(base_url=tiny.base_url, model="m", dialects=(Dialect.FUNCTION_CALL,))
    assert preflight(named).dialects == (Dialect.FUNCTION_CALL,)
    assert [exchange.marker for exchange in tiny.requests] == ["probe"]


def test_a_live_model_is_taken_to_speak_openais_dialect(tiny: Any) -> None:
    tiny.respond = lambda exchange: exchange.completion("I am a model.")
    assert preflight(a_target(tiny.base_url)).dialects == (Dialect.OPENAI_JSON,)
    assert len(tiny.requests) == 1


# Arguments


def streaming(*fragments: str) -> Callable[[Any], None]:
    """A server that speaks OpenAI's dialect, and streams the arguments of a call like this."""

    def respond(exchange: Any) -> None:
        if exchange.marker == "probe":
            exchange.completion(MOCK)
        elif not exchange.streamed:
            exchange.completion(None, TOOL_CALLS)
        else:
            exchange.begin("")
            exchange.chunk({"tool_calls": [{"index": 0, **TOOL_CALLS[0], "function": {"name": "f", "arguments": ""}}]})
            for fragment in fragments:
                exchange.chunk({"tool_calls": [{"index": 0, "function": {"arguments": fragment}}]})
            exchange.chunk({}, "tool_calls")
            exchange.send(b"data: [DONE]\n\n")

    return respond


@pytest.mark.parametrize(
    ("fragments", "found"),
    [(('{"a"', '{"a": 1', '{"a": 1}'), Arguments.CUMULATIVE), (('{"a"', ": 1", "}"), None), (('{"a": 1}',), None)],
)
def test_how_arguments_are_told_is_found_out(tiny: Any, fragments: tuple[str, ...], found: Arguments | None) -> None:
    tiny.respond = streaming(*fragments)
    assert preflight(a_target(tiny.base_url)).arguments is found


def test_a_way_that_was_declared_is_not_looked_for(tiny: Any) -> None:
    tiny.respond = streaming("{", "}")
    declared = Target(base_url=tiny.base_url, model="m", arguments=Arguments.CUMULATIVE)
    assert preflight(declared).arguments is Arguments.CUMULATIVE
    assert not any(exchange.streamed for exchange in tiny.requests if exchange.marker != "probe")


def fragments_of_one_call(*fragments: str) -> bytes:
    deltas = [{"index": 0, "function": {"arguments": fragment}} for fragment in fragments]
    opened = {"index": 0, "id": "c", "type": "function", "function": {"name": "f", "arguments": ""}}
    chunks = [{"choices": [{"index": 0, "delta": {"tool_calls": [delta]}}]} for delta in (opened, *deltas)]
    return b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in chunks)


@pytest.mark.parametrize(
    ("fragments", "way"),
    [
        (("{", '{"a"', '{"a": 1}'), Arguments.CUMULATIVE),
        (("{", '"a"', ": 1}"), Arguments.INCREMENTAL),
        (("1", "1"), Arguments.INCREMENTAL),
        (("{}",), None),
        ((), None),
    ],
)
def test_fragments_show_the_argument_mode(fragments: tuple[str, ...], way: Arguments | None) -> None:
    assert detect_argument_mode(fragments_of_one_call(*fragments)) is way


@pytest.mark.parametrize("body", [b"", b"{}", b"data: no\n\n"])
def test_what_is_no_stream_shows_nothing(body: bytes) -> None:
    assert detect_argument_mode(body) is None
