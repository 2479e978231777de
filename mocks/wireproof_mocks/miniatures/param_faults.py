"""Faults of how parameters are looked at.

Most quietly make a wrong value right before the proxy sees it; the others name another field in the error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from wireproof_mocks.miniatures.fault import Fault
from wireproof_mocks.miniatures.http_faults import blames, field_of
from wireproof_mocks.miniatures.rewriting import at, in_list, with_members
from wireproof_mocks.miniatures.turn_faults import mended

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import Bodies, Environ, Json
    from wireproof_mocks.miniatures.rewriting import Change

MANY_TOKENS = 4096
MOST_CHOICES = 128
"""OpenAI's own limit."""


def _blames_itself_as(param: str, instead: str | None) -> Bodies:
    return blames(instead, lambda error, _: error["param"] is not None and error["param"].startswith(param))


def _each_message(change: Callable[[Json], Json]) -> Change:
    return at("messages[]", lambda message: change(message) if isinstance(message, dict) else message)


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


def _unknown_choice(choice: object) -> bool:
    return isinstance(choice, str) and choice not in {"none", "auto", "required"}


def _strict_about_unknown(asked: Json) -> Json:
    # A wrong `n` is the proxy's own way to a 400, which it has for no unknown field.
    return {**asked, "n": 0} if "frobnicate" in asked else asked


def _strict_about_null(asked: Json) -> Json:
    """`tool_calls` must be a list where it stands."""
    messages = asked["messages"] if isinstance(asked.get("messages"), list) else []
    return {**asked, "n": 0} if any("tool_calls" in one and one["tool_calls"] is None for one in messages) else asked


def _policy_or_default(environ: Environ) -> None:
    if environ.get("HTTP_X_PROXY_STOP_AFTER_TOOLS") not in {None, "first", "burst"}:
        del environ["HTTP_X_PROXY_STOP_AFTER_TOOLS"]


def _not_number(value: object) -> bool:
    # A bool is an int to Python.
    return value is not None and (not isinstance(value, int | float) or isinstance(value, bool))


def _is_word(value: object) -> bool:
    return isinstance(value, str)


def _below_one(value: object) -> bool:
    return isinstance(value, int) and value < 1


def _fault(name: str, breaks: str, request: Change) -> Fault:
    return Fault(name=name, breaks=f"param.{breaks}", request=request)


def _blaming(name: str, breaks: str, whole: Bodies) -> Fault:
    return Fault(name=name, breaks=f"param.{breaks}", whole=whole)


PARAM_FAULTS: tuple[Fault, ...] = (
    _fault("no-model-needed", "model", mended("model", "codex", when=lambda value: value is None)),
    _fault("no-messages-needed", "messages",
           mended("messages", [{"role": "user", "content": "Hi"}], when=lambda value: value == [])),
    _fault("any-role-will-do", "role", _each_message(_known_role)),
    _blaming("role-not-named", "role", blames("messages", lambda error, _: str(error["param"]).endswith(".role"))),
    _fault("no-content-needed", "content", _each_message(_content_or_empty)),
    _fault("any-result-will-do", "tool-call-id", _each_message(_any_call_id)),
    _fault("yes-is-one-choice", "n", mended("n", 1, when=lambda value: value is True)),
    _fault("no-choices-is-one", "n", mended("n", None, when=_below_one)),
    # Taken as 1 instead of served: the answer is a success, and costs one turn.
    _fault("choices-without-end", "n",
           mended("n", 1, when=lambda value: isinstance(value, int) and value > MOST_CHOICES)),
    _blaming("stream-before-n", "n",
             blames("stream", lambda error, e: error["param"] == "n" and _is_word(field_of(e, "stream")))),
    _fault("stream-by-any-word", "stream", mended("stream", value=True, when=_is_word)),
    _fault("options-without-stream", "stream-options",
           lambda asked: asked if asked.get("stream") else mended("stream_options", None, when=bool)(asked)),
    _fault("temperature-by-any-word", "sampling",
           # Only where all else is right: the rows of precedence pair a wrong temperature with other faults.
           lambda asked: asked if asked.get("model") != "codex" or not asked.get("messages")
           else mended("temperature", None, when=_not_number)(asked)),
    _fault("top-p-not-looked-at", "sampling", mended("top_p", None, when=lambda value: value is not None)),
    _fault("max-tokens-not-looked-at", "max-tokens", mended("max_tokens", None, when=_below_one)),
    _fault("tools-of-any-type", "tools", at("tools[]", with_members(type="function"))),
    _blaming("tool-not-named", "tools", _blames_itself_as("tools[", "tools")),
    _fault("functions-without-names", "functions",
           at("functions", in_list(lambda them: [one for one in them if one.get("name")]))),
    _fault("any-tool-choice-will-do", "tool-choice",
           # Any word will do, and is taken for auto.
           mended("tool_choice", "auto", when=_unknown_choice)),
    _fault("parallel-by-any-word", "parallel-tool-calls", mended("parallel_tool_calls", value=True, when=_is_word)),
    _fault("format-by-any-word", "response-format", mended("response_format", None, when=_is_word)),
    Fault(name="unknown-policy-is-the-default", breaks="param.proxy-headers", environ=_policy_or_default),
    _fault("empty-options-refused", "empty-stream-options",
           # `include_usage` must stand in the options.
           mended("stream_options", 7, when=lambda options: options == {})),
    _fault("null-tool-calls-refused", "null-members", _strict_about_null),
    _fault("unknown-fields-refused", "unknown-ignored", _strict_about_unknown),
    _fault("many-tokens-refused", "real-clients",
           # More tokens than the proxy thinks right are refused; opencode asks for 32 000.
           mended("max_tokens", 0, when=lambda most: isinstance(most, int) and most > MANY_TOKENS)),
)  # fmt: skip
"""Each is the reference proxy with one parameter that it does not look at as it should."""
