"""Faults of conversations: what of a request does not reach the backend, or reaches it changed."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import WHOLE_CALLS, each, text_of, with_delta
from wireproof_mocks.miniatures.fault import FUNCTION_CALL, MESSAGES, RESPONSES, WITH_MESSAGES, Fault
from wireproof_mocks.miniatures.heads import restated
from wireproof_mocks.miniatures.rewriting import (
    at,
    behind_the_first,
    both,
    each_event,
    having,
    in_body,
    in_list,
    of_type,
    rewritten,
    with_members,
    without,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from wireproof_mocks.miniatures.fault import FaultHead, Json, SentRequest
    from wireproof_mocks.miniatures.rewriting import Change

RESULTS = ("tool", "function")
INSTRUCTING = ("system", "developer")
NONCE = re.compile(r"\[\[wireproof:[^#\]]+#([A-Za-z0-9_-]+)\]\]")
# A bound, since one process plays the whole suite against it.
LONG = 4096
"""Characters of a text that many a limit would cut."""
REMEMBERED = 512
"""How many conversations a proxy remembers that should remember none."""
OVERHEARD = "opened"
"""The text of `open/gate`, which the other request plays."""


# messages


def _in_parts_of_text(content: str | list[Json]) -> bool:
    return isinstance(content, list) and all(part.get("type") == "text" for part in content)


def _first_question_lost(said: list[Json]) -> list[Json]:
    # Never the last message, whose marker chooses the script; and none with an image, which has a row of its own.
    lost = next((m for m in said[:-1] if m["role"] == "user" and _in_parts_of_text(m["content"])), None)
    return [m for m in said if m is not lost]


def last_of_a_row(said: list[Json], *roles: str) -> list[Json]:
    """Of messages of one of these roles in a row, only the last is taken for what is said."""
    after = [*(m["role"] for m in said[1:]), ""]
    return [m for m, following in zip(said, after, strict=True) if not (m["role"] == following and following in roles)]


def _assistant_as_user(message: Json) -> Json:
    # A message with calls is no user's: as one it would be refused. On Messages all in blocks is left as it is.
    kept = any(map(message.get, ("tool_calls", "function_call"))) or isinstance(message["content"], list)
    return message if message["role"] != "assistant" or kept else {**message, "role": "user"}


def _late_instructions_as_user(said: list[Json]) -> list[Json]:
    """Only what a conversation begins with is developer text."""
    first = next((i for i, m in enumerate(said) if m["role"] not in INSTRUCTING), len(said))
    return [{**m, "role": "user"} if i > first and m["role"] in INSTRUCTING else m for i, m in enumerate(said)]


def _swapped(role: str, member: str) -> Change:
    """Each message of a role gets a member of the next one."""

    def changed(said: list[Json]) -> list[Json]:
        # Turned round by one: with two results that swaps them, with one it changes nothing.
        values = [m[member] for m in said if m["role"] == role]
        turned = iter([*values[1:], *values[:1]])
        return [{**m, member: next(turned)} if m["role"] == role else m for m in said]

    return at("messages", changed)


def _calls_only(message: Json) -> Json:
    """What the assistant said beside a call is lost."""
    return {**message, "content": None} if message.get("tool_calls") else message


def _images_lost(said: list[Json]) -> list[Json]:
    without_images = in_list(lambda parts: [part for part in parts if part.get("type") != "image_url"])
    return list(map(at("content", without_images), said))


# texts


def _texts(change: Callable[[str], str], *roles: str) -> Change:
    """The texts of messages of these roles are changed."""
    changed = at("content", lambda content: change(content) if isinstance(content, str) else content)
    return at("messages[]", lambda message: changed(message) if message["role"] in roles else message)


def _without_blanks_at_ends(text: str) -> str:
    return "\n".join(line.rstrip(" ") for line in text.split("\n"))


def _doubled(said: list[Json]) -> list[Json]:
    """What was said before is put before the conversation, which holds it already."""
    # With results their calls would come twice, which is refused.
    called = any(m["role"] in RESULTS for m in said)
    # Instructions have a row of their own.
    return said if called else [*(m for m in said[:-1] if m["role"] not in INSTRUCTING), *said]


def _said_once(said: list[Json]) -> list[Json]:
    """A message that says what one before it said is left out."""
    return [m for i, m in enumerate(said) if m["role"] != "user" or m not in said[:i]]


class _SharedPrompt:
    """Long prompts of all requests are put together in one place, which still holds the one before."""

    def __init__(self) -> None:
        self._before = ""

    def __call__(self, asked: Json) -> Json:
        content = asked["messages"][-1]["content"]
        if not isinstance(content, str) or len(content) < LONG:
            return asked
        before, self._before = self._before, content
        # With its marker, behind which the request's own follows: the last one chooses the script.
        mixed = before[:200] + "\n" + content if before else content
        return {**asked, "messages": [*asked["messages"][:-1], {**asked["messages"][-1], "content": mixed}]}


# tools


def _tools_reversed(asked: Json) -> Json:
    name = "tools" if "tools" in asked else "functions"
    # Tools that are wrong keep their places, which an error names (param.tools).
    right = all(tool.get("type", "function") == "function" for tool in asked[name])
    return {**asked, name: asked[name][::-1]} if right else asked


def _with_results(asked: Json) -> bool:
    return any(message["role"] in RESULTS or _has_results(message["content"]) for message in asked["messages"])


def _has_results(content: str | list[Json] | None) -> bool:
    """Whether a message of Messages brings results."""
    return isinstance(content, list) and any(part.get("type") == "tool_result" for part in content)


def _tools_stripped(asked: Json) -> Json:
    return without("tools", "functions")(asked) if _with_results(asked) else asked


def _tools_demanded(asked: Json) -> Json:
    """Results without tools are refused, as a request without messages is."""
    declared = asked.get("tools") or asked.get("functions")
    # The proxy then answers with a 400 of its own.
    return {**asked, "messages": []} if _with_results(asked) and not declared else asked


def mended(name: str, value: object, *, when: Callable[[Any], bool]) -> Callable[[Json], Json]:
    """Some values of a field are taken for another; None takes it out."""
    # A field that is absent is None to `when`, like one that is null.
    changed = without(name) if value is None else with_members(**{name: value})
    return lambda asked: changed(asked) if when(asked.get(name)) else asked


def _is_forced(choice: object) -> bool:
    return choice not in {"none", "auto", None} if isinstance(choice, str | None) else True


def _format_is(kind: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and value.get("type") == kind


def _forced_in_vain(head: FaultHead, request: SentRequest) -> bool:
    # Requests that no script answers are refused for what they ask, whatever the backend would call.
    forced = request.script and b'"tool_choice": ' in request.body and b'"tool_choice": "none"' not in request.body
    return bool(head.code == 400 and forced)  # noqa: PLR2004 (HTTP)


def _prefixed(name: str) -> str:
    """The name of a call behind that of the backend's namespace."""
    return f"client.{name}"


