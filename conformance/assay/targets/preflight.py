"""Before the suite: is there a proxy, does it take this key and this model, what is behind it, what does it speak?

One request tells (two when no model is named), and one for each dialect that nobody declared. Every way in which it can
go wrong has one line for a person, as a HarnessError, and takes no longer than the target's limit on silence: here it
bounds the whole request.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import uuid
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import httpx

from assay.driving.drive import is_local
from assay.model.dialect import DEFAULT, Arguments, Dialect, Surface, carriers_of
from assay.model.scenario import Form, Mode, Scenario, Turn
from assay.model.target import Backend, Missing, Target
from assay.model.verdict import HarnessError
from assay.requests.conversation import marker, prepare
from assay.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from assay.targets.argument_mode import detect_argument_mode

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBE = "probe"
CALL = Scenario(name="probe-call", title="", exercises=(), script="call/one", tools=(LOCAL_SEARCH, READ_NOTE))
"""What shows how calls are told."""
TEXT_CALL = dataclasses.replace(CALL, script="sentinel/plain")
"""The same of a backend that calls in its text."""
FRAGMENTS = dataclasses.replace(CALL, script="shapes/a")
"""What shows how the arguments of one are told: the backend tells them in several fragments."""
TOKEN = b"scripted backend"
"""Words of the probe's answer that no model would come upon."""
LONGEST = 2**20
"""Bytes of an answer that are read; what is longer is no answer to a plain request."""
REDIRECT = 300
"""The lowest status that is no success."""
ABSENT = frozenset({404, 405, 501})
"""Statuses that say that nothing is at an address."""
SHOWN = 200
"""Characters of a foreign message that are shown."""


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """What a request got: its own URL, the status, the media type, where it redirects to, the body."""

    url: str
    status: int
    kind: str
    location: str | None
    body: bytes

    @property
    def data(self) -> Any:  # noqa: ANN401 (JSON)
        """The body as JSON, None when it is none."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def preflight(target: Target) -> Target:
    """The target with its backend found out, and a model chosen from its list when none was named.

    Raises:
        HarnessError: it cannot be reached, or is no proxy that can be driven.
    """
    check_url(target.base_url)
    return asyncio.run(_preflight(target))


def check_url(url: str) -> None:
    """Raise HarnessError for what cannot be the URL of a server; nothing is sent."""
    try:
        parts, _ = urlsplit(url), httpx.URL(url)
        wrong = "" if parts.hostname else "it names no host"
        wrong = wrong if parts.scheme in {"http", "https"} else "it should begin with http:// or https://"
        _ = parts.port
    except (ValueError, httpx.InvalidURL) as error:
        wrong = str(error)
    if wrong:
        raise HarnessError(f"{url!r} is no usable URL: {wrong}")


async def _preflight(target: Target) -> Target:
    async with _client(target) as client:
        if not target.model:
            target = dataclasses.replace(target, model=await _first_model(client, target))
        answer = await _send(client, target, "POST", "/chat/completions", _probe(target))
        _examine(answer, target, f"to a plain request for the model {target.model!r}")
        if not _is_completion(answer.data):
            raise HarnessError(f"{answer.url} answers {answer.status} with JSON that is no chat completion")
        if TOKEN not in answer.body:
            target = dataclasses.replace(target, backend=Backend.LIVE)
        target = dataclasses.replace(target, dialects=target.dialects or await _spoken(client, target))
        return dataclasses.replace(target, arguments=target.arguments or await _way(client, target))


async def _spoken(client: httpx.AsyncClient, target: Target) -> tuple[Dialect, ...]:
    """The dialects in which the target answers when it is asked for them; OpenAI's where it cannot be found out."""
    if target.backend is Backend.LIVE:
        return (DEFAULT,)
    spoken = tuple([dialect for dialect in Dialect if await _tells_calls(client, target, dialect)])
    return spoken or (DEFAULT,)


async def _way(client: httpx.AsyncClient, target: Target) -> Arguments | None:
    """How OpenAI's dialect tells arguments, if it is not as is usual; None where it cannot be found out."""
    if target.backend is not Backend.MOCK or DEFAULT not in target.dialects:
        return None
    answer = await _call(client, target, FRAGMENTS, Form(DEFAULT, Mode.STREAM))
    way = detect_argument_mode(answer.body)
    return way if way is not DEFAULT.spec.arguments else None


