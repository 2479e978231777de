"""The shapes in which a backend sends a call: any of them gives the same answer."""

from wireproof.model.dialect import OPENAIS
from wireproof.model.scenario import ConversationScenario, Turn
from wireproof.scenarios.tools import LOCAL_SEARCH


def _shape(name: str, row: str, title: str, *, behind_upstreams: bool = True) -> ConversationScenario:
    # The call is the same in all, so that any difference in answers comes from its shape: codex-story, criterion 20.
    return ConversationScenario(
        name=name,
        title=title,
        script=name.replace("shape-", "shapes/", 1),
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=(row,),
        attribute_to=row,
        dialects=OPENAIS,
        behind_upstreams=behind_upstreams,
    )


SHAPES: tuple[ConversationScenario, ...] = (
    _shape("shape-a", "shapes.a", "A call sent as tool_calls fragments in agentMessageDelta"),
    _shape("shape-nested", "shapes.a", "A call sent as tool_calls fragments inside params.msg"),
    _shape("shape-b", "shapes.b", "A call sent as function_call fragments in agentMessageDelta"),
    _shape("shape-c", "shapes.c", "A call sent as Responses events in agentMessageDelta"),
    _shape("shape-d", "shapes.d", "A call sent as a whole message in agentMessage"),
    _shape("shape-d-function", "shapes.d", "A call sent as function_call of a whole message", behind_upstreams=False),
    # Its arguments come parsed; the model's own spelling is only in the raw items, which the proxy has to ask for.
    _shape("shape-e", "shapes.e", "A call sent as a request of Codex v2"),
    # Codex 0.89.0 sends every event in both families, up to 0.114: who reads both has each call twice.
    _shape("shape-f", "shapes.f", "A call sent as two families of notifications"),
    _shape("shape-g", "shapes.g", "A call written as a sentinel in the text"),
    _shape("shape-h", "shapes.h", "A call written as a use_tool block in the text"),
    _shape("shape-late-id", "shapes.late-id", "A call sent as fragments, the id last"),
    # By then the events before it had to be put together by their item's id alone.
    _shape(
        "shape-late-id-done",
        "shapes.late-id",
        "A call sent as Responses events, the id only in the event that says it is done",
    ),
    # The proxy must make one up, and stay with it: clients cannot send a result without (openai-agents raises).
    _shape("shape-no-id", "shapes.no-id", "A call sent as fragments, without any id"),
    # "1" and "1" are 11: what equals the fragment before it is no repetition.
    _shape("shape-repeated-fragment", "shapes.repeated-fragment", "A call sent as fragments, two of them equal"),
    _shape("shape-double-telling", "shapes.double-telling", "Text sent in two families of notifications"),
)
