"""The service behind a ChatGPT login: it takes the token of any login, and lists its models in its own form."""

from __future__ import annotations

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
    for path in ("models", "responses"):
        assert httpx.get(f"{base}{ROOT}/{path}", headers=TOKEN, trust_env=False).status_code == 404
