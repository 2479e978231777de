"""The conversations that are had with a real app-server and with the mock, by name."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from wireproof_codex.versions.failures import CAUSES_0_89
from wireproof_mocks.upstream.failing import FAILURES, HttpRefusal
from wireproof_scripts.library import LIBRARY
from wireproof_scripts.steps import Call, Fail, Finish, Gate, Hang, Library, Say, Script, Think, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from app_server import Talk
from app_server import DEADLINE, Message
from binaries import NEWEST, VERSIONS


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """What a client says; in which versions, and for how long its model's service may be silent (milliseconds).

    `crossing`: threads talk at the same time, so that only what is said of each has an order.
    """

    have: Callable[[Talk], object]
    versions: tuple[str, ...] = VERSIONS
    idle_ms: int = 20_000
    crossing: bool = False


def _script(name: str, *parts: tuple[object, ...]) -> Script:
    return Script(name=name, title="", parts=parts)  # type: ignore[arg-type]  # steps


_SEARCH = Call(id="call_search", name="localSearch", arguments='{"query": "ü", "n": 1.50}')
_READ = Call(id="call_read", name="readNote", arguments="{}")
_OTHER = Call(id="call_other", name="otherTool", arguments="{}")
_BROKEN = Call(id="call_broken", name="localSearch", arguments='{"query": ')
_BEGUN = (Say(("Begun", ", and")),)

SCRIPTS: Library = {
    **LIBRARY,
    **{
        script.name: script
        for script in (
            _script("two-messages", (Say(("First", ".")), Think("Hm."), Say(("Second", ".")))),
            _script(
                "two-turns",
                (Say(("One.",)), Usage(input=100, cached=50, output=10, reasoning=3)),
                (Say(("Two.",)),),
            ),
            _script(
                "citation", (Say(("a <", "oai", " <", "<oai-mem", "-citation>x</oai", "-mem-citation> b", "", "<")),)
            ),
            _script("citation-alone", (Say(("<oai-mem-citation>never closed",)),)),
            _script("held-back", (Say(("a", "<")), Fail("cut"))),
            _script("two-deltas", (Say(("a", "b <")), Hang())),
            _script("no-deltas", (Say(("All at", " once."), whole=True),)),
            _script("no-counts", (Say(("Free",)), Usage(unknown=True))),
            _script("length", (*_BEGUN, Usage(input=9, output=4), Finish("length"))),
            _script("filter", (*_BEGUN, Usage(input=9, output=4), Finish("content_filter"))),
            _script(
                "thoughts",
                (Think("Hm, so", ("Hm, ", "so"), ("raw ", "thought"), "gAAA"), Say(("Second.",), whole=True)),
            ),
            _script(
                "full",
                (Fail("context-window"),),
                (Say(("Sum", "mary")), Usage(input=40, output=5)),
                (Say(("On.",)),),
            ),
            _script("full-for-long", *((Fail("context-window"),) for _ in range(5))),
            _script("full-and-fails", (Fail("context-window"),), (Fail("http-500"),)),
            _script("full-and-cut-off", (Fail("context-window"),), (*_BEGUN, Finish("length"))),
            _script("full-of-calls", (_SEARCH, Usage(input=244_700, output=100)), (Say(("Sum",)),), (Say(("On.",)),)),
            _script("sum", (Say(("First",)),), (Say(("Sum",)),)),
            _script("sum-fails", (Say(("First",)),), (*_BEGUN, Fail("cut"))),
            _script("hangs-then-sum", (*_BEGUN, Hang()), (Say(("Sum",)),)),
            _script("sum-hangs", (Say(("First",)),), (Say(("Sum",)), Hang())),
            _script("failed-thought", (Think("Hm."), Fail("cut"))),
            _script("calls", (Say(("Let me", " see.")), _SEARCH, Gate(timeout=DEADLINE), _READ), (Say(("Both.",)),)),
            _script("unknown", (_OTHER,), (Say(("None.",)),)),
            _script("broken", (_BROKEN,), (Say(("None.",)),)),
            _script("call-hangs", (_SEARCH, Hang())),
            _script("call-cut", (_SEARCH, Fail("cut"))),
            _script("call-length", (_SEARCH, Usage(input=9, output=4), Finish("length"))),
            _script("calls-cut", (_SEARCH, Gate(timeout=DEADLINE), _READ, Fail("server-error"))),
            _script("unknown-cut", (_OTHER, Fail("cut"))),
            *(_script(f"cause/{cause}", (Fail(cause),)) for cause in FAILURES),
            *(
                _script(f"cause-late/{cause}", (*_BEGUN, Fail(cause)))
                for cause, way in FAILURES.items()
                if not isinstance(way, HttpRefusal)
            ),
        )
    },
}


def marked(script: str, nonce: str = "n") -> str:
    """A text that asks for a script."""
    return f"Grüße: [[wireproof:{script}#{nonce}]]"


def _turn(script: str, talk: Talk) -> None:
    talk.turn(talk.thread(), marked(script))
    talk.over()


def _text(text: str, talk: Talk) -> None:
    talk.turn(talk.thread(), text)
    talk.over()


def _ephemeral(talk: Talk) -> None:
    talk.turn(talk.thread(ephemeral=True, environments=[]), marked("text/hello"))
    talk.over()


def _second_turn(talk: Talk) -> None:
    thread = talk.thread()
    for _ in range(2):
        talk.turn(thread, marked("two-turns"))
        talk.over()


def _after_failure(talk: Talk) -> None:
    thread = talk.thread()
    for script in ("cause/http-500", "text/hello"):
        talk.turn(thread, marked(script))
        talk.over()


def _interrupt(talk: Talk) -> None:
    thread = talk.thread()
    turn = talk.turn(thread, marked("text/hang"))
    talk.notified("item/agentMessage/delta", times=5)
    talk.interrupt(thread, turn)
    talk.turn(thread, marked("text/hello"))
    talk.over()


def _interrupt_silence(talk: Talk) -> None:
    thread = talk.thread()
    turn = talk.turn(thread, marked("fail/silent"))
    talk.notified("account/rateLimits/updated")
    talk.interrupt(thread, turn)


def _second_fails(script: str, talk: Talk) -> None:
    """Where tokens were counted before."""
    thread = talk.thread()
    for one in ("text/usage", script):
        talk.turn(thread, marked(one))
        talk.over()


def _second_interrupted(talk: Talk) -> None:
    thread = talk.thread()
    talk.turn(thread, marked("text/usage"))
    talk.over()
    turn = talk.turn(thread, marked("two-deltas"))
    talk.notified("item/agentMessage/delta", times=4)
    talk.interrupt(thread, turn)


def _one_tool(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", ephemeral=True), marked("call/then-text"))
    talk.answer(talk.called(), contentItems=[{"type": "inputText", "text": "gefunden: 3"}], success=True)
    talk.over()


def _tool_loses(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/one"))
    talk.answer(talk.called(), contentItems=[{"type": "inputText", "text": "locked"}], success=False)
    talk.over()


def _two_tools(talk: Talk) -> None:
    """The second call comes when the first was sent: else the real server may send either first."""
    talk.turn(talk.thread("localSearch", "readNote"), marked("calls"))
    calls = [talk.called()]
    talk.turn(talk.thread(), marked("open/gate"))
    talk.over()
    calls.append(talk.called())
    for call in calls:
        talk.answer(call, contentItems=[{"type": "inputText", "text": call["params"]["tool"]}], success=True)
    talk.over()


def _steps(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", "readNote"), marked("call/steps"))
    for _ in range(2):
        talk.answer(talk.called(), contentItems=[], success=True)
    talk.over()


def _raw_tool(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", experimentalRawEvents=True), marked("call/then-text"))
    call = talk.called()
    talk.notified("rawResponse/completed")
    talk.answer(call, contentItems=[{"type": "inputText", "text": "found"}], success=True)
    talk.over()


def _held_tool(talk: Talk) -> None:
    """The call is answered when the client has come back in another thread."""
    thread = talk.thread("localSearch")
    talk.turn(thread, marked("call/then-text"))
    call = talk.called()
    talk.turn(talk.thread(), marked("text/hello"))
    talk.over()
    talk.answer(call, contentItems=[{"type": "inputText", "text": "late"}], success=True)
    talk.over()


def _interrupted_tool(script: str, talk: Talk) -> None:
    thread = talk.thread("localSearch")
    turn = talk.turn(thread, marked(script))
    call = _called_and_gone_on(talk)
    talk.interrupt(thread, turn)
    talk.send({"id": call["id"], "result": {"contentItems": [], "success": True}})
    talk.turn(thread, marked("text/hello"))
    talk.over()


def _cut_off(script: str, talk: Talk) -> None:
    """The model's answer breaks off after the call; the client answers it all the same."""
    talk.turn(talk.thread("localSearch", experimentalRawEvents=True), marked(script))
    talk.answer(_called_and_gone_on(talk), contentItems=[{"type": "inputText", "text": "found"}], success=True)
    talk.over()


