"""What a request for messages says: instructions, turns, results, thoughts, images, threads, and choices of tools."""

from functools import partial

from wireproof.model.dialect import VERSION_HEADER, Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, Request, Scenario, Turn
from wireproof.scenarios.exercised import FINISH_REASON, MESSAGE_ARRIVES
from wireproof.scenarios.plain import plain as any_plain
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE
from wireproof.scenarios.turns import PIXEL

ME = (Dialect.MESSAGES,)
PATH = "/messages"
ENVELOPE = ("messages.error.envelope", "http.error.no-internals")
USER: JsonObject = {"role": "user", "content": "Hello."}
HELLO: JsonObject = {"model": "{model}", "max_tokens": 64, "messages": [USER]}
NEWER = {VERSION_HEADER: "2026-10-21"}
THREADS = {**NEWER, "anthropic-beta": "message-threads-2026-08-12"}


plain = partial(any_plain, dialects=ME)
"""Plain requests on the surface of Messages."""


def _tool(tool: JsonObject) -> JsonObject:
    function = tool["function"]
    return {"name": function["name"], "description": function["description"], "input_schema": function["parameters"]}


TOOLS = [_tool(LOCAL_SEARCH), _tool(READ_NOTE)]


def _call(id_: str, name: str, **arguments: str) -> JsonObject:
    return {"type": "tool_use", "id": id_, "name": name, "input": arguments}


def _results(*blocks: JsonObject) -> JsonObject:
    return {"role": "user", "content": [*blocks]}


def _result(id_: str, **said: object) -> JsonObject:
    return {"type": "tool_result", "tool_use_id": id_, **said}


def _texts(*texts: str) -> list[JsonObject]:
    return [{"type": "text", "text": text} for text in texts]


DATA = PIXEL.partition(",")[2]
IMAGE: JsonObject = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": DATA}}


def reflecting(nonce: str, *before: JsonObject, say: str, **more: object) -> JsonObject:
    """A request that the backend answers with what it has received."""
    marked = {"role": "user", "content": f"[[wireproof:reflect/received#{nonce}]] {say}"}
    return {**HELLO, "messages": [*before, marked], **more}


def _choosing(script: str, nonce: str, choice: JsonObject, *, refusable: str = "") -> Request:
    """A request that a script answers."""
    marked = {"role": "user", "content": f"[[wireproof:{script}#{nonce}]] Go on."}
    return _sent({**HELLO, "messages": [marked], "tools": TOOLS, "tool_choice": choice}, refusable=refusable)


def _in_thread(previous: str, *messages: JsonObject, reflects: tuple[str, ...] = (), expect: int = 200) -> Request:
    """A request that begins a thread, or continues the one that ends with that message."""
    thread = {"type": "continue", "previous_message_id": previous} if previous else {"type": "create"}
    json = {**HELLO, "messages": [*messages], "thread": thread}
    return Request(path=PATH, json=json, headers=THREADS, refusable="thread", reflects=reflects, expect=expect)


def _sent(json: JsonObject, *reflects: str, refusable: str = "") -> Request:
    return Request(path=PATH, json=json, reflects=reflects, refusable=refusable)


