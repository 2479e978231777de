"""Plain requests that any endpoint answers alike: few, since each may be paid for. Nearly all are refused for free."""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Auth, JsonObject, PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.live.prompts import LONG_SYSTEM
from wireproof.scenarios.messages_input import ENVELOPE as ERRORS_OF_MESSAGES
from wireproof.scenarios.plain import plain

SMALL = {**HELLO, "max_tokens": 16}

# As a client with a long history sends, and free: blanks behind JSON are no tokens.
LARGE = (
    b'{"model": "{model}", "messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 16, "stream": true'
)
LARGE += b"}" + b" " * 300_000
AGAIN = {"model": "{model}", "messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 16}
PAGE = {
    "origin": "http://localhost:5173",
    "access-control-request-method": "POST",
    "access-control-request-headers": "authorization,content-type,x-stainless-lang",
}
"""What a browser asks before a page may send a request."""

WRONG: tuple[tuple[str, str, JsonObject], ...] = (
    ("param.model", "A request without a model", {"model": ...}),
    ("param.stream", "A stream that is neither true nor false", {"stream": "maybe"}),
    ("param.n", "Less than no choices", {"n": -1}),
    ("param.max-tokens", "A limit of tokens that is no number", {"max_tokens": "many"}),
    ("param.tools", "Tools that are no list", {"tools": "all"}),
    ("param.messages", "A request without messages", {"messages": ...}),
    (
        "param.role",
        "A message of a role that does not exist",
        {"messages": [{"role": "wizard", "content": "Hello."}]},
    ),
    ("param.sampling", "A temperature that is too high", {"temperature": 9}),
    (
        "param.tool-choice",
        "A tool_choice that names a tool that is not declared",
        {"tool_choice": {"type": "function", "function": {"name": "nothing"}}},
    ),
)
"""Row → what is wrong with a request, in words and as its members: each is refused."""

PLAIN: tuple[PlainScenario, ...] = (
    plain(
        "live-again",
        "A large body for a stream; then, over the same connection, the same request twice, once in chunks",
        ("http.connection-reuse", "http.body.chunked", "param.real-clients"),
        Request(body=LARGE, judged="param.real-clients"),
        Request(json=AGAIN, kept=True),
        # The same once more: in what two answers to it differ, the target's answers differ anyway.
        Request(json=AGAIN, kept=True, headers={"transfer-encoding": "chunked"}, judged="http.body.chunked"),
    ),
    plain(
        "live-cors",
        "A page in a browser asks whether it may send a request",
        ("http.cors.preflight",),
        Request(method="OPTIONS", auth=Auth.NONE, headers=PAGE, expect=204, any_success=True),
    ),
    plain(
        "live-schema-broken",
        "A schema of an answer that cannot be compiled: refused, or answered all the same",
        ("param.response-format",),
        Request(
            json={
                **SMALL,
                "stream": True,
                "response_format": {
                    "type": "json_schema",
                    "json_schema": {"name": "answer", "schema": {"type": "object", "$ref": "#/$defs/nothing"}},
                },
            },
            expect=400,
            any_success=True,
        ),
    ),
    plain(
        "live-previous",
        "A response continues one that was kept",
        ("responses.previous-id", "responses.input.items"),
        Request(
            path="/responses",
            json={
                "model": "{model}",
                "input": LONG_SYSTEM,
                "store": True,
                "max_output_tokens": 16,
            },
            judged="responses.input.items",
        ),
        Request(
            path="/responses",
            json={
                "model": "{model}",
                "previous_response_id": "{response}",
                "input": "And what would you say now?",
                "store": False,
                "max_output_tokens": 16,
            },
        ),
        dialects=(Dialect.RESPONSES,),
    ),
    plain(
        "live-models",
        "The list of models, and another one of it than yours by its name",
        ("http.models.list",),
        Request(method="GET", path="/models"),
        # What is listed is there. Whether it answers is not asked: a list has models that do not chat.
        Request(method="GET", path="/models/{listed}", judged="http.models.get"),
    ),
    plain(
        "live-model",
        "The model by its name, and a model that does not exist, in the list and for an answer",
        ("http.models.get", "http.models.unknown", *ENVELOPE),
        Request(method="GET", path="/models/{model}"),
        Request(method="GET", path="/models/wireproof-nothing", expect=404, judged="http.models.unknown"),
        Request(json={**SMALL, "model": "wireproof-nothing"}, expect=404, judged="http.models.unknown"),
    ),
    plain(
        "live-route-wrong-method",
        "A method that the address does not take",
        ("http.route.wrong-method", *ENVELOPE),
        Request(method="DELETE", json=SMALL, expect=405),
    ),
    plain(
        "live-route-unknown",
        "An address at which there is nothing",
        ("http.route.unknown", *ENVELOPE),
        Request(path="/chat/completion", json=SMALL, expect=404),
    ),
    plain(
        "live-auth",
        "A request with a wrong key",
        ("http.auth.wrong", "http.echo-no-key", *ENVELOPE),
        Request(json=SMALL, auth=Auth.WRONG, expect=401),
    ),
    plain(
        "live-auth-missing",
        "A request without a key",
        ("http.auth.missing", *ENVELOPE),
        Request(json=SMALL, auth=Auth.NONE, expect=401),
    ),
    plain(
        "live-body-not-json",
        "A body that is cut short",
        ("http.body.json", *ENVELOPE),
        Request(body=b'{"model": "{model}", "messages": [', expect=400),
    ),
    plain(
        "live-body-not-object",
        "A body that is JSON and no object",
        ("http.body.object", *ENVELOPE),
        Request(body=b'["{model}"]', expect=400),
    ),
    *(
        plain(
            f"live-{row.replace('.', '-')}",
            title,
            (row, *ENVELOPE),
            Request(json={**SMALL, **wrong}, expect=400),
        )
        for row, title, wrong in WRONG
    ),
    plain(
        "live-param-input",
        "A request for a response without input",
        ("param.input", *ENVELOPE),
        Request(path="/responses", json={"model": "{model}", "max_output_tokens": 16}, expect=400),
        dialects=(Dialect.RESPONSES,),
    ),
    plain(
        "live-messages-refused",
        "A request for messages without messages",
        ("messages.param.required", *ERRORS_OF_MESSAGES),
        Request(path="/messages", json={"model": "{model}", "max_tokens": 16}, expect=400),
        dialects=(Dialect.MESSAGES,),
    ),
)
