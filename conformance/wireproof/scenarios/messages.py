"""Messages as a service: its routes, keys, versions, errors, parameters, counts and bodies.

What it has in common with chat is in the scenarios of chat.
"""

from wireproof.model.scenario import Auth, JsonObject, Request, Scenario
from wireproof.model.target import KeyStyle
from wireproof.scenarios.http import IN_CHUNKS, PLAIN_TEXT, TOO_LARGE
from wireproof.scenarios.messages_client_requests import COUNTED, RECORDED_MESSAGES
from wireproof.scenarios.messages_input import ASKS_IN_VAIN, ENVELOPE, HELLO, NEWER, PATH, USER, plain, reflecting

COUNT = "/messages/count_tokens"
GREETED: JsonObject = {
    **HELLO,
    "messages": [{"role": "user", "content": "[[wireproof:text/hello#counted-1]] Hello there."}],
}
STREAM: JsonObject = {"stream": True}
BAD: tuple[JsonObject, ...] = ({"messages": []}, {"max_tokens": ...}, {"messages": [USER, ASKS_IN_VAIN, USER]})
"""Changes of a request after which it is to be refused."""


def _refused(param: str, **change: object) -> Request:
    return Request(path=PATH, json={**HELLO, **change}, expect=400, param=param)


MESSAGES: tuple[Scenario, ...] = (
    plain(
        "messages-route", "The route with and without the query that Claude Code adds", ("messages.route",),
        Request(path=PATH, json=HELLO),
        Request(path=f"{PATH}?beta=true", json=HELLO),
    ),
    plain(
        "messages-auth", "The key under both names, right, wrong and missing", ("messages.auth", *ENVELOPE),
        *(Request(path=PATH, json=HELLO, key_style=style) for style in (KeyStyle.X_API_KEY, KeyStyle.BEARER)),
        *(
            Request(path=PATH, json=HELLO, key_style=style, auth=auth, expect=401)
            for style in (KeyStyle.X_API_KEY, KeyStyle.BEARER)
            # A comparison as far as the shorter text goes takes the second.
            for auth in (Auth.WRONG, Auth.CUT)
        ),
        Request(path=PATH, json=HELLO, auth=Auth.NONE, expect=401),
    ),
    plain(
        "messages-versions", "Both versions of the API, and betas that nobody knows", ("messages.version",),
        Request(path=PATH, json=HELLO),
        Request(path=PATH, json=HELLO, headers=NEWER),
        Request(path=PATH, json=HELLO, headers={"anthropic-beta": "wireproof-2026-01-01,heron-2026-02-02"}),
    ),
    plain(
        "messages-request-ids", "Answers, streams and errors, each with an id of its own", ("messages.request-id",),
        Request(path=PATH, json=HELLO),
        Request(path=PATH, json={**HELLO, **STREAM}),
        Request(path=PATH, json={}, expect=400),
    ),
    plain(
        "messages-errors-alike", "Bad requests, each without and with a stream", ("messages.error.parity", *ENVELOPE),
        *(
            Request(path=PATH, json={**HELLO, **bad, **mode}, expect=400)
            for bad in BAD
            for mode in ({}, STREAM)
        ),
    ),
    plain(
        "messages-required", "Required members that are missing, or of a wrong type",
        ("messages.param.required", *ENVELOPE),
        # First a request that is right: if that is refused, the members are not to blame.
        Request(path=PATH, json=HELLO),
        _refused("model", model=...),
        _refused("model", model=7),
        _refused("max_tokens", max_tokens=...),
        _refused("max_tokens", max_tokens="many"),
        _refused("messages", messages=...),
        _refused("messages", messages=[]),
        _refused("messages", messages="Hello."),
    ),
    plain(
        "messages-members", "Members that Claude Code and the SDKs send, one by one", ("messages.param.unknown",),
        *(
            Request(path=PATH, json={**HELLO, **members}, headers=betas)
            for members, betas in (
                ({"metadata": {"user_id": '{"device": "heron"}'}}, {}),
                ({"thinking": {"type": "adaptive"}, "output_config": {"effort": "high"}}, {}),
                ({"thinking": {"type": "disabled"}}, {}),
                (
                    {"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}},
                    {"anthropic-beta": "context-management-2025-06-27"},
                ),
                ({"cache_control": {"type": "ephemeral"}}, {}),
                ({"system": [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]}, {}),
                ({"service_tier": "auto"}, {}),
            )
        ),
    ),
    *(
        plain(
            f"messages-client-{client}", f"What {client} sends", ("messages.param.real-clients",),
            *(Request(path=one["path"], json=one["body"], headers=one["headers"]) for one in recorded),
        )
        for client, recorded in RECORDED_MESSAGES.items()
    ),
    plain(
        "messages-count-tokens", "The tokens of a short request, of its answer, and of one of Claude Code's",
        ("messages.count-tokens",),
        Request(path=COUNT, json={**GREETED, "max_tokens": ...}),
        Request(path=PATH, json=GREETED),
        Request(path=COUNTED["path"], json=COUNTED["body"], headers=COUNTED["headers"]),
    ),
    plain(
        "messages-models", "The list of models, asked for as a client of Messages", ("messages.models",),
        Request(method="GET", path="/models", headers=NEWER),
    ),
    plain(
        "messages-bodies", "Bodies that are no JSON, no object, no UTF-8, or called something else",
        ("http.body.json", "http.body.object", "http.body.utf8", "http.body.media-type", *ENVELOPE),
        Request(path=PATH, body=b'{"model": "{model}", "messages": [', expect=400),
        Request(path=PATH, body=b"[]", expect=400, judged="http.body.object"),
        Request(
            path=PATH,
            body=b'{"model": "{model}", "max_tokens": 64, "messages": [{"role": "user", "content": "\xff\xfe"}]}',
            expect=400,
            judged="http.body.utf8",
        ),
        Request(path=PATH, json=HELLO, headers=PLAIN_TEXT, expect=415, judged="http.body.media-type"),
    ),
    plain(
        "messages-model-before-messages", "Neither a model nor messages: the earlier member answers",
        ("http.precedence.model-missing-before-messages-missing", *ENVELOPE),
        Request(
            path=PATH, json={**HELLO, "model": ...}, expect=400, param="model", judged="messages.param.required",
        ),
        Request(path=PATH, json={"max_tokens": 64}, expect=400, param="model"),
    ),
    plain(
        "messages-auth-before-size", "No key, and a body that is too large",
        ("http.precedence.auth-before-size", *ENVELOPE),
        Request(path=PATH, json=HELLO, auth=Auth.NONE, expect=401, judged="messages.auth"),
        Request(path=PATH, json=HELLO, padding=TOO_LARGE, auth=Auth.NONE, expect=401),
    ),
    # What refuses these is often a handler of the framework, which knows nothing of the form of this surface's errors.
    plain(
        "messages-addresses", "An address below the route, and methods that the route does not take",
        ("http.route.wrong-method", "http.route.unknown", *ENVELOPE),
        Request(method="DELETE", path=PATH, json=HELLO, expect=405, shows={"allow": "POST"}),
        Request(method="PUT", path=PATH, body=b"{", headers=PLAIN_TEXT, expect=405, shows={"allow": "POST"}),
        Request(path=f"{PATH}/wireproof/nothing", json=HELLO, expect=404, judged="http.route.unknown"),
    ),
    plain(
        "messages-sizes", "A body that is too large, and one in chunks, without a length",
        ("http.body.size", "http.body.chunked", *ENVELOPE),
        Request(path=PATH, json=HELLO, padding=TOO_LARGE, expect=413),
        Request(path=PATH, json=HELLO, judged="messages.param.real-clients"),
        Request(
            path=PATH,
            json=reflecting("chunks-2", say="This came in chunks."),
            headers=IN_CHUNKS,
            reflects=("This came in chunks.",),
            judged="http.body.chunked",
        ),
    ),
)  # fmt: skip
