"""Plain requests: what the contract says of HTTP itself."""

from dataclasses import replace

from wireproof.model.scenario import Auth, JsonObject, PlainScenario, Request
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.scenarios.plain import plain

HELLO = {"model": "{model}", "messages": [{"role": "user", "content": "Hello."}]}
TOO_LARGE = 20 * 2**20
"""Bytes: more than a proxy takes that says nothing of its limit."""
ENVELOPE = ("http.error.envelope", "http.error.no-internals")
PLAIN_TEXT = {"content-type": "text/plain"}
# Obsidian on the desktop; the one on phones is capacitor://localhost.
OBSIDIAN = {"origin": "app://obsidian.md"}
PREFLIGHT = {
    "access-control-request-method": "POST",
    # The last is what OpenAI's SDKs add to each request: a browser drops the request if it is not allowed.
    "access-control-request-headers": "authorization,content-type,x-proxy-output-mode,x-stainless-lang",
}


IN_CHUNKS = {"transfer-encoding": "chunked"}


def without_key(request: Request, auth: Auth = Auth.NONE) -> Request:
    """A request that is refused for its key."""
    challenge = {"www-authenticate": "Bearer"}
    return replace(request, auth=auth, expect=401, code="invalid_api_key", shows=challenge)


def _asking(nonce: str, text: str) -> JsonObject:
    """A question that the backend answers with what it has received."""
    return {
        "model": "{model}",
        "messages": [{"role": "user", "content": f"[[wireproof:reflect/received#{nonce}]] {text}"}],
    }


def _again(nonce: str, text: str) -> Request:
    """Such a question over the connection of the request before."""
    return Request(json=_asking(nonce, text), kept=True, reflects=(text,))


REUSE: tuple[PlainScenario, ...] = (
    plain(
        "connection-reuse",
        "A connection that is kept serves further requests: after answers, a stream, errors and refused bodies",
        ("http.connection-reuse",),
        Request(
            json=HELLO,
            # Judged elsewhere: what is wrong with these answers in themselves says nothing of the connection.
            judged="param.real-clients",
        ),
        _again("kept-1", "This follows a whole answer."),
        Request(json={**HELLO, "stream": True}, kept=True, judged="param.real-clients"),
        _again("kept-2", "This follows a stream."),
        Request(json={"messages": []}, kept=True, expect=400, judged="param.model"),
        _again("kept-3", "This follows a refused parameter."),
        Request(body=b'{"model": "{model}", ', kept=True, expect=400, judged="http.body.json"),
        _again("kept-4", "This follows a broken body."),
        # Three that can be refused without a look at their bodies: what stays unread is no request.
        Request(json=HELLO, kept=True, headers=PLAIN_TEXT, expect=415, judged="http.body.media-type"),
        _again("kept-5", "This follows a body of another type."),
        Request(
            json=HELLO,
            kept=True,
            headers={**PLAIN_TEXT, **IN_CHUNKS},
            expect=415,
            judged="http.body.media-type",
        ),
        _again("kept-6", "This follows a body in chunks."),
        Request(path="/wireproof/nothing", json=HELLO, kept=True, expect=404, judged="http.route.unknown"),
        _again("kept-7", "This follows a body that was sent nowhere."),
    ),
    # Apart, since a target may ask for no key.
    plain(
        "connection-reuse-without-key",
        "A connection serves further requests after one without a right key",
        ("http.connection-reuse",),
        Request(json=HELLO, auth=Auth.WRONG, expect=401, judged="http.auth.wrong"),
        _again("kept-8", "This follows a wrong key."),
    ),
    # Apart, since a target's limit may not be known.
    plain(
        "connection-reuse-too-large",
        "A connection serves further requests after a body that was too large",
        ("http.connection-reuse",),
        Request(json=HELLO, padding=TOO_LARGE, expect=413, judged="http.body.size"),
        _again("kept-9", "This follows a body that was too large."),
    ),
)

