"""A proxy in front of Cursor's agent service: what it asks for, as calls of the client's tools (contract, §12)."""

from functools import partial

from wireproof.model.dialect import Dialect
from wireproof.model.scenario import ConversationScenario, JsonObject, Mode, Need, Turn
from wireproof.model.target import Backend
from wireproof.scenarios.exercised import RESPONSE_ENDS
from wireproof.scenarios.tools import TEXT, tool


def _tool(name: str, required: tuple[str, ...], optional: tuple[str, ...] = ()) -> JsonObject:
    return tool(name, f"The tool {name}", dict.fromkeys((*required, *optional), TEXT), required)


# As OpenCode declares them: the client that the seed is about.
OPENCODE = (
    _tool("bash", ("command",), ("description", "timeout", "workdir")),
    _tool("read", ("filePath",), ("offset", "limit")),
    _tool("write", ("filePath", "content")),
    _tool("list", ("path",), ("ignore",)),
    _tool("grep", ("pattern",), ("path", "include")),
    _tool("glob", ("pattern",), ("path",)),
    tool(
        "get_weather",
        "The weather of a city",
        {"city": TEXT, "days": {"type": "integer"}, "exact": {"type": "number"}},
        ("city",),
    ),
)
HERE = (Dialect.OPENAI_JSON, Dialect.RESPONSES)
"""The rows are about calls and texts, whichever dialect writes them; these two are the least alike."""
PARALLEL: JsonObject = {"parallel_tool_calls": True}
_of_cursor = partial(ConversationScenario, dialects=HERE, backend=Backend.CURSOR)

AGENT: tuple[ConversationScenario, ...] = (
    _of_cursor(
        name="agent-names",
        title="Each tool of the service is called by the name that clients have for it",
        script="agent/names",
        tools=OPENCODE,
        body=PARALLEL,
        turns=(Turn(say="Use every tool."),),
        exercises=("agent.names",),
        attribute_to="agent.names",
    ),
    _of_cursor(
        name="agent-arguments",
        title="What the service says of a file or a search has the argument names of the client's tools",
        script="agent/arguments",
        tools=OPENCODE,
        body=PARALLEL,
        turns=(Turn(say="Read, write and search."),),
        exercises=("agent.arguments",),
    ),
    _of_cursor(
        name="agent-all-emitted",
        title="Every request of an answer becomes a call, then the answer ends with tool_calls",
        script="agent/all",
        tools=OPENCODE,
        body=PARALLEL,
        turns=(Turn(say="Compare two files."),),
        exercises=("agent.all-emitted",),
        attribute_to="agent.all-emitted",
    ),
    _of_cursor(
        name="agent-fresh-session",
        title="The result of a call begins another session, with the whole history",
        script="agent/fresh",
        tools=OPENCODE,
        turns=(Turn(say="Read the README."), Turn(results={"read": "# A project"})),
        exercises=("agent.fresh-session",),
        attribute_to="agent.fresh-session",
    ),
    _of_cursor(
        name="agent-trap",
        title="A session with signs of life alone ends in an error, not in a stop and not in a hang",
        script="agent/trap",
        turns=(Turn(say="Go on in the same session."),),
        needs=(Need.IDLE_TIMEOUT,),
        # What finds an error that does not come; it is reported under the first.
        exercises=(
            "agent.same-session-trap",
            *RESPONSE_ENDS,
            "chat.stream.error-before-output",
            "chat.whole.backend-error",
        ),
        attribute_to="agent.same-session-trap",
    ),
    _of_cursor(
        name="agent-without-tools",
        title="Without tools in the request nothing is called: the proxy runs what is asked for, or refuses it",
        script="agent/without-tools",
        turns=(Turn(say="Is there anything to do?"),),
        exercises=("agent.without-tools",),
        attribute_to="agent.without-tools",
    ),
    _of_cursor(
        name="agent-scratch-only",
        title="Without tools in the request no file outside of the scratch folder is read",
        script="agent/scratch",
        dialects=(Dialect.OPENAI_JSON,),
        modes=(Mode.WHOLE,),
        turns=(Turn(say="Read what is not yours."),),
        exercises=("agent.scratch-only",),
    ),
)