ASKS_IN_VAIN: JsonObject = {"role": "assistant", "content": [_call("toolu_heron", "localSearch", query="heron")]}
MESSAGES_INPUT: tuple[Scenario, ...] = (
    plain(
        "messages-thread", "A thread is begun, and another is continued that nobody knows", ("messages.param.thread",),
        _in_thread("", USER),
        _in_thread("msg_wireproof_none", USER, expect=404),
    ),
    plain(
        "messages-thread-held", "A thread is continued with what is new alone", ("messages.param.thread",),
        _in_thread("", {"role": "user", "content": "[[wireproof:text/hello#held-1]] I am ibis-1."}),
        _in_thread(
            "{response}",
            {"role": "user", "content": "[[wireproof:reflect/received#held-2]] And I am jay-2."},
            reflects=("ibis-1", "Hello, world!", "jay-2"),
        ),
    ),
    plain(
        "messages-system", "Instructions as a string, as blocks, and among the messages", ("messages.input.system",),
        _sent(reflecting("system-1", say="Who are you?", system="Answer as heron-17 would."), "heron-17"),
        _sent(
            reflecting(
                "system-2",
                say="Who are you?",
                system=_texts("Be grebe-4.", "Be jay-5."),
            ),
            "grebe-4", "jay-5",
        ),
        _sent(
            reflecting(
                "system-3", USER, {"role": "assistant", "content": "Hello!"},
                {"role": "system", "content": "From now on be ibis-6."}, say="Who are you?",
            ),
            "ibis-6",
        ),
    ),
    plain(
        "messages-content", "Text, blocks, calls, and results as text, as blocks, absent and as errors",
        ("messages.input.content",),
        _sent(
            reflecting(
                "content-1",
                {"role": "user", "content": [{"type": "text", "text": "Find alpaca-1."}]},
                {
                    "role": "assistant",
                    "content": [
                        *_texts("I look for bison-2."),
                        _call("toolu_camel3", "localSearch", query="camel-3"),
                        _call("toolu_dingo4", "readNote", notePath="dingo-4"),
                    ],
                },
                _results(
                    _result("toolu_camel3", content="No emu-5 here."),
                    _result("toolu_dingo4", content=_texts("One gecko-6.", "A hyrax-7.")),
                    *_texts("And jackal-8?"),
                ),
                {"role": "assistant", "content": [_call("toolu_koala9", "localSearch", query="koala-9")]},
                _results(_result("toolu_koala9", content="The lemur-10 failed.", is_error=True)),
                {"role": "assistant", "content": "It failed."},
                say="So what of moose-11?",
                tools=TOOLS,
            ),
            "alpaca-1", "bison-2", "camel-3", "dingo-4", "emu-5", "gecko-6", "hyrax-7", "jackal-8", "koala-9",
            "lemur-10", "moose-11",
        ),
        _sent(
            reflecting(
                "content-2", USER, ASKS_IN_VAIN,
                _results(_result("toolu_heron")),
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
    plain(
        "messages-merged", "Two messages of the user in a row, and two of the assistant", ("messages.input.merged",),
        _sent(
            reflecting(
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
    plain(
        "messages-results-paired", "A call without its result, and a result without its call",
        ("messages.input.results-paired", *ENVELOPE),
        Request(path=PATH, json={**HELLO, "messages": [USER, ASKS_IN_VAIN, USER], "tools": TOOLS}, expect=400),
        Request(
            path=PATH,
            json={**HELLO, "tools": TOOLS, "messages": [USER, ASKS_IN_VAIN, _results(_result("toolu_grebe"))]},
            expect=400,
        ),
    ),
    plain(
        "messages-thoughts", "Thoughts of earlier turns: signed by others, not signed, redacted",
        ("messages.input.thinking",),
        *(
            _sent(
                reflecting(
                    f"thoughts-{number}", USER,
                    {"role": "assistant", "content": [thought, *ASKS_IN_VAIN["content"]]},
                    _results(_result("toolu_heron", content="Two tapir-1.")),
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
    plain(
        "messages-images", "An image in a message, and one in a result", ("messages.input.images",),
        _sent(
            reflecting(
                "images-1",
                {"role": "user", "content": [*_texts("Look at this."), IMAGE]},
                {"role": "assistant", "content": "I see a dot."},
                say="Of what colour?",
            ),
            DATA[:40],
            refusable="image",
        ),
        _sent(
            reflecting(
                "images-2", USER, ASKS_IN_VAIN,
                _results(_result("toolu_heron", content=[IMAGE])),
                {"role": "assistant", "content": "I see a dot."},
                say="Of what colour?",
                tools=TOOLS,
            ),
            DATA[:40],
            refusable="image",
        ),
    ),
    plain(
        "messages-tool-choice", "All choices of tools, and one call at a time", ("messages.tool-choice",),
        _choosing("call/one", "choice-1", {"type": "auto"}),
        _choosing("call/one", "choice-2", {"type": "any"}, refusable="tool_choice"),
        _choosing("call/one", "choice-3", {"type": "tool", "name": "localSearch"}, refusable="tool_choice"),
        # What is offered comes back, so a tool that reached the backend is seen though it was not called.
        _choosing("reflect/received", "choice-4", {"type": "none"}),
        _choosing("call/two", "choice-5", {"type": "auto", "disable_parallel_tool_use": True}),
        # To accept a choice and then to answer with text, or with a call of another tool, is to ignore it.
        _choosing("text/hello", "choice-6", {"type": "any"}, refusable="tool_choice"),
        _choosing("call/one", "choice-7", {"type": "tool", "name": "readNote"}, refusable="tool_choice"),
    ),
    plain(
        # As `calls-declared` of chat: without a script the tool is called that the text names.
        "messages-calls-declared", "A call has the name of a declared tool", ("turn.calls-declared",),
        _sent({**HELLO, "messages": [{"role": "user", "content": "Call the tool readNote, please."}], "tools": TOOLS}),
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
)  # fmt: skip
