"""Messages: its requests, and what it has alone. What it has in common with chat is in the scenarios of chat."""

from wireproof.model.dialect import VERSION_HEADER, Dialect
from wireproof.model.scenario import Auth, ConversationScenario, JsonObject, PlainScenario, Request, Scenario, Turn
from wireproof.model.target import KeyStyle
from wireproof.scenarios.exercised import FINISH_REASON, MESSAGE_ARRIVES
from wireproof.scenarios.http import IN_CHUNKS, PLAIN_TEXT, TOO_LARGE
from wireproof.scenarios.messages_client_requests import COUNTED, RECORDED_MESSAGES
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from wireproof.scenarios.turns import PIXEL

ME = (Dialect.MESSAGES,)
PATH = "/messages"
COUNT = "/messages/count_tokens"
ENVELOPE = ("messages.error.envelope", "http.error.no-internals")
USER: JsonObject = {"role": "user", "content": "Hello."}
HELLO: JsonObject = {"model": "{model}", "max_tokens": 64, "messages": [USER]}
GREETED: JsonObject = {
    **HELLO,
    "messages": [{"role": "user", "content": "[[wireproof:text/hello#counted-1]] Hello there."}],
}
NEWER = {VERSION_HEADER: "2026-10-21"}
THREADS = {**NEWER, "anthropic-beta": "message-threads-2026-08-12"}
STREAM: JsonObject = {"stream": True}