HTTP: tuple[PlainScenario, ...] = (
    plain(
        "route-unknown",
        "Addresses at which there is nothing, whatever is sent there",
        ("http.route.unknown", *ENVELOPE),
        Request(
            path="/chat/completion",  # one letter short, as a person mistypes it
            json=HELLO,
            expect=404,
        ),
        Request(method="GET", path="/wireproof/nothing/here", expect=404),
        # A broken body under a wrong media type: the address answers first (http.precedence.route-before-auth).
        Request(path="/chat/completions/nothing", body=b"{", headers=PLAIN_TEXT, expect=404),
    ),
    plain(
        "route-wrong-method",
        "Methods that an address does not take, whatever is sent with them",
        ("http.route.wrong-method", *ENVELOPE),
        Request(method="DELETE", json=HELLO, expect=405, shows={"allow": "POST"}),
        Request(method="PUT", body=b"{", headers=PLAIN_TEXT, expect=405, shows={"allow": "POST"}),
        Request(method="DELETE", path="/models", expect=405, shows={"allow": "GET"}),
    ),
    plain(
        "auth-missing",
        "A request without a key",
        ("http.auth.missing", *ENVELOPE),
        without_key(Request(json=HELLO)),
        without_key(Request(method="GET", path="/models")),
    ),
    plain(
        "auth-wrong",
        "A wrong key, the right one cut, extended, under another scheme, and in every spelling of Bearer",
        ("http.auth.wrong", "http.echo-no-key", *ENVELOPE),
        *(
            without_key(Request(json=HELLO), auth)
            # A comparison as far as the shorter text goes takes the second and the third.
            for auth in (Auth.WRONG, Auth.CUT, Auth.EXTENDED, Auth.OTHER_SCHEME)
        ),
        # Names of schemes are case-insensitive in HTTP.
        Request(method="GET", path="/models", auth=Auth.OTHER_CASE),
    ),
    plain(
        "body-not-json",
        "Bodies that are not JSON: cut short, empty, with something behind, with a number that JSON has not",
        ("http.body.json", *ENVELOPE),
        Request(body=b'{"model": "{model}", "messages": [', expect=400),
        Request(expect=400),
        # A reader that stops at the end of the first value takes this.
        Request(body=b'{"model": "{model}", "messages": [{"role": "user", "content": "Hi"}]} {}', expect=400),
        Request(
            # Python's json reads NaN unless that is forbidden.
            body=b'{"model": "{model}", "messages": [{"role": "user", "content": "Hi"}], "user": NaN}',
            expect=400,
        ),
    ),
    plain(
        "body-not-object",
        "Bodies that are JSON but no object",
        ("http.body.object", *ENVELOPE),
        *(Request(body=body, expect=400) for body in (b'["model", "{model}"]', b'"{model}"', b"7", b"null", b"[]")),
    ),
    plain(
        "body-not-utf8",
        "A body with bytes that are no UTF-8",
        ("http.body.utf8", *ENVELOPE),
        Request(body=b'{"model": "{model}", "messages": [{"role": "user", "content": "\xff\xfe"}]}', expect=400),
    ),
    # Padded with spaces: a body that is right but for its size, so a proxy that takes it answers 200 and nothing
    # else.
    plain(
        "body-too-large",
        "A body above the limit that the target declares, or of 20 MiB",
        ("http.body.size", *ENVELOPE),
        Request(json=HELLO, padding=TOO_LARGE, expect=413),
    ),
    plain(
        "body-media-type",
        "JSON that is called something else, and JSON that says its character set",
        ("http.body.media-type", *ENVELOPE),
        Request(json=HELLO, headers=PLAIN_TEXT, expect=415),
        Request(json=HELLO, headers={"content-type": "application/x-www-form-urlencoded"}, expect=415),
        # Media types are case-insensitive, and a charset may stand behind them.
        Request(json=HELLO, headers={"content-type": "Application/JSON; charset=utf-8"}),
    ),
    plain(
        "body-in-chunks",
        "Bodies in chunks, without a length: for an answer, a stream, and an error",
        ("http.body.chunked", *ENVELOPE),
        # The same with its length: if that is refused, the chunks are not to blame.
        Request(json=HELLO, judged="param.real-clients"),
        Request(
            json=_asking("chunks-1", "This came in chunks."), headers=IN_CHUNKS, reflects=("This came in chunks.",)
        ),
        Request(json={**HELLO, "stream": True}, headers=IN_CHUNKS),
        Request(json={"model": "{model}", "messages": []}, expect=400, param="messages", judged="param.messages"),
        # A body that is taken for empty lacks the model, not the messages.
        Request(json={"model": "{model}", "messages": []}, headers=IN_CHUNKS, expect=400, param="messages"),
    ),
    plain(
        "request-ids",
        "Answers and errors, each with an id of its own",
        ("http.request-id",),
        Request(json=HELLO),
        # Streams and errors are often written by other code than whole answers.
        Request(json={**HELLO, "stream": True}),
        Request(method="GET", path="/models"),
        Request(method="GET", path="/wireproof/nothing/here", expect=404),
        Request(json={}, expect=400),
    ),
    plain(
        "cors",
        "Obsidian on the desktop, on a phone, and a page in development ask first; and see the errors",
        ("http.cors.preflight",),
        *(
            Request(
                method="OPTIONS",
                auth=Auth.NONE,
                headers={"origin": origin, **PREFLIGHT},
                expect=204,
                # Browsers ask for an ok status (Fetch, CORS-preflight fetch), and many servers answer 200.
                any_success=True,
            )
            # The second is Obsidian on phones, the last the usual port of a development server (Vite).
            for origin in (OBSIDIAN["origin"], "capacitor://localhost", "http://localhost:5173")
        ),
        Request(json={}, headers=OBSIDIAN, expect=400),
        Request(method="GET", path="/models", headers=OBSIDIAN),
        Request(json={**HELLO, "stream": True}, headers=OBSIDIAN),
    ),
    # Apart from `cors`: each first request is judged by its own requirement, without an origin. If that is broken
    # already, CORS is not blamed for it.
    plain(
        "cors-refused",
        "A page that sent a wrong key sees that it was refused",
        ("http.cors.preflight",),
        Request(json=HELLO, auth=Auth.WRONG, expect=401, judged="http.auth.wrong"),
        Request(json=HELLO, auth=Auth.WRONG, headers=OBSIDIAN, expect=401),
    ),
    plain(
        "cors-nowhere",
        "A page that asked at a wrong address sees that there is nothing",
        ("http.cors.preflight",),
        Request(method="GET", path="/wireproof/nothing/here", expect=404, judged="http.route.unknown"),
        Request(method="GET", path="/wireproof/nothing/here", headers=OBSIDIAN, expect=404),
    ),
    plain(
        "cors-wrong-method",
        "A page that asked by a wrong method sees that it was the method",
        ("http.cors.preflight",),
        Request(method="DELETE", path="/models", expect=405, judged="http.route.wrong-method"),
        Request(method="DELETE", path="/models", headers=OBSIDIAN, expect=405),
    ),
    plain("models", "The list of models", ("http.models.list",), Request(method="GET", path="/models")),
    plain("model", "One model", ("http.models.get",), Request(method="GET", path="/models/{model}")),
    plain(
        "model-unknown",
        "A model that is not served: looked up, and asked for an answer",
        ("http.models.unknown", *ENVELOPE),
        Request(method="GET", path=f"/models/{UNKNOWN_MODEL}", expect=404, code="model_not_found"),
        Request(json={**HELLO, "model": UNKNOWN_MODEL}, expect=404, code="model_not_found"),
    ),
    # Without a key and beside /v1, as those who ask (containers, load balancers) have no key.
    plain(
        "live",
        "The process lives",
        ("http.health.live",),
        Request(method="GET", path="/healthz", root=True, auth=Auth.NONE),
    ),
    plain(
        "live-not-ready",
        "The process lives while its backend is not ready",
        ("http.health.live",),
        Request(method="GET", path="/healthz", root=True, auth=Auth.NONE, unready=True),
        behind_upstreams=True,
    ),
    plain(
        "ready",
        "The backend has shaken hands",
        ("http.health.ready",),
        Request(method="GET", path="/readyz", root=True, auth=Auth.NONE),
    ),
    plain(
        "not-ready",
        "The backend has not shaken hands",
        ("http.health.ready",),
        Request(method="GET", path="/readyz", root=True, auth=Auth.NONE, unready=True, expect=503),
        behind_upstreams=True,
    ),
)
