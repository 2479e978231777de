"""Several choices: each is an answer of its own."""

from wireproof.model.dialect import CHATS, CHATS_WITH_TOOLS
from wireproof.model.scenario import ConversationScenario, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH

CHOICES: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="choices-text",
        title="Two choices, two texts",
        script="choices/text",
        turns=(Turn(say="Say it in two ways."),),
        choices=2,
        dialects=CHATS,
        exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
    ),
    ConversationScenario(
        name="choices-mixed",
        title="Two choices: text in one, a call in the other",
        script="choices/mixed",
        turns=(Turn(say="Say it, or search."),),
        tools=(LOCAL_SEARCH,),
        dialects=CHATS_WITH_TOOLS,
        choices=2,
        exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
    ),
    ConversationScenario(
        name="choices-indexed",
        title="Two choices in one turn, whose events say which one they are of",
        script="choices/indexed",
        turns=(Turn(say="Say it in two ways at once."),),
        choices=2,
        dialects=CHATS,
        usage=True,
        exercises=("chat.stream.isolation", "chat.whole.choices", "chat.stream.parity"),
    ),
    ConversationScenario(
        name="choices-usage",
        title="Two choices, each with its own counts: the usage is their sum",
        script="choices/usage",
        turns=(Turn(say="Count both."),),
        choices=2,
        dialects=CHATS,
        usage=True,
        exercises=(
            "chat.stream.isolation",
            "chat.stream.usage",
            "chat.stream.usage-details",
            "chat.whole.usage",
            "chat.stream.parity",
        ),
    ),
)