def _tool(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    return {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}


TOOLS = [_tool(LOCAL_SEARCH), _tool(READ_NOTE)]


def _call(id_: str, name: str, **arguments: str) -> JsonObject:
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def _reflecting(nonce: str, *before: JsonObject, say: str, **more: object) -> JsonObject:
    """A request that the backend answers with what it has received."""
    marked = {"role": "user", "content": f"[[wireproof:reflect/received#{nonce}]] {say}"}
    return {**HELLO, "messages": [*before, marked], **more}


def _playing(script: str, nonce: str, **more: object) -> JsonObject:
    """A request that a script answers."""
    marked = {"role": "user", "content": f"[[wireproof:{script}#{nonce}]] Go on."}
    return {**HELLO, "messages": [marked], "tools": TOOLS, **more}


def _in_thread(thread: JsonObject, say: str) -> JsonObject:
    return {**HELLO, "messages": [{"role": "user", "content": say}], "thread": thread}


def _refused(param: str, **change: object) -> Request:
    return Request(path=PATH, json={**HELLO, **change}, expect=400, param=param)


def _plain(name: str, title: str, exercises: tuple[str, ...], *requests: Request) -> PlainScenario:
    return PlainScenario(name=name, title=title, requests=requests, exercises=exercises, dialects=ME)


def _sent(json: JsonObject, *reflects: str, refusable: str = "") -> Request:
    return Request(path=PATH, json=json, reflects=reflects, refusable=refusable)


ASKS_IN_VAIN: JsonObject = {"role": "assistant", "content": [_call("toolu_heron", "localSearch", query="heron")]}
BAD: tuple[JsonObject, ...] = ({"messages": []}, {"max_tokens": ...}, {"messages": [USER, ASKS_IN_VAIN, USER]})
"""Changes of a request after which it is to be refused."""
MESSAGES: tuple[Scenario, ...] = (
    _plain(
        "messages-route", "The route with and without the query that Claude Code adds", ("messages.route",),
        Request(path=PATH, json=HELLO),
        Request(path=f"{PATH}?beta=true", json=HELLO),
    ),
    _plain(
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
    _plain(
        "messages-versions", "Both versions of the API, and betas that nobody knows", ("messages.version",),
        Request(path=PATH, json=HELLO),
        Request(path=PATH, json=HELLO, headers=NEWER),
        Request(path=PATH, json=HELLO, headers={"anthropic-beta": "wireproof-2026-01-01,heron-2026-02-02"}),
    ),
    _plain(
        "messages-request-ids", "Answers, streams and errors, each with an id of its own", ("messages.request-id",),
        Request(path=PATH, json=HELLO),
        Request(path=PATH, json={**HELLO, **STREAM}),
        Request(path=PATH, json={}, expect=400),
    ),
    _plain(
        "messages-errors-alike", "Bad requests, each without and with a stream", ("messages.error.parity", *ENVELOPE),
        *(
            Request(path=PATH, json={**HELLO, **bad, **mode}, expect=400)
            for bad in BAD
            for mode in ({}, STREAM)
        ),
    ),
    _plain(
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
    _plain(
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
        _plain(
            f"messages-client-{client}", f"What {client} sends", ("messages.param.real-clients",),
            *(Request(path=one["path"], json=one["body"], headers=one["headers"]) for one in recorded),
        )
        for client, recorded in RECORDED_MESSAGES.items()
    ),
    _plain(
        "messages-thread", "A thread is begun, and another is continued that nobody knows", ("messages.param.thread",),
        Request(
            path=PATH,
            json={**HELLO, "thread": {"type": "create"}},
            headers=THREADS,
            refusable="thread",
        ),
        Request(
            path=PATH,
            json={**HELLO, "thread": {"type": "continue", "previous_message_id": "msg_wireproof_none"}},
            headers=THREADS,
            expect=404,
            refusable="thread",
        ),
    ),
    _plain(
        "messages-thread-held", "A thread is continued with what is new alone", ("messages.param.thread",),
        Request(
            path=PATH,
            json=_in_thread({"type": "create"}, "[[wireproof:text/hello#held-1]] I am ibis-1."),
            headers=THREADS,
            refusable="thread",
        ),
        Request(
            path=PATH,
            json=_in_thread(
                {"type": "continue", "previous_message_id": "{response}"},
                "[[wireproof:reflect/received#held-2]] And I am jay-2.",
            ),
            headers=THREADS,
            refusable="thread",
            reflects=("ibis-1", "Hello, world!", "jay-2"),
        ),
    ),
    _plain(
        "messages-system", "Instructions as a string, as blocks, and among the messages", ("messages.input.system",),
        _sent(_reflecting("system-1", say="Who are you?", system="Answer as heron-17 would."), "heron-17"),
        _sent(
            _reflecting(
                "system-2",
                say="Who are you?",
                system=[{"type": "text", "text": "Be grebe-4."}, {"type": "text", "text": "Be jay-5."}],
            ),
            "grebe-4", "jay-5",
        ),
        _sent(
            _reflecting(
                "system-3", USER, {"role": "assistant", "content": "Hello!"},
                {"role": "system", "content": "From now on be ibis-6."}, say="Who are you?",
            ),
            "ibis-6",
        ),
    ),
    _plain(
        "messages-content", "Text, blocks, calls, and results as text, as blocks, absent and as errors",
        ("messages.input.content",),
        _sent(
            _reflecting(
                "content-1",
                {"role": "user", "content": [{"type": "text", "text": "Find alpaca-1."}]},
                {
                    "role": "assistant",
                    "content": [
                        {"type": "text", "text": "I look for bison-2."},
                        _call("toolu_camel3", "localSearch", query="camel-3"),
                        _call("toolu_dingo4", "readNote", notePath="dingo-4"),
                    ],
                },
                {
                    "role": "user",
                    "content": [
                        {"type": "tool_result", "tool_use_id": "toolu_camel3", "content": "No emu-5 here."},
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_dingo4",
                            "content": [
                                {"type": "text", "text": "One gecko-6."},
                                {"type": "text", "text": "A hyrax-7."},
                            ],
                        },
                        {"type": "text", "text": "And jackal-8?"},
                    ],
                },
                {"role": "assistant", "content": [_call("toolu_koala9", "localSearch", query="koala-9")]},
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_koala9",
                            "content": "The lemur-10 failed.",
                            "is_error": True,
                        }
                    ],
                },
                {"role": "assistant", "content": "It failed."},
                say="So what of moose-11?",
                tools=TOOLS,
            ),
            "alpaca-1", "bison-2", "camel-3", "dingo-4", "emu-5", "gecko-6", "hyrax-7", "jackal-8", "koala-9",
            "lemur-10", "moose-11",
        ),
        _sent(
            _reflecting(
                "content-2", USER, ASKS_IN_VAIN,
                {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_heron"}]},
                {"role": "assistant", "content": "Nothing."},
                say="And newt-12?",
                tools=TOOLS,
            ),
            "newt-12",
        ),
        # The beginning of an answer, to be gone on with: newer models take none, and are to say so. The published
        # refusal names no path, but what it is about.
        _sent({**HELLO, "messages": [USER, {"role": "assistant", "content": "Good"}]}, refusable="prefill"),
    ),
    _plain(
        "messages-merged", "Two messages of the user in a row, and two of the assistant", ("messages.input.merged",),
        _sent(
            _reflecting(
                "merged-1",
                {"role": "user", "content": "One word of okapi-1."},
                {"role": "user", "content": [{"type": "text", "text": "One word of panda-2."}]},
                {"role": "assistant", "content": "Of quail-3."},
                {"role": "assistant", "content": "And of raven-4."},
                say="And of skunk-5?",
            ),
            "okapi-1", "panda-2", "quail-3", "raven-4", "skunk-5",
        ),
    ),
    _plain(
        "messages-results-paired", "A call without its result, and a result without its call",
        ("messages.input.results-paired", *ENVELOPE),
        Request(path=PATH, json={**HELLO, "messages": [USER, ASKS_IN_VAIN, USER], "tools": TOOLS}, expect=400),
        Request(
            path=PATH,
            json={
                **HELLO,
                "tools": TOOLS,
                "messages": [
                    USER,
                    ASKS_IN_VAIN,
                    {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "toolu_grebe"}]},
                ],
            },
            expect=400,
        ),
    ),
    _plain(
        "messages-thoughts", "Thoughts of earlier turns: signed by others, not signed, redacted",
        ("messages.input.thinking",),
        *(
            _sent(
                _reflecting(
                    f"thoughts-{number}", USER,
                    {"role": "assistant", "content": [thought, *ASKS_IN_VAIN["content"]]},
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": "toolu_heron", "content": "Two tapir-1."}],
                    },
                    {"role": "assistant", "content": "Two."},
                    say="And vole-2?",
                    tools=TOOLS,
                ),
                "tapir-1", "vole-2",
            )
            for number, thought in enumerate(
                (
                    {"type": "thinking", "thinking": "Two, I think.", "signature": "EqQBCkYIBxgCKkDmZ29v"},
                    {"type": "thinking", "thinking": "Two, I think.", "signature": ""},
                    {"type": "redacted_thinking", "data": "EmwKAhgBEgy3va3pzix/LafPsn4a"},
                )
            )
        ),
    ),
    _plain(
        "messages-images", "An image in a message, and one in a result", ("messages.input.images",),
        _sent(
            _reflecting(
                "images-1",
                {
                    "role": "user",
                    "content": [
                        {"type": "text", "text": "Look at this."},
                        {
                            "type": "image",
                            "source": {"type": "base64", "media_type": "image/png", "data": PIXEL.partition(",")[2]},
                        },
                    ],
                },
                {"role": "assistant", "content": "I see a dot."},
                say="Of what colour?",
            ),
            PIXEL.partition(",")[2][:40],
            refusable="image",
        ),
        _sent(
            _reflecting(
                "images-2", USER, ASKS_IN_VAIN,
                {
                    "role": "user",
                    "content": [
                        {
                            "type": "tool_result",
                            "tool_use_id": "toolu_heron",
                            "content": [
                                {
                                    "type": "image",
                                    "source": {
                                        "type": "base64",
                                        "media_type": "image/png",
                                        "data": PIXEL.partition(",")[2],
                                    },
                                }
                            ],
                        }
                    ],
                },
                {"role": "assistant", "content": "I see a dot."},
                say="Of what colour?",
                tools=TOOLS,
            ),
            PIXEL.partition(",")[2][:40],
            refusable="image",
        ),
    ),
    _plain(
        "messages-tool-choice", "All choices of tools, and one call at a time", ("messages.tool-choice",),
        Request(path=PATH, json=_playing("call/one", "choice-1", tool_choice={"type": "auto"})),
        Request(path=PATH, json=_playing("call/one", "choice-2", tool_choice={"type": "any"}), refusable="tool_choice"),
        Request(
            path=PATH,
            json=_playing("call/one", "choice-3", tool_choice={"type": "tool", "name": "localSearch"}),
            refusable="tool_choice",
        ),
        # What is offered comes back, so a tool that reached the backend is seen though it was not called.
        Request(path=PATH, json=_playing("reflect/received", "choice-4", tool_choice={"type": "none"})),
        Request(
            path=PATH,
            json=_playing("call/two", "choice-5", tool_choice={"type": "auto", "disable_parallel_tool_use": True}),
        ),
        # To accept a choice and then to answer with text, or with a call of another tool, is to ignore it.
        Request(
            path=PATH, json=_playing("text/hello", "choice-6", tool_choice={"type": "any"}), refusable="tool_choice",
        ),
        Request(
            path=PATH,
            json=_playing("call/one", "choice-7", tool_choice={"type": "tool", "name": "readNote"}),
            refusable="tool_choice",
        ),
    ),
    ConversationScenario(
        name="messages-stop-sequence",
        title="A stop sequence, which comes in several deltas, ends the text before itself",
        script="text/hello",
        turns=(Turn(say="Greet me."),),
        # Spelt as `stop_sequences` when it is sent.
        body={"stop": [", world"]},
        dialects=ME,
        exercises=(*FINISH_REASON[2:], *MESSAGE_ARRIVES[2:], "messages.parity"),
        refusable="stop_sequences",
    ),
    _plain(
        "messages-count-tokens", "The tokens of a short request, of its answer, and of one of Claude Code's",
        ("messages.count-tokens",),
        Request(path=COUNT, json={**GREETED, "max_tokens": ...}),
        Request(path=PATH, json=GREETED),
        Request(path=COUNTED["path"], json=COUNTED["body"], headers=COUNTED["headers"]),
    ),
    _plain(
        "messages-models", "The list of models, asked for as a client of Messages", ("messages.models",),
        Request(method="GET", path="/models", headers=NEWER),
    ),
    _plain(
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
    _plain(
        "messages-model-before-messages", "Neither a model nor messages: the earlier member answers",
        ("http.precedence.model-missing-before-messages-missing", *ENVELOPE),
        Request(
            path=PATH, json={**HELLO, "model": ...}, expect=400, param="model", judged="messages.param.required",
        ),
        Request(path=PATH, json={"max_tokens": 64}, expect=400, param="model"),
    ),
    _plain(
        "messages-auth-before-size", "No key, and a body that is too large",
        ("http.precedence.auth-before-size", *ENVELOPE),
        Request(path=PATH, json=HELLO, auth=Auth.NONE, expect=401, judged="messages.auth"),
        Request(path=PATH, json=HELLO, padding=TOO_LARGE, auth=Auth.NONE, expect=401),
    ),
    # What refuses these is often a handler of the framework, which knows nothing of the form of this surface's errors.
    _plain(
        "messages-addresses", "An address below the route, and methods that the route does not take",
        ("http.route.wrong-method", "http.route.unknown", *ENVELOPE),
        Request(method="DELETE", path=PATH, json=HELLO, expect=405, shows={"allow": "POST"}),
        Request(method="PUT", path=PATH, body=b"{", headers=PLAIN_TEXT, expect=405, shows={"allow": "POST"}),
        Request(path=f"{PATH}/wireproof/nothing", json=HELLO, expect=404, judged="http.route.unknown"),
    ),
    _plain(
        "messages-sizes", "A body that is too large, and one in chunks, without a length",
        ("http.body.size", "http.body.chunked", *ENVELOPE),
        Request(path=PATH, json=HELLO, padding=TOO_LARGE, expect=413),
        Request(path=PATH, json=HELLO, judged="messages.param.real-clients"),
        Request(
            path=PATH,
            json=_reflecting("chunks-2", say="This came in chunks."),
            headers=IN_CHUNKS,
            reflects=("This came in chunks.",),
            judged="http.body.chunked",
        ),
    ),
)  # fmt: skip
