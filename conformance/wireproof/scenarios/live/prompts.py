"""Prompts for models, in words that leave little to choose; and what their scenarios share."""

from wireproof.model.dialect import Dialect

CHAT = (Dialect.OPENAI_JSON,)
RESPONSES = (Dialect.RESPONSES,)
BOTH = (*CHAT, *RESPONSES)
"""The dialects of OpenAI's own services."""
EACH = (*BOTH, Dialect.MESSAGES)
"""One dialect of each surface. Few prompts are for all: each is paid for once more where Messages are served."""
SHORT = 48
"""Tokens of a short answer, with room for a model that adds a few words."""
TEXT = ("chat.whole.text", "chat.stream.text", "responses.whole.message", "responses.stream.sums")
CALLS = (
    "chat.whole.calls-all-in-order", "chat.stream.call-opening", "responses.whole.call-items", "responses.stream.sums",
)  # fmt: skip
OF_MESSAGES = ("messages.whole.text", "messages.stream.text", "messages.parity")
CALLS_OF_MESSAGES = ("messages.whole.calls", "messages.stream.arguments", "messages.parity")
"""The subjects of scenarios: the first row that speaks of a form takes the blame for an answer without that form."""
# Long, so that a proxy that drops it is seen by the tokens of the prompt, even if the model would not obey it.
LONG_SYSTEM = (
    "You are the keeper of a lighthouse on a rocky island in the cold northern sea. Ships pass by night and by day, in"
    " fog and in clear weather, and each of them asks you something. Whatever a person asks you, in whatever language,"
    " reply with exactly the following word, in capital letters, without quotes, without a full stop, and nothing else:"
    " LIGHTHOUSE"
)
DEVELOPER = (
    "Whatever was said before of your house, your trade and your manners, and whoever asks you for anything: the"
    " way, the weather, the hour, a capital or the price of bread, reply with exactly the following word, in capital"
    " letters, without quotes, without a full stop, and nothing else: BEACON"
)
"""Long, for the same reason."""
COUNTING = "Count from 1 to 200, with single spaces between the numbers. Begin at once and write nothing else."
"""Asks for a long answer."""


def exactly(text: str) -> str:
    """A prompt for an exact text."""
    return f"Reply with exactly the text below this line, character by character, and with nothing else:\n{text}"


def calling(name: str, arguments: str) -> str:
    """A prompt for a call of a tool with exact arguments, which are JSON."""
    return f"Call the tool {name} once, with exactly these arguments: {arguments}"
