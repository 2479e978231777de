"""Faults of conversations: what of a request does not reach the backend, or reaches it changed."""

from __future__ import annotations

import json
import re
import unicodedata
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from wireproof_mocks.miniatures.chunks import text_of, with_delta
from wireproof_mocks.miniatures.fault import FUNCTION_CALL, WITH_MESSAGES, Fault, FaultHead, Frame, Json, SentRequest

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

RESULTS = ("tool", "function")
INSTRUCTING = ("system", "developer")
NONCE = re.compile(r"\[\[wireproof:[^#\]]+#([A-Za-z0-9_-]+)\]\]")
# A bound, since one process plays the whole suite against it.
LONG = 4096
"""Characters of a text that many a limit would cut."""
REMEMBERED = 512
"""How many conversations a proxy remembers that should remember none."""


# messages


def _messages(change: Callable[[list[Json]], list[Json]]) -> Callable[[Json], Json]:
    return lambda asked: {**asked, "messages": change(asked["messages"])}


def _in_parts_of_text(content: str | list[Json]) -> bool:
    return isinstance(content, list) and all(part.get("type") == "text" for part in content)


def _first_question_lost(said: list[Json]) -> list[Json]:
    # Never the last message, whose marker chooses the script; and none with an image, which has a row of its own.
    lost = next((m for m in said[:-1] if m["role"] == "user" and _in_parts_of_text(m["content"])), None)
    return [m for m in said if m is not lost]


def _last_of_the_user(said: list[Json]) -> list[Json]:
    """Of messages of the user in a row, only the last is taken for what is asked."""
    roles = [m["role"] for m in said]
    return [m for m, role, after in zip(said, roles, [*roles[1:], ""], strict=True) if not role == after == "user"]


def _assistant_as_user(said: list[Json]) -> list[Json]:
    # A message with calls is no user's: as one it would be refused. On Messages all in blocks is left as it is.
    calls = ("tool_calls", "function_call")
    return [
        {**m, "role": "user"}
        if m["role"] == "assistant" and not any(map(m.get, calls)) and not isinstance(m["content"], list)
        else m
        for m in said
    ]


def _system_as_user(said: list[Json]) -> list[Json]:
    return [{**m, "role": "user"} if m["role"] == "system" else m for m in said]


def _late_instructions_as_user(said: list[Json]) -> list[Json]:
    """Only what a conversation begins with is developer text."""
    first = next((i for i, m in enumerate(said) if m["role"] not in INSTRUCTING), len(said))
    return [{**m, "role": "user"} if i > first and m["role"] in INSTRUCTING else m for i, m in enumerate(said)]


def _developer_text_lost(said: list[Json]) -> list[Json]:
    return [m for m in said if m["role"] != "developer"]


def _results_swapped(said: list[Json]) -> list[Json]:
    """Each result goes to the call of the next one."""
    # Turned round by one: with two results that swaps them, with one it changes nothing.
    ids = [m["tool_call_id"] for m in said if m["role"] == "tool"]
    turned = iter([*ids[1:], *ids[:1]])
    return [{**m, "tool_call_id": next(turned)} if m["role"] == "tool" else m for m in said]


def _calls_only(said: list[Json]) -> list[Json]:
    """What the assistant said beside a call is lost."""
    return [{**m, "content": None} if m.get("tool_calls") else m for m in said]


def _calls_respelt(said: list[Json]) -> list[Json]:
    """Arguments of earlier calls are parsed and serialised again."""
    return [{**m, "tool_calls": list(map(_respelt, m["tool_calls"]))} if m.get("tool_calls") else m for m in said]


def _respelt(call: Json) -> Json:
    function = call["function"]
    return {**call, "function": {**function, "arguments": json.dumps(json.loads(function["arguments"]))}}


def _first_parts(said: list[Json]) -> list[Json]:
    """Of a result in parts, only the first part is read."""
    return [{**m, "content": m["content"][:1]} if m["role"] == "tool" and _several(m["content"]) else m for m in said]


def _several(content: str | list[Json] | None) -> bool:
    return isinstance(content, list)


def _function_results_swapped(said: list[Json]) -> list[Json]:
    """Each result of a function goes to the next call."""
    results = [m["content"] for m in said if m["role"] == "function"]
    turned = iter([*results[1:], *results[:1]])
    return [{**m, "content": next(turned)} if m["role"] == "function" else m for m in said]


