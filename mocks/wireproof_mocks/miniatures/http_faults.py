"""Faults of HTTP itself: most answer an error with another status, or forget a header."""

from __future__ import annotations

import io
from functools import partial
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary, WeakSet

from wireproof_mocks.miniatures.fault import (
    CONNECTION_KEY,
    MESSAGES,
    RESPONSES,
    WITH_MESSAGES,
    Fault,
    fault_below,
    put_body,
)
from wireproof_mocks.miniatures.heads import forgetting, let_in, one_for_another, restated
from wireproof_mocks.miniatures.rewriting import without

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Bodies, Environ, FaultHead, Json, SentRequest

LARGE = 2**20
"""Bytes: no client of ours sends as much, but to see whether it is too much."""
NO_MODEL = "no-such-model"
ANSWERS = ("/chat/completions", "/messages")
"""The ends of the paths at which a model is asked, where these faults show."""


# what a fault looks at


def field_of(request: SentRequest, name: str) -> object:
    """A field of the request's JSON object; None when it is absent."""
    said = request.json
    return said.get(name) if isinstance(said, dict) else None


def _nowhere(request: SentRequest) -> bool:
    # Other 404s, of a model that is not served, are right and have a row of their own.
    return not request.path.endswith((*ANSWERS, "/models")) and "/models/" not in request.path


def _to(path: str) -> Callable[[SentRequest], bool]:
    return lambda request: request.path.endswith(path)


def _asks(request: SentRequest) -> bool:
    return request.path.endswith(ANSWERS) and request.method == "POST"


def _of_neither(asked: object) -> bool:
    return isinstance(asked, dict) and not asked.keys() & {"model", "messages"}


# what a fault does


def blames(param: str | None, when: Callable[[Json, SentRequest], bool]) -> Bodies:
    """An error names another field."""

    def changed(body: Json, request: SentRequest, _: FaultHead) -> Json:
        if "error" not in body or not when(body["error"], request):
            return body
        # On Messages the words say which field it is.
        named = {"message": f"{param}: Field required"} if request.dialect == MESSAGES else {"param": param}
        return {**body, "error": {**body["error"], **named}}

    return changed


def _key_of(environ: Environ) -> str:
    """The key of a request; without one, a character that no key begins with."""
    scheme, _, key = environ.get("HTTP_AUTHORIZATION", "").partition(" ")
    # "" would be the beginning of any key, and let requests without one in.
    return key if scheme == "Bearer" and key else "\0"


def _nan_is_null(environ: Environ) -> None:
    # As for a reader to which NaN is a value; in the field that has it (`user`) null does no harm.
    put_body(environ, environ["wsgi.input"].read().replace(b": NaN", b": null"))


def _only_bearer(environ: Environ) -> None:
    """The scheme must be spelt in one way."""
    # A request without the header is left as it is: that is another row.
    if not environ.get("HTTP_AUTHORIZATION", "Bearer ").startswith("Bearer "):
        environ["HTTP_AUTHORIZATION"] = ""


def _form_is_json(environ: Environ) -> None:
    if environ.get("CONTENT_TYPE") == "application/x-www-form-urlencoded":
        environ["CONTENT_TYPE"] = "application/json"


def _length_alone(environ: Environ) -> None:
    """A body is read for as many bytes as were announced; one in chunks announces none."""
    # Of another type it is refused all the same, unread.
    if environ["wireproof.in_chunks"] and environ.get("CONTENT_TYPE") == "application/json":
        put_body(environ, b"")


def _bare_type_only(environ: Environ) -> None:
    if "charset" in environ.get("CONTENT_TYPE", ""):
        environ["CONTENT_TYPE"] = "text/plain"  # a type that the proxy refuses with the right error


def _capacity_first(environ: Environ) -> None:
    """While all slots are taken, the model is not looked at."""
    body = environ["wsgi.input"].read()
    if environ["wireproof.full"]:
        body = body.replace(b"wireproof-no-such-model", b"codex")
    put_body(environ, body)


def _any_model(asked: Json) -> Json:
    unknown = isinstance(asked.get("model"), str) and NO_MODEL in asked["model"]
    # Not beside a wrong temperature, which would break the row of that pair.
    return {**asked, "model": "codex"} if unknown and not asked.get("temperature") else asked


