"""The service behind a ChatGPT login: it takes the token of any login, and lists its models in its own form."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING, Any

import httpx
import pytest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Serve = Callable[..., str]

ROOT = "/backend-api/codex"
TOKEN = {"authorization": "Bearer eyJhbGciOiJSUzI1NiJ9.of-a-login"}
ASKED: dict[str, Any] = {"model": "codex", "instructions": "", "input": "Hello.", "store": False, "stream": True}


@pytest.fixture
def service(served: Serve) -> Iterator[httpx.Client]:
    base = served(api_key="the-key-of-the-endpoint").removesuffix("/v1")
    with httpx.Client(base_url=base, trust_env=False) as client:
        yield client


def test_any_token_is_taken_on_the_path_of_the_login_alone(service: httpx.Client) -> None:
    assert service.post(f"{ROOT}/responses", json=ASKED, headers=TOKEN).status_code == 200
    assert service.get("/v1/models", headers=TOKEN).status_code == 401
    assert service.post("/v1/responses", json=ASKED, headers=TOKEN).status_code == 401


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer"}, {"authorization": "Basic abc"}])
def test_without_a_token_nothing_is_answered(service: httpx.Client, headers: dict[str, str]) -> None:
    assert service.get(f"{ROOT}/models", headers=headers).status_code == 401
    assert service.post(f"{ROOT}/responses", json=ASKED, headers=headers).status_code == 401


def test_the_models_are_listed_as_codex_asks_for_them(service: httpx.Client) -> None:
    listed = service.get(f"{ROOT}/models?client_version=0.169.0", headers=TOKEN)
    assert [one["slug"] for one in listed.json()["models"]] == ["codex"]
    service.post(f"{ROOT}/responses", json={**ASKED, "model": "gpt-5-codex"}, headers=TOKEN)
    listed = service.get(f"{ROOT}/models", headers=TOKEN)
    assert [(one["slug"], one["priority"]) for one in listed.json()["models"]] == [("codex", 0), ("gpt-5-codex", 1)]


def test_where_the_service_is_off_there_is_nothing(served: Serve) -> None:
    base = served(chatgpt_service=False).removesuffix("/v1")
    for path in ("models", "responses", "usage"):
        assert httpx.get(f"{base}{ROOT}/{path}", headers=TOKEN, trust_env=False).status_code == 404


def test_instructions_are_required_where_that_is_asked_for(served: Serve) -> None:
    url = served(login_instructions=True).removesuffix("/v1") + f"{ROOT}/responses"
    refused = httpx.post(url, json={**ASKED, "instructions": None}, headers=TOKEN, trust_env=False)
    assert (refused.status_code, refused.json()) == (400, {"detail": "Instructions are required"})
    assert httpx.post(url, json={**ASKED, "instructions": "x"}, headers=TOKEN, trust_env=False).status_code == 200


@pytest.mark.parametrize("path", ["/backend-api/codex/usage", "/backend-api/wham/usage", "/api/codex/usage"])
def test_the_limits_used_are_those_of_the_headers(service: httpx.Client, path: str) -> None:
    assert service.get(path).status_code == 401
    usage = service.get(path, headers=TOKEN).json()
    headers = service.post(f"{ROOT}/responses", json=ASKED, headers=TOKEN).headers
    primary = usage["rate_limit"]["primary_window"]
    assert usage["plan_type"] == headers["x-codex-plan-type"]
    assert str(primary["used_percent"]) == headers["x-codex-primary-used-percent"]
    assert primary["limit_window_seconds"] == 60 * int(headers["x-codex-primary-window-minutes"])


def _claims(token: str) -> dict[str, Any]:
    payload = token.split(".")[1]
    claims: dict[str, Any] = json.loads(urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    return claims


@pytest.mark.parametrize("how", ["json", "data"])
def test_a_refresh_gives_tokens_with_the_claims_that_gateways_read(service: httpx.Client, how: str) -> None:
    asked = {"grant_type": "refresh_token", "refresh_token": "old", "client_id": "app"}
    given = service.request("POST", "/oauth/token", **{how: asked}).json()  # type: ignore[arg-type]
    again = service.request("POST", "/oauth/token", **{how: asked}).json()  # type: ignore[arg-type]
    assert given["access_token"] != again["access_token"]
    for token in (given["id_token"], given["access_token"]):
        claims = _claims(token)
        assert claims["exp"] - claims["iat"] == given["expires_in"]
        assert {"chatgpt_account_id", "chatgpt_plan_type"} <= claims["https://api.openai.com/auth"].keys()
    token = {"authorization": f"Bearer {given['access_token']}"}
    assert service.post(f"{ROOT}/responses", json=ASKED, headers=token).status_code == 200


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"grant_type": "refresh_token"}, "invalid_request"),
        ({"grant_type": "authorization_code", "code": "c"}, "unsupported_grant_type"),
    ],
)
def test_what_is_no_refresh_is_refused(service: httpx.Client, asked: dict[str, str], code: str) -> None:
    refused = service.post("/oauth/token", json=asked)
    assert (refused.status_code, refused.json()["error"]["code"]) == (400, code)
