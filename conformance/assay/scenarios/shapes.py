"""The shapes in which a backend sends a call: any of them gives the same answer."""

from assay.model.scenario import Scenario, Turn
from assay.scenarios.tools import LOCAL_SEARCH

# The call is the same in all, so that any difference in the answers comes from its shape: S4-20.
SHAPES: tuple[Scenario, ...] = (
    Scenario(
        name="shape-a",
        title="A call sent as tool_calls fragments in agentMessageDelta",
        script="shapes/a",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.a",),
        attribute_to="shapes.a",
    ),
    Scenario(
        name="shape-b",
        title="A call sent as function_call fragments in agentMessageDelta",
        script="shapes/b",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.b",),
        attribute_to="shapes.b",
    ),
    Scenario(
        name="shape-c",
        title="A call sent as Responses events in agentMessageDelta",
        script="shapes/c",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.c",),
        attribute_to="shapes.c",
    ),
    Scenario(
        name="shape-d",
        title="A call sent as a whole message in agentMessage",
        script="shapes/d",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.d",),
        attribute_to="shapes.d",
    ),
    Scenario(
        name="shape-d-function",
        title="A call sent as function_call of a whole message",
        script="shapes/d-function",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.d",),
        attribute_to="shapes.d",
    ),
    Scenario(
        name="shape-e",
        title="A call sent as a request of Codex v2",
        # Its arguments come parsed; the model's own spelling is only in the raw items, which the proxy has to ask for.
        script="shapes/e",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.e",),
        attribute_to="shapes.e",
    ),
    Scenario(
        # Codex 0.89.0 sends every event in both families, up to 0.114: who reads both has each call twice.
        name="shape-f",
        title="A call sent as two families of notifications",
        script="shapes/f",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.f",),
        attribute_to="shapes.f",
    ),
    Scenario(
        name="shape-g",
        title="A call written as a sentinel in the text",
        script="shapes/g",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.g",),
        attribute_to="shapes.g",
    ),
    Scenario(
        name="shape-h",
        title="A call written as a use_tool block in the text",
        script="shapes/h",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.h",),
        attribute_to="shapes.h",
    ),
    Scenario(
        name="shape-late-id",
        title="A call sent as fragments, the id last",
        script="shapes/late-id",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.late-id",),
        attribute_to="shapes.late-id",
    ),
    Scenario(
        # By then the events before it had to be put together by their item's id alone.
        name="shape-late-id-done",
        title="A call sent as Responses events, the id only in the event that says it is done",
        script="shapes/late-id-done",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.late-id",),
        attribute_to="shapes.late-id",
    ),
    Scenario(
        # The proxy must make one up, and stay with it: clients cannot send a result without (openai-agents raises).
        name="shape-no-id",
        title="A call sent as fragments, without any id",
        script="shapes/no-id",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.no-id",),
        attribute_to="shapes.no-id",
    ),
    Scenario(
        # "1" and "1" are 11: what equals the fragment before it is no repetition.
        name="shape-repeated-fragment",
        title="A call sent as fragments, two of them equal",
        script="shapes/repeated-fragment",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.repeated-fragment",),
        attribute_to="shapes.repeated-fragment",
    ),
    Scenario(
        name="shape-double-telling",
        title="Text sent in two families of notifications",
        script="shapes/double-telling",
        turns=(Turn(say="Search."),),
        tools=(LOCAL_SEARCH,),
        exercises=("shapes.double-telling",),
        attribute_to="shapes.double-telling",
    ),
)