def _images_lost(said: list[Json]) -> list[Json]:
    return [
        {**m, "content": [part for part in m["content"] if part.get("type") != "image_url"]}
        if isinstance(m["content"], list)
        else m
        for m in said
    ]


def _earlier_images_lost(said: list[Json]) -> list[Json]:
    return [*_images_lost(said[:-1]), *said[-1:]]


# texts


def _texts(change: Callable[[str], str], *roles: str) -> Callable[[Json], Json]:
    """The texts of messages of these roles are changed."""
    return _messages(lambda said: [_with_text(m, change) if m["role"] in roles else m for m in said])


def _with_text(message: Json, change: Callable[[str], str]) -> Json:
    content = message["content"]
    return {**message, "content": change(content)} if isinstance(content, str) else message


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
    kept: list[Json] = []
    for message in said:
        if message["role"] != "user" or message not in kept:
            kept.append(message)
    return kept


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


def _tools(change: Callable[[list[Json]], list[Json]]) -> Callable[[Json], Json]:
    return lambda asked: {**asked, "tools": change(asked["tools"])} if asked.get("tools") else asked


def _functions(**members: object) -> Callable[[list[Json]], list[Json]]:
    return lambda tools: [{**tool, "function": {**tool["function"], **members}} for tool in tools]


def _described_in_one_line(tools: list[Json]) -> list[Json]:
    return [
        {**tool, "function": {**tool["function"], "description": " ".join(tool["function"]["description"].split())}}
        for tool in tools
    ]


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


def _without_tools(asked: Json) -> Json:
    return {name: value for name, value in asked.items() if name not in {"tools", "functions"}}


def _tools_stripped(asked: Json) -> Json:
    return _without_tools(asked) if _with_results(asked) else asked


def _tools_demanded(asked: Json) -> Json:
    """Results without tools are refused, as a request without messages is."""
    declared = asked.get("tools") or asked.get("functions")
    # The proxy then answers with a 400 of its own.
    return {**asked, "messages": []} if _with_results(asked) and not declared else asked


def _without_field(field: str, when: Callable[[Any], bool]) -> Callable[[Json], Json]:
    """A field is accepted and ignored."""
    return lambda asked: {k: v for k, v in asked.items() if k != field} if when(asked.get(field)) else asked


def _is_forced(choice: object) -> bool:
    return choice not in {"none", "auto", None} if isinstance(choice, str | None) else True


def _any_call(asked: Json) -> Json:
    """A tool that is named may be any tool."""
    return {**asked, "tool_choice": "required"} if isinstance(asked.get("tool_choice"), dict) else asked


def _format_is(kind: str) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, dict) and value.get("type") == kind


def _blamed_on_the_backend(head: FaultHead, request: SentRequest) -> FaultHead:
    # Requests that no script answers are refused for what they ask, whatever the backend would call.
    forced = request.script and b'"tool_choice": ' in request.body and b'"tool_choice": "none"' not in request.body
    return FaultHead(status="502 Bad Gateway", headers=head.headers) if head.code == 400 and forced else head  # noqa: PLR2004


def _prefixed(body: Json, _: SentRequest, __: FaultHead) -> Json:
    """Calls carry the name of the backend's namespace."""
    if "content" in body:
        return {**body, "content": [_renamed(block) if "input" in block else block for block in body["content"]]}
    return {**body, "choices": list(map(_with_prefix, body["choices"]))} if "choices" in body else body


def _with_prefix(choice: Json) -> Json:
    calls = choice["message"].get("tool_calls")
    if not calls:
        return choice
    renamed = [{**one, "function": _renamed(one["function"])} for one in calls]
    return {**choice, "message": {**choice["message"], "tool_calls": renamed}}


def _renamed(call: Json) -> Json:
    return {**call, "name": f"client.{call['name']}"}


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


def _other_received(frames: Iterable[Frame], _: SentRequest) -> Iterator[Frame]:
    """What the backend sends for another request in the meantime follows the first text."""
    strange = False
    for frame in frames:
        yield frame
        if not strange and isinstance(frame, dict) and "error" not in frame and text_of(frame):
            strange = True  # once: it is enough to be seen
            # The text of `open/gate`, which the other request plays.
            yield with_delta(frame, {"content": "opened"})


def _untouched(name: str, change: Callable[[Json], Json]) -> Fault:
    return _request(name, "input-untouched", change, "reflect/received")


def _request(name: str, breaks: str, change: Callable[[Json], Json], *scripts: str) -> Fault:
    return Fault(name=name, breaks=f"turn.{breaks}", request=change, scripts=scripts, in_turns=True)


