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


def _played(
    name: str, title: str, prompts: tuple[str, ...], *exercises: str, script: str = "", leaves: bool = False
) -> ClientScenario:
    """A scenario that is named after its script; a person who says `LOOK` needs a client that has tools."""
    return ClientScenario(
        name=name,
        title=title,
        script=script or name.removeprefix("client-"),
        prompts=prompts,
        need=ClientNeed.TOOLS if LOOK in prompts else ClientNeed.TEXT,
        leaves=leaves,
        exercises=exercises,
    )


CLIENT_SCENARIOS = (
    _played("client-text", "a text", (HELLO, AGAIN), "client.ends-on-text", *_REQUEST),
    _played("client-call", "a call, its result, a text", (LOOK,), *_CALL, *_REQUEST, "client.ends-on-text"),
    _played("client-text-and-call", "a text and a call in one answer", (LOOK, AGAIN), "client.text-replayed", *_CALL),
    _played("client-two-calls", "two calls at once", (LOOK,), *_CALL),
    _played("client-two-steps", "a call, its result, another call, its result, a text", (LOOK,), *_CALL),
    _played("client-undeclared-tool", "a call of a tool that was not declared, beside one that was", (LOOK,), *_CALL),
    _played("client-failing-tool", "a call whose arguments do not fit the tool, so that it fails", (LOOK,), *_CALL),
    _played(
        "client-bad-arguments",
        "a call whose arguments are half of a JSON object",
        (LOOK,),
        "client.incomplete-call-not-run",
    ),
    _played(
        "client-busy-then-text", "429 with a Retry-After of two seconds, then a text", (HELLO,), "client.retry-after"
    ),
    _played(
        "client-unavailable-then-text",
        "503 with a Retry-After of a second, then a text",
        (HELLO,),
        "client.retry-after",
    ),
    _played("client-busy", "429 whatever is done, without a Retry-After", (HELLO,), "client.retry-bounded"),
    _played("client-failure-then-text", "500, then a text", (HELLO,), "client.retry-bounded", "client.no-storm"),
    _played(
        "client-refused",
        "400, then the next turn",
        (HELLO, AGAIN),
        "client.no-blind-retry",
        "client.error-is-no-answer",
    ),
    _played("client-wrong-key", "401", (HELLO,), "client.no-blind-retry"),
    _played(
        "client-error-in-text",
        "an error in the midst of a text, then the next turn",
        (HELLO, AGAIN),
        "client.error-is-no-answer",
    ),
    _played("client-error-after-call", "an error behind a call that was whole", (LOOK,), "client.error-is-no-answer"),
    _played(
        "client-cut-in-text",
        "a stream that breaks off in its text, then the next turn",
        (HELLO, AGAIN),
        "client.cut-is-no-answer",
        "client.request-valid",
    ),
    _played(
        "client-cut-in-arguments",
        "a stream that breaks off in the arguments of a call",
        (LOOK,),
        "client.incomplete-call-not-run",
    ),
    _played(
        "client-cut-after-call",
        "a stream that breaks off behind a call, before its finish",
        (LOOK,),
        "client.cut-is-no-answer",
        "client.request-valid",
    ),
    _played(
        "client-stall",
        "two seconds of silence in the midst of a text, then the next turn",
        (HELLO, AGAIN),
        "client.no-storm",
        "client.text-replayed",
    ),
    _played("client-slow", "a call that comes a few bytes at a time, cut within characters, too", (LOOK,), *_CALL),
    _played(
        "client-planes",
        "characters of every plane and all kinds of blanks, in a text and in arguments",
        (LOOK, AGAIN),
        "client.text-replayed",
        "client.call-replayed",
    ),
    _played(
        "client-planes-in-text",
        "the same in a text alone, a few bytes at a time, then the next turn",
        (HELLO, AGAIN),
        "client.text-replayed",
        "client.order",
    ),
    _played("client-large-arguments", "a call with 1 MiB of arguments", (LOOK,), "client.call-replayed"),
    _played("client-empty", "an answer without a text", (HELLO,), "client.no-storm", "client.ends-on-text"),
    _played("client-length", "an answer that was cut off for its length", (HELLO,), "client.no-storm"),
    _played("client-content-filter", "an answer that a filter ended", (HELLO,), "client.no-storm"),
    _played("client-unknown", "a frame with fields, and of a kind, that do not exist", (LOOK,), *_CALL),
    _played(
        "client-left",
        "the person leaves a stream",
        (HELLO,),
        "client.closes",
        "client.request-valid",
        script="long-text",
        leaves=True,
    ),
    _played("client-redirect", "a redirect to another host", (HELLO,), "client.key-kept"),
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
