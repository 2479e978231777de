"""Before the suite: is there a proxy, does it take this key and this model, what is behind it, what does it speak?

It sends one request, one for the list of models if none is named, one for each dialect if none is declared, and one for
the argument mode if that is not declared. Whatever can go wrong ends in a HarnessError of one line for a person, within
the target's limit on silence: here it bounds each whole request.
"""

from __future__ import annotations

import asyncio
import dataclasses
import json
import uuid
from dataclasses import dataclass
from itertools import pairwise
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import httpx

from assay.model.dialect import DEFAULT, Arguments, Dialect, Surface, carriers_of
from assay.model.scenario import Form, Mode, Scenario, Turn
from assay.model.target import Backend, Missing, Target
from assay.model.verdict import HarnessError
from assay.requests.conversation import marker, prepare
from assay.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from assay.targets.address import check_url, is_local
from assay.wire.chat import read_stream
from assay.wire.events import Fragment

if TYPE_CHECKING:
    from collections.abc import Mapping

PROBE = "probe"
# Scenarios, so that the probes are written as the suite's own requests are; nothing judges them.
CALL = Scenario(name="probe-call", title="", exercises=(), script="call/one", tools=(LOCAL_SEARCH, READ_NOTE))
"""Its answer shows in which dialect calls come."""
# Codex before 0.92 ignores the tools of its client in silence.
TEXT_CALL = dataclasses.replace(CALL, script="sentinel/plain")
"""The same for a backend that takes no tools, and so writes its calls as text."""
FRAGMENTS = dataclasses.replace(CALL, script="shapes/a")
"""Its answer shows the argument mode: the backend sends the arguments in several fragments."""
TOKEN = b"scripted backend"
"""Part of the mock's answer to the probe; no model would write it by chance."""
LONGEST = 2**20
"""Bytes of an answer that are read; what is longer is no answer to a plain request."""
REDIRECT = 300
"""The lowest status that is no success."""
ABSENT = frozenset({404, 405, 501})
"""Statuses of a server that has nothing at an address."""
SHOWN = 200
"""Characters of a proxy's error message that are shown."""


@dataclass(frozen=True, kw_only=True)
class _Answer:
    """A response, and the URL of its request."""

    url: str
    status: int
    kind: str
    """The media type, in lower case and without parameters."""
    location: str | None
    """Where it redirects to; None: nowhere."""
    body: bytes
    """As far as it was read, see `LONGEST`."""

    @property
    def data(self) -> Any:  # noqa: ANN401 (JSON)
        """The body as JSON; None when it is not JSON."""
        try:
            return json.loads(self.body)
        except ValueError:
            return None


def preflight(target: Target) -> Target:
    """The target with its backend, dialects and argument mode detected, and a model where none was named.

    Raises:
        HarnessError: it cannot be reached, or is no proxy that can be driven.
    """
    check_url(target.base_url)
    return asyncio.run(_preflight(target))


async def _preflight(target: Target) -> Target:
    async with _client(target) as client:
        if not target.model:
            # A list of models is asked for only if none was named: a proxy that has no such route can still be
            # certified.
            target = dataclasses.replace(target, model=await _first_model(client, target))
        answer = await _send(client, target, "POST", "/chat/completions", _probe(target))
        _examine(answer, target, f"to a plain request for the model {target.model!r}")
        # Before the backend is guessed: JSON of some other service lacks the token, too, and is no live model.
        if not _is_completion(answer.data):
            raise HarnessError(f"{answer.url} answers {answer.status} with JSON that is no chat completion")
        # Only ever lowered to LIVE: whether the backend is a mock or a real Codex that plays scripts is for who started
        # it to say.
        if TOKEN not in answer.body:
            target = dataclasses.replace(target, backend=Backend.LIVE)
        # Before the argument mode, which is asked for only where OpenAI's dialect is spoken.
        target = dataclasses.replace(target, dialects=target.dialects or await _spoken(client, target))
        return dataclasses.replace(target, arguments=target.arguments or await _arguments(client, target))


async def _spoken(client: httpx.AsyncClient, target: Target) -> tuple[Dialect, ...]:
    """The dialects in which the target answers when asked for them; OpenAI's where that cannot be detected."""
    if target.backend is Backend.LIVE:  # a real model calls a tool when it likes
        return (DEFAULT,)
    # One after the other: before its limits are known, a small proxy is not to be met with a burst.
    spoken = tuple([dialect for dialect in Dialect if await _speaks(client, target, dialect)])
    # A proxy that answers with no call in any dialect fails the suite, rather than having nothing to be judged in.
    return spoken or (DEFAULT,)


async def _arguments(client: httpx.AsyncClient, target: Target) -> Arguments | None:
    """The argument mode of OpenAI's dialect where it is not the usual one; None where it is, or cannot be detected."""
    # Codex waits for the complete call and sends no fragments of it, so behind a real one there is nothing to see.
    if target.backend not in {Backend.MOCK, Backend.ENDPOINT} or DEFAULT not in target.dialects:
        return None
    answer = await _call(client, target, FRAGMENTS, Form(DEFAULT, Mode.STREAM))
    mode = detect_argument_mode(answer.body)
    return mode if mode is not DEFAULT.spec.arguments else None


