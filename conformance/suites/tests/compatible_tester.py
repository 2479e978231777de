"""What avelrl/openai-compatible-tester asks, a program in Go that is in no registry here; in our own words.

    python compatible_tester.py --base-url URL --model MODEL       (the key is in SUITE_KEY)

It prints {"results": [{"id", "status", "why"}]}, with the tester's ids. Its seven questions over a WebSocket, and those
of phases and compaction, are the official runner's of Open Responses, which `open_responses.py` asks.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from open_responses import Json, Server, main

if TYPE_CHECKING:
    from collections.abc import Callable

SUM = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
    "additionalProperties": False,
}
ADD: Json = {"name": "add", "description": "Add two integers", "parameters": SUM}
STATUS: Json = {
    "name": "state",
    "strict": True,
    "schema": {
        "type": "object",
        "properties": {"status": {"type": "string"}, "value": {"type": "integer"}},
        "required": ["status", "value"],
        "additionalProperties": False,
    },
}
MATHS = 'start: expr\nexpr: term (" + " term)*\nterm: /[0-9]+/\n'
CALL_IT = {"role": "user", "content": "Call add with a=40 and b=2, and do not answer by yourself."}
NUMBER_ALONE = {"role": "user", "content": "Reply with just the number."}
AS_JSON = [
    {"role": "system", "content": "Answer in JSON that matches the schema."},
    {"role": "user", "content": 'An object with status="ok" and value=42, please.'},
]
ANY_JSON = [{"role": "user", "content": 'Answer with JSON such as {"ok":true}.'}]
HELLO = [
    {"role": "developer", "content": "Reply with exactly HELLO and nothing else."},
    {"role": "user", "content": "go"},
]


def ok(server: Server, path: str, **body: Any) -> Json:
    response = server.post(path, model=server.model, **body)
    assert response.status_code == 200, response.text
    return dict(response.json())


def events(server: Server, path: str, **body: Any) -> list[Json]:
    lines = server.post(path, model=server.model, stream=True, **body).text.splitlines()
    data = [line.removeprefix("data:").strip() for line in lines if line.startswith("data:")]
    return [json.loads(one) for one in data if one != "[DONE]"]


def refused(server: Server, path: str, **body: Any) -> None:
    response = server.post(path, model=server.model, **body)
    assert 400 <= response.status_code < 500, response.status_code
    assert response.json()["error"]["message"]


def arguments(said: str) -> None:
    assert json.loads(said) == {"a": 40, "b": 2}, said


# Responses


def text_of(response: Json) -> str:
    parts = [part for item in response["output"] for part in item.get("content", ())]
    return "".join(part["text"] for part in parts if part["type"] == "output_text")


def basic(server: Server) -> None:
    assert text_of(ok(server, "/responses", input="ping: reply with exactly OK")) == "OK"


def stored(server: Server) -> None:
    first = ok(server, "/responses", input="Say OK and nothing else", store=True)
    again = server.get(f"/responses/{first['id']}")
    assert (again["id"], text_of(again)) == (first["id"], "OK")


def streamed(server: Server) -> None:
    found = events(server, "/responses", input=HELLO)
    assert "".join(one["delta"] for one in found if one["type"] == "response.output_text.delta") == "HELLO"
    assert found[-1]["type"] == "response.completed"


def schema(server: Server) -> None:
    response = ok(server, "/responses", input=AS_JSON, text={"format": {"type": "json_schema", **STATUS}})
    assert json.loads(text_of(response)) == {"status": "ok", "value": 42}


def any_object(server: Server) -> None:
    response = ok(server, "/responses", input=ANY_JSON, text={"format": {"type": "json_object"}})
    assert isinstance(json.loads(text_of(response)), dict)


def called(choice: object) -> Callable[[Server], None]:
    def question(server: Server) -> None:
        tools = [{"type": "function", **ADD}]
        asked = {"input": [CALL_IT], "tools": tools, "tool_choice": choice, "parallel_tool_calls": False}
        output = ok(server, "/responses", **asked)["output"]
        [call] = [item for item in output if item["type"] == "function_call"]
        arguments(call["arguments"])
        result = {"type": "function_call_output", "call_id": call["call_id"], "output": '{"result":42}'}
        assert text_of(ok(server, "/responses", input=[CALL_IT, *output, result, NUMBER_ALONE], tools=tools)) == "42"

    return question


def custom(server: Server, said: str = "Use run_code to print hello world.", **format_: Any) -> str:
    tool = {"type": "custom", "name": "run_code", "description": "Runs what it is given", **format_}
    output = ok(server, "/responses", input=said, tools=[tool], tool_choice="required")["output"]
    [call] = [item for item in output if item["type"] == "custom_tool_call"]
    assert (call["name"], bool(call["input"].strip())) == ("run_code", True)
    return str(call["input"])


def custom_with_grammar(server: Server) -> None:
    grammar = {"type": "grammar", "syntax": "lark", "definition": MATHS}
    said = custom(server, "Use run_code to add four and four.", format=grammar)
    assert re.fullmatch(r"\d+( \+ \d+)*", said), said
    assert sum(map(int, said.split(" + "))) == 8, said


def remembered(server: Server) -> None:
    first = ok(server, "/responses", input="Remember: my code = 123. Reply OK")
    asked = {"input": "What was my code? Reply with just the number.", "previous_response_id": first["id"]}
    assert text_of(ok(server, "/responses", **asked)) == "123"


def conversations(server: Server) -> None:
    items = [{"type": "message", "role": "user", "content": "Remember: code=777. Reply OK."}]
    made = ok(server, "/conversations", items=items)
    assert text_of(ok(server, "/responses", input=[NUMBER_ALONE], conversation=made["id"])) == "777"


# Chat


def message_of(server: Server, *messages: Json, **more: Any) -> Json:
    return dict(ok(server, "/chat/completions", messages=list(messages), **more)["choices"][0]["message"])


def chat_basic(server: Server) -> None:
    duty = {"role": "developer", "content": "Reply with exactly OK"}
    assert message_of(server, duty, {"role": "user", "content": "ping"})["content"] == "OK"


def chat_streamed(server: Server) -> None:
    choices = [choice for one in events(server, "/chat/completions", messages=HELLO) for choice in one["choices"]]
    assert "".join(choice["delta"].get("content") or "" for choice in choices) == "HELLO"
    assert choices[-1]["finish_reason"] == "stop"


def chat_called(choice: object) -> Callable[[Server], None]:
    def question(server: Server) -> None:
        more = {"tools": [{"type": "function", "function": ADD}], "parallel_tool_calls": False, "max_tokens": 64}
        message = message_of(server, CALL_IT, tool_choice=choice, **more)
        [call] = message["tool_calls"]
        arguments(call["function"]["arguments"])
        result = {"role": "tool", "tool_call_id": call["id"], "content": '{"result":42}'}
        assert message_of(server, CALL_IT, message, result, NUMBER_ALONE, **more)["content"] == "42"

    return question


def chat_remembered(server: Server) -> None:
    told = {"role": "user", "content": "Remember: code=999. Reply OK"}
    asked = {"role": "user", "content": "What is the code? Reply with just the number."}
    assert message_of(server, told, {"role": "assistant", "content": "OK"}, asked)["content"] == "999"


def chat_schema(server: Server) -> None:
    message = message_of(
        server, *AS_JSON, response_format={"type": "json_schema", "json_schema": STATUS}, max_tokens=48
    )
    assert json.loads(message["content"]) == {"status": "ok", "value": 42}


def chat_any_object(server: Server) -> None:
    message = message_of(server, *ANY_JSON, response_format={"type": "json_object"}, max_tokens=48)
    assert isinstance(json.loads(message["content"]), dict)


QUESTIONS: dict[str, Callable[[Server], object]] = {
    "sanity.models": lambda server: server.get("/models")["data"][0]["id"],
    "responses.basic": basic,
    "responses.store_get": stored,
    "responses.stream": streamed,
    "responses.structured.json_schema": schema,
    "responses.structured.json_object": any_object,
    "responses.tool_call": called({"type": "function", "name": "add"}),
    "responses.tool_call.required": called("required"),
    "responses.custom_tool": custom,
    "responses.custom_tool.grammar": custom_with_grammar,
    "responses.error_shape": lambda server: refused(server, "/responses", input=1),
    "responses.memory.prev_id": remembered,
    "responses.conversations": conversations,
    "chat.basic": chat_basic,
    "chat.stream": chat_streamed,
    "chat.tool_call": chat_called({"type": "function", "function": {"name": "add"}}),
    "chat.tool_call.required": chat_called("required"),
    "chat.error_shape": lambda server: refused(server, "/chat/completions", messages=1),
    "chat.memory": chat_remembered,
    "chat.structured.json_schema": chat_schema,
    "chat.structured.json_object": chat_any_object,
}

if __name__ == "__main__":
    main(QUESTIONS)
