"""Responses that are kept: continued, retrieved, deleted, or not there."""

from wireproof.model.scenario import PlainScenario, Request
from wireproof.scenarios.http import ENVELOPE
from wireproof.scenarios.responses import HELLO, PATH, plain, sent
from wireproof.scenarios.tools import LOCAL_SEARCH

STORED: tuple[PlainScenario, ...] = (
    plain(
        "previous-response",
        "A response is continued, found, asked for its input, and deleted",
        ("responses.previous-id", *ENVELOPE),
        # The markers are written out, each with a nonce of its own: plain requests are sent as they stand.
        sent({"input": "[[wireproof:text/hello#previous-1]] I am ibis-1.", "store": True}),
        sent(
            {
                "previous_response_id": "{response}",
                # Beside the id of an earlier response: a proxy must not take that in place of the instructions.
                "instructions": "Answer as hoopoe-0 would.",
                "input": "[[wireproof:reflect/received#previous-2]] And I am jay-2.",
            },
            "hoopoe-0",
            "ibis-1",
            "jay-2",
        ),
        Request(method="GET", path="/responses/{response}", reflects=("hoopoe-0", "ibis-1", "jay-2")),
        Request(method="GET", path="/responses/{response}/input_items"),
        Request(method="DELETE", path="/responses/{response}"),
        # After the deletion, which must have had an effect.
        Request(method="GET", path="/responses/{response}", expect=404),
    ),
    plain(
        "previous-call",
        "A response that called a tool is continued with the result alone",
        ("responses.previous-id",),
        sent(
            {
                "input": "[[wireproof:call/after-text#previous-call-1]] Search for lark-5.",
                "tools": [{"type": "function", **LOCAL_SEARCH["function"]}],  # flat
            }
        ),
        sent(
            {
                "previous_response_id": "{response}",
                "input": [
                    # The call itself is not repeated: it is in the response that is continued.
                    {"type": "function_call_output", "call_id": "call_search", "output": "No lemming-6."},
                    {
                        "role": "user",
                        "content": "[[wireproof:reflect/received#previous-call-2]] So what of mole-7?",
                    },
                ],
            },
            "lark-5",
            "call_search",
            "lemming-6",
            "mole-7",
        ),
    ),
    plain(
        "previous-stream",
        "A response that was streamed is continued",
        ("responses.previous-id",),
        # What was streamed is kept, too, under the id that its events name.
        sent({"stream": True, "input": "[[wireproof:text/hello#previous-stream-1]] I am kea-8."}),
        sent(
            {
                "previous_response_id": "{response}",
                "input": "[[wireproof:reflect/received#previous-stream-2]] And I am loon-9.",
            },
            "kea-8",
            "loon-9",
        ),
    ),
    plain(
        "previous-unknown",
        "A response that was never given: continued, looked up, deleted",
        ("responses.previous-id", *ENVELOPE),
        Request(
            path=PATH,
            json={**HELLO, "previous_response_id": "resp_nowhere"},
            expect=404,
            code="previous_response_not_found",
            # OpenAI's own status, which gateways hand on.
            refusable="previous_response_id",
        ),
        Request(method="GET", path="/responses/resp_nowhere", expect=404),
        Request(method="DELETE", path="/responses/resp_nowhere", expect=404),
    ),
    plain(
        "previous-not-stored",
        "A response that was not to be stored",
        ("responses.previous-id", *ENVELOPE),
        # OpenAI's default is to store, so false has to be asked for.
        Request(path=PATH, json={**HELLO, "store": False}),
        Request(method="GET", path="/responses/{response}", expect=404),
    ),
)
