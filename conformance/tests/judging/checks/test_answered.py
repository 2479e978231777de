from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from wireproof.judging.checks.answered import answered, asked, refused, refused_in_words
from wireproof.judging.registry import Checks, Seen
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Form, Mode, PlainScenario, Request, Turn
from wireproof.model.target import Target
from wireproof.model.transcript import End, Piece, Transcript
from wireproof.reading.exchange import Exchange

ROW, OTHER = "param.n", "param.model"
CASES: list[tuple[Request, int | None, dict[str, str], Any, str]] = [
    (Request(), 200, {}, {}, ""),
    (Request(expect=404), 404, {}, {}, ""),
    (Request(expect=204, any_success=True), 200, {}, {}, ""),
    (
        Request(expect=204, any_success=True),
        301,
        {},
        {},
        "POST /chat/completions was answered HTTP 301; it should be 204",
    ),
    (Request(expect=204), 200, {}, {}, "POST /chat/completions was answered HTTP 200; it should be 204"),
    (Request(path="/x"), 500, {}, "oh", "POST /x was answered HTTP 500; it should be 200"),
    (
        Request(method="GET"),
        None,
        {},
        "",
        "response came to GET /chat/completions (timeout after 2.0 s); it should be 200",
    ),
    (
        Request(json={"n": 0}, expect=400, param="n"),
        200,
        {},
        {},
        'with {"n": 0} was answered HTTP 200; it should be 400 with param n',
    ),
    (Request(json={"n": "x" * 400}, expect=400), 200, {}, {}, "x… was answered HTTP 200; it should be 400"),
    (Request(shows={"allow": "POST"}), 200, {"Allow": "GET, post"}, {}, ""),
    (Request(shows={"allow": "POST"}), 200, {"Allow": "GET"}, {}, 'allow is "GET", it should say POST'),
    (Request(shows={"allow": "POST"}), 200, {}, {}, "there is no allow header, it should say POST"),
    (Request(shows={"retry-after": ""}), 200, {"Retry-After": "1"}, {}, ""),
    (Request(shows={"retry-after": ""}), 200, {}, {}, "there is no retry-after header"),
    (Request(expect=404, code="gone"), 404, {}, {"code": "gone"}, ""),
    (Request(expect=404, code="gone"), 404, {}, {"code": None}, 'code is null, it should be "gone"'),
    (Request(expect=400, param="n"), 400, {}, {"param": "n"}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": "n.of"}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": "n[0]"}, ""),
    (Request(expect=400, param="x-a"), 400, {}, {"param": "X-A"}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": "name"}, 'param is "name", it should be "n"'),
    (Request(expect=400, param="n"), 400, {}, {"param": None}, 'param is null, it should be "n"'),
    (Request(expect=400, param=""), 400, {}, {"param": None}, ""),
    (Request(expect=400, param=""), 400, {}, {"param": "n"}, 'param is "n", it should be null'),
    (Request(expect=400, param="n"), 400, {}, {"param": "n", "type": "x"}, 'type is "x", it should be'),
    (Request(expect=400, param="n"), 400, {}, {"param": 7}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": "m", "code": 400}, 'param is "m", it should be "n"'),
    (Request(expect=400, param="n"), 400, {}, {"param": "n", "code": 400}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": None, "code": 400}, ""),
    (Request(expect=400, param="n"), 400, {}, {"param": "n", "type": None}, ""),
    (Request(expect=400, param="n"), 400, {}, "no envelope", ""),
]

CONVERSATION = ConversationScenario(name="x", title="", exercises=(ROW,), turns=(Turn(say="x"),))


def exchange(request: Request, status: int | None, headers: dict[str, str], body: Any, number: int = 0) -> Exchange:
    if isinstance(body, dict) and status != 200:
        body = {"error": {"message": "No.", "type": "invalid_request_error", "param": None, "code": None, **body}}
    sent = json.dumps(request.json).encode() if request.json else b""
    transcript = Transcript(
        method=request.method, url="http://proxy/v1/x", request_headers=(), request_body=sent, status=status,
        headers=(("Content-Type", "application/json"), *headers.items()),
        pieces=(Piece(at=0.0, data=json.dumps(body).encode()),), end=End.COMPLETE if status else End.TIMEOUT, seconds=2,
    )  # fmt: skip
    scenario = PlainScenario(name="x", title="", exercises=(ROW,), requests=(Request(),) * number + (request,))
    form = Form(Dialect.OPENAI_JSON, Mode.WHOLE)
    target = Target(base_url="http://proxy/v1", model="codex")
    return Exchange(
        scenario=scenario, number=number, turn=None, form=form, target=target, transcript=transcript, reading=None
    )


@pytest.mark.parametrize(("request_", "status", "headers", "body", "seen"), CASES)
def test_an_answer_is_what_its_request_wants(
    request_: Request, status: int | None, headers: dict[str, str], body: Any, seen: str
) -> None:
    found = list(answered(ROW, exchange(request_, status, headers, body), Checks()))
    assert [one.requirement for one in found] == ([ROW] if seen else [])
    assert not seen or seen in found[0].seen
    assert not seen or (found[0].about is not None) == seen.startswith("there is no ")


@pytest.mark.parametrize(
    ("request_", "status", "error", "strict_only"),
    [
        (Request(expect=400, param="n"), 400, {"param": None}, True),
        (Request(expect=400, param="n"), 400, {"param": "n", "type": "x"}, True),
        (Request(expect=400, param="n"), 422, {"param": "n"}, True),
        (Request(expect=404, code="gone"), 404, {"code": None}, True),
        # An empty answer to many clients; and what is the server's own fault they ask for again.
        (Request(expect=404), 200, {"error": {"message": "No."}}, False),
        (Request(expect=400, param="n"), 500, {"param": "n"}, False),
    ],
)
def test_no_client_looks_at_the_param_of_an_error(
    request_: Request, status: int, error: Any, *, strict_only: bool
) -> None:
    (found,) = answered(ROW, exchange(request_, status, {}, error), Checks())
    assert found.strict_only is strict_only


@pytest.mark.parametrize(
    ("message", "seen"),
    [("model: Field required", "the message asks for model"), ("The body is no JSON: no model in it", "")],
)
def test_an_error_of_messages_about_the_whole_body_asks_for_no_member(message: str, seen: str) -> None:
    body = {"type": "error", "error": {"type": "invalid_request_error", "message": message}, "request_id": "req_1"}
    one = exchange(Request(expect=400, param=""), 400, {}, {})
    one = replace(
        one,
        form=Form(Dialect.MESSAGES, Mode.WHOLE),
        transcript=replace(one.transcript, pieces=(Piece(at=0.0, data=json.dumps(body).encode()),)),
    )
    assert [found.seen.partition(";")[0] for found in answered(ROW, one, Checks())] == ([seen] if seen else [])


def test_another_look_comes_after_status_and_headers() -> None:
    checks = Checks()
    checks(ROW)(lambda exchange: [Seen(f"{exchange.transcript.status} is odd")])
    (odd,) = answered(ROW, exchange(Request(), 200, {}, {}), checks)
    assert (odd.requirement, odd.seen) == (ROW, "200 is odd")
    (missed,) = answered(ROW, exchange(Request(expect=404), 200, {}, {}), checks)
    assert "it should be 404" in missed.seen


def test_a_further_request_is_judged_by_itself() -> None:
    request = Request(expect=404)
    assert asked(exchange(request, 404, {}, {}, number=1)).expect == 404
    assert list(answered(ROW, exchange(request, 404, {}, {}, number=1), Checks())) == []


def test_what_stands_for_another_requirement_is_found_under_that_one_by_the_subject() -> None:
    request = Request(judged=OTHER, expect=400)
    checks = Checks()
    checks(ROW, OTHER)(lambda _: [Seen("never asked")])
    found = list(answered(ROW, exchange(request, 200, {}, {}), checks))
    assert [one.requirement for one in found] == [OTHER]
    assert list(answered(OTHER, exchange(request, 200, {}, {}), checks)) == []
    assert list(answered(ROW, exchange(request, 400, {}, {}), checks)) == []


def test_a_turn_of_a_conversation_is_no_plain_request() -> None:
    turn = exchange(Request(), 200, {}, {})
    object.__setattr__(turn, "scenario", CONVERSATION)
    with pytest.raises(ValueError, match="no plain request"):
        asked(turn)


def as_turn(answer: Exchange, refusable: str) -> Exchange:
    """The same answer, to a turn of a conversation that may be refused for a field."""
    return replace(answer, scenario=replace(CONVERSATION, refusable=refusable), turn=CONVERSATION.turns[0])


@pytest.mark.parametrize(
    ("field", "status", "param", "right"),
    [
        ("tool_choice", 400, "tool_choice", True),
        ("text", 400, "text.format", True),
        ("tool_choice", 400, None, False),
        ("tool_choice", 400, "tools", False),
        ("tool_choice", 422, "tool_choice", False),
        ("", 400, "tool_choice", False),
    ],
)
def test_a_refusal_that_names_what_cannot_be_done(field: str, status: int, param: str | None, right: bool) -> None:  # noqa: FBT001
    one = exchange(Request(), status, {}, {"param": param})
    assert refused(as_turn(one, field)) is right


@pytest.mark.parametrize(
    ("field", "status", "message", "right"),
    [
        ("tool_choice", 400, "`tool_choice` cannot be forced", True),
        ("text", 400, '{"param": "text.format"}', True),
        ("text", 400, "no context", False),
        ("tool_choice", 400, "tool_choices", False),
        ("tool_choice", 500, "tool_choice", False),
        ("", 400, "tool_choice", False),
    ],
)
def test_a_refusal_may_name_it_in_its_message_alone(field: str, status: int, message: str, *, right: bool) -> None:
    one = exchange(Request(), status, {}, {"message": message})
    assert refused_in_words(as_turn(one, field)) is right
