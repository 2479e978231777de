"""The 17 questions of the official runner of Open Responses, which is in no registry; its types are on PyPI.

    python open_responses.py --base-url URL --model MODEL       (the key is in SUITE_KEY)

It prints {"results": [{"id", "status", "why"}]}. Ten are asked by HTTP, seven over a WebSocket.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import openresponses_types as types
from pydantic import TypeAdapter
from websockets.sync.client import ClientConnection, connect

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

Json = dict[str, Any]
RESPONSE = TypeAdapter(types.ResponseResource)
COMPACTED = TypeAdapter(types.CompactResource)
EVENTS = {
    str(next(iter(kind.model_fields["type"].annotation))): kind
    for name, kind in vars(types).items()
    if name.endswith("StreamingEvent") and name != "ErrorStreamingEvent"
}
ENDS = {"response.completed", "response.failed", "response.incomplete", "error"}
PIXEL = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
    "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)
WEATHER = {
    "type": "function",
    "name": "get_weather",
    "description": "Get the current weather for a location",
    "parameters": {"type": "object", "properties": {"location": {"type": "string"}}, "required": ["location"]},
}


def said(role: str, content: Any, **more: Any) -> Json:
    return {"type": "message", "role": role, "content": content, **more}


@dataclass(frozen=True)
class Server:
    url: str
    model: str
    key: str

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.key}"}

    def post(self, path: str, **body: Any) -> httpx.Response:
        return httpx.post(f"{self.url}{path}", json=body, headers=self.headers, timeout=30, trust_env=False)

    def get(self, path: str) -> Json:
        response = httpx.get(f"{self.url}{path}", headers=self.headers, timeout=30, trust_env=False)
        assert response.status_code == 200, response.text
        return dict(response.json())

    def answer(self, given: Any, **more: Any) -> Json:
        response = self.post("/responses", model=self.model, input=given, **more)
        assert response.status_code == 200, response.text
        return completed(response.json())

    @contextmanager
    def socket(self) -> Iterator[ClientConnection]:
        address = f"{self.url.replace('http', 'ws', 1)}/responses"
        with connect(address, additional_headers=self.headers, proxy=None) as found:
            yield found

    def turn(self, client: ClientConnection, given: Any, **more: Any) -> Json:
        """The last event of a turn; of a failure that is an `error`, or `response.failed`."""
        client.send(json.dumps({"type": "response.create", "model": self.model, "input": given, **more}))
        while (event := json.loads(client.recv(timeout=30)))["type"] not in ENDS:
            right(event)
        return dict(event)


def completed(response: Json) -> Json:
    RESPONSE.validate_python(response)
    assert response["status"] == "completed", response["status"]
    assert response["output"]
    return response


def right(event: Json) -> None:
    EVENTS[event["type"]].model_validate(event)


def finished(event: Json) -> Json:
    right(event)
    return completed(event["response"])


def unknown(event: Json) -> None:
    assert event["type"] == "error", event["type"]
    assert event["error"]["code"] == "previous_response_not_found", event


def streaming(server: Server) -> None:
    given = {"model": server.model, "input": [said("user", "Count from 1 to 5.")], "stream": True}
    frames = server.post("/responses", **given).text.split("\n\n")
    events = [json.loads(line[5:]) for frame in frames for line in frame.split("\n") if line.startswith("data:")]
    for event in events[:-1]:
        right(event)
    finished(events[-1])


def calling(server: Server) -> None:
    answer = server.answer([said("user", "What's the weather like in San Francisco?")], tools=[WEATHER])
    assert "function_call" in {item["type"] for item in answer["output"]}


def phases(server: Server) -> None:
    items = [said("assistant", "I look it up.", phase="commentary"), said("assistant", "Four.", phase="final_answer")]
    server.answer([*items, said("user", "Repeat only the number.")])


def phase_in_output(server: Server) -> None:
    answer = server.answer([said("user", "Say hello.")])
    answer["output"] = [{**item, "phase": "final_answer"} for item in answer["output"]]
    assert RESPONSE.validate_python(answer).output[0].phase == "final_answer"


def image(server: Server) -> None:
    parts = [{"type": "input_text", "text": "What is it?"}, {"type": "input_image", "image_url": PIXEL}]
    server.answer([said("user", parts)])


def compacting(server: Server) -> list[Json]:
    history = [said("user", "We launch on Tuesday."), said("assistant", "Understood: on Tuesday.")]
    response = server.post("/responses/compact", model=server.model, input=history, prompt_cache_key="a")
    assert response.status_code == 200, response.text
    COMPACTED.validate_python(response.json())
    output: list[Json] = response.json()["output"]
    assert "compaction" in {item["type"] for item in output}
    return output


def compacting_without_a_model(server: Server) -> None:
    response = server.post("/responses/compact", input=[said("user", "Hello")])
    assert response.status_code in {400, 422}, response.status_code
    assert response.json()["error"]["message"]


def one_turn(server: Server) -> None:
    with server.socket() as client:
        finished(server.turn(client, [said("user", "Count from 1 to 3.")]))


def two_turns(server: Server) -> None:
    with server.socket() as client:
        for word in ("first", "second"):
            finished(server.turn(client, f"Reply with exactly: {word}"))


def continued(server: Server) -> None:
    with server.socket() as client:
        first = finished(server.turn(client, "Remember cobalt. Reply with OK.", store=False))
        finished(server.turn(client, "What was it?", previous_response_id=first["id"], store=False))


def forgotten_with_the_connection(server: Server) -> None:
    with server.socket() as client:
        first = finished(server.turn(client, "Hello", store=False))
    with server.socket() as client:
        unknown(server.turn(client, "Go on", previous_response_id=first["id"], store=False))
        finished(server.turn(client, "Begin again", store=False))


def not_found(server: Server) -> None:
    with server.socket() as client:
        unknown(server.turn(client, "Go on", previous_response_id="resp_missing", store=False))


def forgotten_after_a_failure(server: Server) -> None:
    orphan = {"type": "function_call_output", "call_id": "call_of_nobody", "output": "a"}
    with server.socket() as client:
        first = finished(server.turn(client, "Remember ember. Reply with OK.", store=False))
        failed = server.turn(client, [orphan], previous_response_id=first["id"], store=False)
        assert failed["type"] in {"error", "response.failed"}, failed
        unknown(server.turn(client, "Go on", previous_response_id=first["id"], store=False))


def new_chain(server: Server) -> None:
    with server.socket() as client:
        finished(server.turn(client, [*compacting(server), said("user", "And now?")], store=False))


def plain(*items: Json) -> Callable[[Server], object]:
    return lambda server: server.answer(list(items))


MULTI = (said("user", "I am Alice."), said("assistant", "Hello Alice!"), said("user", "Who am I?"))
QUESTIONS: dict[str, Callable[[Server], object]] = {
    "basic-response": plain(said("user", "Say hello in exactly 3 words.")),
    "assistant-phase": phases,
    "response-output-phase-schema": phase_in_output,
    "streaming-response": streaming,
    "system-prompt": plain(said("system", "You are a pirate."), said("user", "Say hello.")),
    "tool-calling": calling,
    "image-input": image,
    "multi-turn": plain(*MULTI),
    "compact-response": compacting,
    "compact-missing-model": compacting_without_a_model,
    "websocket-response": one_turn,
    "websocket-sequential-responses": two_turns,
    "websocket-continuation": continued,
    "websocket-reconnect-store-false-recovery": forgotten_with_the_connection,
    "websocket-previous-response-not-found": not_found,
    "websocket-failed-continuation-evicts-cache": forgotten_after_a_failure,
    "websocket-compact-new-chain": new_chain,
}


def asked(question: Callable[[Server], object], server: Server) -> Json:
    try:
        question(server)
    except Exception as error:  # noqa: BLE001 - whatever goes wrong is what the report says
        return {"status": "failed", "why": f"{type(error).__name__}: {error}"}
    return {"status": "passed", "why": ""}


def main(questions: dict[str, Callable[[Server], object]]) -> None:
    """Ask, and print what came of each question."""
    reader = argparse.ArgumentParser()
    reader.add_argument("--base-url", required=True)
    reader.add_argument("--model", required=True)
    words = reader.parse_args()
    server = Server(words.base_url, words.model, os.environ["SUITE_KEY"])
    results = [{"id": name, **asked(question, server)} for name, question in questions.items()]
    sys.stdout.write(json.dumps({"results": results}))


if __name__ == "__main__":
    main(QUESTIONS)
