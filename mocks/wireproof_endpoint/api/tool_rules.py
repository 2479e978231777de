"""What OpenAI's API refuses of the tools of a request, with its codes and params. Pure.

A tool that OpenAI's servers would run is refused where the endpoint does not play it: an answer that passes over it
would not say so. `web_search` is taken, since a model may answer without a search, and Codex offers it by itself.
Tools that the client runs itself are taken: a model need not call them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from wireproof_endpoint.api.problems import FUNCTION_SCHEMA, UNSUPPORTED
from wireproof_endpoint.api.schemas import needed, wrong
from wireproof_surfaces.errors import MISSING_PARAM
from wireproof_surfaces.surfaces.rules import fault

if TYPE_CHECKING:
    from collections.abc import Mapping

    from wireproof_surfaces.surfaces.rules import Body

NOT_PLAYED = (
    "code_interpreter", "file_search", "image_generation", "mcp", "programmatic_tool_calling",
)  # fmt: skip
"""Types of tools that OpenAI runs, and that are not played here."""
PLAYED = (
    "function",
    "namespace",
    "custom",
    "web_search",
    "local_shell",
    "shell",
    "apply_patch",
    "computer",
    "tool_search",
)
"""Types that are taken, but for dated names of the same."""
_NEEDED: Mapping[str, tuple[str, str]] = {
    "file_search": ("vector_store_ids", "a list of ids of vector stores"),
    "code_interpreter": ("container", "the id of a container, or one to be made"),
    "mcp": ("server_label", "a name for the server"),
}
"""Type → the member that it must have, and what that is."""


def tools(body: Body) -> None:
    """The rule of `tools` beyond those of the surfaces: schemas, what is not played."""
    for index, tool in enumerate(body.get("tools") or []):
        _tool(tool, f"tools[{index}]")


def functions(body: Body) -> None:
    """The same of legacy `functions`."""
    for index, function in enumerate(body.get("functions") or []):
        _schema(function, f"functions[{index}].parameters")


def flat(body: Body) -> None:
    """The rule that Responses declare functions flat: chat's shape has no name where one is looked for."""
    for index, tool in enumerate(body.get("tools") or []):
        if isinstance(tool, dict) and tool.get("type") == "function" and "function" in tool and "name" not in tool:
            right = "there: Responses declare a function flat, as {type, name, description, parameters, strict}"
            raise fault(f"tools[{index}].name", right, MISSING_PARAM)


def _tool(tool: Mapping[str, Any], place: str) -> None:
    kind = tool.get("type")
    name, right = _NEEDED.get(str(kind), ("", ""))
    if name and not tool.get(name):
        raise fault(f"{place}.{name}", right, MISSING_PARAM)
    if kind in NOT_PLAYED:
        right = f"one of {', '.join(PLAYED)}: {kind} is run by OpenAI's servers, and not played here"
        raise fault(f"{place}.type", right, UNSUPPORTED)
    if kind == "function":
        inside = tool.get("function")
        function, at = (inside, f"{place}.function") if isinstance(inside, dict) else (tool, place)
        _schema(function, f"{at}.parameters")
    elif kind == "namespace":
        for number, inner in enumerate(tool.get("tools") or []):
            if inner.get("type") == "function":
                _schema(inner, f"{place}.tools[{number}].parameters")


def _schema(function: Mapping[str, Any], place: str) -> None:
    schema = function.get("parameters")
    if function.get("strict") is True:
        if short := needed(schema):
            raise fault(place, f"a strict schema, with {short}", FUNCTION_SCHEMA)
    elif schema is not None and (right := wrong(schema)):
        raise fault(place, right, FUNCTION_SCHEMA)
