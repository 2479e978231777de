"""Prompts that ask for an exact text: awkward characters, a system's text, a conversation, several choices, a stop."""

from functools import partial

from wireproof.model.asks import Anything, AskCount, AskSay
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import Act, ConversationScenario, Mode, Turn
from wireproof.scenarios.live.prompts import (
    BOTH,
    CHAT,
    COUNTING,
    DEVELOPER,
    EACH,
    LONG_SYSTEM,
    OF_MESSAGES,
    SHORT,
    TEXT,
    exactly,
)

# Letters of two, three and four bytes, quotes, a backslash, signs of markup, a line that ends, a tab: what falls apart
# where bytes are cut, escaped twice or decoded wrongly.
AWKWARD = 'Größe 3 µm — "naïve" 日本語 🙂 C:\\new <b>&amp;</b>\nline two: {"a": [1, 2]}'
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima"
CODE = "heliotrope-4711"
FEW = "quince rhubarb"
SHIP = "Kittiwake-7"
STOP = "harbour"
TINY = 16
"""Tokens: the fewest that OpenAI's Responses take as a limit."""
RED = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAJ0lEQVR42u3NsQkAAAjAsP7/tF7hIASy"
    "p6lTCQQCgUAgEAgEgi/BAjLD/C5w/SM9AAAAAElFTkSuQmCC"
)
"""A square of 32 by 32 points."""
_asked = partial(ConversationScenario, cap=SHORT, dialects=CHAT)

TEXTS: tuple[ConversationScenario, ...] = (
    _asked(
        name="live-say",
        title="A model is asked for an exact text with awkward characters; streams count their tokens",
        turns=(Turn(say=exactly(AWKWARD), asks=AskSay(text=AWKWARD)),),
        usage=True,
        cap=2 * SHORT,
        dialects=EACH,
        exercises=(*TEXT, "chat.stream.parity", "chat.stream.usage-details", "responses.parity", *OF_MESSAGES),
    ),
    _asked(
        name="live-say-uncounted",
        title="A model is asked for an exact text; streams are not asked for a usage chunk",
        turns=(Turn(say=exactly(WORDS), asks=AskSay(text=WORDS)),),
        # What clients set so as to change nothing.
        body={"frequency_penalty": 0.1, "presence_penalty": 0.1, "top_p": 0.99, "seed": 7},
        modes=(Mode.STREAM,),
        exercises=("chat.stream.usage", TEXT[1]),
    ),
    _asked(
        name="live-system",
        title="The system's text says what to answer",
        history=({"role": "system", "content": LONG_SYSTEM},),
        turns=(Turn(say="What is the capital of France?", asks=AskSay(text="LIGHTHOUSE")),),
        usage=True,
        dialects=BOTH,
        exercises=("turn.system-prompt", "turn.concurrent-isolation", *TEXT),
    ),
    _asked(
        name="live-conversation",
        title="The answer stands in an earlier message of the conversation",
        history=(
            {
                "role": "user",
                "content": f"Remember this code word: {CODE}. I shall ask for it later. Meanwhile, note also that the"
                " garden has nine apple trees, two pear trees, one walnut tree, a pond with carp, a shed for tools,"
                " a bench of oak, three beds of roses, and a wall of red brick on its northern side.",
            },
            {"role": "assistant", "content": "I have noted it."},
        ),
        turns=(
            Turn(
                say="What is the code word that I gave you? Reply with exactly the code word and nothing else.",
                asks=AskSay(text=CODE),
            ),
        ),
        usage=True,
        modes=(Mode.WHOLE,),
        exercises=("turn.history-reaches-backend", "turn.concurrent-isolation", *TEXT[:1]),
    ),
    _asked(
        name="live-parts",
        title="A message of three parts, of which the second has the answer",
        history=(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Three notes about my ship follow, and then a question."},
                    {
                        "type": "text",
                        "text": f"The ship has two masts, a grey hull, eleven cabins and a bell of brass. Its name is"
                        f" {SHIP}. It was built of larch in the year of the great frost, and has crossed the bay more"
                        " often than any other one that still sails there.",
                    },
                    {"type": "text", "text": "What is its name? Reply with exactly the name and nothing else."},
                ],
            },
        ),
        turns=(Turn(asks=AskSay(text=SHIP)),),
        modes=(Mode.WHOLE,),
        exercises=("turn.history-reaches-backend", "turn.concurrent-isolation", *TEXT[:1]),
    ),
    _asked(
        name="live-developer",
        title="A developer's text, behind the system's, says what to answer",
        history=({"role": "system", "content": "You are a keeper."}, {"role": "developer", "content": DEVELOPER}),
        turns=(Turn(say="What is the capital of Norway?", asks=AskSay(text="BEACON")),),
        modes=(Mode.WHOLE,),
        exercises=("turn.system-prompt", "turn.concurrent-isolation", *TEXT[:1]),
    ),
    _asked(
        name="live-image",
        title="A picture of one colour",
        turns=(
            Turn(
                say="Which colour is this picture? Reply with exactly one word, in lower case: red, green or blue.",
                images=(RED,),
                asks=AskSay(text="red"),
            ),
        ),
        cap=TINY,
        modes=(Mode.WHOLE,),
        exercises=("turn.images", *TEXT[:1]),
    ),
    _asked(
        name="live-logprobs",
        title="Each token with its probability",
        turns=(Turn(say=exactly(FEW), asks=AskSay(text=FEW)),),
        body={"logprobs": True},
        usage=True,
        cap=TINY,
        exercises=("chat.stream.logprobs", "chat.stream.usage-details", *TEXT[:2]),
    ),
    _asked(
        name="live-departure",
        title="The client goes away in mid-text, and asks for something else",
        turns=(
            Turn(say=COUNTING, act=Act.LEAVE_AT_TEXT, asks=Anything()),
            Turn(say=exactly(FEW), asks=AskSay(text=FEW)),
        ),
        modes=(Mode.STREAM,),
        attribute_to="chat.stream.disconnect",
        exercises=("chat.stream.disconnect",),
    ),
    _asked(
        name="live-choices",
        title="Two choices of one prompt",
        turns=(Turn(say=exactly(WORDS), asks=AskSay(text=WORDS)),),
        choices=2,
        usage=True,
        exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
    ),
    _asked(
        name="live-stop",
        title="A stop sequence ends the answer before itself",
        turns=(
            Turn(
                say=exactly(f"the ship left the {STOP} at dawn"),
                body={"stop": [STOP]},
                asks=AskSay(text="the ship left the"),
            ),
        ),
        usage=True,
        exercises=TEXT[:2],
    ),
    _asked(
        name="live-length",
        title="An answer is cut at its limit of tokens",
        turns=(Turn(say=COUNTING, asks=AskCount()),),
        usage=True,
        cap=TINY,
        dialects=EACH,
        exercises=(
            "chat.whole.finish", "chat.stream.finish-reason", "responses.whole.envelope", "responses.stream.terminal",
            "messages.whole.stop-reason", "messages.stream.stop-reason",
        ),
    ),
    _asked(
        name="live-length-completion",
        title="An answer is cut at its limit, which is named max_completion_tokens",
        turns=(Turn(say=COUNTING, asks=AskCount()),),
        body={"max_completion_tokens": TINY},
        modes=(Mode.WHOLE,),
        dialects=(Dialect.OPENAI_JSON,),
        exercises=("chat.whole.finish",),
        cap=None,
    ),
)  # fmt: skip
