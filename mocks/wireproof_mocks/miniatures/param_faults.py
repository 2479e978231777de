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


PARAM_FAULTS: tuple[Fault, ...] = (
    Fault(name="no-model-needed", breaks="param.model",
          request=mended("model", "codex", when=lambda value: value is None)),
    Fault(name="no-messages-needed", breaks="param.messages",
          request=mended("messages", [{"role": "user", "content": "Hi"}], when=lambda value: value == [])),
    Fault(name="any-role-will-do", breaks="param.role", request=_each_message(_known_role)),
    Fault(name="role-not-named", breaks="param.role",
          whole=blames("messages", lambda error, _: str(error["param"]).endswith(".role"))),
    Fault(name="no-content-needed", breaks="param.content", request=_each_message(_content_or_empty)),
    Fault(name="any-result-will-do", breaks="param.tool-call-id", request=_each_message(_any_call_id)),
    Fault(name="yes-is-one-choice", breaks="param.n", request=mended("n", 1, when=lambda value: value is True)),
    Fault(name="no-choices-is-one", breaks="param.n", request=mended("n", None, when=_below_one)),
    # Taken as 1 instead of served: the answer is a success, and costs one turn.
    Fault(name="choices-without-end", breaks="param.n",
          request=mended("n", 1, when=lambda value: isinstance(value, int) and value > MOST_CHOICES)),
    Fault(name="stream-before-n", breaks="param.n",
          whole=blames("stream", lambda error, e: error["param"] == "n" and _is_word(field_of(e, "stream")))),
    Fault(name="stream-by-any-word", breaks="param.stream", request=mended("stream", value=True, when=_is_word)),
    Fault(name="options-without-stream", breaks="param.stream-options",
          request=lambda asked: asked if asked.get("stream") else mended("stream_options", None, when=bool)(asked)),
    Fault(name="temperature-by-any-word", breaks="param.sampling",
          # Only where all else is right: the rows of precedence pair a wrong temperature with other faults.
          request=lambda asked: asked if asked.get("model") != "codex" or not asked.get("messages")
          else mended("temperature", None, when=_not_number)(asked)),
    Fault(name="top-p-not-looked-at", breaks="param.sampling",
          request=mended("top_p", None, when=lambda value: value is not None)),
    Fault(name="max-tokens-not-looked-at", breaks="param.max-tokens",
          request=mended("max_tokens", None, when=_below_one)),
    Fault(name="tools-of-any-type", breaks="param.tools", request=at("tools[]", with_members(type="function"))),
    Fault(name="tool-not-named", breaks="param.tools", whole=_blames_itself_as("tools[", "tools")),
    Fault(name="functions-without-names", breaks="param.functions",
          request=at("functions", in_list(lambda them: [one for one in them if one.get("name")]))),
    Fault(name="any-tool-choice-will-do", breaks="param.tool-choice",
          # Any word will do, and is taken for auto.
          request=mended("tool_choice", "auto", when=_unknown_choice)),
    Fault(name="parallel-by-any-word", breaks="param.parallel-tool-calls",
          request=mended("parallel_tool_calls", value=True, when=_is_word)),
    Fault(name="format-by-any-word", breaks="param.response-format",
          request=mended("response_format", None, when=_is_word)),
    Fault(name="unknown-policy-is-the-default", breaks="param.proxy-headers", environ=_policy_or_default),
    Fault(name="empty-options-refused", breaks="param.empty-stream-options",
          # `include_usage` must stand in the options.
          request=mended("stream_options", 7, when=lambda options: options == {})),
    Fault(name="null-tool-calls-refused", breaks="param.null-members", request=_strict_about_null),
    Fault(name="unknown-fields-refused", breaks="param.unknown-ignored", request=_strict_about_unknown),
    Fault(name="many-tokens-refused", breaks="param.real-clients",
          # More tokens than the proxy thinks right are refused; opencode asks for 32 000.
          request=mended("max_tokens", 0, when=lambda most: isinstance(most, int) and most > MANY_TOKENS)),
)  # fmt: skip
"""Each is the reference proxy with one parameter that it does not look at as it should."""
