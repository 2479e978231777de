"""What clients are asked when they are judged. What answers them stands in `wireproof.clients.scripts`."""

from __future__ import annotations

from wireproof.model.client_scenario import ClientNeed, ClientScenario

MORE = "And once more"
"""How the second thing begins that a person says, by which its answer is chosen."""
HELLO = "Say hello to Wireproof."
LOOK = "Use your tool once, then tell me what came of it."
AGAIN = f"{MORE}, please."

_REQUEST = ("client.request-valid", "client.no-storm")
"""What any request shows."""
_CALL = (
    "client.result-for-every-call",
    "client.no-foreign-result",
    "client.call-replayed",
    "client.order",
    "client.tools-every-step",
)
"""What a call shows whose result comes back."""

CLIENT_SCENARIOS = (
    ClientScenario(
        name="client-text",
        title="a text",
        script="text",
        prompts=(HELLO, AGAIN),
        exercises=("client.ends-on-text", *_REQUEST),
    ),
    ClientScenario(
        name="client-call",
        title="a call, its result, a text",
        script="call",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=(*_CALL, *_REQUEST, "client.ends-on-text"),
    ),
    ClientScenario(
        name="client-text-and-call",
        title="a text and a call in one answer",
        script="text-and-call",
        prompts=(LOOK, AGAIN),
        need=ClientNeed.TOOLS,
        exercises=("client.text-replayed", *_CALL),
    ),
    ClientScenario(
        name="client-two-calls",
        title="two calls at once",
        script="two-calls",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-two-steps",
        title="a call, its result, another call, its result, a text",
        script="two-steps",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-undeclared-tool",
        title="a call of a tool that was not declared, beside one that was",
        script="undeclared-tool",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-failing-tool",
        title="a call whose arguments do not fit the tool, so that it fails",
        script="failing-tool",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-bad-arguments",
        title="a call whose arguments are half of a JSON object",
        script="bad-arguments",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=("client.incomplete-call-not-run",),
    ),
    ClientScenario(
        name="client-busy-then-text",
        title="429 with a Retry-After of two seconds, then a text",
        script="busy-then-text",
        prompts=(HELLO,),
        exercises=("client.retry-after",),
    ),
    ClientScenario(
        name="client-unavailable-then-text",
        title="503 with a Retry-After of a second, then a text",
        script="unavailable-then-text",
        prompts=(HELLO,),
        exercises=("client.retry-after",),
    ),
    ClientScenario(
        name="client-busy",
        title="429 whatever is done, without a Retry-After",
        script="busy",
        prompts=(HELLO,),
        exercises=("client.retry-bounded",),
    ),
    ClientScenario(
        name="client-failure-then-text",
        title="500, then a text",
        script="failure-then-text",
        prompts=(HELLO,),
        exercises=("client.retry-bounded", "client.no-storm"),
    ),
    ClientScenario(
        name="client-refused",
        title="400, then the next turn",
        script="refused",
        prompts=(HELLO, AGAIN),
        exercises=("client.no-blind-retry", "client.error-is-no-answer"),
    ),
    ClientScenario(
        name="client-wrong-key",
        title="401",
        script="wrong-key",
        prompts=(HELLO,),
        exercises=("client.no-blind-retry",),
    ),
    ClientScenario(
        name="client-error-in-text",
        title="an error in the midst of a text, then the next turn",
        script="error-in-text",
        prompts=(HELLO, AGAIN),
        exercises=("client.error-is-no-answer",),
    ),
    ClientScenario(
        name="client-error-after-call",
        title="an error behind a call that was whole",
        script="error-after-call",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=("client.error-is-no-answer",),
    ),
    ClientScenario(
        name="client-cut-in-text",
        title="a stream that breaks off in its text, then the next turn",
        script="cut-in-text",
        prompts=(HELLO, AGAIN),
        exercises=("client.cut-is-no-answer", "client.request-valid"),
    ),
    ClientScenario(
        name="client-cut-in-arguments",
        title="a stream that breaks off in the arguments of a call",
        script="cut-in-arguments",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=("client.incomplete-call-not-run",),
    ),
    ClientScenario(
        name="client-cut-after-call",
        title="a stream that breaks off behind a call, before its finish",
        script="cut-after-call",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=("client.cut-is-no-answer", "client.request-valid"),
    ),
    ClientScenario(
        name="client-stall",
        title="two seconds of silence in the midst of a text, then the next turn",
        script="stall",
        prompts=(HELLO, AGAIN),
        exercises=("client.no-storm", "client.text-replayed"),
    ),
    ClientScenario(
        name="client-slow",
        title="a call that comes a few bytes at a time",
        script="slow",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-planes",
        title="characters of every plane and all kinds of blanks, in a text and in arguments",
        script="planes",
        prompts=(LOOK, AGAIN),
        need=ClientNeed.TOOLS,
        exercises=("client.text-replayed", "client.call-replayed"),
    ),
    ClientScenario(
        name="client-planes-in-text",
        title="the same in a text alone, then the next turn",
        script="planes-in-text",
        prompts=(HELLO, AGAIN),
        exercises=("client.text-replayed", "client.order"),
    ),
    ClientScenario(
        name="client-large-arguments",
        title="a call with 1 MiB of arguments",
        script="large-arguments",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=("client.call-replayed",),
    ),
    ClientScenario(
        name="client-empty",
        title="an answer without a text",
        script="empty",
        prompts=(HELLO,),
        exercises=("client.no-storm", "client.ends-on-text"),
    ),
    ClientScenario(
        name="client-length",
        title="an answer that was cut off for its length",
        script="length",
        prompts=(HELLO,),
        exercises=("client.no-storm",),
    ),
    ClientScenario(
        name="client-content-filter",
        title="an answer that a filter ended",
        script="content-filter",
        prompts=(HELLO,),
        exercises=("client.no-storm",),
    ),
    ClientScenario(
        name="client-unknown",
        title="a frame with fields, and of a kind, that do not exist",
        script="unknown",
        prompts=(LOOK,),
        need=ClientNeed.TOOLS,
        exercises=_CALL,
    ),
    ClientScenario(
        name="client-left",
        title="the person leaves a stream",
        script="long-text",
        prompts=(HELLO,),
        leaves=True,
        exercises=("client.closes", "client.request-valid"),
    ),
    ClientScenario(
        name="client-redirect",
        title="a redirect to another host",
        script="redirect",
        prompts=(HELLO,),
        exercises=("client.key-kept",),
    ),
)
"""All that are played. The first shows what a client declares, the second whether it runs its tools."""

JOURNAL = ClientScenario(
    name="client-journal",
    title="what a journal holds of the client that is developed",
    script="",
    prompts=(),
    exercises=("client.request-valid",),
)
"""Played by nobody: a client under development asks what it likes, run after run."""
