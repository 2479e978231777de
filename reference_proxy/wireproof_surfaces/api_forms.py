"""What follows from whose API a route is of: the form of errors and of models, the headers of keys and of ids. Pure.

Everything else about an API is in its surface. This is asked before a request is read, and of requests that are no
surface's: an unknown path, a wrong key.
"""

from __future__ import annotations

import hmac
import re
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from wireproof_surfaces.errors import WRONG_KEY, ApiError
from wireproof_surfaces.messages import error_form
from wireproof_surfaces.messages.error_form import fault
from wireproof_surfaces.values import value
from wireproof_surfaces.whole_number import whole_number

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from wireproof_surfaces.errors import Problem
    from wireproof_surfaces.surfaces.json_text import Json


VERSION = "anthropic-version"
KEY = "x-api-key"
AUTHORIZATION = "authorization"
ID = "x-request-id"
"""The header of every response with its id, whatever else an API calls it."""
MESSAGES_PATH = "/v1/messages"
_SENDABLE = re.compile(r"[!-~]+( [!-~]+)*")
_MODELS_PATH = "/v1/models"
# The limits of a page of models that the service of the Messages API has.
_MOST, _USUAL = 1000, 20


@value(frozen=True, kw_only=True, slots=True)
class ErrorResponse:
    """A response that is an error."""

    status: int
    headers: Mapping[str, str]
    """Without the media type, which is JSON, and the id."""
    body: Json


@value(frozen=True, kw_only=True, slots=True)
class ServedModels:
    """What is known of the models that are served."""

    names: Collection[str]
    created: int
    """When they were made, in epoch seconds: no better date is known than the start of what serves them."""
    owner: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ApiForm:
    """An API's form."""

    ids: tuple[str, ...]
    """The headers of a response that hold its id."""
    keys: tuple[str, ...]
    """The headers of a request that may hold the key, by lower-case names; the first that is there counts."""
    status: Callable[[Problem], int]
    """The status of a problem."""
    body: Callable[[ApiError, str], Json]
    """The body of an error, given the id of the response."""
    key_wanted: str
    """What is said of a key that is missing or wrong."""
    models: Callable[[ServedModels, Mapping[str, str]], Json]
    """The list of models, given the parameters of the query.

    Raises:
        ApiError: 400, when they are not acceptable.
    """
    model: Callable[[ServedModels, str], Json]
    """A model of this name."""

    def reply(self, error: ApiError, request_id: str) -> ErrorResponse:
        """The response for an error."""
        headers = dict(error.headers)
        if error.problem.retry_after is not None:
            headers["Retry-After"] = str(error.problem.retry_after)
        return ErrorResponse(status=self.status(error.problem), headers=headers, body=self.body(error, request_id))

    def named(self, request_id: str) -> dict[str, str]:
        """The headers with the id of a response."""
        return dict.fromkeys(self.ids, request_id)

    def check_key(self, right: str | None, headers: Mapping[str, str]) -> None:
        """Let in whoever has the key, and everybody where there is none; header names are lower-case.

        Raises:
            ApiError: 401.
        """
        if right is None:
            return
        scheme, key = "", ""
        for name in self.keys:
            if name in headers:
                # The scheme in any case (http.auth.wrong).
                scheme, _, key = (
                    headers[name].partition(" ") if name == AUTHORIZATION else ("bearer", "", headers[name])
                )
                break
        # Bytes: `compare_digest` takes no text beyond ASCII, and a header may hold any.
        same = hmac.compare_digest(key.strip().encode(errors="replace"), right.encode())
        if scheme.lower() != "bearer" or not same:
            raise ApiError(WRONG_KEY, message=self.key_wanted, headers={"WWW-Authenticate": "Bearer"})


def key_fault(key: str) -> str:
    """Why no client could send a key; "" when they can."""
    if not key:
        return "the key is empty"
    # Clients encode other characters in one of two ways, and spaces at the ends are lost on the way.
    right = _SENDABLE.fullmatch(key)
    return "" if right else "a key is of visible ASCII characters, with single spaces between them at most"


def _openai_model(served: ServedModels, name: str) -> Json:
    return {"id": name, "object": "model", "created": served.created, "owned_by": served.owner}


def _model(served: ServedModels, name: str) -> Json:
    made = datetime.fromtimestamp(served.created, UTC).isoformat().replace("+00:00", "Z")
    return {"type": "model", "id": name, "display_name": name, "created_at": made}


def _page(served: ServedModels, query: Mapping[str, str]) -> Json:
    """The page that `limit`, `after_id` and `before_id` ask for."""
    listed, limit = list(served.names), _limit(query)
    if "before_id" in query:
        end = _place(listed, query, "before_id")
        begin, more = max(0, end - limit), end > limit
    else:
        begin = _place(listed, query, "after_id") + 1 if "after_id" in query else 0
        end, more = begin + limit, begin + limit < len(listed)
    data = [_model(served, name) for name in listed[begin:end]]
    ends = {"first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}
    return {"data": data, "has_more": more, **ends}


def _limit(query: Mapping[str, str]) -> int:
    limit = whole_number(query.get("limit", str(_USUAL)))
    if limit is None:
        raise fault("limit", "Input should be a valid integer")
    if not 1 <= limit <= _MOST:
        raise fault("limit", f"Input should be an integer from 1 to {_MOST}")
    return limit


def _place(names: Sequence[str], query: Mapping[str, str], name: str) -> int:
    if query[name] not in names:
        raise fault(name, "there is no model of this id")
    return names.index(query[name])


OPENAI = ApiForm(
    ids=(ID,),
    keys=(AUTHORIZATION,),
    status=lambda problem: problem.status,
    body=lambda error, _request_id: error.body(),
    key_wanted=WRONG_KEY.message,
    models=lambda served, _query: {
        "object": "list",
        "data": [_openai_model(served, name) for name in served.names],
    },
    model=_openai_model,
)
MESSAGES = ApiForm(
    ids=("request-id", ID),
    # Both are in use: the SDKs send one, Claude Code and ai-sdk the other.
    keys=(KEY, AUTHORIZATION),
    status=error_form.status_of,
    body=error_form.error_body,
    key_wanted="The API key is missing or wrong: send `x-api-key: …` or `Authorization: Bearer …`.",
    models=_page,
    model=_model,
)


def form_of(path: str, headers: Collection[str]) -> ApiForm:
    """The form for a request at this path, with headers of these lower-case names."""
    if path.startswith(MESSAGES_PATH):
        return MESSAGES
    # Both APIs list their models here; a client of this one always says its version, or has its key apart.
    if path.startswith(_MODELS_PATH) and (VERSION in headers or KEY in headers):
        return MESSAGES
    return OPENAI
