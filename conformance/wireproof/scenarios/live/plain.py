"""Plain requests that any endpoint answers alike: few, since each may be paid for. Nearly all are refused for free."""

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Auth, Mode, PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.live.prompts import LONG_SYSTEM
from wireproof.scenarios.messages_input import ENVELOPE as ERRORS_OF_MESSAGES

WHOLE = (Mode.WHOLE,)
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

PLAIN: tuple[PlainScenario, ...] = (
    PlainScenario(
        name="live-again",
        title="A large body for a stream; then, over the same connection, the same request twice, once in chunks",
        requests=(
            Request(body=LARGE, judged="param.real-clients"),
            Request(json=AGAIN, kept=True),
            # The same once more: in what two answers to it differ, the target's answers differ anyway.
            Request(json=AGAIN, kept=True, headers={"transfer-encoding": "chunked"}, judged="http.body.chunked"),
        ),
        exercises=("http.connection-reuse", "http.body.chunked", "param.real-clients"),
    ),
    PlainScenario(
        name="live-cors",
        title="A page in a browser asks whether it may send a request",
        requests=(Request(method="OPTIONS", auth=Auth.NONE, headers=PAGE, expect=204, any_success=True),),
        exercises=("http.cors.preflight",),
    ),
    PlainScenario(
        name="live-schema-broken",
        title="A schema of an answer that cannot be compiled: refused, or answered all the same",
        requests=(
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
        exercises=("param.response-format",),
    ),
    PlainScenario(
        name="live-previous",
        title="A response continues one that was kept",
        requests=(
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
        ),
        dialects=(Dialect.RESPONSES,),
        exercises=("responses.previous-id", "responses.input.items"),
    ),
    PlainScenario(
        name="live-models",
        title="The list of models, and another one of it than yours by its name",
        requests=(
            Request(method="GET", path="/models"),
            # What is listed is there. Whether it answers is not asked: a list has models that do not chat.
            Request(method="GET", path="/models/{listed}", judged="http.models.get"),
        ),
        exercises=("http.models.list",),
    ),
    PlainScenario(
        name="live-model",
        title="The model by its name, and a model that does not exist, in the list and for an answer",
        requests=(
            Request(method="GET", path="/models/{model}"),
            Request(method="GET", path="/models/wireproof-nothing", expect=404, judged="http.models.unknown"),
            Request(json={**SMALL, "model": "wireproof-nothing"}, expect=404, judged="http.models.unknown"),
        ),
        exercises=("http.models.get", "http.models.unknown", *ENVELOPE),
    ),
    PlainScenario(
        name="live-route-wrong-method",
        title="A method that the address does not take",
        requests=(Request(method="DELETE", json=SMALL, expect=405),),
        exercises=("http.route.wrong-method", *ENVELOPE),
    ),
    PlainScenario(
        name="live-route-unknown",
        title="An address at which there is nothing",
        requests=(Request(path="/chat/completion", json=SMALL, expect=404),),
        exercises=("http.route.unknown", *ENVELOPE),
    ),
    PlainScenario(
        name="live-auth",
        title="A request with a wrong key",
        requests=(Request(json=SMALL, auth=Auth.WRONG, expect=401),),
        exercises=("http.auth.wrong", "http.echo-no-key", *ENVELOPE),
    ),
    PlainScenario(
        name="live-auth-missing",
        title="A request without a key",
        requests=(Request(json=SMALL, auth=Auth.NONE, expect=401),),
        exercises=("http.auth.missing", *ENVELOPE),
    ),
    PlainScenario(
        name="live-body-not-json",
        title="A body that is cut short",
        requests=(Request(body=b'{"model": "{model}", "messages": [', expect=400),),
        exercises=("http.body.json", *ENVELOPE),
    ),
    PlainScenario(
        name="live-body-not-object",
        title="A body that is JSON and no object",
        requests=(Request(body=b'["{model}"]', expect=400),),
        exercises=("http.body.object", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-model",
        title="A request without a model",
        requests=(Request(json={**SMALL, "model": ...}, expect=400),),
        exercises=("param.model", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-stream",
        title="A stream that is neither true nor false",
        requests=(Request(json={**SMALL, "stream": "maybe"}, expect=400),),
        exercises=("param.stream", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-n",
        title="Less than no choices",
        requests=(Request(json={**SMALL, "n": -1}, expect=400),),
        exercises=("param.n", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-max-tokens",
        title="A limit of tokens that is no number",
        requests=(Request(json={**SMALL, "max_tokens": "many"}, expect=400),),
        exercises=("param.max-tokens", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-tools",
        title="Tools that are no list",
        requests=(Request(json={**SMALL, "tools": "all"}, expect=400),),
        exercises=("param.tools", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-messages",
        title="A request without messages",
        requests=(Request(json={**SMALL, "messages": ...}, expect=400),),
        exercises=("param.messages", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-role",
        title="A message of a role that does not exist",
        requests=(Request(json={**SMALL, "messages": [{"role": "wizard", "content": "Hello."}]}, expect=400),),
        exercises=("param.role", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-sampling",
        title="A temperature that is too high",
        requests=(Request(json={**SMALL, "temperature": 9}, expect=400),),
        exercises=("param.sampling", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-tool-choice",
        title="A tool_choice that names a tool that is not declared",
        requests=(
            Request(json={**SMALL, "tool_choice": {"type": "function", "function": {"name": "nothing"}}}, expect=400),
        ),
        exercises=("param.tool-choice", *ENVELOPE),
    ),
    PlainScenario(
        name="live-param-input",
        title="A request for a response without input",
        requests=(Request(path="/responses", json={"model": "{model}", "max_output_tokens": 16}, expect=400),),
        dialects=(Dialect.RESPONSES,),
        exercises=("param.input", *ENVELOPE),
    ),
    PlainScenario(
        name="live-messages-refused",
        title="A request for messages without messages",
        requests=(Request(path="/messages", json={"model": "{model}", "max_tokens": 16}, expect=400),),
        dialects=(Dialect.MESSAGES,),
        exercises=("messages.param.required", *ERRORS_OF_MESSAGES),
    ),
)