# sessions


class _OneSession:
    """Puts what a conversation said in earlier requests before what it says now."""

    def __init__(self) -> None:
        self._said: dict[str, list[Json]] = {}

    def __call__(self, asked: Json) -> Json:
        found = NONCE.search(json.dumps(asked["messages"]))
        # A request that brings its own history needs none from here; put before it, that would break other rows.
        if found is None or len(asked["messages"]) > 1:
            return asked
        earlier = self._said.get(found[1], [])
        self._said[found[1]] = asked["messages"]
        if len(self._said) > REMEMBERED:
            del self._said[next(iter(self._said))]
        return {**asked, "messages": [*earlier, *asked["messages"]]}


def _untouched(name: str, change: Change) -> Fault:
    return _request(name, "input-untouched", change, "reflect/received")


def _request(name: str, breaks: str, change: Change, *scripts: str) -> Fault:
    return Fault(name=name, breaks=f"turn.{breaks}", request=change, scripts=scripts, in_turns=True)


def _anywhere(fault: Fault) -> Fault:
    """The fault on Messages, too: what it changes is spelt there as in chat."""
    return replace(fault, dialects=WITH_MESSAGES)


_NOTHING_CACHED = at("usage.prompt_tokens_details.cached_tokens", lambda _: 0)

TURN_FAULTS: tuple[Fault, ...] = (
    _request("message-lost", "history-reaches-backend", at("messages", _first_question_lost)),
    _request("last-of-the-user-only", "history-reaches-backend",
             at("messages", lambda said: last_of_a_row(said, "user"))),
    _anywhere(_request("assistant-as-user", "history-reaches-backend", at("messages[]", _assistant_as_user))),
    _request("system-as-user", "system-prompt", at("messages[]", having(with_members(role="user"), role="system"))),
    _request("late-instructions-as-user", "system-prompt", at("messages", _late_instructions_as_user)),
    _request("developer-text-lost", "system-prompt",
             at("messages", lambda said: [m for m in said if m["role"] != "developer"])),
    Fault(name="results-swapped", breaks="turn.tool-result", request=_swapped("tool", "tool_call_id"),
          scripts=("reflect/received",)),
    _request("words-beside-calls-lost", "history-reaches-backend", at("messages[]", _calls_only), "reflect/received"),
    # Arguments of earlier calls are parsed and serialised again.
    _request("earlier-calls-respelt", "history-reaches-backend",
             at("messages[].tool_calls[].function.arguments", rewritten), "reflect/received"),
    # Of a result in parts, only the first part is read.
    _request("later-parts-of-results-lost", "tool-result",
             at("messages[]", having(at("content", in_list(lambda parts: parts[:1])), role="tool")),
             "reflect/received"),
    Fault(name="function-results-swapped", breaks="turn.tool-result", request=_swapped("function", "content"),
          dialects=(FUNCTION_CALL,), scripts=("reflect/received",)),
    _anywhere(_request("tools-reversed", "tool-registry-order", _tools_reversed)),
    _anywhere(_request("tools-stripped-after-result", "multi-step", _tools_stripped, "call/steps", "persona/opencode")),
    _anywhere(_request("result-needs-tools", "follow-up-without-tools", _tools_demanded, "text/hello")),
    _request("tool-choice-ignored", "tool-choice-none", mended("tool_choice", None, when=lambda it: it == "none")),
    _request("forced-calls-forgotten", "tool-choice-forced", mended("tool_choice", None, when=_is_forced)),
    _request("any-call-for-the-named-one", "tool-choice-forced",
             mended("tool_choice", "required", when=lambda choice: isinstance(choice, dict))),
    Fault(name="any-call-for-the-one-named-in-responses", breaks="turn.tool-choice-forced", dialects=(RESPONSES,),
          in_turns=True, request=mended("tool_choice", "required", when=lambda choice: isinstance(choice, dict))),
    Fault(name="cached-tokens-never-counted", breaks="chat.whole.usage", frames=each(_NOTHING_CACHED),
          whole=in_body(having(_NOTHING_CACHED, object="chat.completion"))),
    Fault(name="missing-call-is-502", breaks="turn.tool-choice-forced",
          head=restated("502 Bad Gateway", _forced_in_vain)),
    # Where no script says which tool is called: elsewhere a name that is not the script's is another row's.
    Fault(name="calls-in-a-namespace", breaks="turn.calls-declared", dialects=WITH_MESSAGES, scripts=("",),
          whole=in_body(both(at(f"{WHOLE_CALLS}[].function.name", _prefixed),
                             at("content[]", of_type("tool_use", at("name", _prefixed)))))),
    _request("schema-of-the-answer-dropped", "structured-output",
             mended("response_format", None, when=_format_is("json_schema"))),
    _request("any-json-is-any-text", "structured-output",
             mended("response_format", None, when=_format_is("json_object"))),
    _anywhere(_untouched("user-text-trimmed", _texts(str.strip, "user"))),
    _anywhere(_untouched("blanks-at-line-ends-lost", _texts(_without_blanks_at_ends, "user"))),
    _anywhere(_untouched("line-ends-translated", _texts(lambda text: text.replace("\r\n", "\n"), "user"))),
    _anywhere(_untouched("letters-composed", _texts(lambda text: unicodedata.normalize("NFC", text), "user"))),
    _anywhere(_untouched("long-texts-cut", _texts(lambda text: text[:LONG], "user"))),
    _untouched("results-cut", _texts(lambda text: text[:LONG], *RESULTS)),
    _untouched("results-trimmed", _texts(str.strip, *RESULTS)),
    _untouched("history-doubled", at("messages", _doubled)),
    _anywhere(_untouched("repeats-of-the-user-dropped", at("messages", _said_once))),
    _anywhere(_untouched("prompts-share-a-buffer", _SharedPrompt())),
    _anywhere(_untouched("tools-beyond-the-fourth-dropped", at("tools", lambda tools: tools[:4]))),
    _untouched("tool-schemas-emptied",
               at("tools[].function", with_members(parameters={"type": "object", "properties": {}}))),
    _untouched("tool-descriptions-lost", at("tools[].function", with_members(description=""))),
    _untouched("tool-descriptions-in-one-line",
               at("tools[].function.description", lambda text: " ".join(text.split()))),
    _request("images-lost", "images", at("messages", _images_lost)),
    _request("earlier-images-lost", "images", at("messages", lambda said: [*_images_lost(said[:-1]), *said[-1:]])),
    _anywhere(_request("session-used-again", "fresh-session", _OneSession())),
    Fault(name="others-overheard", breaks="turn.concurrent-isolation", scripts=("turn/beside",),
          frames=behind_the_first(text_of, lambda frame: with_delta(frame, {"content": OVERHEARD}))),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in what reaches the backend."""


# Gateways call an upstream; an agent has no settings that a request could ask for.

OWN_LIMIT = 1024
"""The tokens that a gateway allows whatever it is asked for."""


def _opened_without_arguments(call: Json) -> Json:
    return at("function.arguments", lambda _: "")(call) if call.get("id") else call


def _signs(event: Json) -> bool:
    return bool(event.get("delta", {}).get("type") == "signature_delta")


GATEWAY_FAULTS: tuple[Fault, ...] = (
    # Of chat alone: where Messages are served, an answer says at which text it stopped, which other rows are about.
    _request("stop-not-passed-on", "settings-reach-backend", without("stop")),
    _anywhere(_request("temperature-not-passed-on", "settings-reach-backend", without("temperature"))),
    _anywhere(_request("own-limit-of-tokens", "settings-reach-backend", with_members(max_tokens=OWN_LIMIT))),
    _anywhere(_request("temperature-of-zero-not-passed-on", "settings-reach-backend", lambda asked: (
        asked if asked.get("temperature") else without("temperature")(asked)))),
    Fault(name="arguments-beside-the-name-lost-in-chat", breaks="chat.stream.arguments-verbatim",
          frames=each(at("choices[].delta.tool_calls[]", _opened_without_arguments))),
    Fault(name="thoughts-of-the-upstream-not-signed", breaks="messages.stream.thinking", dialects=(MESSAGES,),
          frames=each_event(lambda event: () if _signs(event) else event)),
)  # fmt: skip
"""Each is a gateway that passes all else on; they show in front of an upstream alone."""