async def _tells_calls(client: httpx.AsyncClient, target: Target, dialect: Dialect) -> bool:
    """Whether a call comes in a dialect when it is asked for in that dialect.

    Responses are spoken wherever a response, or an error that is not the address's own, is at their address: how right
    it is, the suite will tell.
    """
    answer = await _call(
        client, target, TEXT_CALL if Missing.TOOLS in target.missing else CALL, Form(dialect, Mode.WHOLE)
    )
    if dialect.spec.surface is Surface.RESPONSES:
        return _is_response(answer.data) if answer.status < REDIRECT else answer.status not in ABSENT
    try:
        return dialect.spec.carrier in carriers_of(answer.data["choices"][0]["message"])
    except (LookupError, TypeError, AttributeError):
        return False


async def _call(client: httpx.AsyncClient, target: Target, scenario: Scenario, form: Form) -> _Answer:
    """The answer to a request upon which the backend calls a tool."""
    nonce, turn = uuid.uuid4().hex[:12], Turn(say="Search the notes.")
    prepared = prepare(scenario, turn, form=form, model=target.model, nonce=nonce, history=())
    headers = form.dialect.spec.headers
    return await _send(client, target, "POST", form.dialect.spec.endpoint, json.loads(prepared.body), headers)


def _client(target: Target) -> httpx.AsyncClient:
    """Each request has its own connection: a server may close the one before at any time, without a word."""
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=None, limits=limits, trust_env=not is_local(target.base_url))  # noqa: S113 (see _send)


def _probe(target: Target) -> dict[str, Any]:
    text = f"{marker(PROBE, uuid.uuid4().hex[:12])} Who is there?"
    return {"model": target.model, "messages": [{"role": "user", "content": text}]}


def _is_completion(data: object) -> bool:
    """Whether JSON is a chat completion at all; how right it is, the suite will tell."""
    return isinstance(data, dict) and isinstance(data.get("choices"), list)


def _is_response(data: object) -> bool:
    """Whether JSON is a response at all."""
    return isinstance(data, dict) and data.get("object") == "response"


async def _send(
    client: httpx.AsyncClient,
    target: Target,
    method: str,
    path: str,
    body: dict[str, Any] | None = None,
    more: Mapping[str, str] = MappingProxyType({}),
) -> _Answer:
    url = target.url(path)
    headers = {"accept-encoding": "identity", **more}
    if target.api_key:
        headers["authorization"] = f"Bearer {target.api_key}"
    try:
        async with asyncio.timeout(target.timeout), client.stream(method, url, headers=headers, json=body) as response:
            return await _read(response)
    except httpx.ConnectError as error:
        raise HarnessError(f"nothing answers at {url}: {error}") from error
    except TimeoutError as error:
        raise HarnessError(f"{url} gave no answer within {target.timeout:g} s (--timeout sets the limit)") from error
    except httpx.RequestError as error:
        raise HarnessError(f"{url} does not speak HTTP as it should: {error}") from error


async def _read(response: httpx.Response) -> _Answer:
    body = b""
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > LONGEST:
            break
    return _Answer(
        url=str(response.request.url),
        status=response.status_code,
        kind=response.headers.get("content-type", "").partition(";")[0].strip().lower() or "no content type",
        location=response.headers.get("location"),
        body=body,
    )


async def _first_model(client: httpx.AsyncClient, target: Target) -> str:
    answer = await _send(client, target, "GET", "/models")
    _examine(answer, target, "to a request for the list of models")
    match answer.data:
        case {"data": [{"id": str(model)}, *_]} if model:
            return model
        case _:
            raise HarnessError(f"{answer.url} lists no model; name one with --model")


def _examine(answer: _Answer, target: Target, asked: str) -> None:
    """Raise for a response that shows that this is not a proxy that can be driven."""
    url, status, said = answer.url, answer.status, _said(answer)
    if answer.location is not None:
        raise HarnessError(f"{url} answers {status} and redirects to {answer.location}; name the URL that it leads to")
    if status in {401, 403}:
        wants = "another key than the one given" if target.api_key else "a key; name its variable with --api-key-env"
        raise HarnessError(f"{url} refuses with {status}: it wants {wants}{said}")
    if answer.kind != "application/json" or answer.data is None:
        hint = "" if target.base_url.rstrip("/").endswith("/v1") else "; did you mean a URL that ends in /v1?"
        what = answer.kind if answer.kind != "application/json" else "a body"
        raise HarnessError(f"{url} answers {status} with {what}, not JSON: that is no OpenAI-compatible API{hint}")
    if not 200 <= status < 300:  # noqa: PLR2004 (the class of HTTP statuses)
        raise HarnessError(f"{url} answers {status} {asked}{said}")


def _said(answer: _Answer) -> str:
    """The message of an error envelope, on one line and in brackets; '' when there is none."""
    match answer.data:
        case {"error": {"message": str(message)}}:
            return f" ({' '.join(message.split())[:SHOWN]})"
        case _:
            return ""
