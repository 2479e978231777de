"""One script on every surface: what a client gets does not depend on the API that it asks."""

from wireproof.model.dialect import ONE_OF_EACH
from wireproof.model.scenario import ConversationScenario, Mode, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH, READ_NOTE

SURFACES: tuple[ConversationScenario, ...] = tuple(
    ConversationScenario(
        name=f"surfaces-{name}",
        title=title,
        script=script,
        turns=(Turn(say=say),),
        tools=tools,
        body={"parallel_tool_calls": True} if tools else {},
        dialects=ONE_OF_EACH,
        # What a stream adds up to is compared with the whole answer of its own surface.
        modes=(Mode.WHOLE,),
        across=True,
        attribute_to="turn.surface-parity",
        exercises=("turn.surface-parity",),
    )
    for name, title, script, say, tools in (
        ("text", "A text on every surface", "surfaces/text", "Say something in many scripts.", ()),
        ("calls", "Two calls on every surface", "surfaces/calls", "Search and read.", (LOCAL_SEARCH, READ_NOTE)),
        ("length", "An answer that ran out of tokens on every surface", "surfaces/length", "Be long.", ()),
    )
)
