"""Responses: their input, and blocks instead of items.

What Responses have in common with chat is in the scenarios of chat, which are driven in all dialects.
"""

from functools import partial

from wireproof.model.dialect import MODE_HEADER, Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, PlainScenario, Request, Turn
from wireproof.model.served import UNKNOWN_MODEL
from wireproof.scenarios.http import ENVELOPE, IN_CHUNKS, PLAIN_TEXT, without_key
from wireproof.scenarios.plain import plain as any_plain
from wireproof.scenarios.tools import LOCAL_SEARCH

RE = (Dialect.RESPONSES,)
PATH = "/responses"
HELLO = {"model": "{model}", "input": "Hello."}
# As Responses have it: without the `function` that chat puts around name and parameters.
FLAT = {"type": "function", "name": "readNote", "description": "Read one note", "parameters": {"type": "object"}}


def sent(members: JsonObject, *reflects: str) -> Request:
    """A request for a response, and what the backend must report to have received."""
    return Request(path=PATH, json={"model": "{model}", **members}, reflects=reflects)


def _tools(nonce: str, tool: JsonObject, name: str) -> Request:
    question = f"[[wireproof:reflect/received#input-tools-{nonce}]] What tools have you got?"
    return sent({"input": question, "tools": [tool]}, name)


_TOOLS_FLAT = _tools("flat", FLAT, "readNote")

SETTINGS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="response-settings",
        title="The response repeats what the request set",
        script="text/hello",
        turns=(Turn(say="Say hello, as I set you."),),
        body={
            "instructions": "Answer in one word.",
            "max_output_tokens": 4096,
            "metadata": {"run": "heron-17", "empty": ""},  # an empty value is a value
            "temperature": 0.25,  # two fractions that binary floats hold exactly
            "top_p": 0.5,
        },
        dialects=RE,
        exercises=("responses.whole.envelope", "responses.parity"),
    ),
)

BLOCKS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="responses-xml",
        title="The header asks for obsidian-xml: the call is a block in the text",
        # With text before the call: so text and block have to share one message, and no item of a call may stand beside
        # it.
        script="call/after-text",
        turns=(Turn(say="Say what you do, then do it."),),
        tools=(LOCAL_SEARCH,),
        headers={MODE_HEADER: Dialect.OBSIDIAN_XML.value},
        requires_echo=MODE_HEADER,
        dialects=RE,
        exercises=("responses.xml", "responses.parity"),
        attribute_to="responses.xml",
    ),
)

plain = partial(any_plain, dialects=RE)
"""Plain requests on the surface of Responses."""

