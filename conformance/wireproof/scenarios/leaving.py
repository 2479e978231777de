"""Clients that go away: before the first byte, in mid-text, inside a call, after one. The backend says how it ended."""

from wireproof.model.dialect import WITH_TOOLS
from wireproof.model.scenario import Act, ConversationScenario, Mode, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH

# Under the same nonce; it is answered when the other turn is over, or says that it still runs.
HOW = Turn(say="How did the other turn end?", script="reflect/turns")
ENDS = ("chat.stream.disconnect", "responses.stream.disconnect", "messages.stream.disconnect")

LEAVING: tuple[ConversationScenario, ...] = (
    ConversationScenario(
        name="disconnect",
        title="The client goes away while the backend still has the word",
        script="text/hang",
        turns=(Turn(say="Keep talking.", act=Act.LEAVE_AT_TEXT), HOW),
        modes=(Mode.STREAM,),
        exercises=ENDS,
    ),
    ConversationScenario(
        name="disconnect-first",
        title="The client goes away before the backend has said anything",
        script="leave/first",
        # There is no text to leave at: a second request waits at the backend's gate, and its answer is the sign to
        # leave.
        turns=(Turn(say="Say nothing.", act=Act.LEAVE_WHEN_SENT), HOW),
        modes=(Mode.STREAM,),
        exercises=ENDS,
    ),
    ConversationScenario(
        name="disconnect-in-arguments",
        title="The client goes away in the middle of a call's arguments",
        script="leave/arguments",
        turns=(Turn(say="Begin to search.", act=Act.LEAVE_WHEN_SENT), HOW),
        tools=(LOCAL_SEARCH,),
        modes=(Mode.STREAM,),
        exercises=ENDS,
    ),
    ConversationScenario(
        name="disconnect-after-call",
        title="The client goes away after a call, while there may be more of them",
        script="leave/call",
        turns=(Turn(say="Search.", act=Act.LEAVE_WHEN_SENT), HOW),
        tools=(LOCAL_SEARCH,),
        # A proxy that sends the first call alone would have ended the answer itself, and no client could leave it.
        body={"parallel_tool_calls": True},
        modes=(Mode.STREAM,),
        dialects=WITH_TOOLS,
        exercises=ENDS,
    ),
)
