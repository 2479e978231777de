"""`/openapi.json`: the proxy's interface as an OpenAPI document, for whoever generates requests.

What a request may hold is said as far as a request is refused for it; for the rest, OpenAI's own documents say more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

if TYPE_CHECKING:
    from wireproof_surfaces.surfaces.json_text import Json


def _object(optional: Json | None = None, /, **required: Json) -> Json:
    """An object with these members."""
    return {"type": "object", "required": list(required), "properties": {**required, **(optional or {})}}


def _array(items: Json) -> Json:
    return {"type": "array", "minItems": 1, "items": items}


_STRING: Json = {"type": "string"}
_TEXT: Json = {**_STRING, "minLength": 1}
_NULLABLE: Json = {"type": ["string", "null"]}
_STREAMED: Json = {"stream": {"type": "boolean"}}
_ERROR = _object(error=_object(message=_STRING, type=_STRING, param=_NULLABLE, code=_NULLABLE))
_MESSAGES_ERROR = _object(type={"const": "error"}, error=_object(type=_STRING, message=_STRING), request_id=_STRING)
_FUNCTION = _object(
    {"description": _STRING, "parameters": {"type": "object"}},
    name={**_STRING, "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
)
_CHAT = _object(
    {
        **_STREAMED,
        "n": {"type": "integer", "minimum": 1, "maximum": 8},
        "tools": {"type": "array", "items": _object(type={"const": "function"}, function=_FUNCTION)},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
    },
    model=_TEXT,
    messages=_array(_object(role={"enum": ["system", "developer", "user"]}, content=_STRING)),
)
_MESSAGE = _object(
    _STREAMED,
    model=_TEXT,
    max_tokens={"type": "integer", "minimum": 1},
    messages=_array(_object(role={"const": "user"}, content=_TEXT)),
)
_RESPONSE = _object(_STREAMED, model=_TEXT, input=_STRING)
_OBJECT: Json = {"application/json": {"schema": {"type": "object"}}}
_STREAM: Json = {"text/event-stream": {"schema": {"type": "string"}}}
_ID: Json = {"name": "id", "in": "path", "required": True, "schema": _TEXT}
_NAME: Json = {**_ID, "name": "name"}
_MESSAGES = "MessagesError"
"""The schema of errors of the Messages API."""


def openapi_blueprint() -> Blueprint:
    """`/openapi.json`, without a key."""
    blueprint = Blueprint("openapi", __name__)
    blueprint.add_url_rule("/openapi.json", view_func=document)
    return blueprint


def document() -> Json:
    """The document, of OpenAPI 3.1."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "wireproof-proxy",
            "version": "1",
            "description": "Chat completions, responses and messages of an agent.",
        },
        "components": {
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
            "schemas": {"Error": _ERROR, "MessagesError": _MESSAGES_ERROR},
        },
        "paths": {
            "/v1/models": {"get": _operation("The models.")},
            "/v1/models/{name}": {"parameters": [_NAME], "get": _operation("A model.")},
            "/v1/chat/completions": {"post": _operation("An answer to a chat.", body=_CHAT, stream=True)},
            "/v1/responses": {"post": _operation("An answer.", body=_RESPONSE, stream=True)},
            "/v1/messages": {"post": _operation("A message.", body=_MESSAGE, stream=True, error=_MESSAGES)},
            "/v1/messages/count_tokens": {
                "post": _operation("The tokens of a message.", body=_MESSAGE, error=_MESSAGES)
            },
            "/v1/responses/{id}": {
                "parameters": [_ID],
                "get": _operation("An answer that is stored."),
                "delete": _operation("Forget an answer."),
            },
            "/v1/responses/{id}/input_items": {"parameters": [_ID], "get": _operation("What an answer was made from.")},
            "/healthz": {"get": _operation("Whether the process is up.", key=False)},
            "/livez": {"get": _operation("Whether the backend is not given up.", key=False)},
            "/readyz": {"get": _operation("Whether the backend answers.", key=False)},
        },
    }


def _operation(
    summary: str, *, body: Json | None = None, stream: bool = False, key: bool = True, error: str = "Error"
) -> Json:
    refused = {
        "description": "An error.",
        "content": {"application/json": {"schema": {"$ref": f"#/components/schemas/{error}"}}},
    }
    operation: Json = {
        "summary": summary,
        "responses": {
            "200": {"description": summary, "content": _OBJECT | _STREAM if stream else _OBJECT},
            "4XX": refused,
            "503": refused,
        },
    }
    if key:
        operation["security"] = [{"key": []}]
    if body is not None:
        operation["requestBody"] = {"required": True, "content": {"application/json": {"schema": body}}}
    return operation