INPUT: tuple[PlainScenario, ...] = (
    plain(
        "input-string",
        "The input is one string, with instructions beside it",
        ("responses.input.items",),
        sent(
            {
                # Each animal stands in one place of the request only, so what the backend received shows which
                # place was lost.
                "instructions": "Answer as heron-17 would.",
                "input": "[[wireproof:reflect/received#input-string]] Is this grebe-4?",
            },
            "heron-17",
            "grebe-4",
        ),
    ),
    plain(
        "input-items",
        "Messages with a string or parts, a call and its result, each with and without type and id",
        ("responses.input.items",),
        Request(
            path=PATH,
            json={
                "model": "{model}",
                "input": [
                    {"role": "user", "content": "Who is alpaca-1?"},  # no `type`: OpenAI's short form of a message
                    {
                        "type": "message",
                        "id": "msg_0",
                        "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": "It is bison-2.", "annotations": []}],
                    },
                    {
                        "type": "message",
                        "role": "user",
                        "content": [{"type": "input_text", "text": "Find camel-3."}],
                    },
                    # Codex as a client sends its items back; nothing of this one has to reach the backend, but it
                    # must be accepted.
                    {"type": "reasoning", "id": "rs_0", "summary": []},
                    {
                        "type": "function_call",
                        # Without `id`: clients may leave it out when they replay items, and a result is paired by
                        # `call_id` alone.
                        "call_id": "call_4",
                        "name": "localSearch",
                        "arguments": '{"query": "dingo-4"}',
                    },
                    {"type": "function_call_output", "call_id": "call_4", "output": "No emu-5 here."},
                    {
                        "type": "function_call",
                        "id": "fc_5",
                        "call_id": "call_5",
                        "name": "localSearch",
                        "arguments": '{"query": "finch-6"}',
                        "status": "completed",
                    },
                    {
                        "type": "function_call_output",
                        "call_id": "call_5",
                        # In two parts: a proxy that reads the first alone would lose the hyrax.
                        "output": [
                            {"type": "input_text", "text": "One gecko-7."},
                            {"type": "input_text", "text": "And one hyrax-7."},
                        ],
                    },
                    {"role": "user", "content": "[[wireproof:reflect/received#input-items]] So what of heron-8?"},
                ],
            },
            reflects=(
                "alpaca-1",
                "bison-2",
                "camel-3",
                "call_4",
                "emu-5",
                "call_5",
                "gecko-7",
                "hyrax-7",
                "heron-8",
            ),
        ),
    ),
    plain(
        "input-parts",
        "Instructions beside items, and messages whose text comes in several parts",
        ("responses.input.items",),
        sent(
            {
                "instructions": "Answer as ibis-9 would.",
                "input": [
                    {
                        "type": "message",
                        "role": "user",
                        "content": [
                            {"type": "input_text", "text": "Who is jackal-0?"},
                            {"type": "input_text", "text": "And who is koala-1?"},
                        ],
                    },
                    {"role": "user", "content": "[[wireproof:reflect/received#input-parts]] So what of llama-2?"},
                ],
            },
            "ibis-9",
            "jackal-0",
            "koala-1",
            "llama-2",
        ),
    ),
    plain(
        "input-replayed",
        "Answers of the assistant as clients send them back",
        ("responses.input.replayed",),
        Request(
            path=PATH,
            json={
                "model": "{model}",
                "input": [
                    {"role": "user", "content": "Who is there?"},
                    {"role": "assistant", "content": "It is kudu-1."},
                    {"role": "user", "content": "And who else?"},
                    # As the AI SDK writes it.
                    {"role": "assistant", "content": [{"type": "output_text", "text": "There is lemur-2."}]},
                    {"role": "user", "content": "Nobody more?"},
                    {
                        "id": "msg_1",
                        "role": "assistant",
                        "status": "completed",
                        "content": [{"type": "output_text", "text": "And moose-3.", "annotations": [], "logprobs": []}],
                    },
                    {"role": "user", "content": "Which of them bites?"},
                    {"role": "assistant", "content": [{"type": "refusal", "refusal": "I ask no newt-4."}]},
                    {"role": "user", "content": "[[wireproof:reflect/received#input-replayed]] Not even otter-5?"},
                ],
            },
            reflects=("kudu-1", "lemur-2", "moose-3", "newt-4", "otter-5"),
        ),
    ),
    # OpenAI refuses those of chat, and so does an upstream that a gateway has passed them on to.
    plain(
        "input-tools",
        "Tools as Responses have them, and as chat has them",
        ("responses.input.items",),
        _TOOLS_FLAT,
        _tools("chat", LOCAL_SEARCH, "localSearch"),  # the shape of chat, which S0 allows
        behind_upstreams=True,
    ),
    plain("input-tools-flat", "Tools as Responses have them", ("responses.input.items",), _TOOLS_FLAT),
    plain(
        "input-reference",
        "A reference to an item of a response that was never given",
        ("responses.input.items", *ENVELOPE),
        Request(
            path=PATH,
            # A reference that was passed over in silence would leave the model without what the client means.
            json={"model": "{model}", "input": [{"type": "item_reference", "id": "msg_nowhere"}]},
            expect=400,
            param="input",
        ),
    ),
    plain(
        "param-input",
        "No input, an empty one, and one that is neither text nor a list",
        ("param.input", *ENVELOPE),
        Request(path=PATH, json={"model": "{model}"}, expect=400, param="input"),
        *(
            Request(path=PATH, json={"model": "{model}", "input": value}, expect=400, param="input")
            for value in ([], 7, None, {"role": "user", "content": "Hello."}, ["Hello."])
        ),
        # Two faults: `input` answers before other parameters, as `messages` does.
        Request(path=PATH, json={"model": "{model}", "temperature": "hot"}, expect=400, param="input"),
        Request(path=PATH, json=HELLO),  # the same without a fault is right
    ),
    plain(
        "responses-parameters",
        "Parameters of Responses that are wrong, each refused with its name",
        (
            "param.max-tokens",
            "param.stream",
            "param.sampling",
            "param.tools",
            "param.tool-choice",
            "param.parallel-tool-calls",
            "param.unknown-ignored",
            *ENVELOPE,
        ),
        *(
            Request(path=PATH, json={**HELLO, **wrong}, expect=400, param=param, judged=row)
            for row, param, wrong in (
                ("", "max_output_tokens", {"max_output_tokens": 0}),
                ("param.max-tokens", "max_output_tokens", {"max_output_tokens": "many"}),
                ("param.stream", "stream", {"stream": "yes"}),
                ("param.sampling", "temperature", {"temperature": "hot"}),
                ("param.tools", "tools", {"tools": "all"}),
                # Flat, so it is not `function.name`.
                ("param.tools", "tools[0].name", {"tools": [{"type": "function", "parameters": {}}]}),
                ("param.tool-choice", "tool_choice", {"tool_choice": "sometimes"}),
                ("param.tool-choice", "tool_choice", {"tool_choice": {"type": "function", "name": "nothing"}}),
                ("param.parallel-tool-calls", "parallel_tool_calls", {"parallel_tool_calls": "both"}),
            )
        ),
        Request(
            path=PATH,
            json={**HELLO, "max_output_tokens": 100, "metadata": {"run": "1"}, "store": False, "unheard_of": 7},
            judged="param.unknown-ignored",
        ),
    ),
    plain(
        "response-in-chunks",
        "A body in chunks, without a length",
        ("http.body.chunked",),
        # The same with its length: if that is refused, the chunks are not to blame.
        Request(path=PATH, json=HELLO, judged="param.real-clients"),
        Request(
            path=PATH,
            json={**HELLO, "input": "[[wireproof:reflect/received#chunks-3]] This came in chunks."},
            headers=IN_CHUNKS,
            reflects=("This came in chunks.",),
        ),
    ),
    # With a right value first: a target that does not echo it does not know the header, and owes it nothing.
    plain(
        "responses-mode-invalid",
        "An output mode that does not exist",
        ("param.proxy-headers", *ENVELOPE),
        Request(path=PATH, json=HELLO, headers={MODE_HEADER: "obsidian-xml"}, requires_echo=MODE_HEADER),
        Request(path=PATH, json=HELLO, headers={MODE_HEADER: "yaml"}, expect=400, param=MODE_HEADER),
    ),
    plain(
        "responses-http",
        "No key, no JSON, no JSON by its name, the wrong method: as everywhere",
        (
            "http.auth.missing",
            "http.body.json",
            "http.body.media-type",
            "http.route.wrong-method",
            "http.models.unknown",
            *ENVELOPE,
        ),
        without_key(Request(path=PATH, json=HELLO)),
        Request(path=PATH, body=b'{"model": ', expect=400, judged="http.body.json"),
        Request(path=PATH, json=HELLO, headers=PLAIN_TEXT, expect=415, judged="http.body.media-type"),
        Request(method="PUT", path=PATH, json=HELLO, expect=405, judged="http.route.wrong-method"),
        Request(
            path=PATH,
            json={**HELLO, "model": UNKNOWN_MODEL},
            expect=404,
            code="model_not_found",
            judged="http.models.unknown",
        ),
    ),
)