class _Spoilt:
    """A connection over which a request of some kind came: the next request over it is read wrongly."""

    def __init__(self, kind: Callable[[Environ], bool]) -> None:
        self._kind = kind
        # Weak, since connections come and go, and a new one must not be taken for an old one.
        self._spoilt: WeakSet[Any] = WeakSet()

    def __call__(self, environ: Environ) -> None:
        connection = environ.get(CONNECTION_KEY)
        if connection is None:
            return
        spoilt, kind = connection in self._spoilt, self._kind(environ)
        self._spoilt.discard(connection)
        if kind:
            self._spoilt.add(connection)
        if spoilt:
            # As if it began in the midst of what was left of the one before.
            put_body(environ, b"")


def _sent_as_text(environ: Environ) -> bool:
    return bool(environ.get("CONTENT_TYPE") == "text/plain")


def _asks_for_a_stream(environ: Environ) -> bool:
    body = environ["wsgi.input"].read()
    environ["wsgi.input"] = io.BytesIO(body)
    return b'"stream": true' in body


class _Again:
    """The second request over a connection gets the answer of the first."""

    def __init__(self) -> None:
        self._bodies: WeakKeyDictionary[Any, bytes] = WeakKeyDictionary()

    def __call__(self, environ: Environ) -> None:
        connection = environ.get(CONNECTION_KEY)
        if connection is None or not environ["PATH_INFO"].endswith(ANSWERS):
            return
        body = environ["wsgi.input"].read()
        first = self._bodies.setdefault(connection, body)
        put_body(environ, first if b"[[wireproof:" in body and b'"stream"' not in body else body)


def _key_shown(shown: Callable[[str], str]) -> Bodies:
    """An error about a key shows what was sent as one."""

    def changed(body: Json, request: SentRequest, head: FaultHead) -> Json:
        key = request.key.partition(" ")[2]
        if head.code != 401 or not key:  # noqa: PLR2004 (HTTP)
            return body
        return {**body, "error": {**body["error"], "message": f"Incorrect API key provided: {shown(key)}."}}

    return changed


_anywhere = partial(fault_below, "http.", dialects=WITH_MESSAGES)
"""A fault on chat's routes and on that of Messages."""