def _called_and_gone_on(talk: Talk) -> Message:
    """A call, when what comes with it and after it has come, too: another thread has had its turn meanwhile."""
    call = talk.called()
    talk.turn(talk.thread(), marked("text/hello"))
    talk.over()
    return call


def _two_cut_off(talk: Talk) -> None:
    """The calls are answered the other way round."""
    talk.turn(talk.thread("localSearch", "readNote", experimentalRawEvents=True), marked("calls-cut"))
    calls = [talk.called()]
    talk.turn(talk.thread(), marked("open/gate"))
    talk.over()
    calls.append(_called_and_gone_on(talk))
    for call in reversed(calls):
        talk.answer(call, contentItems=[{"type": "inputText", "text": call["params"]["tool"]}], success=True)
    talk.over()


def _cut_off_interrupted(script: str, talk: Talk) -> None:
    thread = talk.thread("localSearch", experimentalRawEvents=True)
    turn = talk.turn(thread, marked(script))
    _called_and_gone_on(talk)
    talk.interrupt(thread, turn)


def _cut_off_steered(script: str, talk: Talk) -> None:
    """There is more to answer, so the turn goes on."""
    thread = talk.thread("localSearch")
    talk.turn(thread, marked(script))
    call = _called_and_gone_on(talk)
    talk.turn(thread, marked("text/hello", "m"))
    talk.answer(call, contentItems=[], success=True)
    talk.over()


