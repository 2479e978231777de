"""Faults of how parameters are looked at.

Most quietly make a wrong value right before the proxy sees it; the others name another field in the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeGuard

from wireproof_mocks.miniatures.fault import Fault, FaultExample, Json
from wireproof_mocks.miniatures.http_faults import Bodies, blames, field_of

if TYPE_CHECKING:
    from collections.abc import Callable

MANY_TOKENS = 4096
MOST_CHOICES = 128
"""OpenAI's own limit."""


def _blames_itself_as(param: str, instead: str | None) -> Bodies:
    return blames(instead, lambda error, _: error["param"] is not None and error["param"].startswith(param))


def _mended(name: str, value: object, *, when: Callable[[Any], bool]) -> Callable[[Json], Json]:
    """A value that is wrong is made right; None takes it out."""

    def changed(asked: Json) -> Json:
        # A field that is absent is None to `when`, like one that is null.
        if not when(asked.get(name)):
            return asked
        rest = {key: inner for key, inner in asked.items() if key != name}
        return rest if value is None else {**rest, name: value}

    return changed


def _each_message(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    def changed(asked: Json) -> Json:
        said = asked["messages"]
        return (
            {**asked, "messages": [change(m) if isinstance(m, dict) else m for m in said]} if _listed(said) else asked
        )

    return changed


def _listed(value: object) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def _known_role(message: Json) -> Json:
    known = {"system", "developer", "user", "assistant", "tool", "function"}
    return message if message.get("role") in known else {**message, "role": "user"}


def _content_or_empty(message: Json) -> Json:
    return {**message, "content": ""} if message.get("content") is None and message.get("role") == "user" else message


def _any_call_id(message: Json) -> Json:
    if message.get("role") != "tool" or message.get("tool_call_id"):
        return message
    # As a user's message, which needs no id: the proxy answers as if the result were right.
    return {"role": "user", "content": message.get("content")}


def _typed(asked: Json) -> Json:
    tools = asked.get("tools")
    return {**asked, "tools": [{**tool, "type": "function"} for tool in tools]} if _listed(tools) else asked


def _named_functions(asked: Json) -> Json:
    functions = asked.get("functions")
    return {**asked, "functions": [f for f in functions if f.get("name")]} if _listed(functions) else asked


def _lenient_choice(asked: Json) -> Json:
    """Any word will do, and is taken for auto."""
    choice = asked.get("tool_choice")
    unknown = isinstance(choice, str) and choice not in {"none", "auto", "required"}
    return {**asked, "tool_choice": "auto"} if unknown else asked


def _strict_about_unknown(asked: Json) -> Json:
    # A wrong `n` is the proxy's own way to a 400, which it has for no unknown field.
    return {**asked, "n": 0} if "frobnicate" in asked else asked


def _strict_about_null(asked: Json) -> Json:
    """`tool_calls` must be a list where it stands."""
    messages = asked["messages"] if _listed(asked.get("messages")) else []
    return {**asked, "n": 0} if any("tool_calls" in one and one["tool_calls"] is None for one in messages) else asked


def _strict_about_options(asked: Json) -> Json:
    """`include_usage` must stand in the options."""
    return {**asked, "stream_options": 7} if asked.get("stream_options") == {} else asked


def _few_tokens_only(asked: Json) -> Json:
    """More tokens than the proxy thinks right are refused."""
    most = asked.get("max_tokens")
    # opencode asks for 32 000.
    return {**asked, "max_tokens": 0} if isinstance(most, int) and most > MANY_TOKENS else asked


def _policy_or_default(environ: dict[str, Any]) -> None:
    if environ.get("HTTP_X_PROXY_STOP_AFTER_TOOLS") not in {None, "first", "burst"}:
        del environ["HTTP_X_PROXY_STOP_AFTER_TOOLS"]


def _not_number(value: object) -> bool:
    # A bool is an int to Python.
    return value is not None and (not isinstance(value, int | float) or isinstance(value, bool))


def _is_word(value: object) -> bool:
    return isinstance(value, str)


def _below_one(value: object) -> bool:
    return isinstance(value, int) and value < 1


PARAM_FAULTS: tuple[Fault, ...] = (
    Fault(name="no-model-needed", breaks="param.model",
          request=_mended("model", "codex", when=lambda value: value is None)),
    Fault(name="no-messages-needed", breaks="param.messages",
          request=_mended("messages", [{"role": "user", "content": "Hi"}], when=lambda value: value == [])),
    Fault(name="any-role-will-do", breaks="param.role", request=_each_message(_known_role)),
    Fault(name="role-not-named", breaks="param.role",
          whole=blames("messages", lambda error, _: str(error["param"]).endswith(".role"))),
    Fault(name="no-content-needed", breaks="param.content", request=_each_message(_content_or_empty)),
    Fault(name="any-result-will-do", breaks="param.tool-call-id", request=_each_message(_any_call_id)),
    Fault(name="yes-is-one-choice", breaks="param.n", request=_mended("n", 1, when=lambda value: value is True)),
    Fault(name="no-choices-is-one", breaks="param.n", request=_mended("n", None, when=_below_one),
          examples=(FaultExample(before={"model": "codex", "n": 0}, after={"model": "codex"}),)),
    # Taken as 1 instead of served: the answer is a success, and costs one turn.
    Fault(name="choices-without-end", breaks="param.n",
          request=_mended("n", 1, when=lambda value: isinstance(value, int) and value > MOST_CHOICES)),
    Fault(name="stream-before-n", breaks="param.n",
          whole=blames("stream", lambda error, e: error["param"] == "n" and _is_word(field_of(e, "stream")))),
    Fault(name="stream-by-any-word", breaks="param.stream", request=_mended("stream", value=True, when=_is_word)),
    Fault(name="options-without-stream", breaks="param.stream-options",
          request=lambda asked: asked if asked.get("stream") else _mended("stream_options", None, when=bool)(asked)),
    Fault(name="temperature-by-any-word", breaks="param.sampling",
          # Only where all else is right: the rows of precedence pair a wrong temperature with other faults.
          request=lambda asked: asked if asked.get("model") != "codex" or not asked.get("messages")
          else _mended("temperature", None, when=_not_number)(asked)),
    Fault(name="top-p-not-looked-at", breaks="param.sampling",
          request=_mended("top_p", None, when=lambda value: value is not None)),
    Fault(name="max-tokens-not-looked-at", breaks="param.max-tokens",
          request=_mended("max_tokens", None, when=_below_one)),
    Fault(name="tools-of-any-type", breaks="param.tools", request=_typed),
    Fault(name="tool-not-named", breaks="param.tools", whole=_blames_itself_as("tools[", "tools")),
    Fault(name="functions-without-names", breaks="param.functions", request=_named_functions),
    Fault(name="any-tool-choice-will-do", breaks="param.tool-choice", request=_lenient_choice),
    Fault(name="parallel-by-any-word", breaks="param.parallel-tool-calls",
          request=_mended("parallel_tool_calls", value=True, when=_is_word)),
    Fault(name="format-by-any-word", breaks="param.response-format",
          request=_mended("response_format", None, when=_is_word)),
    Fault(name="unknown-policy-is-the-default", breaks="param.proxy-headers", environ=_policy_or_default),
    Fault(name="empty-options-refused", breaks="param.empty-stream-options", request=_strict_about_options),
    Fault(name="null-tool-calls-refused", breaks="param.null-members", request=_strict_about_null),
    Fault(name="unknown-fields-refused", breaks="param.unknown-ignored", request=_strict_about_unknown),
    Fault(name="many-tokens-refused", breaks="param.real-clients", request=_few_tokens_only),
)  # fmt: skip
"""Each is the reference proxy with one parameter that it does not look at as it should."""
