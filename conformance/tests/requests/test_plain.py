from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from wireproof.model.scenario import Auth, ConversationScenario, PlainScenario, Request, Turn
from wireproof.model.target import Backend, Missing, Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.requests.plain import UnseenError, examine, following, prepare, response_id, unsupported_reason

TARGET = Target(base_url="http://proxy/openai/v1/", model='co"dex', api_key="k", unready_url="http://twin/v1", slots=2)
AUTHORIZATION = [
    (Auth.RIGHT, "k", "Bearer k"),
    (Auth.RIGHT, None, None),
    (Auth.NONE, "k", None),
    (Auth.WRONG, "k", "Bearer wq7Zr2Xk9Tb4Lm8Vd3Ph"),
    (Auth.OTHER_CASE, "k", "bEARER k"),
    (Auth.OTHER_SCHEME, "k", "Token k"),
    (Auth.CUT, "key", "Bearer ke"),
    (Auth.CUT, "k", "Bearer -"),
    (Auth.EXTENDED, "key", "Bearer keyx"),
]


def target(**changes: Any) -> Target:
    return Target(**{"base_url": "http://proxy/v1", "model": "codex", **changes})


def scenario(*requests: Request) -> PlainScenario:
    return PlainScenario(name="x", title="", exercises=("http.models.list",), requests=requests)


def transcript(status: int, *headers: tuple[str, str], body: bytes = b"") -> Transcript:
    return Transcript(
        method="POST", url="", request_headers=(), request_body=body, status=status, headers=headers, pieces=(),
        end=End.COMPLETE, seconds=0.0,
    )  # fmt: skip


def test_a_path_stands_below_the_base_url_or_below_what_that_stands_in() -> None:
    assert prepare(Request(path="/models/{model}"), target()).url == "http://proxy/v1/models/codex"
    assert prepare(Request(path="/healthz", root=True), TARGET).url == "http://proxy/openai/healthz"
    assert prepare(Request(path="/readyz", root=True, unready=True), TARGET).url == "http://twin/readyz"
    assert prepare(Request(path="/models", unready=True), TARGET).url == "http://twin/v1/models"


def test_the_model_is_filled_into_json_wherever_it_stands_alone() -> None:
    request = Request(json={"model": "{model}", "n": ..., "also": [{"deep": "{model}"}, "not {model}"], "k": None})
    assert json.loads(prepare(request, TARGET).body) == {
        "model": 'co"dex',
        "also": [{"deep": 'co"dex'}, "not {model}"],
        "k": None,
    }


def response(id_: str) -> Transcript:
    answered = dataclasses.replace(
        transcript(200), pieces=(Piece(at=0, data=b'{"object": "response", "id": "%s"}' % id_.encode()),)
    )
    assert response_id(answered) == id_
    return answered


def test_a_request_follows_the_last_response() -> None:
    said = [response("resp_1"), response("resp_2"), transcript(404)]
    one = Request(path="/responses/{response}/x", json={"previous_response_id": "{response}", "input": "{response}?"})
    request = following(one, said, "m")
    assert request is not None
    assert request.path == "/responses/resp_2/x"
    assert request.json == {"previous_response_id": "resp_2", "input": "{response}?"}
    assert following(Request(body=b"{"), said, "m") == Request(body=b"{")


def listed(*names: str) -> Transcript:
    data = json.dumps({"object": "list", "data": [{"id": name} for name in names]}).encode()
    return dataclasses.replace(transcript(200), pieces=(Piece(at=0, data=data),))


@pytest.mark.parametrize(
    ("said", "path"),
    [
        ([listed("m", "big/model 2")], "/models/big/model%202"),
        ([listed("other"), listed("m")], None),
        ([transcript(500)], None),
        ([], None),
    ],
)
def test_a_listed_model_is_another_one_than_the_targets(said: list[Transcript], path: str | None) -> None:
    request = following(Request(method="GET", path="/models/{listed}"), said, "m")
    assert (request and request.path) == path


@pytest.mark.parametrize(
    ("request_", "is_sent"),
    [
        (Request(path="/responses/{response}"), False),
        (Request(json={"previous_response_id": "{response}"}), False),
        (Request(path="/responses/resp_nowhere", json={"input": "{response}?"}), True),
    ],
)
def test_what_continues_a_response_that_never_came_is_not_sent(request_: Request, is_sent: bool) -> None:  # noqa: FBT001
    assert following(request_, [transcript(500)], "m") == (request_ if is_sent else None)


@pytest.mark.parametrize(
    "body", [b"", b"[]", b'{"id": "x"}', b'{"object": "response"}', b'{"object": "list", "id": "x"}']
)
def test_what_is_no_response_has_no_id(body: bytes) -> None:
    assert response_id(dataclasses.replace(transcript(200), pieces=(Piece(at=0, data=body),))) == ""


def test_the_model_is_filled_into_bytes_as_json_spells_it() -> None:
    assert prepare(Request(body=b'{"model": "{model}", \xff'), TARGET).body == b'{"model": "co\\"dex", \xff'


