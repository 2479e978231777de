"""Parameters of chat requests: wrong values, each refused with the name of the field; right ones, at their limits.

The last refusal of most fields breaks the rule of the next field too: the earlier one answers.
"""

from wireproof.model.dialect import ARGUMENTS_HEADER, STOP_HEADER
from wireproof.model.scenario import JsonObject, PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE, HELLO
from wireproof.scenarios.plain import plain
from wireproof.scenarios.tools import GET_TIME, LOCAL_SEARCH, called


def _field(
    row: str,
    title: str,
    *,
    refused: tuple[tuple[str, JsonObject], ...] = (),
    accepted: tuple[JsonObject, ...] = (),
    served_or_refused: tuple[tuple[str, JsonObject], ...] = (),
) -> PlainScenario:
    """A field of a chat request, as changes of a request that is right.

    `refused` are wrong values with the `param` that must be named (`...` takes a field out), `accepted` right ones, and
    `served_or_refused` right ones that a proxy may refuse all the same, with the field that it must name then.
    """
    return plain(
        row.replace(".", "-"),
        title,
        (row, *(ENVELOPE if refused else ())),
        # First a request that is right: if that is refused, the fields are not to blame.
        Request(json=HELLO),
        *(Request(json={**HELLO, **body}, expect=400, param=param) for param, body in refused),
        *(Request(json={**HELLO, **body}) for body in accepted),
        *(Request(json={**HELLO, **body}, refusable=field) for field, body in served_or_refused),
    )


def _each(name: str, *values: object) -> tuple[tuple[str, JsonObject], ...]:
    """Values that a field is refused for."""
    return tuple((name, {name: value}) for value in values)


USER: JsonObject = {"role": "user", "content": "Hello."}
CALL = called(None, ("call_1", "getCurrentTime", "{}"))
ANSWER: JsonObject = {"role": "assistant", "content": "Hello to you."}
NOTHING: JsonObject = {"tool_calls": None, "function_call": None, "refusal": None, "audio": None, "annotations": []}
RESULT: JsonObject = {"role": "tool", "tool_call_id": "call_1", "content": "Noon."}
FUNCTION: JsonObject = LOCAL_SEARCH["function"]
TIME: JsonObject = {"type": "function", "function": {"name": "getCurrentTime"}}
SCHEMA: JsonObject = {"name": "greeting", "schema": {"type": "object", "properties": {"word": {"type": "string"}}}}
STREAM: JsonObject = {"stream": True}

OPTIONAL = (
    "temperature", "top_p", "n", "stop", "stream", "seed", "max_tokens", "max_completion_tokens", "logprobs",
    "logit_bias", "presence_penalty", "frequency_penalty",
)  # fmt: skip

