"""How the service fails: each form of an error, as first step and after text, on both transports."""

from __future__ import annotations

import base64
import json
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import pytest
from cursor_agents import TRANSPORTS, Agent, Connection, Run, RunSSE, agent, run_request, text_of

from wireproof_cursor.serving import CursorMock, serving
from wireproof_cursor.wire.causes import CAUSES, ELSEWHERE
from wireproof_cursor.wire.errors import CODES, ServiceProblem
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Fail, Hang, Say, Script, Step, cursor
from wireproof_scripts.steps.causes import CAUSES as ALL_CAUSES

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

TEXT = Say(("Half",))
NOT_LOGGED_IN = cursor.Refuse(
    code="unauthenticated", debug="ERROR_NOT_LOGGED_IN", title="Not logged in", detail="Log in, please: é"
)


def failing(*part: Step) -> AbstractContextManager[CursorMock]:
    return serving({**LIBRARY, "own": Script(name="own", title="", parts=(part,), when="go")})


def code_of(client: Agent) -> str:
    """The code in the end of the stream, in either family."""
    ended: dict[str, Any] = client.ended()
    if "error" in ended:
        return str(ended["error"]["code"])
    return next(code for code, numbers in CODES.items() if str(numbers.grpc) == ended["grpc-status"])


@pytest.mark.parametrize("before", [(), (TEXT,)])
@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_error_is_in_the_end_of_the_stream(transport: str, before: tuple[Step, ...]) -> None:
    with failing(*before, NOT_LOGGED_IN) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert text_of(client.rest()) == ("Half" if before else "")
        assert code_of(client) == "unauthenticated"


def test_connect_has_the_details_as_json() -> None:
    with failing(NOT_LOGGED_IN) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        client.rest()
    error = client.ended()["error"]
    (detail,) = error["details"]
    shown = {"title": "Not logged in", "detail": "Log in, please: é", "isRetryable": False}
    assert (error["code"], error["message"], detail["type"]) == ("unauthenticated", "Error", "aiserver.v1.ErrorDetails")
    assert detail["debug"] == {"error": "ERROR_NOT_LOGGED_IN", "details": shown, "isExpected": True}
    assert b"Not logged in" in base64.b64decode(detail["value"])


def test_grpc_web_has_them_in_a_status() -> None:
    with (
        failing(cursor.Refuse(code="not_found", message="no model é", debug="ERROR_BAD_MODEL_NAME", title="T")) as mock,
        RunSSE(mock.url) as client,
    ):
        client.send(run_request("go"))
        client.rest()
    ended = client.ended()
    assert (ended["grpc-status"], unquote(ended["grpc-message"])) == ("5", "no model é")
    # google.rpc.Status: 1 code, 2 message, 3 details.
    assert base64.b64decode(ended["grpc-status-details-bin"]).startswith(b"\x08\x05\x12\x0bno model \xc3\xa9\x1a")


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_error_may_be_one_of_http_instead_of_a_stream(transport: str) -> None:
    with failing(cursor.Refuse(code="unauthenticated", form="http")) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert client.rest() == []
        assert json.loads(client.error()) == {"code": "unauthenticated", "message": "Error", "details": []}
        assert client.http_status() == 401


def test_the_status_of_http_can_be_chosen() -> None:
    with failing(cursor.Refuse(code="resource_exhausted", form="http", status=418)) as mock, RunSSE(mock.url) as client:
        client.send(run_request("go"))
        client.rest()
    assert client.http_status() == 418


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_an_error_of_http_that_comes_too_late_is_in_the_end_of_the_stream(transport: str) -> None:
    with (
        failing(TEXT, cursor.Refuse(code="unauthenticated", form="http")) as mock,
        agent(transport, mock.url) as client,
    ):
        client.send(run_request("go"))
        assert text_of(client.rest()) == "Half"
        assert code_of(client) == "unauthenticated"


def test_the_append_with_the_run_request_may_be_refused() -> None:
    with failing(cursor.Refuse(code="invalid_argument", form="append")) as mock, RunSSE(mock.url) as client:
        refused = client.append(run_request("go"))
        assert (refused.status_code, refused.json()["code"]) == (400, "invalid_argument")
        assert client.rest() == []


def test_later_appends_may_be_refused_while_the_run_goes_on() -> None:
    step = cursor.Refuse(code="failed_precondition", form="append")
    with failing(TEXT, step, Say((" done",)), Hang()) as mock, RunSSE(mock.url) as client:
        client.send(run_request("go"))
        client.until("text_delta")
        client.until("text_delta")
        refused = client.append(run_request("again"))
        assert (refused.status_code, refused.json()["code"]) == (400, "failed_precondition")


def test_where_there_are_no_appends_the_end_of_the_stream_has_it() -> None:
    with failing(cursor.Refuse(code="invalid_argument", form="append")) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        client.rest()
        assert code_of(client) == "invalid_argument"


# Causes


def test_every_cause_is_played_or_is_none_of_the_service() -> None:
    assert set(CAUSES) | set(ELSEWHERE) == set(ALL_CAUSES)
    assert not set(CAUSES) & set(ELSEWHERE)


@pytest.mark.parametrize("cause", [cause for cause, form in CAUSES.items() if isinstance(form, ServiceProblem)])
def test_a_cause_after_text_is_in_the_end_of_the_stream(cause: str) -> None:
    problem = CAUSES[cause]
    assert isinstance(problem, ServiceProblem)
    with failing(TEXT, Fail(cause)) as mock, Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request("go"))
        client.rest()
        assert client.ended() == {"error": problem.as_json()}


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_key_that_is_not_accepted_is_an_error_of_http(transport: str) -> None:
    with failing(Fail("http-401")) as mock, agent(transport, mock.url) as client:
        client.send(run_request("go"))
        assert client.rest() == []
        assert client.http_status() == 401
        assert json.loads(client.error())["details"][0]["debug"]["error"] == "ERROR_NOT_LOGGED_IN"


@pytest.mark.parametrize("transport", TRANSPORTS)
def test_a_history_that_the_client_does_not_have_is_an_error(transport: str) -> None:
    with failing() as mock, agent(transport, mock.url) as client:
        client.send(run_request("go", roots=[b"not a name, but the message itself"]))
        client.rest()
        assert code_of(client) == "internal"
        ended = client.ended()
        assert "Blob not found" in (ended["error"]["message"] if "error" in ended else unquote(ended["grpc-message"]))


@pytest.mark.parametrize(
    ("text", "code", "words"),
    [
        ("[[wireproof:no/such#1]]", "invalid_argument", "which does not exist"),
        ("[[wireproof:probe]]", "invalid_argument", "has no nonce"),
        ("[[wireproof:act/command#1]]", "unimplemented", "a command is the app-server's own tool"),
        ("[[wireproof:text/length#1]]", "unimplemented", "the service does not say why an answer ends"),
    ],
)
def test_what_cannot_be_played_is_an_error_that_says_why(mock: CursorMock, text: str, code: str, words: str) -> None:
    with Connection(mock.url) as connection:
        client = Run(connection)
        client.send(run_request(text))
        client.rest()
    error = client.ended()["error"]
    assert error["code"] == code
    assert words in error["message"]