def test_a_body_is_padded_by_so_much_or_beyond_the_declared_limit() -> None:
    request = Request(body=b"{}", padding=5)
    assert prepare(request, target()).body == b"{}     "
    assert prepare(request, target(body_limit=9)).body == b"{}" + b" " * 8
    assert prepare(request, target(body_limit=1)).body == b"{}"
    assert prepare(Request(body=b"{}"), target(body_limit=9)).body == b"{}"


@pytest.mark.parametrize(("auth", "key", "header"), AUTHORIZATION)
def test_the_key_is_sent_as_the_scenario_wants(auth: Auth, key: str | None, header: str | None) -> None:
    assert prepare(Request(auth=auth), target(api_key=key)).headers.get("authorization") == header


def test_headers_of_the_request_are_sent() -> None:
    assert prepare(Request(headers={"origin": "app://x"}), target()).headers == {"origin": "app://x"}


def test_a_scenario_without_requests_fits_every_target() -> None:
    conversation = ConversationScenario(name="x", title="", exercises=(), script="text/hello", turns=(Turn(say="Hi."),))
    assert unsupported_reason(conversation, target()) == ""


def test_what_a_target_lacks_is_said() -> None:
    assert unsupported_reason(scenario(Request(), Request(auth=Auth.WRONG)), target()) == "the target asks for no key"
    assert "Wireproof starts" in unsupported_reason(scenario(Request(unready=True)), target())
    assert "--slots" in unsupported_reason(
        scenario(Request(unready=True, full=True)), target(unready_url="http://twin/v1")
    )
    assert unsupported_reason(scenario(Request(unready=True, full=True), Request(auth=Auth.WRONG)), TARGET) == ""


def test_a_demanded_call_cannot_be_asked_of_a_backend_without_tools() -> None:
    named = scenario(Request(json={"tool_choice": {"type": "function", "function": {"name": "f"}}}))
    none = target(missing=frozenset({Missing.TOOLS}))
    assert unsupported_reason(named, none) == "this Codex takes no tools of its client"
    assert unsupported_reason(named, target()) == ""
    assert unsupported_reason(scenario(Request(json={"tool_choice": "auto"})), none) == ""


def test_a_large_body_that_is_taken_shows_nothing_unless_the_limit_is_declared() -> None:
    request = Request(padding=1)
    with pytest.raises(UnseenError, match=r"a body of 1,000 bytes .* --body-limit"):
        examine(request, transcript(200, body=b" " * 1000), target())
    examine(request, transcript(200), target(body_limit=1))
    examine(request, transcript(413), target())
    examine(Request(), transcript(200), target())


@pytest.mark.parametrize(
    ("body", "id_"),
    [
        (b'{"id": "resp_1", "output": []}', "resp_1"),
        (b'{"id": "resp_1", "object": "response"}', "resp_1"),
        (b'event: response.created\ndata: {"type": "response.created", "response": {"id": "resp_2"}}\n\n', "resp_2"),
        (b'{"id": "chatcmpl_1", "choices": []}', ""),
        (b'{"error": {"message": "no"}}', ""),
    ],
)
def test_a_response_is_known_without_its_object(body: bytes, id_: str) -> None:
    assert response_id(dataclasses.replace(transcript(200), pieces=(Piece(at=0, data=body),))) == id_


def test_a_target_that_does_not_echo_its_own_header_does_not_know_it() -> None:
    request = Request(requires_echo="x-proxy-mode")

    def answered(status: int, *headers: tuple[str, str]) -> Transcript:
        return dataclasses.replace(transcript(status, *headers), request_headers=(("x-proxy-mode", "a"),))

    with pytest.raises(UnseenError, match="does not echo x-proxy-mode"):
        examine(request, answered(200), target())
    other, same = answered(200, ("X-Proxy-Mode", "b")), answered(200, ("X-Proxy-Mode", "a"))
    examine(request, same, target())
    examine(request, other, target())
    # That of its upstream, which a gateway hands on though it has not sent it the request's.
    gateway = target(backend=Backend.ENDPOINT)
    examine(request, same, gateway)
    with pytest.raises(UnseenError, match="does not echo x-proxy-mode"):
        examine(request, other, gateway)
    examine(request, answered(400), target())


@pytest.mark.parametrize(
    ("body", "id_"),
    [
        (b'event: response.created\ndata: {"response": {"object": "response", "id": "resp_7"}}\n\n', "resp_7"),
        (b'data: {"id": 7}\n\ndata: [DONE]\n\n', ""),
    ],
)
def test_a_streamed_response_has_an_id_too(body: bytes, id_: str) -> None:
    assert response_id(dataclasses.replace(transcript(200), pieces=(Piece(at=0, data=body),))) == id_


def test_the_same_large_body_is_made_once() -> None:
    limited = dataclasses.replace(TARGET, body_limit=100_000)
    request = Request(json={"model": "{model}", "messages": []}, padding=1)
    first, second = (prepare(request, limited).body for _ in range(2))
    assert first is second
    assert len(first) == 100_001