def detect_argument_mode(body: bytes) -> Arguments | None:
    """How a streamed answer with one call in several fragments carried them; None where it does not show."""
    # Empty ones are left out: a call's first delta has `arguments: ""` in either mode.
    fragments = [event.text for event in read_stream([body]).events if isinstance(event, Fragment) and event.text]
    if len(fragments) < 2:  # noqa: PLR2004 (one fragment is the whole, in either mode)
        return None
    # The probe's fragments begin with different characters, so an incremental stream never looks like this.
    grows = all(len(later) > len(earlier) and later.startswith(earlier) for earlier, later in pairwise(fragments))
    return Arguments.CUMULATIVE if grows else Arguments.INCREMENTAL


async def _speaks(client: httpx.AsyncClient, target: Target, dialect: Dialect) -> bool:
    """Whether a request in a dialect gets a call in that dialect.

    Responses count as spoken where their address gives a response, or an error other than those in `ABSENT`: whether
    it is right is for the suite to judge.
    """
    # Whole: the carrier of a call is the same as in streams, and simpler to see.
    answer = await _call(
        client, target, TEXT_CALL if Missing.TOOLS in target.missing else CALL, Form(dialect, Mode.WHOLE)
    )
    # By the route alone: one that answers wrongly is to be judged, and not left out as if it were absent.
    if dialect.spec.surface is Surface.RESPONSES:
        return _is_response(answer.data) if answer.status < REDIRECT else answer.status not in ABSENT
    try:
        return dialect.spec.carrier in carriers_of(answer.data["choices"][0]["message"])
    # The answer has some other form: the suite judges the dialects in which it has the right one.
    except (LookupError, TypeError, AttributeError):
        return False


async def _call(client: httpx.AsyncClient, target: Target, scenario: Scenario, form: Form) -> _Answer:
    """The answer to a request that the backend answers with a tool call."""
    nonce, turn = uuid.uuid4().hex[:12], Turn(say="Search the notes.")
    prepared = prepare(scenario, turn, form=form, model=target.model, nonce=nonce, history=())
    headers = form.dialect.spec.headers
    return await _send(client, target, "POST", form.dialect.spec.endpoint, json.loads(prepared.body), headers)


def _client(target: Target) -> httpx.AsyncClient:
    # Each request has its own connection: a server may close an idle one at the very moment when the next request is
    # written to it, and that must not count as a proxy that cannot be reached. What limits the time: see `_send`.
    limits = httpx.Limits(max_keepalive_connections=0)
    return httpx.AsyncClient(timeout=None, limits=limits, trust_env=not is_local(target.base_url))  # noqa: S113


def _probe(target: Target) -> dict[str, Any]:
    text = f"{marker(PROBE, uuid.uuid4().hex[:12])} Who is there?"
    return {"model": target.model, "messages": [{"role": "user", "content": text}]}


def _is_completion(data: object) -> bool:
    """Whether JSON looks like a chat completion; whether it is right is for the suite to judge."""
    return isinstance(data, dict) and isinstance(data.get("choices"), list)


def _is_response(data: object) -> bool:
    """Whether JSON looks like a response of the Responses API."""
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
    # As in the suite: a proxy that compresses badly is not to stop here.
    headers = {"accept-encoding": "identity", **more}
    if target.api_key:
        headers["authorization"] = f"Bearer {target.api_key}"
    try:
        # One bound for the whole request: httpx would start its own again with each byte.
        async with asyncio.timeout(target.timeout), client.stream(method, url, headers=headers, json=body) as response:
            return await _read(response)
    # Before RequestError, of which it is one: a port that is not listened on is the most likely mistake.
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
        if len(body) > LONGEST:  # its end may never come
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
            # A made-up name would be refused as unknown, and that would pass for a proxy that serves nothing.
            raise HarnessError(f"{answer.url} lists no model; name one with --model")


def _examine(answer: _Answer, target: Target, asked: str) -> None:
    """Raise HarnessError for a response of something that is no proxy, or of one that cannot be driven."""
    url, status, said = answer.url, answer.status, _said(answer)
    # First: a redirect explains itself, while its status or HTML body would be blamed on the proxy.
    if answer.location is not None:
        raise HarnessError(f"{url} answers {status} and redirects to {answer.location}; name the URL that it leads to")
    # Before the media type: whatever page comes with a refusal, the hint to name a key is worth more.
    if status in {401, 403}:
        wants = "another key than the one given" if target.api_key else "a key; name its variable with --api-key-env"
        raise HarnessError(f"{url} refuses with {status}: it wants {wants}{said}")
    if answer.kind != "application/json" or answer.data is None:
        # Without /v1 the address may be that of a server's web page.
        hint = "" if target.base_url.rstrip("/").endswith("/v1") else "; did you mean a URL that ends in /v1?"
        what = answer.kind if answer.kind != "application/json" else "a body"
        raise HarnessError(f"{url} answers {status} with {what}, not JSON: that is no OpenAI-compatible API{hint}")
    if not 200 <= status < 300:  # noqa: PLR2004 (the class of HTTP statuses)
        raise HarnessError(f"{url} answers {status} {asked}{said}")


def _said(answer: _Answer) -> str:
    """The message of an error envelope, on one line and in brackets; "" when there is none."""
    match answer.data:
        case {"error": {"message": str(message)}}:
            return f" ({' '.join(message.split())[:SHOWN]})"  # on one line, whatever the proxy wrote
        case _:
            return ""