def _raw(script: str, talk: Talk) -> None:
    talk.turn(talk.thread(experimentalRawEvents=True), marked(script))
    talk.over()


def _undeclared_tool(script: str, talk: Talk) -> None:
    talk.turn(talk.thread("localSearch", ephemeral=True), marked(script))
    talk.over()


def _wrong_answer(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/then-text"))
    talk.answer(talk.called(), wrong=True)
    talk.over()


def _error_as_answer(talk: Talk) -> None:
    talk.turn(talk.thread("localSearch"), marked("call/then-text"))
    talk.send({"id": talk.called()["id"], "error": {"code": -32000, "message": "no"}})
    talk.over()


_HISTORY = (
    {"type": "message", "role": "user", "content": [{"type": "input_text", "text": marked("call/then-text")}]},
    {"type": "function_call", "name": "localSearch", "arguments": "{}", "call_id": "call_search"},
    {"type": "function_call_output", "call_id": "call_search", "output": "found"},
)


def _injected(talk: Talk) -> None:
    """The model goes on with a history that brings the result of its call."""
    thread = talk.thread("localSearch", ephemeral=True)
    talk.ask("thread/inject_items", threadId=thread, items=_HISTORY)
    talk.turn(thread, None)
    talk.over()


def _resumed(talk: Talk) -> None:
    """A thread that is resumed with a history is a new one, whatever its id; the history names the script."""
    history = [
        {"type": "message", "role": "user", "content": [{"type": "input_text", "text": marked("text/hello")}]},
        {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Well."}]},
    ]
    nobody = "00000000-0000-0000-0000-000000000000"
    answer = talk.ask("thread/resume", threadId=nobody, history=history, developerInstructions="Be terse.")
    thread = answer["thread"]["id"]
    talk.turn(thread, "Go on.")
    talk.over()
    talk.ask("thread/archive", threadId=thread)


def _schema(talk: Talk) -> None:
    talk.turn(talk.thread(), marked("text/hello"), outputSchema={"type": "object", "properties": {}})
    talk.over()


def _overrides(talk: Talk) -> None:
    thread = talk.thread()
    for model in ("other-model", None):
        talk.turn(thread, marked("text/hello"), **({"model": model, "effort": "high"} if model else {}))
        talk.over()


def _instructed(talk: Talk) -> None:
    talk.turn(talk.thread(baseInstructions="Be a heron.", developerInstructions="Be terse."), marked("text/hello"))
    talk.over()


def _wrong_tool(talk: Talk) -> None:
    talk.ask("thread/start", dynamicTools=[{"name": "no name", "description": "", "inputSchema": {}}])


def _wrong_requests(talk: Talk) -> None:
    talk.ask("turn/start", threadId="00000000-0000-7000-8000-000000000000", input=[])
    talk.ask("turn/start", threadId="no id", input=[])
    talk.ask("turn/start", input=[])
    talk.ask("initialize", clientInfo={"name": "wireproof", "version": "1"})


def _full(script: str, talk: Talk) -> None:
    """The turn after one that filled the context begins with a summary."""
    thread = talk.thread(experimentalRawEvents=script != "full-for-long")
    for one in (script, "text/hello", "text/hello"):
        talk.turn(thread, marked(one))
        talk.over()


def _full_of_calls(talk: Talk) -> None:
    """A turn is interrupted for a summary."""
    talk.turn(talk.thread("localSearch"), marked("full-of-calls"))
    talk.answer(talk.called(), contentItems=[], success=True)
    talk.over()


def _sum(script: str, talk: Talk) -> None:
    thread = talk.thread(experimentalRawEvents=True)
    talk.turn(thread, marked(script))
    talk.over()
    talk.ask("thread/compact/start", threadId=thread)
    talk.over()
    talk.turn(thread, marked("text/hello"))
    talk.over()


def _sum_interrupted(talk: Talk) -> None:
    thread = talk.thread()
    talk.turn(thread, marked("sum-hangs"))
    talk.over()
    talk.notified("turn/started")
    talk.ask("thread/compact/start", threadId=thread)
    turn = talk.notified("turn/started")["turn"]["id"]
    talk.notified("thread/tokenUsage/updated", times=2)
    talk.notified("account/rateLimits/updated", times=2)
    talk.ask("turn/start", threadId=thread, input=[{"type": "text", "text": marked("text/hello")}])
    talk.ask("turn/steer", threadId=thread, expectedTurnId=turn, input=[{"type": "text", "text": "x"}])
    talk.interrupt(thread, turn)


def _sum_instead(talk: Talk) -> None:
    """The turn that runs makes way for a summary."""
    thread = talk.thread()
    talk.turn(thread, marked("hangs-then-sum"))
    talk.notified("item/agentMessage/delta", times=2)
    talk.ask("thread/compact/start", threadId=thread)
    talk.over()
    talk.over()


TEXTS = (
    "text/hello", "text/utf8", "text/empty", "text/repeats", "text/markup", "text/long", "text/thinking", "text/usage",
    "two-messages", "length", "filter", "failed-thought", "sentinel/plain", "textual/any-cut",
    "no-deltas", "no-counts", "citation", "citation-alone", "held-back",
)  # fmt: skip
FAILING = tuple(f"cause/{cause}" for cause in CAUSES_0_89 if cause in FAILURES)
FAILING_LATE = tuple(script for script in SCRIPTS if script.startswith("cause-late/"))
IDLE_MS = 400
"""For how long a service may be silent where silence is a failure."""

CONVERSATIONS: Mapping[str, Conversation] = {
    **{script: Conversation(have=partial(_turn, script)) for script in TEXTS},
    **{
        script: Conversation(have=partial(_turn, script), idle_ms=IDLE_MS if script.endswith("/idle") else 20_000)
        for script in (*FAILING, *FAILING_LATE)
    },
    "default answer": Conversation(have=partial(_text, "Good morning")),
    "ephemeral": Conversation(have=_ephemeral, versions=(NEWEST,)),
    "second turn": Conversation(have=_second_turn),
    "after a failure": Conversation(have=_after_failure),
    "interrupt": Conversation(have=_interrupt),
    "interrupt of silence": Conversation(have=_interrupt_silence, versions=("0.89.0",)),
    "second turn fails": Conversation(have=partial(_second_fails, "fail/after-text")),
    "second turn fails at once": Conversation(have=partial(_second_fails, "fail/first")),
    "second turn is cut off": Conversation(have=partial(_second_fails, "length")),
    "second turn is interrupted": Conversation(have=_second_interrupted),
    "one tool": Conversation(have=_one_tool, versions=(NEWEST,)),
    "tool without success": Conversation(have=_tool_loses, versions=(NEWEST,)),
    "two tools": Conversation(have=_two_tools, versions=(NEWEST,), crossing=True),
    "tool after tool": Conversation(have=_steps, versions=(NEWEST,)),
    "tool with raw events": Conversation(have=_raw_tool, versions=(NEWEST,)),
    "tool held": Conversation(have=_held_tool, versions=(NEWEST,)),
    "tool interrupted": Conversation(
        have=partial(_interrupted_tool, "call/then-text"), versions=(NEWEST,), crossing=True
    ),
    "tool interrupted in mid-answer": Conversation(
        have=partial(_interrupted_tool, "call-hangs"), versions=(NEWEST,), crossing=True
    ),
    "answer cut off after a call": Conversation(have=partial(_cut_off, "call-cut"), versions=(NEWEST,), crossing=True),
    "answer out of tokens after a call": Conversation(
        have=partial(_cut_off, "call-length"), versions=(NEWEST,), crossing=True
    ),
    "answer cut off after two calls": Conversation(have=_two_cut_off, versions=(NEWEST,), crossing=True),
    "answer cut off after a call, interrupted": Conversation(
        have=partial(_cut_off_interrupted, "call-cut"), versions=(NEWEST,), crossing=True
    ),
    "answer out of tokens after a call, interrupted": Conversation(
        have=partial(_cut_off_interrupted, "call-length"), versions=(NEWEST,), crossing=True
    ),
    "answer cut off after a call, more input": Conversation(
        have=partial(_cut_off_steered, "call-cut"), versions=(NEWEST,), crossing=True
    ),
    "call answered after more input": Conversation(
        have=partial(_cut_off_steered, "call/then-text"), versions=(NEWEST,), crossing=True
    ),
    "thoughts with raw events": Conversation(have=partial(_raw, "thoughts")),
    "unknown tool with raw events": Conversation(have=partial(_raw, "unknown")),
    "unknown tool, then cut off": Conversation(have=partial(_raw, "unknown-cut"), versions=(NEWEST,)),
    "unknown tool": Conversation(have=partial(_undeclared_tool, "unknown")),
    "broken arguments": Conversation(have=partial(_undeclared_tool, "broken")),
    "wrong answer": Conversation(have=_wrong_answer, versions=(NEWEST,)),
    "error as answer": Conversation(have=_error_as_answer, versions=(NEWEST,)),
    "injected history": Conversation(have=_injected, versions=(NEWEST,)),
    "resumed with a history": Conversation(have=_resumed),
    **{
        script: Conversation(have=partial(_full, script), versions=(NEWEST,))
        for script in ("full", "full-for-long", "full-and-fails", "full-and-cut-off")
    },
    "full-of-calls": Conversation(have=_full_of_calls, versions=(NEWEST,)),
    **{script: Conversation(have=partial(_sum, script), versions=(NEWEST,)) for script in ("sum", "sum-fails")},
    "summary interrupted": Conversation(have=_sum_interrupted, versions=(NEWEST,)),
    "summary instead of a turn": Conversation(have=_sum_instead, versions=(NEWEST,)),
    "output schema": Conversation(have=_schema),
    "overrides": Conversation(have=_overrides),
    "instructions": Conversation(have=_instructed),
    "wrong tool": Conversation(have=_wrong_tool, versions=(NEWEST,)),
    "wrong requests": Conversation(have=_wrong_requests),
}
