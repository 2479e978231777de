"""What an endpoint keeps of requests that are over: nothing that only the collector of garbage would find."""

from __future__ import annotations

import gc
import json
from typing import TYPE_CHECKING, Any

import pytest

from wireproof_endpoint.endpoint import EndpointRequest
from wireproof_endpoint.play import Play
from wireproof_endpoint.serving import endpoint_of
from wireproof_endpoint.settings import EndpointSettings
from wireproof_scripts.library import LIBRARY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wireproof_endpoint.endpoint import Endpoint

USER = {"role": "user", "content": "[[wireproof:text/hello#1]] Hi."}
TOOL = {"type": "function", "function": {"name": "get_weather", "parameters": {"type": "object", "properties": {}}}}
BODIES: dict[str, tuple[str, dict[str, Any]]] = {
    "whole": ("/v1/chat/completions", {"messages": [USER]}),
    "stream": ("/v1/chat/completions", {"messages": [USER], "stream": True}),
    "choices": ("/v1/chat/completions", {"messages": [{"role": "user", "content": "Hi."}], "n": 3}),
    "call": ("/v1/chat/completions", {"messages": [USER], "tools": [TOOL], "tool_choice": "required"}),
    "responses": ("/v1/responses", {"input": "Hi.", "stream": True}),
    "refused": ("/v1/chat/completions", {"messages": []}),
}


@pytest.fixture(scope="module")
def frozen() -> Iterator[None]:
    """The collector passes over what was there before: among all that a whole session holds, it takes seconds."""
    gc.collect()
    gc.freeze()
    yield
    gc.unfreeze()


@pytest.fixture
def collected(frozen: None) -> Iterator[None]:  # noqa: ARG001 (by its name alone)
    """No automatic collection: what is found is what the test left."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


def play(served: Endpoint, path: str, body: dict[str, Any], most: int | None = None) -> None:
    """Play an answer, or its first outputs alone, as for a client that leaves."""
    data = json.dumps({"model": "m", **body}).encode()
    headers = {"content-type": "application/json", "content-length": str(len(data))}
    answer = served.answer(EndpointRequest(method="POST", path=path, headers=headers, body=data))
    if isinstance(answer, Play):
        outputs = answer.outputs(0.0)
        for number, _ in enumerate(outputs):
            if number == most:
                break
        outputs.close()
        answer.close()


@pytest.mark.usefixtures("collected")
@pytest.mark.parametrize("most", [None, 0], ids=["to-its-end", "left"])
@pytest.mark.parametrize("kind", BODIES)
def test_an_answer_that_is_over_leaves_nothing_for_the_collector(kind: str, most: int | None) -> None:
    served = endpoint_of(EndpointSettings(journal=0), lambda: LIBRARY)
    path, body = BODIES[kind]
    play(served, path, body, most)
    gc.collect()
    for _ in range(20):
        play(served, path, body, most)
    # A whole object graph is hundreds of objects; some of an exception may be left by the interpreter itself.
    assert gc.collect() < 20
    assert served.answerer.playing == 0