FIELDS: tuple[PlainScenario, ...] = (
    _field(
        "param.model",
        "No model, or something that is no name",
        refused=(
            *_each("model", ..., None, "", 7),
            # Also where a stream was asked for: an error that is found before it is an HTTP error, no frame.
            ("model", {"model": ["{model}"], **STREAM}),
        ),
    ),
    _field(
        "param.messages",
        "No messages, an empty list, something that is no list",
        refused=(
            *_each("messages", ..., None, [], "Hello.", USER),
            ("messages", {"messages": [], **STREAM}),
        ),
    ),
    _field(
        "param.role",
        "Roles that do not exist, and all that do",
        refused=(
            ("messages[0].role", {"messages": [{"content": "Hello."}]}),
            ("messages[0].role", {"messages": [{"role": 7, "content": "Hello."}]}),
            ("messages[1].role", {"messages": [USER, {"role": "wizard", "content": "Hello."}]}),
            ("messages[0].role", {"messages": [{"role": "wizard", "content": 7}]}),  # and `content` is wrong, too
        ),
        accepted=(
            {
                "messages": [
                    {"role": "system", "content": "Be brief."},
                    {"role": "developer", "content": "Be kind."},
                    USER,
                    {"role": "assistant", "content": "Hello!"},
                    USER,
                ]
            },
        ),
    ),
    _field(
        "param.content",
        "Content that is missing, a number, a part of an unknown kind; and content as text, as parts, as null",
        refused=(
            ("messages[0].content", {"messages": [{"role": "user"}]}),
            ("messages[0].content", {"messages": [{"role": "user", "content": None}]}),
            ("messages[1].content", {"messages": [USER, {"role": "user", "content": 7}]}),
            ("messages[0].content", {"messages": [{"role": "user", "content": [{"type": "hologram"}]}]}),
            # null is right only beside calls, as in CALL.
            ("messages[1].content", {"messages": [USER, {"role": "assistant", "content": None}]}),
            ("messages[2].content", {"messages": [USER, CALL, {"role": "tool", "content": None}]}),
        ),
        accepted=(
            {"messages": [{"role": "user", "content": [{"type": "text", "text": "Hello."}]}]},
            {"messages": [USER, CALL, RESULT], "tools": [TIME]},
        ),
    ),
    _field(
        "param.tool-call-id",
        "Tool results that name no call",
        refused=(
            ("messages[2].tool_call_id", {"messages": [USER, CALL, {"role": "tool", "content": "Noon."}]}),
            ("messages[2].tool_call_id", {"messages": [USER, CALL, {**RESULT, "tool_call_id": ""}]}),
            ("messages[2].tool_call_id", {"messages": [USER, CALL, {**RESULT, "tool_call_id": 7}], "n": 0}),  # and `n`
        ),
        # Without tools: follow-ups may leave them away (turn.follow-up-without-tools, S3:15).
        accepted=({"messages": [USER, CALL, RESULT]},),
    ),
    _field(
        "param.n",
        "No choices, less than none, one and a half; and one",
        refused=(
            *_each("n", 0, -1, 1.5, "1"),
            ("n", {"n": True}),  # to Python True is 1, so a careless comparison takes it
            ("n", {"n": 0, "stream": "yes"}),
        ),
        accepted=({"n": 1},),
    ),
    _field(
        "param.stream",
        "A stream that is asked for in words",
        refused=(
            *_each("stream", "true", 1),  # 1: true to JavaScript and Python, no boolean in JSON
            ("stream", {"stream": "yes", "stream_options": 7}),
        ),
        accepted=({"stream": False}, {"stream": True}),
    ),
    _field(
        "param.stream-options",
        "Options of a stream without a stream, and malformed options",
        refused=(
            # OpenAI allows the field in streams only.
            ("stream_options", {"stream_options": {"include_usage": True}}),
            ("stream_options", {"stream": False, "stream_options": {"include_usage": True}}),
            ("stream_options", {**STREAM, "stream_options": 7}),
            ("stream_options", {**STREAM, "stream_options": {"include_usage": "yes"}}),
            ("stream_options", {"stream_options": {"include_usage": True}, "temperature": "hot"}),
        ),
        accepted=({**STREAM, "stream_options": {"include_usage": False}},),
    ),
    _field(
        "param.empty-stream-options",
        "Options of a stream that ask for nothing",
        accepted=({**STREAM, "stream_options": {}}, {**STREAM, "stream_options": None}, {"stream_options": None}),
    ),
    _field(
        "param.sampling",
        "Temperatures and top_p outside their ranges, and at their ends",
        refused=(
            *_each("temperature", "hot", -0.5, 3),  # OpenAI's range is 0 to 2
            *_each("top_p", "most", 1.5),
            ("temperature", {"temperature": 3, "top_p": 1.5}),  # both wrong: the earlier field answers
            ("top_p", {"top_p": 1.5, "max_tokens": 0}),
        ),
        accepted=({"temperature": 0, "top_p": 1}, {"temperature": 2, "top_p": 0.5}),
    ),
    _field(
        "param.max-tokens",
        "Limits of tokens that leave room for none, or are no whole number",
        refused=(
            *_each("max_tokens", 0, "many"),
            *_each("max_completion_tokens", -1, 1.5),
            # Both are names of one limit, the older first.
            ("max_tokens", {"max_tokens": 0, "max_completion_tokens": 0}),
            ("max_completion_tokens", {"max_completion_tokens": 0, "tools": "all"}),
        ),
        accepted=({"max_tokens": 100}, {"max_completion_tokens": 100}),
    ),
    _field(
        "param.tools",
        "Tools of an unknown type, without a name, and no list at all",
        refused=(
            ("tools", {"tools": "all"}),
            ("tools[0].type", {"tools": [{"function": FUNCTION}]}),
            ("tools[1].type", {"tools": [LOCAL_SEARCH, {"type": "wand", "function": FUNCTION}]}),
            ("tools[0].function.name", {"tools": [{"type": "function", "function": {"description": "Search"}}]}),
            ("tools[0].function.name", {"tools": [{"type": "function", "function": {"name": ""}}]}),
            # `type` before `function.name`, and both before `functions`.
            ("tools[0].type", {"tools": [{"type": "wand"}], "functions": [{}]}),
        ),
        # TIME has neither description nor parameters: both may be left out.
        accepted=({"tools": [LOCAL_SEARCH, GET_TIME]}, {"tools": [TIME]}),
    ),
    _field(
        "param.functions",
        "Functions without a name, and no list at all",
        refused=(
            ("functions", {"functions": "all"}),
            ("functions[0].name", {"functions": [{"description": "Search"}]}),
            ("functions[1].name", {"functions": [FUNCTION, {"name": ""}]}),
            ("functions[0].name", {"functions": [{}], "tool_choice": "sometimes"}),
        ),
        accepted=({"functions": [FUNCTION]},),
    ),
    _field(
        "param.tool-choice",
        "A tool_choice that is unknown, names a tool that is not declared, or asks for a call without tools",
        refused=(
            ("tool_choice", {"tools": [TIME], "tool_choice": "sometimes"}),
            ("tool_choice", {"tools": [TIME], "tool_choice": {"type": "function", "function": {"name": "getTime"}}}),
            ("tool_choice", {"tool_choice": "required"}),
            ("tool_choice", {"tools": [TIME], "tool_choice": "sometimes", "parallel_tool_calls": "yes"}),
        ),
        accepted=(
            {"tool_choice": "none"},  # right without tools: none is to be called
            {"tools": [TIME], "tool_choice": "auto"},
            # A call that is demanded is for turn.tool-choice-forced, which also takes a refusal.
        ),
    ),
    _field(
        "param.parallel-tool-calls",
        "Parallel calls that are asked for in words",
        refused=(
            ("parallel_tool_calls", {"tools": [TIME], "parallel_tool_calls": "yes"}),
            ("parallel_tool_calls", {"tools": [TIME], "parallel_tool_calls": 2}),
            ("parallel_tool_calls", {"tools": [TIME], "parallel_tool_calls": "yes", "response_format": "json"}),
        ),
        accepted=({"tools": [TIME], "parallel_tool_calls": True}, {"tools": [TIME], "parallel_tool_calls": False}),
    ),
    _field(
        "param.response-format",
        "Formats that do not exist, and a schema that is missing",
        refused=_each("response_format", "json", {"type": "yaml"}, {"type": "json_schema"}),
        accepted=({"response_format": {"type": "text"}},),
        # turn.structured-output: where it cannot be done, a refusal.
        served_or_refused=(("response_format", {"response_format": {"type": "json_schema", "json_schema": SCHEMA}}),),
    ),
    _field(
        "param.null-members",
        "Messages as SDKs send them back, and optional fields, with null for what they lack",
        accepted=(
            {"messages": [USER, {**ANSWER, **NOTHING}, USER]},
            {"messages": [USER, {**CALL, "function_call": None, "refusal": None, "audio": None}, RESULT]},
            {"messages": [{**USER, "name": None}]},
            dict.fromkeys(OPTIONAL),
        ),
    ),
    _field(
        "param.unknown-ignored",
        "Fields of OpenAI's that mean nothing to a proxy, and unknown fields",
        accepted=(
            {
                "user": "somebody",
                "seed": 7,
                "metadata": {"topic": "birds"},
                "store": False,
                "service_tier": "auto",
                "logit_bias": {},
                "frequency_penalty": 0,
                "presence_penalty": 0,
                "prompt_cache_key": "birds",
                "safety_identifier": "somebody",
            },
            {"frobnicate": {"deeply": ["nested", None, 1.5]}, "x_vendor": "anything"},
            {"messages": [{**USER, "name": "somebody", "mood": "sunny"}]},  # unknown within a message, too
        ),
    ),
)