def _anywhere(fault: Fault) -> Fault:
    """The fault on Messages, too: what it changes is spelt there as in chat."""
    return replace(fault, dialects=WITH_MESSAGES)


TURN_FAULTS: tuple[Fault, ...] = (
    _request("message-lost", "history-reaches-backend", _messages(_first_question_lost)),
    _request("last-of-the-user-only", "history-reaches-backend", _messages(_last_of_the_user)),
    _anywhere(_request("assistant-as-user", "history-reaches-backend", _messages(_assistant_as_user))),
    _request("system-as-user", "system-prompt", _messages(_system_as_user)),
    _request("late-instructions-as-user", "system-prompt", _messages(_late_instructions_as_user)),
    _request("developer-text-lost", "system-prompt", _messages(_developer_text_lost)),
    Fault(name="results-swapped", breaks="turn.tool-result", request=_messages(_results_swapped),
          scripts=("reflect/received",)),
    _request("words-beside-calls-lost", "history-reaches-backend", _messages(_calls_only), "reflect/received"),
    _request("earlier-calls-respelt", "history-reaches-backend", _messages(_calls_respelt), "reflect/received"),
    _request("later-parts-of-results-lost", "tool-result", _messages(_first_parts), "reflect/received"),
    Fault(name="function-results-swapped", breaks="turn.tool-result", request=_messages(_function_results_swapped),
          dialects=(FUNCTION_CALL,), scripts=("reflect/received",)),
    _anywhere(_request("tools-reversed", "tool-registry-order", _tools_reversed)),
    _anywhere(_request("tools-stripped-after-result", "multi-step", _tools_stripped, "call/steps", "persona/opencode")),
    _anywhere(_request("result-needs-tools", "follow-up-without-tools", _tools_demanded, "text/hello")),
    _request("tool-choice-ignored", "tool-choice-none", _without_field("tool_choice", lambda it: it == "none")),
    _request("forced-calls-forgotten", "tool-choice-forced", _without_field("tool_choice", _is_forced)),
    _request("any-call-for-the-named-one", "tool-choice-forced", _any_call),
    Fault(name="missing-call-is-502", breaks="turn.tool-choice-forced", head=_blamed_on_the_backend),
    # Where no script says which tool is called: elsewhere a name that is not the script's is another row's.
    Fault(name="calls-in-a-namespace", breaks="turn.calls-declared", dialects=WITH_MESSAGES, whole=_prefixed,
          scripts=("",)),
    _request("schema-of-the-answer-dropped", "structured-output",
             _without_field("response_format", _format_is("json_schema"))),
    _request("any-json-is-any-text", "structured-output", _without_field("response_format", _format_is("json_object"))),
    _anywhere(_untouched("user-text-trimmed", _texts(str.strip, "user"))),
    _anywhere(_untouched("blanks-at-line-ends-lost", _texts(_without_blanks_at_ends, "user"))),
    _anywhere(_untouched("line-ends-translated", _texts(lambda text: text.replace("\r\n", "\n"), "user"))),
    _anywhere(_untouched("letters-composed", _texts(lambda text: unicodedata.normalize("NFC", text), "user"))),
    _anywhere(_untouched("long-texts-cut", _texts(lambda text: text[:LONG], "user"))),
    _untouched("results-cut", _texts(lambda text: text[:LONG], *RESULTS)),
    _untouched("results-trimmed", _texts(str.strip, *RESULTS)),
    _untouched("history-doubled", _messages(_doubled)),
    _anywhere(_untouched("repeats-of-the-user-dropped", _messages(_said_once))),
    _anywhere(_untouched("prompts-share-a-buffer", _SharedPrompt())),
    _anywhere(_untouched("tools-beyond-the-fourth-dropped", _tools(lambda tools: tools[:4]))),
    _untouched("tool-schemas-emptied", _tools(_functions(parameters={"type": "object", "properties": {}}))),
    _untouched("tool-descriptions-lost", _tools(_functions(description=""))),
    _untouched("tool-descriptions-in-one-line", _tools(_described_in_one_line)),
    _request("images-lost", "images", _messages(_images_lost)),
    _request("earlier-images-lost", "images", _messages(_earlier_images_lost)),
    _anywhere(_request("session-used-again", "fresh-session", _OneSession())),
    Fault(name="others-overheard", breaks="turn.concurrent-isolation", frames=_other_received,
          scripts=("turn/beside",)),
)  # fmt: skip
"""Each is the reference proxy with one thing wrong in what reaches the backend."""
