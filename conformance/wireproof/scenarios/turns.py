"""Conversations: what the backend received, as scripts that reflect say it back."""

from wireproof.model.dialect import WITH_TOOLS, Dialect
from wireproof.model.scenario import Act, ConversationScenario, JsonObject, Mode, Need, Turn
from wireproof.scenarios.exercised import FINISH_REASON, TEXT_ARRIVES
from wireproof.scenarios.tools import GET_TIME, LOCAL_SEARCH, READ_NOTE, called

# A data URL: newer versions of Codex refuse others (0.169.0: "remote image URLs are not supported").
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def received(
    name: str,
    title: str,
    row: str,
    *history: JsonObject,
    say: str = "What have you received?",
    tools: tuple[JsonObject, ...] = (),
    dialects: tuple[Dialect, ...] = tuple(Dialect),
    needs: tuple[Need, ...] = (),
) -> ConversationScenario:
    """A history, and a question that the backend answers with what it has received."""
    return ConversationScenario(
        name=name,
        title=title,
        script="reflect/received",
        history=history,
        tools=tools,
        dialects=dialects,
        turns=(Turn(say=say),),
        exercises=(row,),
        needs=needs,
    )


TURNS: tuple[ConversationScenario, ...] = (
    received(
        "history",
        "Every message of the request reaches the backend, in order, with its role",
        "turn.history-reaches-backend",
        {"role": "system", "content": "You are the keeper of the zebra archive."},
        {"role": "user", "content": "First question, about alpacas."},
        {"role": "assistant", "content": "First answer, about alpacas."},
        # As a list of parts: who reads strings alone loses it.
        {"role": "user", "content": [{"type": "text", "text": "Second question, about naïve bisons 🦬."}]},
        {"role": "assistant", "content": "Second answer, about bisons."},
        say="Third question: what have you received?",
    ),
    # A proxy that takes only the last message for what is asked loses the first.
    received(
        "history-users",
        "Two messages of the user in a row",
        "turn.history-reaches-backend",
        {"role": "user", "content": "One word about cranes before I ask."},
    ),
    received(
        "tool-results",
        "Calls and their results are replayed, paired by their ids",
        "turn.tool-result",
        {"role": "user", "content": "Search and read."},
        called(
            None,
            ("call_kiwi", "localSearch", '{"query": "kiwi"}'),
            ("call_moa", "readNote", '{"notePath": "moa.md"}'),
        ),
        # In the other order than the calls: who pairs by place gives the kiwi's result to the moa.
        {"role": "tool", "tool_call_id": "call_moa", "content": "The moa is extinct."},
        {"role": "tool", "tool_call_id": "call_kiwi", "content": "The kiwi is not."},
        tools=(LOCAL_SEARCH, READ_NOTE),
        dialects=WITH_TOOLS,
    ),
    received(
        "history-calls",
        "What the assistant said beside a call reaches the backend, and the call as it was spelt",
        "turn.history-reaches-backend",
        {"role": "user", "content": "What lives in the reeds?"},
        called(
            "I look into the bittern first.",
            # Spacing, an escape and a number that a JSON writer would change.
            ("call_bittern", "localSearch", '{ "query" : "caf\\u00e9", "n":1.50 }'),
        ),
        {"role": "tool", "tool_call_id": "call_bittern", "content": "The bittern booms."},
        {"role": "assistant", "content": "The bittern does."},
        tools=(LOCAL_SEARCH,),
        dialects=WITH_TOOLS,
        needs=(Need.HISTORY,),
    ),
    received(
        "tool-result-parts",
        "A result in several parts reaches the backend with all of them",
        "turn.tool-result",
        {"role": "user", "content": "Search."},
        called(None, ("call_rail", "localSearch", '{"query": "rail"}')),
        {
            "role": "tool",
            "tool_call_id": "call_rail",
            "content": [{"type": "text", "text": "The rail "}, {"type": "text", "text": "hides."}],
        },
        tools=(LOCAL_SEARCH,),
        dialects=WITH_TOOLS,
    ),
    # Messages are written for a dialect when they are sent: these become `function_call` and role `function`,
    # without ids.
    received(
        "function-results",
        "Results of functions, which have no ids, are paired with the calls they follow",
        "turn.tool-result",
        {"role": "user", "content": "Search, then read."},
        called(None, ("call_coot", "localSearch", '{"query": "coot"}')),
        {"role": "tool", "tool_call_id": "call_coot", "content": "A note on coots."},
        called(None, ("call_note", "readNote", '{"notePath": "coot.md"}')),
        {"role": "tool", "tool_call_id": "call_note", "content": "The coot is bald."},
        tools=(LOCAL_SEARCH, READ_NOTE),
        dialects=(Dialect.FUNCTION_CALL,),
    ),
    # Neither sorted nor in the order of other scenarios.
    received(
        "tool-registry",
        "The declared tools reach the backend in their order, names intact",
        "turn.tool-registry-order",
        say="What tools have you got?",
        tools=(READ_NOTE, GET_TIME, LOCAL_SEARCH),
    ),
    ConversationScenario(
        name="tool-loop",
        title="A call, its result, and the final text, with tools on every request",
        script="call/then-text",
        tools=(LOCAL_SEARCH,),
        turns=(Turn(say="Search, then tell me."), Turn(results={"localSearch": "Three notes found."})),
        exercises=(*FINISH_REASON, *TEXT_ARRIVES),
    ),
    ConversationScenario(
        name="fresh-session",
        title="The second request knows nothing of the first",
        script="text/hello",
        turns=(
            Turn(say="The secret of the first request is wombat-41."),
            Turn(say="What have you received?", script="reflect/received"),
        ),
        exercises=("turn.fresh-session",),
    ),
    ConversationScenario(
        # The other request plays `open/gate`, whose text must not show here (codex-story, criterion 16).
        name="concurrent",
        title="Another request is answered in the midst of this one",
        script="turn/beside",
        turns=(Turn(say="Wait for the other.", act=Act.OPEN_AT_TEXT),),
        modes=(Mode.STREAM,),
        exercises=("turn.concurrent-isolation", "chat.stream.flushed"),
        attribute_to="turn.concurrent-isolation",
    ),
    ConversationScenario(
        name="many-steps",
        title="A call, its result, a second call, its result, the final text, with tools on every request",
        script="call/steps",
        tools=(LOCAL_SEARCH, READ_NOTE),
        turns=(
            Turn(say="Search, read, and tell me."),
            # Both results in both turns: only that of a tool that was called is sent.
            Turn(results={"localSearch": "Two notes found.", "readNote": "The note."}),
            Turn(results={"localSearch": "Two notes found.", "readNote": "The note."}),
        ),
        exercises=("turn.multi-step",),
        attribute_to="turn.multi-step",
    ),
    ConversationScenario(
        # S3:15 sends it so, and ChatGPT MD continues without tools, too.
        name="follow-up-without-tools",
        title="A result comes with a request that declares no tools",
        script="text/hello",
        history=(
            {"role": "user", "content": "Search the notes."},
            called(None, ("call_emu", "localSearch", '{"query": "emu"}')),
            {"role": "tool", "tool_call_id": "call_emu", "content": "One emu."},
        ),
        turns=(Turn(say="So?"),),
        exercises=("turn.follow-up-without-tools",),
        attribute_to="turn.follow-up-without-tools",
    ),
    received(
        "system-prompt",
        "System and developer text become developer text; the base instructions stay",
        "turn.system-prompt",
        {"role": "system", "content": "Answer as the heron would."},
        {"role": "developer", "content": "Never mention the pike."},
    ),
    # Codex drops messages of the role system in a given history, so they have to go another way.
    received(
        "system-prompt-late",
        "Developer and system text in the midst of a conversation is no word of the user's",
        "turn.system-prompt",
        {"role": "user", "content": "How many eggs has a plover?"},
        {"role": "assistant", "content": "Four, as a rule."},
        {"role": "developer", "content": "Count in dozens from now on."},
        {"role": "system", "content": "Name the source of each number."},
    ),
    ConversationScenario(
        name="images",
        title="An image in the message",
        script="reflect/received",
        turns=(Turn(say="What do you see?", images=(PIXEL,)),),
        exercises=("turn.images",),
    ),
    # What came earlier reaches a backend by another way than the turn's own input.
    received(
        "images-earlier",
        "An image in an earlier message",
        "turn.images",
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Look at this."},
                {"type": "image_url", "image_url": {"url": PIXEL}},
            ],
        },
        {"role": "assistant", "content": "I see a dot."},
        say="Of what colour?",
    ),
)
