"""Prompts that ask for an exact text: awkward characters, a system's text, a conversation, several choices, a stop."""

from wireproof.model.asks import AskCount, AskSay
from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, Mode, Turn
from wireproof.scenarios.live.prompts import BOTH, CHAT, LONG_SYSTEM, SHORT, TEXT, counting, exactly

# Letters of two, three and four bytes, quotes, a backslash, signs of markup, a line that ends, a tab: what falls apart
# where bytes are cut, escaped twice or decoded wrongly.
AWKWARD = 'Größe 3 µm — "naïve" 日本語 🙂 C:\\new <b>&amp;</b>\nline two: {"a": [1, 2]}'
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel india juliett kilo lima"
CODE = "heliotrope-4711"
STOP = "harbour"
TINY = 16
"""Tokens: the fewest that OpenAI's Responses take as a limit."""

TEXTS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="live-say",
        title="A model is asked for an exact text with awkward characters; streams count their tokens",
        turns=(Turn(say=exactly(AWKWARD), asks=AskSay(text=AWKWARD)),),
        usage=True,
        cap=2 * SHORT,
        dialects=BOTH,
        exercises=(*TEXT, "chat.stream.parity", "responses.parity"),
    ),
    ConversationScenario(
        name="live-say-uncounted",
        title="A model is asked for an exact text; streams are not asked for a usage chunk",
        turns=(Turn(say=exactly(WORDS), asks=AskSay(text=WORDS)),),
        cap=SHORT,
        dialects=CHAT,
        exercises=("chat.stream.usage", *TEXT[:2], "chat.stream.parity"),
    ),
    ConversationScenario(
        name="live-system",
        title="The system's text says what to answer",
        history=({"role": "system", "content": LONG_SYSTEM},),
        turns=(Turn(say="What is the capital of France?", asks=AskSay(text="LIGHTHOUSE")),),
        usage=True,
        cap=SHORT,
        dialects=BOTH,
        exercises=("turn.system-prompt", *TEXT),
    ),
    ConversationScenario(
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
        cap=SHORT,
        dialects=BOTH,
        exercises=("turn.history-reaches-backend", *TEXT),
    ),
    ConversationScenario(
        name="live-choices",
        title="Two choices of one prompt",
        turns=(Turn(say=exactly(WORDS), asks=AskSay(text=WORDS)),),
        choices=2,
        usage=True,
        cap=SHORT,
        dialects=CHAT,
        exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
    ),
    ConversationScenario(
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
        cap=SHORT,
        dialects=CHAT,
        exercises=TEXT[:2],
    ),
    ConversationScenario(
        name="live-length",
        title="An answer is cut at its limit of tokens",
        turns=(Turn(say=counting(200), asks=AskCount()),),
        usage=True,
        cap=TINY,
        dialects=BOTH,
        exercises=(
            "chat.whole.finish", "chat.stream.finish-reason", "responses.whole.envelope", "responses.stream.terminal",
        ),
    ),
    ConversationScenario(
        name="live-length-completion",
        title="An answer is cut at its limit, which is named max_completion_tokens",
        turns=(Turn(say=counting(200), asks=AskCount()),),
        body={"max_completion_tokens": TINY},
        modes=(Mode.WHOLE,),
        dialects=(Dialect.OPENAI_JSON,),
        exercises=("chat.whole.finish",),
    ),
)  # fmt: skip
