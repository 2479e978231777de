"""Conversations: what the backend received, as scripts that reflect say it back."""

from wireproof.model.dialect import WITH_TOOLS, Dialect
from wireproof.model.scenario import Act, ConversationScenario, Mode, Need, Turn
from wireproof.scenarios.exercised import FINISH_REASON, TEXT_ARRIVES
from wireproof.scenarios.tools import GET_TIME, LOCAL_SEARCH, READ_NOTE, called

# A data URL: newer versions of Codex refuse others (0.169.0: "remote image URLs are not supported").
PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)

TURNS: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="history",
        title="Every message of the request reaches the backend, in order, with its role",
        script="reflect/received",
        history=(
            {"role": "system", "content": "You are the keeper of the zebra archive."},
            {"role": "user", "content": "First question, about alpacas."},
            {"role": "assistant", "content": "First answer, about alpacas."},
            # As a list of parts: who reads strings alone loses it.
            {"role": "user", "content": [{"type": "text", "text": "Second question, about naïve bisons 🦬."}]},
            {"role": "assistant", "content": "Second answer, about bisons."},
        ),
        turns=(Turn(say="Third question: what have you received?"),),
        exercises=("turn.history-reaches-backend",),
    ),
    ConversationScenario(
        # A proxy that takes only the last message for what is asked loses the first.
        name="history-users",
        title="Two messages of the user in a row",
        script="reflect/received",
        history=({"role": "user", "content": "One word about cranes before I ask."},),
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.history-reaches-backend",),
    ),
    ConversationScenario(
        name="tool-results",
        title="Calls and their results are replayed, paired by their ids",
        script="reflect/received",
        tools=(LOCAL_SEARCH, READ_NOTE),
        history=(
            {"role": "user", "content": "Search and read."},
            called(
                None,
                ("call_kiwi", "localSearch", '{"query": "kiwi"}'),
                ("call_moa", "readNote", '{"notePath": "moa.md"}'),
            ),
            # In the other order than the calls: who pairs by place gives the kiwi's result to the moa.
            {"role": "tool", "tool_call_id": "call_moa", "content": "The moa is extinct."},
            {"role": "tool", "tool_call_id": "call_kiwi", "content": "The kiwi is not."},
        ),
        dialects=WITH_TOOLS,
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.tool-result",),
    ),
    ConversationScenario(
        name="history-calls",
        title="What the assistant said beside a call reaches the backend, and the call as it was spelt",
        script="reflect/received",
        tools=(LOCAL_SEARCH,),
        history=(
            {"role": "user", "content": "What lives in the reeds?"},
            called(
                "I look into the bittern first.",
                # Spacing, an escape and a number that a JSON writer would change.
                ("call_bittern", "localSearch", '{ "query" : "caf\\u00e9", "n":1.50 }'),
            ),
            {"role": "tool", "tool_call_id": "call_bittern", "content": "The bittern booms."},
            {"role": "assistant", "content": "The bittern does."},
        ),
        dialects=WITH_TOOLS,
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.history-reaches-backend",),
        needs=(Need.HISTORY,),
    ),
    ConversationScenario(
        name="tool-result-parts",
        title="A result in several parts reaches the backend with all of them",
        script="reflect/received",
        tools=(LOCAL_SEARCH,),
        history=(
            {"role": "user", "content": "Search."},
            called(None, ("call_rail", "localSearch", '{"query": "rail"}')),
            {
                "role": "tool",
                "tool_call_id": "call_rail",
                "content": [{"type": "text", "text": "The rail "}, {"type": "text", "text": "hides."}],
            },
        ),
        dialects=WITH_TOOLS,
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.tool-result",),
    ),
    ConversationScenario(
        name="function-results",
        title="Results of functions, which have no ids, are paired with the calls they follow",
        script="reflect/received",
        tools=(LOCAL_SEARCH, READ_NOTE),
        history=(
            {"role": "user", "content": "Search, then read."},
            called(None, ("call_coot", "localSearch", '{"query": "coot"}')),
            {"role": "tool", "tool_call_id": "call_coot", "content": "A note on coots."},
            called(None, ("call_note", "readNote", '{"notePath": "coot.md"}')),
            {"role": "tool", "tool_call_id": "call_note", "content": "The coot is bald."},
        ),
        # Messages are written for a dialect when they are sent: these become `function_call` and role `function`,
        # without ids.
        dialects=(Dialect.FUNCTION_CALL,),
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.tool-result",),
    ),
    ConversationScenario(
        name="tool-registry",
        title="The declared tools reach the backend in their order, names intact",
        script="reflect/received",
        # Neither sorted nor in the order of other scenarios.
        tools=(READ_NOTE, GET_TIME, LOCAL_SEARCH),
        turns=(Turn(say="What tools have you got?"),),
        exercises=("turn.tool-registry-order",),
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
    ConversationScenario(
        name="system-prompt",
        title="System and developer text become developer text; the base instructions stay",
        script="reflect/received",
        history=(
            {"role": "system", "content": "Answer as the heron would."},
            {"role": "developer", "content": "Never mention the pike."},
        ),
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.system-prompt",),
    ),
    ConversationScenario(
        # Codex drops messages of the role system in a given history, so they have to go another way.
        name="system-prompt-late",
        title="Developer and system text in the midst of a conversation is no word of the user's",
        script="reflect/received",
        history=(
            {"role": "user", "content": "How many eggs has a plover?"},
            {"role": "assistant", "content": "Four, as a rule."},
            {"role": "developer", "content": "Count in dozens from now on."},
            {"role": "system", "content": "Name the source of each number."},
        ),
        turns=(Turn(say="What have you received?"),),
        exercises=("turn.system-prompt",),
    ),
    ConversationScenario(
        name="images",
        title="An image in the message",
        script="reflect/received",
        turns=(Turn(say="What do you see?", images=(PIXEL,)),),
        exercises=("turn.images",),
    ),
    ConversationScenario(
        # What came earlier reaches a backend by another way than the turn's own input.
        name="images-earlier",
        title="An image in an earlier message",
        script="reflect/received",
        history=(
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": "Look at this."},
                    {"type": "image_url", "image_url": {"url": PIXEL}},
                ],
            },
            {"role": "assistant", "content": "I see a dot."},
        ),
        turns=(Turn(say="Of what colour?"),),
        exercises=("turn.images",),
    ),
)