HTTP_FAULTS: tuple[Fault, ...] = (
    _anywhere("unknown-route-is-400", "route.unknown", head=one_for_another(404, "400 Bad Request", _nowhere)),
    _anywhere("wrong-method-is-404", "route.wrong-method",
          head=one_for_another(405, "404 Not Found")),
    _anywhere("methods-not-listed", "route.wrong-method",
          head=forgetting("allow", lambda head, _: head.code == 405)),  # noqa: PLR2004 (HTTP)
    Fault(name="bearer-in-one-spelling", breaks="http.auth.wrong", environ=_only_bearer),
    Fault(name="key-compared-by-prefix", breaks="http.auth.wrong",
          environ=let_in(lambda e: e["wireproof.key"].startswith(_key_of(e)))),
    Fault(name="key-compared-as-far-as-known", breaks="http.auth.wrong",
          environ=let_in(lambda e: _key_of(e).startswith(e["wireproof.key"]))),
    _anywhere("refused-key-shown", "echo-no-key", whole=_key_shown(lambda key: key)),
    _anywhere("refused-key-cut-short", "echo-no-key", whole=_key_shown(lambda key: key[:8] + "…")),
    _anywhere("unread-body-is-the-next-request", "connection-reuse", environ=_Spoilt(_sent_as_text)),
    _anywhere("streams-spoil-their-connection", "connection-reuse", environ=_Spoilt(_asks_for_a_stream)),
    _anywhere("first-body-of-a-connection-kept", "connection-reuse", environ=_Again()),
    Fault(name="not-a-number-is-json", breaks="http.body.json", environ=_nan_is_null),
    _anywhere("form-taken-for-json", "body.media-type", environ=_form_is_json),
    _anywhere("charset-is-415", "body.media-type", environ=_bare_type_only),
    Fault(name="chunked-body-taken-for-empty", breaks="http.body.chunked", dialects=(*WITH_MESSAGES, RESPONSES),
          environ=_length_alone),
    # On errors only: a proxy that adds the header to its successes alone.
    Fault(name="no-request-id", breaks="http.request-id",
          head=forgetting("x-request-id", lambda head, _: head.code >= 400)),  # noqa: PLR2004 (HTTP)
    Fault(name="one-request-id", breaks="http.request-id",
          head=lambda head, _: head.with_header("x-request-id", "req_1")),
    _anywhere("preflight-needs-a-key", "cors.preflight",
          head=one_for_another(204, "401 Unauthorized", lambda e: e.method == "OPTIONS")),
    _anywhere("cors-not-on-errors", "cors.preflight",
          head=forgetting("access-control-allow-origin", lambda head, _: head.code >= 400)),  # noqa: PLR2004 (HTTP)
    _anywhere("cors-not-where-nothing-is", "cors.preflight",
          head=forgetting("access-control-allow-origin", lambda head, _: head.code in {404, 405})),
    _anywhere("cors-not-on-streams", "cors.preflight",
          head=forgetting("access-control-allow-origin", lambda head, _: head.of_stream)),
    _anywhere("cors-for-web-pages-only", "cors.preflight",
          head=forgetting("access-control-allow-origin", lambda _, e: e.headers.get("origin", "").startswith("app:"))),
    _anywhere("cors-for-few-headers", "cors.preflight",
          head=lambda head, _: head.with_header("access-control-allow-headers", "authorization, content-type")),
    _anywhere("key-before-route", "precedence.route-before-auth",
          head=one_for_another(404, "401 Unauthorized", lambda e: _nowhere(e) and not e.key)),
    _anywhere("size-before-key", "precedence.auth-before-size",
          environ=let_in(lambda environ: int(environ.get("CONTENT_LENGTH") or 0) > LARGE)),
    _anywhere("media-type-before-size", "precedence.size-before-media-type",
          head=one_for_another(413, "415 Unsupported Media Type",
                               lambda e: len(e.body) > LARGE and e.headers.get("content-type") == "text/plain")),
    _anywhere("json-before-media-type", "precedence.media-type-before-json",
          head=one_for_another(415, "400 Bad Request", lambda e: _asks(e) and e.json is None)),
    _anywhere("no-json-is-an-empty-object", "precedence.json-before-model-missing",
          whole=blames("model", lambda _, e: e.body.startswith(b"{") and e.json is None and b"model" not in e.body)),
    _anywhere("messages-before-model", "precedence.model-missing-before-messages-missing",
          whole=blames("messages", lambda _, e: _asks(e) and _of_neither(e.json))),
    Fault(name="parameters-before-messages", breaks="http.precedence.messages-missing-before-parameters",
          whole=blames("temperature",
                       lambda error, e: error["param"] == "messages" and bool(field_of(e, "temperature")))),
    _anywhere("model-before-parameters", "precedence.parameters-before-model-unknown",
          head=one_for_another(400, "404 Not Found", lambda e: NO_MODEL in str(field_of(e, "model")))),
    _anywhere("capacity-before-model", "precedence.model-unknown-before-capacity",
          environ=_capacity_first),
    # Retry-After distinguishes the proxy's own 429 from one of the model's service.
    _anywhere("full-is-503", "precedence.capacity-before-not-ready",
          head=restated("503 Service Unavailable",
                        lambda head, _: head.code == 429 and ("Retry-After", "1") in head.headers)),  # noqa: PLR2004 (HTTP)
    _anywhere("full-and-no-word-of-when", "precedence.capacity-before-not-ready",
          head=forgetting("retry-after", lambda head, _: head.code == 429)),  # noqa: PLR2004 (HTTP)
    _anywhere("not-ready-is-502", "precedence.not-ready-before-backend-failure",
          # Not in turns, which are also asked for while a backend that has died is started again.
          head=one_for_another(503, "502 Bad Gateway", lambda e: _asks(e) and not e.script)),
    Fault(name="model-without-owner", breaks="http.models.get",
          whole=lambda body, request, _: without("owned_by")(body) if "/models/" in request.path else body),
    Fault(name="unknown-model-is-400", breaks="http.models.unknown",
          head=one_for_another(404, "400 Bad Request", lambda e: "/models/" in e.path)),
    Fault(name="any-model-will-do", breaks="http.models.unknown", request=_any_model),
    _anywhere("no-health", "health.live", head=one_for_another(200, "404 Not Found", _to("/healthz"))),
    _anywhere("ready-at-once", "health.ready", head=one_for_another(503, "200 OK", _to("/readyz"))),
    _anywhere("never-ready", "health.ready", head=one_for_another(200, "503 Service Unavailable", _to("/readyz"))),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in HTTP itself."""