WRONG_FORMAT = {**HELLO, "response_format": "json"}


def _named(header: str, *, right: str, wrong: str) -> tuple[Request, Request]:
    # A right value first: a target that does not echo the header does not know it, and owes it nothing.
    return (
        Request(json=HELLO, headers={header: right}, requires_echo=header),
        Request(json=HELLO, headers={header: wrong}, expect=400, param=header),
    )


PARAMS: tuple[PlainScenario, ...] = (
    *FIELDS,
    # OpenAI serves 128 at most.
    # A proxy without a limit starts 129 turns, which would take the slots of everything beside it.
    plain(
        "param-n-cap",
        "More choices than anybody serves",
        ("param.n", *ENVELOPE),
        Request(json={**HELLO, "n": 129}, expect=400, param="n"),
        alone=True,
    ),
    plain(
        "param-stop-after-tools",
        "A stop policy that does not exist, in the header that names it",
        ("param.proxy-headers", *ENVELOPE),
        *_named(STOP_HEADER, right="first", wrong="sometimes"),
        Request(
            json=WRONG_FORMAT,
            expect=400,
            param="response_format",
            # The last parameter alone, so that the pair after it shows only which of the two answers: headers
            # come last.
            judged="param.response-format",
        ),
        Request(json=WRONG_FORMAT, headers={STOP_HEADER: "sometimes"}, expect=400, param="response_format"),
    ),
    plain(
        "param-tool-arguments",
        "An unknown argument mode in the header that asks for one",
        ("param.proxy-headers", *ENVELOPE),
        *_named(ARGUMENTS_HEADER, right="cumulative", wrong="twice"),
    ),
)
