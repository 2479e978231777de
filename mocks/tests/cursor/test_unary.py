"""Procedures of one answer in all their forms, and requests that are refused before any procedure."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from cursor_agents import CONNECT, GRPC_WEB, WAIT, Connection, Run, RunSSE, framed, run_request

from wireproof_cursor_protos import agent_pb2 as pb

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_cursor.serving import CursorMock

SERVICES = ("agent.v1.AgentService", "aiserver.v1.AiService")
MODELS = ["mock-large", "mock-small", "mock-thinking"]
ALL = [
    "/agent.v1.AgentService/RunSSE",
    "/agent.v1.AgentService/Run",
    "/agent.v1.AgentService/NameAgent",
    "/aiserver.v1.BidiService/BidiAppend",
    *(f"/{service}/{name}" for service in SERVICES for name in ("GetUsableModels", "GetDefaultModelForCli")),
]


def post(
    mock: CursorMock, path: str, content_type: str = "application/json", body: bytes = b"", **options: Any
) -> httpx.Response:
    headers = {"content-type": content_type, "authorization": "Bearer t"}
    with httpx.Client(base_url=mock.url, **options) as client:
        return client.post(path, headers=headers, content=body)


def unframed(body: bytes) -> bytes:
    return body[5 : 5 + int.from_bytes(body[1:5], "big")]


FORMS: dict[str, tuple[bytes, Callable[[bytes], bytes], bytes]] = {
    "application/proto": (b"", lambda body: body, b""),
    GRPC_WEB: (framed(b""), unframed, framed(b"grpc-status: 0\r\n", 0x80)),
    CONNECT: (framed(b""), unframed, framed(b"{}", 0x02)),
}


@pytest.mark.parametrize("http2", [False, True])
@pytest.mark.parametrize("service", SERVICES)
@pytest.mark.parametrize("content_type", FORMS)
def test_models_are_listed_in_every_binary_form(
    mock: CursorMock, service: str, content_type: str, *, http2: bool
) -> None:
    body, message, end = FORMS[content_type]
    response = post(mock, f"/{service}/GetUsableModels", content_type, body, http1=not http2, http2=http2)
    assert (response.status_code, response.headers["content-type"]) == (200, content_type)
    assert response.http_version == ("HTTP/2" if http2 else "HTTP/1.1")
    assert response.content.endswith(end)
    models = pb.GetUsableModelsResponse.FromString(message(response.content)).models
    assert [model.model_id for model in models] == MODELS
    assert [model.HasField("thinking_details") for model in models] == [False, False, True]


@pytest.mark.parametrize("service", SERVICES)
def test_models_are_listed_as_json(mock: CursorMock, service: str) -> None:
    models = post(mock, f"/{service}/GetUsableModels", body=b'{"customModelIds": ["mine"]}').json()["models"]
    assert [model["modelId"] for model in models] == [*MODELS, "mine"]


@pytest.mark.parametrize("service", SERVICES)
def test_one_model_is_the_default(mock: CursorMock, service: str) -> None:
    assert post(mock, f"/{service}/GetDefaultModelForCli", body=b"{}").json()["model"]["modelId"] == MODELS[0]


def test_an_agent_is_named_after_what_it_was_asked(mock: CursorMock) -> None:
    body = json.dumps({"userMessage": "Look it up\nplease"}).encode()
    assert post(mock, "/agent.v1.AgentService/NameAgent", body=body).json() == {"name": "Look it up"}
    assert post(mock, "/agent.v1.AgentService/NameAgent", body=b"{}").json() == {"name": "New agent"}


@pytest.mark.parametrize("path", ALL)
def test_without_a_token_nothing_is_served(mock: CursorMock, path: str) -> None:
    for authorization in ("", "Bearer", "Basic dDp0"):
        response = httpx.post(f"{mock.url}{path}", headers={"authorization": authorization}, content=b"")
        assert (response.status_code, response.json()["code"]) == (401, "unauthenticated"), authorization


@pytest.mark.parametrize("path", ALL)
def test_another_content_type_is_not_served(mock: CursorMock, path: str) -> None:
    response = post(mock, path, "text/plain")
    assert (response.status_code, response.json()["code"]) == (415, "unimplemented")
    assert GRPC_WEB in response.json()["message"]


def test_what_is_not_there_and_what_is_no_post_is_refused(mock: CursorMock) -> None:
    assert post(mock, "/agent.v1.AgentService/RunPoll").status_code == 404
    assert httpx.get(f"{mock.url}{ALL[0]}", headers={"authorization": "Bearer t"}).status_code == 405


@pytest.mark.parametrize(
    ("path", "content_type", "body"),
    [
        (ALL[0], GRPC_WEB, b"\x00\x00"),
        (ALL[0], GRPC_WEB, framed(b"") + framed(b"")),
        (ALL[0], GRPC_WEB, framed(b"", 0x01)),
        (ALL[0], CONNECT, framed(b"\xff\xff")),
        (ALL[3], GRPC_WEB, framed(b"\x0a\x02zz")),
        (ALL[3], "application/json", b'{"data": "0a0"}'),
        (ALL[4], "application/json", b"{"),
        (ALL[4], "application/proto", b"\xff"),
    ],
)
def test_a_body_that_cannot_be_read_is_refused(mock: CursorMock, path: str, content_type: str, body: bytes) -> None:
    response = post(mock, path, content_type, body)
    assert (response.status_code, response.json()["code"]) == (400, "invalid_argument")
    assert response.json()["message"].startswith("the body cannot be read: ")


def test_a_run_is_served_over_http_2_by_its_content_type_alone(mock: CursorMock) -> None:
    with Connection(mock.url) as connection:
        run = Run(connection, "application/json")
        assert run.rest() == []
        assert run.headers[":status"] == "415"


def test_a_second_stream_for_a_run_is_refused(mock: CursorMock) -> None:
    with RunSSE(mock.url) as client:
        client.send(run_request("[[wireproof:fail/silent#1]]"))
        assert client.begun.wait(WAIT)
        body = framed(pb.BidiRequestId(request_id=client.request_id).SerializeToString())
        again = client.http.post("/agent.v1.AgentService/RunSSE", content=body)
        assert (again.status_code, again.json()["code"]) == (409, "already_exists")
