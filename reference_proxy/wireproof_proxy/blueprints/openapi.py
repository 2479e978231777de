"""`/openapi.json`: the proxy's interface as an OpenAPI document, for whoever generates requests.

What a request may hold is said as far as a request is refused for it; for the rest, OpenAI's own documents say more.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flask import Blueprint

if TYPE_CHECKING:
    from wireproof_surfaces.surfaces.json_text import Json

_ERROR: Json = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["message", "type", "param", "code"],
            "properties": {
                "message": {"type": "string"},
                "type": {"type": "string"},
                "param": {"type": ["string", "null"]},
                "code": {"type": ["string", "null"]},
            },
        }
    },
}
_MESSAGES_ERROR: Json = {
    "type": "object",
    "required": ["type", "error", "request_id"],
    "properties": {
        "type": {"const": "error"},
        "error": {
            "type": "object",
            "required": ["type", "message"],
            "properties": {"type": {"type": "string"}, "message": {"type": "string"}},
        },
        "request_id": {"type": "string"},
    },
}
_TEXT: Json = {"type": "string", "minLength": 1}
_TOOL: Json = {
    "type": "object",
    "required": ["type", "function"],
    "properties": {
        "type": {"const": "function"},
        "function": {
            "type": "object",
            "required": ["name"],
            "properties": {
                "name": {"type": "string", "pattern": "^[a-zA-Z0-9_-]{1,64}$"},
                "description": {"type": "string"},
                "parameters": {"type": "object"},
            },
        },
    },
}
_CHAT: Json = {
    "type": "object",
    "required": ["model", "messages"],
    "properties": {
        "model": _TEXT,
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {"role": {"enum": ["system", "developer", "user"]}, "content": {"type": "string"}},
            },
        },
        "stream": {"type": "boolean"},
        "n": {"type": "integer", "minimum": 1, "maximum": 8},
        "tools": {"type": "array", "items": _TOOL},
        "temperature": {"type": "number", "minimum": 0, "maximum": 2},
    },
}
_MESSAGE: Json = {
    "type": "object",
    "required": ["model", "max_tokens", "messages"],
    "properties": {
        "model": _TEXT,
        "max_tokens": {"type": "integer", "minimum": 1},
        "messages": {
            "type": "array",
            "minItems": 1,
            "items": {
                "type": "object",
                "required": ["role", "content"],
                "properties": {"role": {"const": "user"}, "content": _TEXT},
            },
        },
        "stream": {"type": "boolean"},
    },
}
_RESPONSE: Json = {
    "type": "object",
    "required": ["model", "input"],
    "properties": {"model": _TEXT, "input": {"type": "string"}, "stream": {"type": "boolean"}},
}
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
